"""The models whose latency is measured: tasks of the zoo, and networks of its make_latency_models.py.

A task brings its calibration data. A network has random weights; it is exported once into the cache (torch and
onnxscript are needed for that) and calibrated with six random inputs. Where both have a name, it is the task.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.zoo import QUICK_CALIBRATION, TASKS, Feed, Feeds, load_zoo, zoo_module

NETWORKS = (
    "resnet18", "resnet50", "vgg11", "mobilenet_v2", "vit_tiny", "minilm_seq64", "minilm_seq128", "unet256",
)  # fmt: skip
ZOO_TASKS = tuple(name for name in TASKS if name != "minilm_l6")  # the two networks above are of its shape
SAMPLES, FIRST_WORD, WORDS = 6, 1000, 30000
TRANSFORMER_NAMES = ("vit", "minilm")  # names that tell NNCF its model type


@dataclass(frozen=True)
class Network:
    """A float model to time, and samples to calibrate it with; the first ones are what it runs on.

    is_random  its weights are random: outputs are near to noise, and no contestant's int8 is mended for their sake
    """

    name: str
    path: Path
    feeds: Iterable[Feed]
    is_random: bool = False

    @property
    def guard(self) -> str | None:
        """Bound that `tvmq.quantize` shall keep."""
        from tvmq.quantization.pipeline import USUAL_GUARD  # loads TVM, which reads the number of threads

        return None if self.is_random else USUAL_GUARD

    @property
    def is_transformer(self) -> bool:
        """True where NNCF needs its option for transformers."""
        return self.name.startswith(TRANSFORMER_NAMES)

    def feed(self, batch: int = 1) -> Feed:
        """The first samples, `batch` of them."""
        picked = [feed for feed, _ in zip(self.feeds, range(batch), strict=False)]
        return {name: np.concatenate([feed[name] for feed in picked]) for name in picked[0]}


def find(name: str, options: Any) -> Network:
    """The task or network of that name."""
    if name in zoo_module(options.zoo, "tasks").tasks():
        task = load_zoo(options.zoo, name)[name]
        return Network(name, Path(task.model_path), Feeds(task, QUICK_CALIBRATION if options.quick else None))
    module = _networks(options.zoo, name)
    path: Path = options.cache / f"{name}.onnx"
    if not path.exists():
        _export(module, name, path)
    return Network(name, path, _random_feeds(module, name), is_random=True)


def _networks(zoo: Path, name: str) -> Any:
    """make_latency_models.py, which must know the network."""
    try:
        module = zoo_module(zoo, "make_latency_models")
    except ImportError as error:
        raise SystemExit(f"latency: '{name}' is made with torch, which is missing; pip install torch") from error
    if name not in module.MODELS:
        raise SystemExit(f"latency: no task and no network '{name}'; networks are {', '.join(module.MODELS)}")
    return module


def _export(module: Any, name: str, path: Path) -> None:
    """Write the network; a file of that name is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        module.export(name, str(partial))
    partial.rename(path)


def _random_feeds(module: Any, name: str) -> list[Feed]:
    size = module.MODELS[name][1]
    if isinstance(size, str):  # a number of words
        random, shape = np.random.default_rng(0), (1, int(size))
        return [
            {"input_ids": random.integers(FIRST_WORD, WORDS, shape), "attention_mask": np.ones(shape, np.int64)}
            for _ in range(SAMPLES)
        ]
    return [{"input": module.image(1, size, 1 + i).numpy()} for i in range(SAMPLES)]


def saved_model(network: Network, options: Any, folder: Path) -> Path:
    """Our saved model: the file of --saved, or quantized, built and saved in a folder."""
    from harness.model import Model

    saved: Path = (options.saved or folder) / f"{network.name}.tvmq"
    if not saved.exists():
        model = Model.read(network.path, {name: array.shape for name, array in network.feed().items()})
        model.quantized(network.feeds, guard=network.guard).executable.save(saved)
    return saved


def runtime_files(network: Network, options: Any, folder: Path) -> dict[str, Path]:
    """{"tvmq", "ort", "ov": its model} of each runtime that is installed; ours from --saved where it has it."""
    from harness import onnxruntime_peer, openvino_peer

    saved = saved_model(network, options, folder)
    quantized, _ = onnxruntime_peer.int8_model(network.path, network.feeds, options.cache)
    found = {"tvmq": saved, "ort": quantized}
    other = openvino_peer.int8_model(network, options.cache) if openvino_peer.available() else None
    return found if other is None else {**found, "ov": other}
