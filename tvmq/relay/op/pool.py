"""Pooling and resizing by whole factors, with Relay's signatures.

Tests: tests/relay/test_ops.py
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call, sides, spread, text
from tvmq.relay.op.elementwise import relax_op
from tvmq.relay.op.registry import REQUIRED, register

_LAYOUT = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def _pool(name: str, rank: int, average: bool) -> None:
    """Register a pooling operator."""
    ones = (1,) * rank
    defaults = {
        "pool_size": REQUIRED, "strides": ones, "padding": (0,) * rank, "dilation": ones, "layout": _LAYOUT[rank],
        "out_layout": "", "ceil_mode": False,
    }  # fmt: skip

    def lowering(emit: Any, args: list[Any], attrs: Any) -> Any:
        options = {
            "pool_size": list(spread(attrs.pool_size, rank)), "strides": list(spread(attrs.strides, rank)),
            "dilation": list(spread(attrs.dilation, rank)), "padding": list(sides(attrs.padding, rank)),
            "ceil_mode": bool(attrs.ceil_mode), "layout": attrs.layout, "out_layout": text(attrs.out_layout),
        }  # fmt: skip
        # Relax would count the padding of max pooling too, which has no meaning
        counted = {"count_include_pad": bool(attrs.count_include_pad)} if average else {}
        return emit(relax_op(name)(args[0], **options, **counted))

    register(name, **defaults, **({"count_include_pad": False} if average else {}))(lowering)


for _rank in (1, 2, 3):
    _pool(f"nn.max_pool{_rank}d", _rank, False)
    _pool(f"nn.avg_pool{_rank}d", _rank, True)


@register("nn.adaptive_avg_pool2d", output_size=None, layout="NCHW", out_layout="")
def _adaptive_avg_pool2d(emit: Any, args: list[Any], attrs: Any) -> Any:
    size = None if not attrs.output_size else list(spread(attrs.output_size, 2))
    return emit(relax.op.nn.adaptive_avg_pool2d(args[0], size, attrs.layout, text(attrs.out_layout)))


def _spatial(layout: str) -> list[int]:
    return [layout.index(axis) for axis in "HW"]


@register("nn.global_avg_pool2d", layout="NCHW", out_layout="")
def _global_avg_pool2d(emit: Any, args: list[Any], attrs: Any) -> Any:
    if text(attrs.out_layout) not in (None, attrs.layout):
        raise UnsupportedOpError("relay, nn.global_avg_pool2d: out_layout differs from layout; transpose the result")
    return emit(relax.op.nn.adaptive_avg_pool2d(args[0], [1, 1], attrs.layout))


@register("nn.global_max_pool2d", layout="NCHW", out_layout="")
def _global_max_pool2d(emit: Any, args: list[Any], attrs: Any) -> Any:
    return emit(relax.op.max(args[0], _spatial(attrs.layout), keepdims=True))


@register("nn.upsampling", scale_h=1.0, scale_w=1.0, layout="NCHW", method="nearest_neighbor", align_corners=False)
def _upsampling(emit: Any, args: list[Any], attrs: Any) -> Any:
    sizes = [int(args[0].ty.shape[axis]) for axis in _spatial(attrs.layout)]
    # Relay's upsampling rounds the size half to even
    size = [round(float(length * scale)) for length, scale in zip(sizes, (attrs.scale_h, attrs.scale_w), strict=True)]
    method = {"nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}[attrs.method]
    mode = "align_corners" if attrs.align_corners else "asymmetric"
    rounding = "floor" if method == "nearest_neighbor" and mode == "asymmetric" else "round"
    options = {"layout": attrs.layout, "method": method, "coordinate_transformation_mode": mode}
    return emit(relax.op.image.resize2d(args[0], size, rounding_method=rounding, cubic_alpha=-0.5, **options))


def _windows(name: str, data: Expr, rank: int, options: dict[str, Any]) -> Call:
    options |= {key: spread(options[key], rank) for key in ("pool_size", "strides", "dilation")}
    options["padding"] = sides(options["padding"], rank)
    return call(name, data, **options)


def max_pool1d(
    data: Expr, pool_size: Any = (1,), strides: Any = (1,), dilation: Any = (1,), padding: Any = (0,),
    layout: str = "NCW", out_layout: str = "", ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """Largest value of each window, as relay.nn.max_pool1d."""
    return _windows("nn.max_pool1d", data, 1, {k: v for k, v in locals().items() if k != "data"})


def max_pool2d(
    data: Expr, pool_size: Any = (1, 1), strides: Any = (1, 1), dilation: Any = (1, 1), padding: Any = (0, 0),
    layout: str = "NCHW", out_layout: str = "", ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """Largest value of each window, as relay.nn.max_pool2d.

    >>> from tvmq.relay.expr import var
    >>> str(max_pool2d(var("x", shape=(1, 2, 8, 8)), 2, 2).checked_type)
    'Tensor[(1, 2, 4, 4), float32]'
    """
    return _windows("nn.max_pool2d", data, 2, {k: v for k, v in locals().items() if k != "data"})


def max_pool3d(
    data: Expr, pool_size: Any = (1, 1, 1), strides: Any = (1, 1, 1), dilation: Any = (1, 1, 1),
    padding: Any = (0, 0, 0), layout: str = "NCDHW", out_layout: str = "", ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """Largest value of each window, as relay.nn.max_pool3d."""
    return _windows("nn.max_pool3d", data, 3, {k: v for k, v in locals().items() if k != "data"})


def avg_pool1d(
    data: Expr, pool_size: Any = (1,), strides: Any = (1,), dilation: Any = (1,), padding: Any = (0,),
    layout: str = "NCW", out_layout: str = "", ceil_mode: bool = False, count_include_pad: bool = False,
) -> Call:  # fmt: skip
    """Mean of each window, as relay.nn.avg_pool1d."""
    return _windows("nn.avg_pool1d", data, 1, {k: v for k, v in locals().items() if k != "data"})


def avg_pool2d(
    data: Expr, pool_size: Any = (1, 1), strides: Any = (1, 1), dilation: Any = (1, 1), padding: Any = (0, 0),
    layout: str = "NCHW", out_layout: str = "", ceil_mode: bool = False, count_include_pad: bool = False,
) -> Call:  # fmt: skip
    """Mean of each window, as relay.nn.avg_pool2d; the border counts where count_include_pad says so."""
    return _windows("nn.avg_pool2d", data, 2, {k: v for k, v in locals().items() if k != "data"})


def avg_pool3d(
    data: Expr, pool_size: Any = (1, 1, 1), strides: Any = (1, 1, 1), dilation: Any = (1, 1, 1),
    padding: Any = (0, 0, 0), layout: str = "NCDHW", out_layout: str = "", ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Call:  # fmt: skip
    """Mean of each window, as relay.nn.avg_pool3d."""
    return _windows("nn.avg_pool3d", data, 3, {k: v for k, v in locals().items() if k != "data"})


def adaptive_avg_pool2d(data: Expr, output_size: Any = None, layout: str = "NCHW", out_layout: str = "") -> Call:
    """Means of windows that give output_size, as relay.nn.adaptive_avg_pool2d; the size stays where none is given."""
    size = None if output_size is None or output_size == () else spread(output_size, 2)
    return call("nn.adaptive_avg_pool2d", data, output_size=size, layout=layout, out_layout=out_layout)


def global_avg_pool2d(data: Expr, layout: str = "NCHW", out_layout: str = "") -> Call:
    """Mean of each channel, as relay.nn.global_avg_pool2d."""
    return call("nn.global_avg_pool2d", data, layout=layout, out_layout=out_layout)


def global_max_pool2d(data: Expr, layout: str = "NCHW", out_layout: str = "") -> Call:
    """Largest value of each channel, as relay.nn.global_max_pool2d."""
    return call("nn.global_max_pool2d", data, layout=layout, out_layout=out_layout)


def upsampling(
    data: Expr, scale_h: float = 1, scale_w: float = 1, layout: str = "NCHW", method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Call:  # fmt: skip
    """Pictures enlarged by factors, as relay.nn.upsampling: nearest_neighbor, bilinear or bicubic."""
    return call("nn.upsampling", data, **{k: v for k, v in locals().items() if k != "data"})
