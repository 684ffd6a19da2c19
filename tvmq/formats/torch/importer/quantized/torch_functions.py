"""torch functions and methods of a quantized tensor, by name.

moves     copy or compare codes: the result has the scale of the argument
rounded   computed on the floats and rounded to the scale of the argument, as torch's quantized kernels do
fixed     rounded to a scale that torch fixes for the function

Tests: tests/formats/torch/importer/test_page.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tvmq.formats.torch.importer.quantized.codes import Grid, TracedCodes, int_repr, round_to_grid, unsupported_error

MOVES = (
    "__getitem__ amax amin channel_shuffle chunk clone contiguous detach dropout expand expand_as feature_dropout "
    "flatten flip index_select max_pool1d max_pool2d max_pool3d movedim narrow permute pixel_shuffle "
    "pixel_unshuffle repeat repeat_interleave reshape roll select split squeeze swapaxes t tile "
    "transpose unbind unflatten unsqueeze view view_as"
).split()
ROUNDED = (
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d clamp clamp_ clip "
    "elu hardtanh hardtanh_ interpolate leaky_relu mean relu relu_ relu6 upsample upsample_bilinear upsample_nearest"
).split()
FACTS = "dim size numel element_size stride is_contiguous is_floating_point is_complex ndimension".split()
# function -> scale, zero point of quint8, of qint8
FIXED = {
    "hardsigmoid": (1 / 256, 0, -128),
    "sigmoid": (1 / 256, 0, -128),
    "sigmoid_": (1 / 256, 0, -128),
    "tanh": (2 / 256, 128, 0),
    "tanh_": (2 / 256, 128, 0),
}


def floats(value: Any) -> Any:
    """Arguments with the floats in place of quantized tensors."""
    if isinstance(value, TracedCodes):
        return value.values
    if isinstance(value, list | tuple):
        return type(value)(map(floats, value))
    return value


def first_codes(args: Any) -> TracedCodes:
    """The first quantized tensor among arguments and lists of them."""
    for value in args:
        if isinstance(value, TracedCodes):
            return value
        if isinstance(value, list | tuple) and any(isinstance(item, TracedCodes) for item in value):
            return first_codes(value)
    raise unsupported_error("a function of quantized tensors got only floats", "quantize one of them")


def _compute(func: Any, args: Any, kwargs: Any) -> Any:
    plain = {name: floats(value) for name, value in kwargs.items()}
    return func(*map(floats, args), **plain)


def _move_codes(func: Any, *args: Any, **kwargs: Any) -> Any:
    grid = first_codes((*args, *kwargs.values())).grid
    return _with_grid(_compute(func, args, kwargs), grid)


def _with_grid(result: Any, grid: Grid) -> Any:
    if isinstance(result, torch.Tensor):
        return TracedCodes(result, grid) if result.is_floating_point() else result
    return tuple(_with_grid(item, grid) for item in result)


def _compute_and_round(func: Any, *args: Any, **kwargs: Any) -> Any:
    return round_to_grid(_compute(func, args, kwargs), first_codes((*args, *kwargs.values())).grid)


def _use_fixed_grid(func: Any, *args: Any, **kwargs: Any) -> Any:
    name = func.__name__
    scale, unsigned, signed = FIXED[name]
    dtype = first_codes(args).dtype
    return round_to_grid(
        _compute(func, args, kwargs), Grid(scale, unsigned if dtype == torch.quint8 else signed, dtype)
    )


def _cat(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Parts of one scale are moved, others rounded to the scale of the first."""
    parts = kwargs.get("tensors", args[0] if args else ())
    grids = [part.grid for part in parts if isinstance(part, TracedCodes)]
    is_move = all(grid.is_same(grids[0]) for grid in grids)
    return (_move_codes if is_move else _compute_and_round)(func, *args, **kwargs)


def _pad(func: Any, *args: Any, **kwargs: Any) -> Any:
    value = kwargs.get("value", args[3] if len(args) > 3 else None)
    return (_compute_and_round if value else _move_codes)(func, *args, **kwargs)


def _to(_func: Any, codes: TracedCodes, *args: Any, **kwargs: Any) -> TracedCodes:
    """To a device or memory format; a change of the type is left to torch's own refusal."""
    kinds = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.dtype)]
    if kinds and kinds != [codes.dtype]:
        raise unsupported_error("changing the type of a quantized tensor is not supported", "dequantize it first")
    return codes


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(MOVES, _move_codes),
    **dict.fromkeys(ROUNDED, _compute_and_round),
    **dict.fromkeys(FIXED, _use_fixed_grid),
    **dict.fromkeys(FACTS, lambda func, *args, **kwargs: _compute(func, args, kwargs)),
    **dict.fromkeys(("cat", "concat", "stack"), _cat),
    "pad": _pad,
    "_pad": _pad,
    "dequantize": lambda _func, codes: codes.values,
    "int_repr": lambda _func, codes: int_repr(codes),
    "q_scale": lambda _func, codes: codes.grid.scale,
    "q_zero_point": lambda _func, codes: codes.grid.zero_point,
    "to": _to,
    "cpu": _to,
}
