"""tvmq, onnxruntime and OpenVINO: models of any batch and length in float and in int8."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from harness import onnxruntime_peer, openvino_peer
from harness.zoo import Feed

from vectors import peers
from vectors.samples import Case
from vectors.surroundings import LEVELS, Run

TARGETS = ("llvm", "x86-64-v3", "x86-64-v2")


@dataclass(frozen=True)
class Contestant:
    """Runtime with a form of the model.

    base    name of its runtime's float model, which quality is compared with
    levels  how many instruction sets it can be told to use
    files   a saved model for each of them
    """

    name: str
    base: str
    run: Run
    levels: int = 1
    files: tuple[Path, ...] = ()

    @property
    def is_ours(self) -> bool:
        """True for tvmq."""
        return self.name.startswith("tvmq")

    @property
    def is_promised(self) -> bool:
        """True for what tvmq defines on every CPU: its int8 models."""
        return self.is_ours and self.name != self.base


Make = Callable[[], Contestant]


def contestants(case: Case, folder: Path, cache: Path, only: Sequence[str] = ()) -> Iterator[Contestant]:
    """All that can run the model, or those of these names; float models before what is compared with them."""
    for name, make in itertools.chain(
        _tvmq(case, folder), _onnxruntime(case, folder, cache), _openvino(case, cache), _others(case, folder)
    ):
        if only and name not in only:
            continue
        try:
            yield make()
        except ImportError as error:
            print(f"{name} is left out: {error}", flush=True)


def _tvmq(case: Case, folder: Path) -> Iterator[tuple[str, Make]]:
    kinds = (("tvmq float", None), ("tvmq int8", "static"), ("tvmq int8, scales at run time", "dynamic"))
    for name, activations in kinds:
        yield name, partial(build_tvmq, case, name, activations, folder)


def build_tvmq(case: Case, name: str, activations: str | None, folder: Path) -> Contestant:
    """The model for all of TARGETS, saved too."""
    import tvmq
    from tvmq.runtime.threads import with_threads

    mod, params = tvmq.from_onnx(str(case.model_path))
    if activations is not None:
        with tvmq.qconfig(activations=activations):
            mod, params = tvmq.quantize(mod, params, None if activations == "dynamic" else case.calibration), {}
    built = [tvmq.build(mod, params=params, target=target) for target in TARGETS]
    files = tuple(folder / f"{case.name}.{activations}.{target}.tvmq" for target in TARGETS)
    for executable, path in zip(built, files, strict=True):
        executable.save(path)

    def run(feed: Feed, threads: int, level: int) -> np.ndarray:
        return np.array(with_threads(threads, lambda: built[level].run(feed))[0])

    return Contestant(name, "tvmq float", run, len(LEVELS), files)


def _onnxruntime(case: Case, folder: Path, cache: Path) -> Iterator[tuple[str, Make]]:
    def make(name: str, path: Callable[[], Path]) -> tuple[str, Make]:
        return name, lambda: Contestant(name, "onnxruntime float", run_onnxruntime(path()))

    peer, data = onnxruntime_peer, case.calibration
    yield make("onnxruntime float", lambda: case.model_path)
    yield make("onnxruntime int8", lambda: peer.int8_model(case.model_path, data, cache)[0])
    yield make("onnxruntime int8, scales at run time", lambda: peer.quantize_format(case, "dynamic", data, folder))


def run_onnxruntime(path: Path) -> Run:
    """Runs of sessions of one and two threads."""
    sessions = {threads: onnxruntime_peer.session(path, threads) for threads in (1, 2)}
    return lambda feed, threads, _: np.asarray(sessions[threads](feed)[0])


def _openvino(case: Case, cache: Path) -> Iterator[tuple[str, Make]]:
    base = "OpenVINO float"
    yield base, lambda: Contestant(base, base, run_openvino(case.model_path))
    yield "OpenVINO int8", lambda: Contestant("OpenVINO int8", base, run_openvino(quantize_openvino(case, cache)))


def quantize_openvino(case: Case, cache: Path) -> Path:
    """The model quantized by NNCF; ImportError without it."""
    from harness.networks import Network

    network = Network(case.name, case.model_path, case.calibration, case.mask is not None)
    path = openvino_peer.int8_model(network, cache)
    if path is None:
        raise ImportError("No module named 'nncf'")
    return path


def run_openvino(path: Path) -> Run:
    """Runs of models compiled for one and two threads, in float32."""
    import openvino

    core = openvino.Core()
    settings = [{"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"} for threads in (1, 2)]
    compiled = [core.compile_model(path, "CPU", one) for one in settings]
    return lambda feed, threads, _: np.array(compiled[threads - 1](feed)[0])


def _others(case: Case, folder: Path) -> Iterator[tuple[str, Make]]:
    bert = case.bert
    if bert is None:
        return
    for name, kind in (("CTranslate2 float", "float32"), ("CTranslate2 int8, scales at run time", "int8_float32")):
        make = partial(peers.run_ctranslate2, bert, kind, folder)
        yield name, lambda name=name, make=make: Contestant(name, "CTranslate2 float", make())
    for name, int8 in (("torch float", False), ("torch int8, scales at run time", True)):
        make = partial(peers.run_torch, bert, int8=int8)
        yield name, lambda name=name, make=make: Contestant(name, "torch float", make())
