"""Repairs of TVM's torch converters, where they are missing, wrong, or leave what later stages cannot read.

A repair is `repair(call: TorchCall)`. It returns a Relax expression or a tuple of them, or None to leave the node to
TVM's converter. It raises `call.unsupported_error(...)` for what TVM would import wrongly. REPAIRS maps an operator of
torch to "module:function", UNSUPPORTED maps an operator that cannot be imported to the way out.

Tests: tests/formats/importing/test_importers.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.base.by_name import load_object
from tvmq.errors import UnsupportedOpError
from tvmq.formats.importing.repair_table import read_table
from tvmq.formats.torch.importer.quantized import QUANTIZED


class TorchCall:
    """A node whose inputs are already Relax values.

    node      the torch.fx node
    layer     name of its layer, for messages
    operator  name and overload, "add.Tensor"
    importer  TVM's importer, whose environment holds the values so far
    """

    def __init__(self, node: Any, layer: str, operator: str, importer: Any) -> None:
        self.node, self.layer, self.operator, self.importer = node, layer, operator, importer
        self.builder: relax.BlockBuilder = importer.block_builder
        self._arguments: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        """An argument by its name in torch's schema, nodes as Relax values; its default where it is left out."""
        if self._arguments is None:
            self._arguments = self._bind_arguments()
        return self._arguments[name]

    def _bind_arguments(self) -> dict[str, Any]:
        schema = self.node.target._schema.arguments
        positional = dict(zip((argument.name for argument in schema), self.node.args, strict=False))
        values = {a.name: a.default_value if a.has_default_value() else None for a in schema}
        values |= positional | dict(self.node.kwargs)
        return {name: self.value(value) for name, value in values.items()}

    def value(self, argument: Any) -> Any:
        """An argument with its nodes as Relax values."""
        return self.importer._retrieve_args(argument)

    def shape(self, value: relax.Expr) -> list[Any]:
        """Sizes of a tensor, numbers where they are known."""
        return [int(d) if hasattr(d, "value") else d for d in value.ty.shape.values]

    def emit(self, value: Any) -> Any:
        """Bind a tensor or tuple to a variable; anything else stays as it is."""
        if not isinstance(value, relax.Call | relax.TupleGetItem):
            return value
        return self.builder.emit(self.builder.normalize(value))

    def constant(self, value: Any, like: relax.Expr) -> GenericConst:
        """A number or array as a constant of the element type of a tensor."""
        return relax.const(np.asarray(value, str(like.ty.dtype)), str(like.ty.dtype))

    def unsupported_error(self, what: str, way_out: str) -> UnsupportedOpError:
        """The error to raise: names the layer and its operator, says what is wrong and the way out."""
        return UnsupportedOpError(f"from_torch, layer '{self.layer}': {self.operator}: {what}; {way_out}")


# file of this folder: its repairs, and the operators that each is for
FUNCTIONS = {
    "indexing": """
        embedding=embedding.default getitem=getitem index=index.Tensor index_select=index_select.default
        repeat=repeat.default select=select.int take=take.default unfold=unfold.default
    """,
    "math": """
        amax=amax.default amin=amin.default attention=scaled_dot_product_attention.default
        binary_of_constants=matmul.default,maximum.default,minimum.default,mm.default clamp=clamp.default
        extremes=max.dim,min.dim floor_divide_integers=div.Tensor_mode group_norm=native_group_norm.default
        instance_norm=instance_norm.default layer_norm=layer_norm.default mish=mish.default prod=prod.dim_int
        rms_norm=rms_norm.default
        spread_and_mean=std_mean.correction,var_mean.correction subtract=sub.Tensor
    """,
    "recurrent": "recurrent=gru.input,lstm.input,rnn_relu.input,rnn_tanh.input",
    "windows": """
        adaptive_avg_pool1d=adaptive_avg_pool1d.default
        adaptive_avg_pool2d=_adaptive_avg_pool2d.default,adaptive_avg_pool2d.default
        adaptive_max_pool2d=adaptive_max_pool2d.default avg_pool2d=avg_pool2d.default
        convolution=convolution.default only_whole_sizes=upsample_bicubic2d.vec,upsample_bilinear2d.vec
        upsample_nearest2d=upsample_nearest2d.vec
    """,
}
REPAIRS = QUANTIZED | read_table("tvmq.formats.torch.importer", FUNCTIONS)

UNSUPPORTED: dict[str, str] = {
    **dict.fromkeys(
        ("_upsample_bilinear2d_aa.default", "_upsample_bicubic2d_aa.default"),
        "use interpolate(..., antialias=False), or resize before the model",
    ),
    **dict.fromkeys(("affine_grid_generator.default", "grid_sampler_2d.default"), "run it outside of the model"),
    **dict.fromkeys(
        ("bernoulli.p", "rand.default", "randn.default", "randn_like.default"),
        "its values are random; pass them to `forward` as an input",
    ),
    "cond": "control flow is not supported; export the model without it",
    **dict.fromkeys(
        ("gru.data", "lstm.data", "rnn_relu.data", "rnn_tanh.data"),
        "packed sequences are not supported; pass padded ones",
    ),
    **dict.fromkeys(
        ("masked_select.default", "nonzero.default"), "the shape of its result depends on values; use torch.where"
    ),
}


def load_repair(operator: str) -> Callable[[TorchCall], Any] | None:
    """The repair of an operator, None if TVM's converter is right as it is."""
    return load_object(REPAIRS[operator]) if operator in REPAIRS else None
