"""Repairs of TVM's ONNX converters, one file an operator family.

A repair is `repair(call: NodeCall)`. It returns a Relax expression, or None to leave the node to TVM's
converter, which then sees the inputs and attributes as the repair left them. It raises
`call.unsupported_error(...)` for what TVM would import wrongly. REPAIRS maps an ONNX operator to "module:function".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmq.base.by_name import load_object
from tvmq.formats.onnx.importer.repairs.node import Dims, NodeCall

_HERE = "tvmq.formats.onnx.importer.repairs."

REPAIRS: dict[str, str] = {
    "AveragePool": _HERE + "layers:pool",
    **dict.fromkeys(("ArgMax", "ArgMin"), _HERE + "elementwise:place_of_extreme"),
    "BatchNormalization": _HERE + "layers:batch_norm",
    "BitShift": _HERE + "elementwise:bit_shift",
    **dict.fromkeys(("Cast", "CastLike"), _HERE + "elementwise:cast"),
    "Celu": _HERE + "elementwise:celu",
    "Clip": _HERE + "elementwise:clip",
    "Concat": _HERE + "moves:concat",
    "ConstantOfShape": _HERE + "shapes:constant_of_shape",
    "Conv": _HERE + "layers:conv",
    "ConvInteger": _HERE + "quantization:conv_integer",
    "ConvTranspose": _HERE + "layers:conv_transpose",
    "Cosh": _HERE + "elementwise:cosh",
    "DequantizeLinear": _HERE + "quantization:dequantize_linear",
    "Dropout": _HERE + "elementwise:dropout",
    "DynamicQuantizeLinear": _HERE + "quantization:dynamic_quantize_linear",
    "Einsum": _HERE + "einsum:einsum",
    "Elu": _HERE + "elementwise:elu",
    "Expand": _HERE + "shapes:expand",
    "Flatten": _HERE + "shapes:flatten",
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _HERE + "recurrent:recurrent"),
    "Gather": _HERE + "moves:gather",
    "GatherElements": _HERE + "moves:gather_elements",
    "GatherND": _HERE + "moves:gather_nd",
    "IsInf": _HERE + "elementwise:is_inf",
    "LayerNormalization": _HERE + "layers:layer_norm",
    "LpNormalization": _HERE + "layers:lp_norm",
    "LpPool": _HERE + "layers:pool",
    "MatMulInteger": _HERE + "quantization:matmul_integer",
    "Max": _HERE + "elementwise:maximum",
    "MaxPool": _HERE + "layers:pool",
    "Min": _HERE + "elementwise:minimum",
    "Mish": _HERE + "elementwise:mish",
    "Mod": _HERE + "elementwise:mod",
    "OneHot": _HERE + "moves:one_hot",
    "Pad": _HERE + "moves:pad",
    "Pow": _HERE + "elementwise:power",
    "PRelu": _HERE + "elementwise:prelu",
    "QuantizeLinear": _HERE + "quantization:quantize_linear",
    "Range": _HERE + "shapes:arange",
    "ReduceMean": _HERE + "elementwise:mean",
    "Reshape": _HERE + "shapes:reshape",
    "Resize": _HERE + "resize:resize",
    "RMSNormalization": _HERE + "layers:rms_norm",
    "RoiAlign": _HERE + "layers:roi_align",
    "ScatterND": _HERE + "moves:scatter_nd",
    "Selu": _HERE + "elementwise:selu",
    "Sign": _HERE + "elementwise:sign",
    "Sinh": _HERE + "elementwise:sinh",
    "SkipLayerNormalization": _HERE + "layers:only_first_output",
    "Slice": _HERE + "shapes:strided_slice",
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax"), _HERE + "layers:softmax"),
    "Softplus": _HERE + "elementwise:softplus",
    "SpaceToDepth": _HERE + "moves:space_to_depth",
    "Split": _HERE + "moves:split",
    "Squeeze": _HERE + "shapes:vector_axes",
    "ThresholdedRelu": _HERE + "elementwise:thresholded_relu",
    "Tile": _HERE + "moves:tile",
    "TopK": _HERE + "elementwise:top_k",
    "Unsqueeze": _HERE + "shapes:vector_axes",
}


def load_repair(op_type: str) -> Callable[[NodeCall], Any] | None:
    """The repair of an operator, None if TVM's converter is right as it is."""
    return load_object(REPAIRS[op_type]) if op_type in REPAIRS else None


__all__ = ["REPAIRS", "Dims", "NodeCall", "load_repair"]
