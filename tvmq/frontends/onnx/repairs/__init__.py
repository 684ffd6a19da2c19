"""Repairs of TVM's ONNX converters, one file an operator family.

A repair is `repair(call: NodeCall)`. It returns a Relax expression, or None to leave the node to TVM's
converter, which then sees the inputs and attributes as the repair left them. It raises
`call.unsupported(...)` for what TVM would import wrongly. REPAIRS maps an ONNX operator to "module:function".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmq.by_name import load_object
from tvmq.frontends.onnx.repairs.node import Dims, NodeCall

_HERE = "tvmq.frontends.onnx.repairs."

REPAIRS: dict[str, str] = {
    "AveragePool": _HERE + "windows:pool",
    **dict.fromkeys(("ArgMax", "ArgMin"), _HERE + "reductions:place_of_extreme"),
    "BatchNormalization": _HERE + "normalization:batch_norm",
    "BitShift": _HERE + "elementwise:bit_shift",
    **dict.fromkeys(("Cast", "CastLike"), _HERE + "elementwise:cast"),
    "Celu": _HERE + "functions:celu",
    "Clip": _HERE + "elementwise:clip",
    "Concat": _HERE + "padding:concat",
    "ConstantOfShape": _HERE + "shapes:constant_of_shape",
    "Conv": _HERE + "windows:conv",
    "ConvInteger": _HERE + "integer:conv_integer",
    "ConvTranspose": _HERE + "windows:conv_transpose",
    "Cosh": _HERE + "functions:cosh",
    "DequantizeLinear": _HERE + "quantized:dequantize_linear",
    "Dropout": _HERE + "elementwise:dropout",
    "DynamicQuantizeLinear": _HERE + "integer:dynamic_quantize_linear",
    "Elu": _HERE + "functions:elu",
    "Expand": _HERE + "shapes:expand",
    "Flatten": _HERE + "shapes:flatten",
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _HERE + "recurrent:recurrent"),
    "Gather": _HERE + "indexing:gather",
    "GatherElements": _HERE + "indexing:gather_elements",
    "GatherND": _HERE + "indexing:gather_nd",
    "IsInf": _HERE + "elementwise:is_inf",
    "LayerNormalization": _HERE + "normalization:layer_norm",
    "LpNormalization": _HERE + "normalization:lp_norm",
    "LpPool": _HERE + "windows:pool",
    "MatMulInteger": _HERE + "integer:matmul_integer",
    "Max": _HERE + "elementwise:maximum",
    "MaxPool": _HERE + "windows:pool",
    "Min": _HERE + "elementwise:minimum",
    "Mish": _HERE + "functions:mish",
    "Mod": _HERE + "functions:mod",
    "OneHot": _HERE + "indexing:one_hot",
    "Pad": _HERE + "padding:pad",
    "Pow": _HERE + "elementwise:power",
    "PRelu": _HERE + "elementwise:prelu",
    "QuantizeLinear": _HERE + "quantized:quantize_linear",
    "Range": _HERE + "shapes:arange",
    "ReduceMax": _HERE + "reductions:extreme",
    "ReduceMin": _HERE + "reductions:extreme",
    "Reshape": _HERE + "shapes:reshape",
    "Resize": _HERE + "resize:resize",
    "RMSNormalization": _HERE + "normalization:rms_norm",
    "RoiAlign": _HERE + "windows:roi_align",
    "ScatterND": _HERE + "indexing:scatter_nd",
    "Selu": _HERE + "functions:selu",
    "Sign": _HERE + "functions:sign",
    "Sinh": _HERE + "functions:sinh",
    "SkipLayerNormalization": _HERE + "normalization:only_first_output",
    "Slice": _HERE + "shapes:strided_slice",
    "Softmax": _HERE + "normalization:softmax",
    "Softplus": _HERE + "functions:softplus",
    "SpaceToDepth": _HERE + "blocks:space_to_depth",
    "Split": _HERE + "padding:split",
    "Squeeze": _HERE + "shapes:vector_axes",
    "ThresholdedRelu": _HERE + "functions:thresholded_relu",
    "Tile": _HERE + "padding:tile",
    "TopK": _HERE + "sorting:top_k",
    "Unsqueeze": _HERE + "shapes:vector_axes",
}


def load_repair(op_type: str) -> Callable[[NodeCall], Any] | None:
    """The repair of an operator, None if TVM's converter is right as it is."""
    return load_object(REPAIRS[op_type]) if op_type in REPAIRS else None


__all__ = ["REPAIRS", "Dims", "NodeCall", "load_repair"]
