"""relay.image: resizing.

Tests: tests/relay/test_ops.py
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call, spread, text
from tvmq.relay.op.registry import register


def _relax_rounding(rounding: str) -> str:
    """Name in Relax of what Relay's "round" did: halves up. Relax's own gives them to the even neighbour.

    >>> _relax_rounding("round"), _relax_rounding("floor")
    ('round_prefer_ceil', 'floor')
    """
    return "round_prefer_ceil" if rounding == "round" else rounding


@register(
    "image.resize2d", size=None, roi=None, layout="NCHW", method="linear",
    coordinate_transformation_mode="half_pixel", rounding_method="", cubic_alpha=-0.5, cubic_exclude=0,
    extrapolation_value=0.0, out_dtype=None,
)  # fmt: skip
def _resize2d(emit: Any, args: list[Any], attrs: Any) -> Any:
    # Left open, Relay rounds to the nearest pixel where corners are aligned, else down
    aligned = attrs.coordinate_transformation_mode == "align_corners"
    rounding = _relax_rounding(attrs.rounding_method or ("round" if aligned else "floor"))
    options = {
        "layout": attrs.layout, "method": attrs.method, "rounding_method": rounding,
        "coordinate_transformation_mode": attrs.coordinate_transformation_mode, "cubic_alpha": attrs.cubic_alpha,
        "cubic_exclude": attrs.cubic_exclude, "out_dtype": text(attrs.out_dtype or ""),
    }  # fmt: skip
    return emit(relax.op.image.resize2d(args[0], list(spread(attrs.size, 2)), **options))


def resize2d(
    data: Expr, size: Any, roi: Any = None, layout: str = "NCHW", method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "", cubic_alpha: float = -0.5,
    cubic_exclude: int = 0, extrapolation_value: float = 0.0, out_dtype: str | None = None,
) -> Call:  # fmt: skip
    """Pictures in another size, as relay.image.resize2d: nearest_neighbor, linear or cubic.

    raises  UnsupportedOpError  a region of interest

    >>> from tvmq.relay.expr import var
    >>> str(resize2d(var("x", shape=(1, 3, 4, 4)), (8, 8)).checked_type)
    'Tensor[(1, 3, 8, 8), float32]'
    """
    if roi is not None or coordinate_transformation_mode == "tf_crop_and_resize":
        raise UnsupportedOpError("relay, image.resize2d: no region of interest; cut it out with strided_slice first")
    return call("image.resize2d", data, **{k: v for k, v in locals().items() if k != "data"})
