"""Repairs of TVM's torch converters, where they are missing, wrong, or leave what later stages cannot read.

A repair is `repair(call: TorchCall)`. It returns a Relax expression or a tuple of them, or None to leave the node to
TVM's converter. It raises `call.unsupported(...)` for what TVM would import wrongly. REPAIRS maps an operator of torch
to "module:function", REFUSED one that has no import to the way out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmq.by_name import load_object
from tvmq.frontends.torch.call import TorchCall

_ATTENTION = "tvmq.frontends.torch.attention:"
_INDEXING = "tvmq.frontends.torch.indexing:"
_MATH = "tvmq.frontends.torch.math:"
_NORMALIZATION = "tvmq.frontends.torch.normalization:"
_WINDOWS = "tvmq.frontends.torch.windows:"

REPAIRS: dict[str, str] = {
    "_adaptive_avg_pool2d.default": _WINDOWS + "adaptive_avg_pool2d",
    "adaptive_avg_pool1d.default": _WINDOWS + "adaptive_avg_pool1d",
    "adaptive_avg_pool2d.default": _WINDOWS + "adaptive_avg_pool2d",
    "adaptive_max_pool2d.default": _WINDOWS + "adaptive_max_pool2d",
    "amax.default": _MATH + "amax",
    "amin.default": _MATH + "amin",
    "avg_pool2d.default": _WINDOWS + "avg_pool2d",
    "clamp.default": _MATH + "clamp",
    "convolution.default": _WINDOWS + "convolution",
    "div.Tensor_mode": _MATH + "divide_whole",
    "embedding.default": _INDEXING + "embedding",
    "getitem": _INDEXING + "getitem",
    "index.Tensor": _INDEXING + "index",
    "index_select.default": _INDEXING + "index_select",
    "layer_norm.default": _NORMALIZATION + "layer_norm",
    "max.dim": _MATH + "max_along",
    "min.dim": _MATH + "min_along",
    "mish.default": _MATH + "mish",
    "native_group_norm.default": _NORMALIZATION + "group_norm",
    "prod.dim_int": _MATH + "prod",
    "rms_norm.default": _NORMALIZATION + "rms_norm",
    "scaled_dot_product_attention.default": _ATTENTION + "attention",
    "select.int": _INDEXING + "select",
    "std_mean.correction": _MATH + "deviation_and_mean",
    "sub.Tensor": _MATH + "subtract",
    "take.default": _INDEXING + "take",
    "unfold.default": _INDEXING + "unfold",
    "upsample_bicubic2d.vec": _WINDOWS + "only_whole_sizes",
    "upsample_bilinear2d.vec": _WINDOWS + "only_whole_sizes",
    "upsample_nearest2d.vec": _WINDOWS + "upsample_nearest2d",
    "var_mean.correction": _MATH + "variance_and_mean",
}

_RANDOM = "its values are random; give them to `forward` as an input"
REFUSED: dict[str, str] = {
    "_upsample_bilinear2d_aa.default": "use interpolate(..., antialias=False), or resize before the model",
    "_upsample_bicubic2d_aa.default": "use interpolate(..., antialias=False), or resize before the model",
    "affine_grid_generator.default": "run it outside of the model",
    "bernoulli.p": _RANDOM,
    "cond": "control flow is not supported; export the model without it",
    "grid_sampler_2d.default": "run it outside of the model",
    "masked_select.default": "the shape of its result depends on values; use torch.where",
    "nonzero.default": "the shape of its result depends on values; use torch.where",
    "rand.default": _RANDOM,
    "randn.default": _RANDOM,
    "randn_like.default": _RANDOM,
}


def load_repair(operator: str) -> Callable[[TorchCall], Any] | None:
    """The repair of an operator, None if TVM's converter is right as it is."""
    return load_object(REPAIRS[operator]) if operator in REPAIRS else None
