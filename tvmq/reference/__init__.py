"""NumPy execution of a module of ours: what every compiled result must equal, bit for bit.

Own operators are executed by their definition (tvmq.numerics), integer convolutions and products exactly, operators
that move or compare values by NumPy. A float operator without a definition of its own is an island
(reference/float_regions.py): its result is that of the operator compiled alone, and equality is asked of everything
around it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.base.index_checks import check_indices
from tvmq.base.text import last_line
from tvmq.codegen.lower.int4_weights import float_weights
from tvmq.errors import DataError
from tvmq.graph.analysis.limits import size_limits
from tvmq.graph.evaluate import evaluator
from tvmq.graph.functions import function_module, plain_module, unpack_weights
from tvmq.graph.indices import input_indices
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import input_names
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CONVOLUTION, POOL
from tvmq.graph.ops.conversions import is_calibrated, spec_of
from tvmq.graph.own_operators import own_operator
from tvmq.graph.sizes import covering_padding
from tvmq.graph.symbolic import sizes_in, with_sizes
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, shape_of, sizes_of
from tvmq.numerics.elementary import ELEMENTARY
from tvmq.passes.extensions import definitions
from tvmq.reference.float_regions import FloatRegions

# Variable, expression, its arguments, the definition as a function of them -> the result
Step: TypeAlias = "Callable[[relax.Var, relax.Call, Sequence[Any], Callable[[Sequence[Any]], Any]], Any]"


def _axis(call: relax.Call) -> int | None:
    return int(call.attrs.axis) if int(call.attrs.axis) >= 0 else None


def _ints(values: Any) -> tuple[int, ...]:
    return tuple(int(v) for v in values)


def _simulated_quantize(call: relax.Call, x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    if not is_calibrated(call):
        return x
    spec, axis = spec_of(call.attrs), _axis(call)
    codes = numerics.quantize(x, scale, zero, axis=axis, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)
    return numerics.dequantize(codes, scale, zero, axis=axis)


def _quantize(call: relax.Call, x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    a = call.attrs
    return numerics.quantize(x, scale, zero, axis=_axis(call), dtype=a.dtype, qmin=a.qmin, qmax=a.qmax)


def _requantize(call: relax.Call, acc: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    a = call.attrs
    return numerics.requantize(
        acc,
        multiplier,
        shift,
        zero_point=a.zero_point,
        axis=_axis(call),
        mode=a.mode,
        rounding=a.rounding,
        dtype=a.dtype,
        qmin=a.qmin,
        qmax=a.qmax,
        negative_slope=a.negative_slope,
    )


def _conv(call: relax.Call, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    a = call.attrs
    return numerics.conv(
        x,
        w,
        strides=_ints(a.strides),
        padding=_ints(a.padding),
        dilation=_ints(a.dilation),
        groups=int(a.groups),
    )


def _dynamic_scale(call: relax.Call, x: np.ndarray) -> np.ndarray:
    a = call.attrs
    return numerics.dynamic_scale(x, axes=range(a.first, a.first + a.count), largest_code=a.largest_code)


def _conv_transpose(call: relax.Call, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    a = call.attrs
    names = ("strides", "padding", "output_padding", "dilation")
    options: dict[str, Any] = {name: _ints(getattr(a, name)) for name in names}
    return numerics.conv_transpose(x, w, **options, groups=int(a.groups), x_zero=int(a.zero_point))


def _max_pool(call: relax.Call, x: np.ndarray) -> np.ndarray:
    a = call.attrs
    options: dict[str, Any] = {"kernel": a.pool_size, "strides": a.strides, "dilation": a.dilation}
    options = {name: _ints(value) for name, value in options.items()}
    options["padding"] = covering_padding(a.padding, x.shape[2:], shape_of(call)[2:], **options)
    return numerics.max_pool(x, **options)


DEFINED: dict[str, Callable[..., Any]] = {
    **{name: operator.evaluate for name, operator in OPERATORS.items() if operator.definition},
    "tvmq.simulated_quantize": _simulated_quantize,
    "tvmq.quantize": _quantize,
    "tvmq.dequantize": lambda call, q, s, z: numerics.dequantize(q, s, z, axis=_axis(call)),
    "tvmq.requantize": _requantize,
    "tvmq.dynamic_scale": _dynamic_scale,
    "tvmq.conv_transpose": _conv_transpose,
    **dict.fromkeys(where(kind=POOL, commutes_with_quantize=True), _max_pool),
}
INTEGER: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(where(kind=CONVOLUTION), _conv),
    "matmul": lambda call, a, b: numerics.matmul(a, b),
}


def run(
    mod: tvm.IRModule,
    inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray],
    *,
    target: Any = "llvm",
    function: str = "main",
    watch: Callable[[str, Any], None] | None = None,
) -> list[np.ndarray]:
    """The results of a function of the module, one array an output; see `Reference` for many runs."""
    return Reference(mod, target=target, function=function).run(inputs, watch=watch)


class Reference:
    """A module prepared for NumPy execution.

    target    what undefined float islands are compiled for; everything else does not depend on it
    function  "main"; of a module in four functions also each of the three that main calls
    islands   variables whose float operator has no definition
    """

    def __init__(self, mod: tvm.IRModule, *, target: Any = "llvm", function: str = "main") -> None:
        self._mod, self._target = float_weights(unpack_weights(function_module(plain_module(mod), function))), target
        self._sizes: dict[str, int] = {}
        self.view = View(self._mod)
        self._indices = input_indices(self.view, input_names(self.view.func))
        self._own = definitions(get_ledger(self._mod).config.get("operators", ()))
        self._islands = FloatRegions(self.view, self._target, self._own)

    def _fix(self, sizes: dict[str, int]) -> None:
        """Prepare for these sizes of dynamic dimensions."""
        for name, limit in size_limits(self._mod).items():
            if not limit.least <= sizes[name] <= limit.most:
                raise DataError(
                    f"reference: '{name}' is {sizes[name]}, the model takes {limit.least} to {limit.most}: {limit.why}"
                )
        try:
            self.view = View(with_sizes(self._mod, sizes))
        except (ValueError, RuntimeError) as error:  # what TVM raises for shapes that do not fit each other
            raise DataError(
                f"reference: the model takes no inputs of these sizes, {sizes}: {last_line(error)}"
            ) from error
        self._sizes = sizes  # islands keep their dynamic sizes, as the compiled module has them

    @property
    def islands(self) -> list[str]:
        """Variables that undefined float operators compute."""
        return self._islands.names

    def run(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray],
        *,
        watch: Callable[[str, Any], None] | None = None,
        step: Step | None = None,
    ) -> list[np.ndarray]:
        """Run the module; one array an output.

        inputs   {input name: array} or arrays in order
        watch    called with (variable name, value) after each binding, for comparing layer by layer
        step     called with (variable, expression, its arguments (none for an island), what gives the
                 definition's result for arguments); what it gives stands for the result of the expression
        raises   DataError for missing inputs, for those of another shape, and for indices outside of what they count
        """
        names = input_names(self.view.func)
        if not isinstance(inputs, Mapping):
            inputs = dict(zip(names.values(), inputs, strict=True))
        missing = [name for name in names.values() if name not in inputs]
        if missing:
            raise DataError(f"reference: input '{missing[0]}' is missing; the module takes {list(names.values())}")
        arrays = {name: np.asarray(value) for name, value in inputs.items()}
        _check_shapes(View(self._mod), names, arrays)
        sizes = sizes_in(self._mod, arrays)
        if sizes != self._sizes:
            self._fix(sizes)
        _check_shapes(self.view, names, arrays)  # of inputs that share a dynamic dimension
        for use in self._indices:
            check_indices(np.asarray(inputs[use["input"]]), use, sizes, "reference")
        values: dict[str, Any] = {param: np.asarray(inputs[name]) for param, name in names.items()}
        for var, value in self.view.bindings:
            if self._islands.inside(var.name):
                continue
            values[var.name] = self._execute(var, value, values, step)
            if watch:
                watch(var.name, values[var.name])
        result = _read(self.view.func.body.body, values)
        return list(result) if isinstance(result, list | tuple) else [result]

    def _execute(self, var: relax.Var, value: relax.Expr, values: dict[str, Any], step: Step | None) -> Any:
        """The result of one binding."""
        if step is None or not isinstance(value, relax.Call):
            island = self._islands.run(var.name, values)
            return _execute(value, values, self._own) if island is None else island
        if self._islands.computes(var.name):  # its arguments may be inside of it
            return step(var, value, [], lambda _args: self._islands.run(var.name, values))
        args = [_read(arg, values) for arg in value.args]
        return step(var, value, args, lambda args: execute(value, args, self._own))


def _check_shapes(view: View, names: Mapping[str, str], inputs: Mapping[str, np.ndarray]) -> None:
    """Refuse inputs of another rank, or of another size where the module says one."""
    for param, name in names.items():
        wanted, sizes = sizes_of(view.params[param]), inputs[name].shape
        if len(wanted) != len(sizes) or any(isinstance(w, int) and w != g for w, g in zip(wanted, sizes, strict=True)):
            shape = ", ".join(map(str, wanted))
            raise DataError(f"reference: input '{name}' has shape {sizes}, the model takes ({shape})")


def _execute(value: relax.Expr, values: dict[str, Any], own: Mapping[str, Callable[..., Any]]) -> Any:
    if not isinstance(value, relax.Call):
        return _read(value, values)
    return execute(value, [_read(arg, values) for arg in value.args], own)


def execute(value: relax.Call, args: Sequence[Any], own: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Compute an operator on these arguments by its definition.

    own    operators that families of other packages define on integers
    """
    name, own = op_name(value), own or {}
    integer = {**INTEGER, **own} if _is_integer(args[0]) else {}
    function = (
        integer.get(name) or DEFINED.get(name) or _look_up(name) or _elementary(value) or evaluator(value, exact=True)
    )
    assert function is not None, name  # all others are islands
    with np.errstate(all="ignore"):
        result = function(value, *args)
    return result if isinstance(result, list | tuple) else np.asarray(result)


def _look_up(name: str) -> Callable[..., Any] | None:
    """The definition of an operator that a user made."""
    operator = own_operator(name)
    return (lambda call, *args: operator.definition(*args, **operator.values(call))) if operator else None


def _elementary(call: relax.Call) -> Callable[..., Any] | None:
    """Definition of exp and the like on float32."""
    function = ELEMENTARY.get(op_name(call))
    if function is None or dtype_of(call) != "float32":
        return None
    return lambda _call, x: function(x)


def _is_integer(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iu"


def is_defined(value: relax.Expr, own: Container[str] = ()) -> bool:
    """True if the definition says what an expression gives, bit for bit.

    own    operators that families of other packages define on integers
    """
    if not isinstance(value, relax.Call):
        return True
    name = op_name(value)
    if name in own and "int" in dtype_of(value.args[0]):
        return True
    if name in INTEGER:
        return dtype_of(value) == "int32"
    return (
        name in DEFINED
        or own_operator(name) is not None
        or _elementary(value) is not None
        or evaluator(value, exact=True) is not None
    )


def _read(expr: relax.Expr, values: dict[str, Any]) -> Any:
    """The value of an argument: array, list of arrays, or a Python number."""
    if isinstance(expr, relax.Var):
        return values[expr.name]
    if isinstance(expr, relax.Tuple):
        return [_read(item, values) for item in expr.fields]
    if isinstance(expr, relax.TupleGetItem):
        return _read(expr.tuple_value, values)[expr.index]
    if is_const(expr):
        return const_value(expr)
    return getattr(expr, "value", expr)
