"""simulated_quantize computed by code of the user's, instead of the usual rounding.

The code gets the tensor, the scale, and the least and the largest number of steps from zero, and gives what the tensor
becomes: loops for compiled code, and NumPy for what compiled code is compared with. It counts wherever a simulation
runs: do_simulation, the guard's trials, `search`, `compare`, `tvmq.training.FakeQuantize`. Integers do not follow it:
they round as `tvmq.numerics.quantize` does.

Tests: tests/relay/test_register_compute.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import tvm
from tvm import relax, te

from tvmq.errors import ConfigError
from tvmq.graph.operators.loops import fence
from tvmq.graph.view import make_const
from tvmq.numerics.spec import QuantSpec

Loops = Callable[..., te.Tensor]  # (x, scale, low, high, attributes) -> tensor of the type of x
Definition = Callable[..., np.ndarray]  # the same of arrays


@dataclass(frozen=True)
class OwnSimulation:
    """The user's code.

    loops       (x, scale, low, high, attributes) -> TE tensor
    definition  the same in NumPy; None: what the loops give, compiled by themselves
    gradient    (x, scale, low, high, attributes) -> slope of each value, in NumPy; None: straight through
    """

    loops: Loops
    definition: Definition | None = None
    gradient: Definition | None = None

    def slope(self, x: np.ndarray, scale: np.ndarray, zero: np.ndarray, attributes: Mapping[str, Any]) -> np.ndarray:
        """Slope of each value by the user's gradient, float32.

        raises  ConfigError for a gradient of a shape that is not that of x
        """
        assert self.gradient is not None
        result = np.asarray(self.gradient(x, *_operands(x.ndim, scale, zero, attributes), attributes), np.float32)
        if result.shape not in ((), x.shape):
            raise ConfigError(
                f"simulate_by: gradient must give a slope for each value, shape {x.shape}. Got {result.shape} instead"
            )
        return np.array(np.broadcast_to(result, x.shape))

    def define(self, x: np.ndarray, scale: np.ndarray, zero: np.ndarray, attributes: Mapping[str, Any]) -> np.ndarray:
        """Definition of the simulation of an array, in NumPy."""
        operands = (x, *_operands(x.ndim, scale, zero, attributes))
        if self.definition is not None:
            return np.asarray(self.definition(*operands, attributes), x.dtype).reshape(x.shape)
        types = tuple((operand.shape, str(operand.dtype)) for operand in operands)
        return _run_loops(self.loops, types, tuple(attributes.items()), operands)

    def legalize(
        self,
        builder: relax.BlockBuilder,
        x: relax.Expr,
        scale: np.ndarray,
        zero: np.ndarray,
        attributes: Mapping[str, Any],
    ) -> relax.Expr:
        """A call of the loops; ValueError (no class of ours comes back through TVM) where they give another type."""
        constants = map(make_const, _operands(len(x.ty.shape), scale, zero, attributes))
        return builder.call_te(
            lambda *tensors: _close(self.loops, tensors, attributes), x, *constants, primfunc_name_hint="own_simulation"
        )


_own: list[OwnSimulation] = []  # the last one counts


def simulate_by(
    loops: Loops | None, definition: Definition | None = None, gradient: Definition | None = None
) -> None:
    """Compute simulated_quantize by code of your own, in this process; None brings the usual rounding back.

    loops       (x, scale, low, high, attributes) -> a TE tensor of the shape and type of x, each value by itself.
                scale, low and high are float32 TE tensors that broadcast to x: the step, and the least and largest
                number of steps from zero. attributes is a dictionary: kind ("input", "weight", "activation"), tensor
                (its name), dtype, bits, symmetric, axis (-1: one scale)
    definition  the same in NumPy, what `tvmq.verify` compares with; None: the loops, compiled by themselves
    gradient    of the same arguments, in NumPy: d result / d x of each value, for `tvmq.training.FakeQuantize`; None: 1
                where a value has a code, 0 where it saturates
    raises      ConfigError for what is no function

    >>> simulate_by(lambda x, scale, low, high, attributes: te.compute(x.shape, lambda *i: x(*i) + 1))
    >>> own_simulation().define(np.ones(2, "float32"), np.float32(1), np.int32(0), {"dtype": "int8", "bits": 8,
    ...     "symmetric": True, "axis": -1})
    array([2., 2.], dtype=float32)
    >>> simulate_by(None)
    """
    for name, value in (("loops", loops), ("definition", definition), ("gradient", gradient)):
        if value is not None and not callable(value):
            raise ConfigError(f"simulate_by: {name} must be a function. Got a {type(value).__name__} instead")
    _own[:] = [] if loops is None else [OwnSimulation(loops, definition, gradient)]


def own_simulation() -> OwnSimulation | None:
    """The code that `simulate_by` was given; None for the usual rounding."""
    return _own[0] if _own else None


def _operands(
    rank: int, scale: np.ndarray, zero: np.ndarray, attributes: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scale, least and largest steps from zero, of rank 0 or along the axis of a tensor of that rank."""
    spec = QuantSpec(attributes["dtype"], attributes["bits"], attributes["symmetric"])
    axis = attributes["axis"]
    shape = () if axis < 0 else tuple(-1 if at == axis % rank else 1 for at in range(rank))

    def spread(value: np.ndarray) -> np.ndarray:
        return np.asarray(value, np.float32).reshape(shape)

    return spread(scale), spread(spec.qmin - zero), spread(spec.qmax - zero)


def _close(loops: Loops, tensors: tuple[te.Tensor, ...], attributes: Mapping[str, Any]) -> te.Tensor:
    """The loops, and a fence behind them, lest their last product be joined with a sum."""
    x, result = tensors[0], loops(*tensors, dict(attributes))
    same = isinstance(result, te.Tensor) and str(result.dtype) == str(x.dtype) and len(result.shape) == len(x.shape)
    if not same:
        got = f"{result.dtype} of rank {len(result.shape)}" if isinstance(result, te.Tensor) else type(result).__name__
        raise ValueError(
            f"simulated_quantize by code of your own: it gave a {got}; return a TE tensor like x, "
            f"{x.dtype} of rank {len(x.shape)}"
        )
    return te.compute(x.shape, lambda *i: fence(result(*i)), name="own_simulation")


def _run_loops(loops: Loops, types: Any, attributes: tuple[tuple[str, Any], ...], operands: Any) -> np.ndarray:
    """The loops on arrays."""
    result = tvm.runtime.empty(*types[0])
    _compile_loops(loops, types, attributes)(*map(tvm.runtime.tensor, operands), result)
    return result.numpy()


@cache
def _compile_loops(loops: Loops, types: Any, attributes: tuple[tuple[str, Any], ...]) -> Any:
    with tvm.target.Target("llvm"):
        tensors = tuple(te.placeholder(shape, dtype) for shape, dtype in types)
        body = te.create_prim_func([*tensors, _close(loops, tensors, dict(attributes))])
        return tvm.compile(tvm.IRModule({"main": body.with_attr("global_symbol", "main")}), "llvm")["main"]
