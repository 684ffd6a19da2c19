"""onnxruntime, float32 and static int8, as the other side of our tables.

int8: `quant_pre_process` first, then `quantize_static`: QDQ, per channel, uint8 activations, int8 weights,
MinMax, all operator types. Quantized models are cached by the contents of model and data and by the version.
"""

from __future__ import annotations

import hashlib
import logging
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from harness.model import onnx_model
from harness.zoo import Feed, Predict

SETTINGS = "qdq per-channel u8s8 minmax"


def saturates() -> bool:
    """True where onnxruntime's integer kernels add pairs of products in 16 bits that saturate: x86 without VNNI.

    4 pairs of 255 * 127: 259080 exactly, 131068 where each pair ends at 32767.
    """
    from onnx import helper

    nodes = [helper.make_node("MatMulInteger", ["x", "w"], ["y"])]
    model = onnx_model(nodes, {"x": [1, 8]}, {"w": np.full((8, 4), 127, np.int8)}, dtype="uint8")
    loaded = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return int(loaded.run(None, {"x": np.full((1, 8), 255, np.uint8)})[0][0, 0]) != 8 * 255 * 127


def be_quiet() -> None:
    """Leave out what onnxruntime's quantizer has to say."""
    logging.getLogger().setLevel(logging.ERROR)
    warnings.simplefilter("ignore")


def describe_sums(saturating: bool) -> str:
    """A line for the head of a table that has int8 of onnxruntime: whether it can be compared with here."""
    if not saturating:
        return "onnxruntime's int8 here: exact sums"
    return (
        "onnxruntime's int8 here: pairs of products saturate in 16 bits (a CPU without VNNI), its errors are not the "
        "model's; differences from it are shown and not judged"
    )


def session(model: Path, threads: int = 1, batch: int | None = None) -> Predict:
    """A function that runs the model in onnxruntime on the CPU, default optimizations; batch: fixes dynamic ones."""
    options = onnxruntime.SessionOptions()
    if batch is not None:
        for name in _dynamic_dimensions(model):
            options.add_free_dimension_override_by_name(name, batch)
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    loaded = onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    return lambda feed: loaded.run(None, feed)


def _dynamic_dimensions(model: Path) -> set[str]:
    """Names of the dimensions of the inputs that are no numbers."""
    inputs = onnx.load(model, load_external_data=False).graph.input
    return {dim.dim_param for value in inputs for dim in value.type.tensor_type.shape.dim if dim.dim_param}


class _Reader:
    """Reader of samples, the CalibrationDataReader of quantize_static."""

    def __init__(self, feeds: Iterable[Feed]) -> None:
        self.feeds = feeds
        self.iterator: Iterator[Feed] = iter(feeds)

    def get_next(self) -> Feed | None:
        """The next sample, None at the end."""
        return next(self.iterator, None)


def digest(model: Path, feeds: Iterable[Feed], settings: str = f"{onnxruntime.__version__} {SETTINGS}") -> str:
    """Hash of all that a quantized model depends on; settings: versions and options."""
    found = hashlib.sha256(settings.encode())
    found.update(model.read_bytes())
    for feed in feeds:
        for name, array in sorted(feed.items()):
            found.update(name.encode() + array.tobytes())
    return found.hexdigest()[:16]


def _preprocess(model: Path, out: Path) -> list[str]:
    """Shape inference and float optimizations (folds batch norm); notes on what did not work."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    try:
        quant_pre_process(str(model), str(out))
    except Exception as error:  # it raises plain Exception, on models with Resize
        quant_pre_process(str(model), str(out), skip_symbolic_shape=True)
        Path("sym_shape_infer_temp.onnx").unlink(missing_ok=True)  # what it leaves behind where it fails
        return [f"onnxruntime's symbolic shape inference was skipped: {str(error)[:60]}"]
    return []


def _quantize(source: Path, out: Path, feeds: Iterable[Feed], kind: str = "qdq") -> list[str]:
    """Write the static int8 model in a format; notes on workarounds."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    def attempt(**extra: Any) -> None:
        quantize_static(
            str(source), str(out), _Reader(feeds), per_channel=kind != "qdq_tensor", extra_options=extra,
            quant_format=QuantFormat.QOperator if kind == "qoperator" else QuantFormat.QDQ,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, calibrate_method=CalibrationMethod.MinMax,
        )  # fmt: skip

    try:
        attempt()
    except ValueError as error:  # "truth value of an array": a bias beside a per-channel weight, 1.31
        attempt(QDQDisableWeightAdjustForInt32Bias=True)
        return [f"onnxruntime needed QDQDisableWeightAdjustForInt32Bias: {str(error)[:60]}"]
    return []


def int8_model(model: Path, feeds: Iterable[Feed], cache: Path) -> tuple[Path, list[str]]:
    """The model quantized by onnxruntime, from the cache where it is there, and notes on workarounds."""
    cache.mkdir(parents=True, exist_ok=True)
    out = cache / f"{model.stem}.{digest(model, feeds)}.int8.onnx"
    notes = out.with_suffix(".txt")
    if not notes.exists():  # written last
        before, partial = out.with_suffix(".pre.onnx"), out.with_suffix(".partial")
        logging.getLogger().setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            texts = _preprocess(model, before) + _quantize(before, partial, feeds)
        before.unlink()
        partial.rename(out)
        notes.write_text("\n".join(texts))
    return out, notes.read_text().splitlines()


def quantize_format(task: Any, kind: str, calibration: Iterable[Feed], folder: Path) -> Path:
    """The task's model in a format: qdq, qdq_tensor (one scale for each weight), qoperator, or dynamic."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    source, out = folder / f"{task.name}.float.onnx", folder / f"{task.name}.{kind}.onnx"
    _preprocess(Path(task.model_path), source)
    if kind == "dynamic":
        quantize_dynamic(str(source), str(out), weight_type=QuantType.QInt8, per_channel=True)
    else:
        _quantize(source, out, calibration, kind)
    return out
