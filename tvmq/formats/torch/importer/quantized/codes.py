"""A quantized tensor while a model is traced, and the mode in which torch functions take it.

torch.export cannot trace quantized tensors. A `TracedCodes` takes their place: the float tensor that the codes stand
for, behind a quantize and a dequantize operator, with its scale and zero point. The model's Python code runs unchanged.

Tests: tests/formats/importing/test_importers.py
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree

from tvmq.errors import UnsupportedOpError
from tvmq.numerics.code_type import CODE_TYPES, CODES_8

with suppress(ImportError):  # registers the operators; a torch without it has float models alone
    importlib.import_module("torch.ao.quantization.fx._decomposed")

DECOMPOSED = torch.ops.quantized_decomposed
# torch's quantized type -> type of its codes
STORAGE = {torch.quint8: torch.uint8, torch.qint8: torch.int8}
RANGES = {getattr(torch, name): CODE_TYPES[name].limits for name in CODES_8}


@dataclass(frozen=True, eq=False)
class Grid:
    """Scale (a number, or a tensor of one), zero point and torch's quantized type."""

    scale: Any
    zero_point: Any
    dtype: torch.dtype

    def is_same(self, other: Grid) -> bool:
        """True where both hold the same floats."""
        return (self.scale, self.zero_point, self.dtype) == (other.scale, other.zero_point, other.dtype)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Arguments of quantize_per_tensor after the tensor; raises UnsupportedOpError unless it has 8 bits."""
        if self.dtype not in STORAGE:
            kind = str(self.dtype).removeprefix("torch.")
            raise unsupported_error(f"a tensor of type {kind} is not supported", "quantize it to quint8 or qint8")
        storage = STORAGE[self.dtype]
        return (self.scale, self.zero_point, *RANGES[storage], storage)


class TracedCodes:
    """A quantized tensor: `values` are the floats that its codes stand for, `grid` says which floats these can be."""

    is_quantized = True

    def __init__(self, values: torch.Tensor, grid: Grid) -> None:
        self.values, self.grid = values, grid

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return call(func, args, kwargs or {})

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(torch.Tensor, name)  # AttributeError as a tensor has it
        if name in ("shape", "ndim", "device", "layout", "requires_grad"):
            return getattr(self.values, name)
        if not callable(attribute):
            raise unsupported_error(f"'{name}' of a quantized tensor is not supported", "dequantize it first")
        return lambda *args, **kwargs: call(attribute, (self, *args), kwargs)

    @property
    def dtype(self) -> torch.dtype:
        """torch's quantized type."""
        return self.grid.dtype

    def __getitem__(self, index: Any) -> Any:
        return call(torch.Tensor.__getitem__, (self, index), {})

    def __len__(self) -> int:
        return len(self.values)


def round_to_grid(values: torch.Tensor, grid: Grid) -> TracedCodes:
    """The tensor rounded to a grid."""
    is_tensor = isinstance(grid.scale, torch.Tensor)
    overload = "tensor" if is_tensor else "default"
    codes = getattr(DECOMPOSED.quantize_per_tensor, overload)(values, *grid.arguments)
    return TracedCodes(getattr(DECOMPOSED.dequantize_per_tensor, overload)(codes, *grid.arguments), grid)


def int_repr(codes: TracedCodes) -> torch.Tensor:
    """The codes as integers."""
    return DECOMPOSED.quantize_per_tensor.default(codes.values, *codes.grid.arguments)


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a torch function, method or operator with a quantized argument."""
    from tvmq.formats.torch.importer.quantized.operators import OPERATORS
    from tvmq.formats.torch.importer.quantized.torch_functions import FUNCTIONS

    name = str(getattr(func, "__name__", func))
    if is_quantized_operator(func):
        table: dict[str, Callable[..., Any]] = OPERATORS
        name, prefix = name.partition(".")[0], "quantized."
    else:
        table, prefix = FUNCTIONS, ""
    if name not in table:
        raise unsupported_error(f"{prefix}{name} of a quantized tensor is not supported", "dequantize it first")
    return table[name](func, *args, **kwargs)


def is_quantized_operator(func: Any) -> bool:
    """True for operators of torch.ops.quantized."""
    return str(func).startswith("quantized.")


class TracingMode(TorchFunctionMode):
    """Mode for tracing a model: functions that make quantized tensors make `TracedCodes`.

    paths   {id of a module: its path}, for messages
    """

    def __init__(self, paths: dict[int, str]) -> None:
        super().__init__()
        self.paths = paths
        self.module_stack: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if is_quantized_operator(func):
            return call(func, args, kwargs)
        name = getattr(func, "__name__", "")
        return MAKERS[name](*args, **kwargs) if name in MAKERS else func(*args, **kwargs)

    def locate_error(self, error: UnsupportedOpError) -> UnsupportedOpError:
        """The error with the module that was running; hooks after a module do not run if it raises."""
        text = str(error)
        if not text.startswith(PREFIX):
            return error
        path = self.module_stack[-1] if self.module_stack else ""
        return UnsupportedOpError(f"from_torch, layer '{path}': {text.removeprefix(PREFIX)}")

    def enter(self, module: torch.nn.Module, _args: Any) -> None:
        """A forward pre-hook of all modules."""
        self.module_stack.append(self.paths.get(id(module), self.module_stack[-1] if self.module_stack else ""))

    def leave(self, module: torch.nn.Module, _args: Any, result: Any) -> None:
        """A forward hook of all modules; UnsupportedOpError for a model that returns a quantized tensor."""
        if self.module_stack:
            self.module_stack.pop()
        leaves = _pytree.tree_leaves(result)
        if self.paths.get(id(module)) == "" and any(isinstance(leaf, TracedCodes) for leaf in leaves):
            raise unsupported_error(
                "a result of the model is a quantized tensor", "return x.dequantize() or use a DeQuantStub"
            )


PREFIX = "from_torch: "


def unsupported_error(what: str, way_out: str) -> UnsupportedOpError:
    """The error to raise; `TracingMode.locate_error` adds the module."""
    return UnsupportedOpError(f"{PREFIX}{what}; {way_out}")


def _quantize_per_tensor(x: Any, scale: Any, zero_point: Any, dtype: torch.dtype) -> TracedCodes:
    return round_to_grid(x, Grid(scale, zero_point, dtype))


def _quantize_per_channel(x: Any, scales: Any, zero_points: Any, axis: int, dtype: torch.dtype) -> TracedCodes:
    """A weight; what reads it takes the floats alone."""
    numbers = (scales, zero_points, axis, *Grid(scales, zero_points, dtype).arguments[2:])
    codes = DECOMPOSED.quantize_per_channel.default(x, *numbers)
    return TracedCodes(DECOMPOSED.dequantize_per_channel.default(codes, *numbers), Grid(None, None, dtype))


MAKERS: dict[str, Callable[..., Any]] = {
    "quantize_per_tensor": _quantize_per_tensor,
    "quantize_per_channel": _quantize_per_channel,
}
