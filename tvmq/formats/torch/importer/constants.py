"""Constant folding by torch at import: positions, masks and other values that depend on no input and no weight.

Tests: tests/formats/importing/test_importers.py
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvmq import numerics
from tvmq.formats.torch.importer.repairs import UNSUPPORTED
from tvmq.formats.torch.importer.signature import element_type

CASTS = ("to.", "_to_copy.", "type_as.")
CONVERSIONS = ("quantize_per_", "dequantize_per_")  # their constants are codes of weights
LARGEST = 1 << 24  # elements; more is cheaper to compute at run time than to store


class FoldedConstants:
    """Values of the nodes that are known at import."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}

    def add_tensor(self, node: Any, tensor: Any) -> None:
        """A tensor of the model itself: whole numbers are positions and masks, floating-point ones weights."""
        if not tensor.is_floating_point():
            self._values[node] = tensor

    def fold(self, node: Any) -> bool:
        """Compute a node whose inputs are all known; False where one is not, or the result is large."""
        import torch

        if node.op != "call_function" or not all(used in self._values for used in node.all_input_nodes):
            return False
        name = str(getattr(node.target, "__name__", ""))
        value = node.meta.get("val")
        if name in UNSUPPORTED or name.startswith(CONVERSIONS) or not _is_fixed(value):
            return False
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda used: self._values[used])
        with torch.no_grad():
            result = node.target(*args, **kwargs)
        self._values[node] = _cast_to_integers(args[0], result) if name.startswith(CASTS) else result
        return True

    def relax_value(self, node: Any) -> Any:
        """A known value as a constant, a tuple of them, or a number."""
        return _relax(self._values[node])


def _cast_to_integers(source: Any, result: Any) -> Any:
    """The result of a cast; from floats to integers equal to that at run time, not torch's."""
    import torch

    if not source.is_floating_point() or result.is_floating_point() or result.dtype == torch.bool:
        return result
    return torch.from_numpy(numerics.cast(source.double().cpu().numpy(), str(result.dtype).removeprefix("torch.")))


def _is_fixed(value: Any) -> bool:
    """True for tensors of fixed sizes that are small enough to store, and tuples of them."""
    import torch

    if isinstance(value, tuple | list):
        return all(map(_is_fixed, value))
    if not isinstance(value, torch.Tensor):
        return isinstance(value, int | float)
    return all(isinstance(size, int) for size in value.shape) and value.numel() <= LARGEST


def _relax(value: Any) -> Any:
    import torch

    if isinstance(value, tuple | list):
        return tuple(map(_relax, value))
    if not isinstance(value, torch.Tensor):
        return value
    dtype = element_type(value.dtype, "constant")
    return relax.const(value.detach().cpu().contiguous().numpy(), dtype)
