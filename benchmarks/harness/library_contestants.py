"""Contestants of library.py: a library called from C and from Python, the .tvmq file, onnxruntime, LiteRT."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np

from harness import onnxruntime_peer
from harness.caller_process import CALLERS, compile_caller, find_compiler
from harness.networks import Network, saved_model
from harness.zoo import Feed

C_LIBRARY, CTYPES, PYTHON_LIBRARY = "library from C", "library by ctypes", "library from Python"
FILE, C_PEER, PYTHON_PEER, LITERT = ".tvmq", "onnxruntime from C", "onnxruntime from Python", "LiteRT from Python"
TVM = ("apache-tvm", "apache-tvm-ffi", "numpy")


@dataclass(frozen=True)
class Contestant:
    """A model, and the command that calls it.

    command  (file for the results of the first run, threads) -> command line
    file     bytes of the model
    beside   bytes of what has to be there besides: not counted are Python itself and the C library
    most     threads that it can have
    exact    its results are those of the definition
    """

    command: Callable[[Path, int], list[object]]
    file: int
    beside: int
    most: int = 256
    exact: bool = False


@dataclass(frozen=True)
class Compared:
    """A network as all contestants have it.

    expected  outputs of the definition for the sample that is run
    remarks   {contestant that is absent: why}
    """

    contestants: dict[str, Contestant]
    expected: list[np.ndarray]
    export: Any
    remarks: dict[str, str]


def package_bytes(*names: str) -> int:
    """Bytes of installed packages, compiled Python aside."""
    files = [file for name in names for file in metadata.files(name) or () if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in (Path(str(file.locate())) for file in files) if path.is_file())


def find_peer_library() -> Path | None:
    """The C library in onnxruntime's wheel."""
    spec = util.find_spec("onnxruntime")
    places = spec.submodule_search_locations if spec is not None else None
    return next((path for place in places or () for path in Path(place, "capi").glob("libonnxruntime.so*")), None)


def prepare_contestants(network: Network, options: Any, folder: Path) -> Compared:
    """Quantize, export and write all files of a network."""
    import tvmq
    from tvmq.errors import TvmqError

    feed, saved = network.feed(), saved_model(network, options, folder)
    exe = tvmq.load(saved)
    export = tvmq.export_library(exe, folder / "library", name=f"m_{network.name}".lower())
    arrays = [np.ascontiguousarray(feed[info.name]) for info in exe.input_info]
    np.savez(folder / "inputs.npz", **{info.name: array for info, array in zip(exe.input_info, arrays, strict=True)})
    (folder / "inputs").write_bytes(b"".join(array.tobytes() for array in arrays))
    definition = tvmq.reference.Reference(exe.module, target=exe.target)
    expected = [np.asarray(array) for array in definition.run(feed)]
    remarks: dict[str, str] = {}
    contestants = dict(_our_contestants(export, saved, options.python, folder))
    contestants |= dict(_peer_contestants(network, options, folder, remarks))
    try:
        contestants[LITERT] = _make_litert(network, feed, options.python, folder)
    except (ImportError, NotImplementedError, TvmqError) as error:
        remarks[LITERT] = str(error)
    return Compared(contestants, expected, export, remarks)


def _our_contestants(export: Any, saved: Path, python: str, folder: Path) -> Iterator[tuple[str, Contestant]]:
    size = export.library_bytes
    if find_compiler() is not None:
        program, name = compile_caller("library", folder), export.header.stem

        def call_from_c(results: Path, threads: int) -> list[object]:
            return [program, export.library, name, folder / "inputs", results, threads]

        yield C_LIBRARY, Contestant(call_from_c, size, 0, exact=True)
    else:
        yield (
            CTYPES,
            Contestant(
                _from_python(python, "ctypes", export.library.parent, folder / "inputs.npz"),
                size,
                0,
                most=1,
                exact=True,
            ),
        )
    command = _from_python(python, "library", export.library.parent, folder / "inputs.npz")
    yield PYTHON_LIBRARY, Contestant(command, size, package_bytes("numpy"), exact=True)
    command = _from_python(python, "tvmq", saved, folder / "inputs.npz")
    yield FILE, Contestant(command, saved.stat().st_size, package_bytes(*TVM), exact=True)


def _peer_contestants(
    network: Network, options: Any, folder: Path, remarks: dict[str, str]
) -> Iterator[tuple[str, Contestant]]:
    path, _ = onnxruntime_peer.int8_model(network.path, network.feeds, options.cache)
    library, size = find_peer_library(), path.stat().st_size
    if library is not None and find_compiler() is not None:
        program, tensors = compile_caller("onnxruntime", folder), _describe_tensors(path, network.feed())

        def call_from_c(results: Path, threads: int) -> list[object]:
            return [program, library, path, folder / "peer_inputs", results, threads, *tensors]

        (folder / "peer_inputs").write_bytes(b"".join(array.tobytes() for array in network.feed().values()))
        yield C_PEER, Contestant(call_from_c, size, library.stat().st_size)
    else:
        remarks[C_PEER] = "no C compiler" if library else "this wheel has no libonnxruntime.so"
    command = _from_python(options.python, "ort", path, folder / "inputs.npz")
    yield PYTHON_PEER, Contestant(command, size, package_bytes("onnxruntime", "numpy"))


def _describe_tensors(path: Path, feed: Feed) -> list[str]:
    """Inputs and outputs as callers/onnxruntime.c takes them."""
    import onnx

    kind = onnx.helper.np_dtype_to_tensor_dtype  # onnxruntime's numbers are those of ONNX
    inputs = [f"{name}:{kind(a.dtype)}:{a.nbytes}:{','.join(map(str, a.shape))}" for name, a in feed.items()]
    outputs = [value.name for value in onnx.load(path, load_external_data=False).graph.output]
    return [*inputs, "--", *outputs]


def _make_litert(network: Network, feed: Feed, python: str, folder: Path) -> Contestant:
    """The network quantized for TFLite, and the codes of the sample as its inputs.

    raises   ImportError without LiteRT, TvmqError or NotImplementedError for what TFLite cannot hold
    """
    import tvmq
    from harness.model import Model

    if util.find_spec("ai_edge_litert") is None:
        raise ImportError("ai-edge-litert is not installed")
    model = Model.read(network.path, {name: array.shape for name, array in feed.items()})
    with tvmq.qconfig(partition_conversions="fully_integral"):
        qmod = tvmq.quantize(model.module, model.params, network.feeds, target="tflite", guard=network.guard)
    export = tvmq.to_tflite(qmod, folder / "model.tflite")
    codes = tvmq.build(qmod)["quantize_inputs"].run(feed)
    given = {end.name: end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)}
    np.savez(folder / "codes.npz", **given)
    command = _from_python(python, "litert", export.path, folder / "codes.npz")
    return Contestant(command, export.size, package_bytes("ai-edge-litert", "numpy"))


def _from_python(python: str, runtime: str, path: Path, inputs: Path) -> Callable[[Path, int], list[object]]:
    return lambda results, threads: [python, CALLERS / "caller.py", runtime, path, inputs, results, threads]


def count_differing(results: bytes, expected: list[np.ndarray]) -> int:
    """Values of the outputs that are not equal to the definition's in every bit.

    >>> count_differing(np.float32([0.0, 1.0]).tobytes(), [np.float32([-0.0]), np.float32([1.0])])
    1
    """
    wanted = b"".join(np.ascontiguousarray(array).tobytes() for array in expected)
    if len(results) != len(wanted):
        return sum(array.size for array in expected)
    found, place = 0, 0
    for array in expected:
        parts = (np.frombuffer(data[place : place + array.nbytes], f"u{array.itemsize}") for data in (results, wanted))
        found += int(np.count_nonzero(np.not_equal(*parts)))
        place += array.nbytes
    return found
