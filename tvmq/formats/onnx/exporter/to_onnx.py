"""Integer modules as standard ONNX with QuantizeLinear and DequantizeLinear: `to_onnx`.

Every operator on codes becomes DequantizeLinear -> float operator -> QuantizeLinear, the form that onnxruntime fuses
back into integers and that other tools read. Weights are codes behind a DequantizeLinear, biases int32 or floats, as
the dialect wants them; tables become the functions they were made of.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import tvm

from tvmq.base.deprecation import warn_user
from tvmq.base.foreign_errors import clause
from tvmq.base.whole_file import write_file
from tvmq.errors import BackendWarning, StageError, UnsupportedOpError
from tvmq.formats.onnx.exporter.dialects import TENSORRT, check_opset, find_dialect
from tvmq.formats.onnx.exporter.tensorrt_rules import require_tensorrt
from tvmq.formats.onnx.exporter.writer import OnnxWriter
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import plain_module
from tvmq.graph.view import View, op_name

if TYPE_CHECKING:
    import onnx

LARGEST_CHECKED = 2**31 - 2**20  # bytes; the checker takes no larger message


def to_onnx(
    qmod: tvm.IRModule, path: str | os.PathLike[str], *, dialect: str = "onnxruntime", opset: int | None = None
) -> None:
    """Write an integer module as an ONNX file with QuantizeLinear and DequantizeLinear.

    qmod     module that `quantize` returned; layer names are kept
    path     the file; it is written under another name and renamed, so that no half of it is left behind
    dialect  "onnxruntime", which OpenVINO reads too, or "tensorrt": int8 around zero, biases as floats, and
             QuantizeLinear and DequantizeLinear where TensorRT's parser wants them (see `check_tensorrt`)
    opset    None: 17, or 21 for a module with codes of 4 or 16 bits, which have types of their own there. 17 writes
             codes of 4 bits as int8
    result   inputs and outputs bear the names of the source; importing the file and quantizing it gives the integers
             of `qmod`, but for products rounded at ties (see docs/quantized-models.md)
    warns    BackendWarning where states of an LSTM, GRU or RNN are codes: the file has floats there and is not exact
    raises   StageError for a module that is not realized, ConfigError for an unknown dialect or opset and for codes
             that the dialect lacks, UnsupportedOpError naming a layer without an ONNX form, OutputError if the file
             cannot be written
    """
    described = find_dialect(dialect)
    check_opset(opset)
    qmod = plain_module(qmod)
    stage = get_ledger(qmod).stage
    if stage != "realized":
        raise StageError(f"to_onnx: the module is '{stage}'; export the module that tvmq.quantize returns")
    model = OnnxWriter(qmod, described, opset).run()
    if described is TENSORRT:
        require_tensorrt(model)
    _check(model)
    write_file(path, model.SerializeToString(), "to_onnx")
    _warn_of_loops(qmod)


def _warn_of_loops(qmod: tvm.IRModule) -> None:
    """Warn that a file with recurrent layers is not exact: ONNX has no LSTM, GRU or RNN whose states are codes."""
    view = View(qmod)
    layers = [view.sources(var.name)[0] for var, value in view.bindings if op_name(value) == "tvmq.recurrent_codes"]
    if layers:
        warn_user(
            f"to_onnx, layer '{layers[0]}': the states of recurrent layers ({len(layers)} here) are codes in the "
            "module but floats in the file, so results differ from the module's by the rounding of these states (55 to "
            "68 dB in small layers; see docs/quantized-models.md); keep these layers in float where both must agree",
            BackendWarning,
        )


def _check(model: onnx.ModelProto) -> None:
    """Refuse to write what ONNX's checker does not accept, types and shapes included."""
    from onnx import checker, shape_inference

    if model.ByteSize() > LARGEST_CHECKED:
        return
    try:
        checker.check_model(model)
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except (checker.ValidationError, shape_inference.InferenceError) as error:
        raise UnsupportedOpError(
            f"to_onnx: the model cannot be written as valid ONNX, so no file was written{clause(error)}; "
            "keep the layer that it names in float"
        ) from None
