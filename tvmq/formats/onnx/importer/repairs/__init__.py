"""Repairs of TVM's ONNX converters, one file an operator family.

A repair is `repair(call: NodeCall)`. It returns a Relax expression, or None to leave the node to TVM's
converter, which then sees the inputs and attributes as the repair left them. It raises
`call.unsupported_error(...)` for what TVM would import wrongly. REPAIRS maps an ONNX operator to "module:function".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmq.base.by_name import load_object
from tvmq.formats.importing.repair_table import read_table
from tvmq.formats.onnx.importer.repairs.node import Dims, NodeCall

# file of this folder: its repairs, and the operators that each is for
FUNCTIONS = {
    "einsum": "einsum=Einsum",
    "elementwise": """
        bit_shift=BitShift cast=Cast,CastLike celu=Celu clip=Clip cosh=Cosh dropout=Dropout elu=Elu
        extreme=Max,Min is_inf=IsInf mean=ReduceMean mish=Mish mod=Mod
        position_of_extreme=ArgMax,ArgMin power=Pow prelu=PRelu selu=Selu sign=Sign sinh=Sinh softplus=Softplus
        thresholded_relu=ThresholdedRelu top_k=TopK
    """,
    "layers": """
        batch_norm=BatchNormalization conv=Conv conv_transpose=ConvTranspose layer_norm=LayerNormalization
        lp_norm=LpNormalization only_first_output=SkipLayerNormalization pool=AveragePool,LpPool,MaxPool
        rms_norm=RMSNormalization roi_align=RoiAlign softmax=Hardmax,LogSoftmax,Softmax
    """,
    "moves": """
        concat=Concat gather=Gather gather_elements=GatherElements gather_nd=GatherND one_hot=OneHot pad=Pad
        scatter_nd=ScatterND space_to_depth=SpaceToDepth split=Split tensor_scatter=TensorScatter tile=Tile
    """,
    "quantization": """
        conv_integer=ConvInteger dequantize_linear=DequantizeLinear
        dynamic_quantize_linear=DynamicQuantizeLinear matmul_integer=MatMulInteger
        quantize_linear=QuantizeLinear
    """,
    "recurrent": "recurrent=GRU,LSTM,RNN",
    "resize": "resize=Resize",
    "shapes": """
        arange=Range constant_of_shape=ConstantOfShape expand=Expand flatten=Flatten reshape=Reshape
        strided_slice=Slice vector_axes=Squeeze,Unsqueeze
    """,
}
REPAIRS = read_table(__name__, FUNCTIONS)


def load_repair(op_type: str) -> Callable[[NodeCall], Any] | None:
    """The repair of an operator, None if TVM's converter is right as it is."""
    return load_object(REPAIRS[op_type]) if op_type in REPAIRS else None


__all__ = ["REPAIRS", "Dims", "NodeCall", "load_repair"]
