"""NumPy execution of a module of ours: what every compiled result must equal, bit for bit.

Own operators are executed by their definition (tvmq.numerics), integer convolutions and products exactly, operators
that move or compare values by NumPy. A float operator without a definition of its own is an island
(reference/float_regions.py): its result is that of the operator compiled alone, for any CPU
(schedule/contraction.py), and equality is asked of everything around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import tvm
from tvm import relax

from tvmq.base.index_checks import check_indices
from tvmq.base.text import last_line
from tvmq.codegen.lower.int4_weights import float_weights
from tvmq.errors import DataError
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.analysis.limits import size_limits
from tvmq.graph.describe_states import describe_states
from tvmq.graph.indices import input_indices
from tvmq.graph.interpret import Function, interpret, read_array
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import function_module, plain_module, unpack_weights
from tvmq.graph.names import input_names, output_names
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.symbolic import sizes_in, with_sizes
from tvmq.graph.view import View, op_name, results_of, sizes_of
from tvmq.passes.extensions import definitions
from tvmq.reference.definition import definition_of
from tvmq.reference.float_regions import FloatRegions
from tvmq.runtime.inputs import describe_refusal
from tvmq.runtime.sessions import begin_session, run_session
from tvmq.state.model_states import ModelStates
from tvmq.state.session_state import SessionState

NONE = ModelStates()
# Variable, expression, its arguments, the definition as a function of them -> the result
Step: TypeAlias = "Callable[[relax.Var, relax.Call, Sequence[Any], Callable[[Sequence[Any]], Any]], Any]"


def run(
    mod: tvm.IRModule,
    inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray],
    *,
    target: Any = "llvm",
    function: str = "main",
    watch: Callable[[str, Any], None] | None = None,
    state: SessionState | None = None,
) -> list[np.ndarray]:
    """The results of a function of the module, one array an output; see `Reference` for many runs.

    state  of a session of the model, compiled or not: it is read, and then what the call gave (`Executable.run`)
    """
    return Reference(mod, target=target, function=function).run(inputs, state, watch=watch)


class Reference:
    """A module prepared for NumPy execution.

    target    what undefined float islands are compiled for; no result depends on it
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
        self._states = describe_states(self.view, batch_dimension(self._mod) or "") if state_pairs(self._mod) else NONE
        self._outputs = output_names(self.view.func, len(results_of(self.view.func)))

    def new_state(
        self, batch: int = 1, *, capacity: int | None = None, sizes: Mapping[str, int] | None = None
    ) -> SessionState:
        """The state of a session before its first call; see `Executable.new_state`, whose states are the same."""
        return begin_session(self._states, batch, capacity, sizes)

    def _fix(self, sizes: dict[str, int]) -> None:
        """Prepare for these sizes of dynamic dimensions."""
        for name, limit in size_limits(self._mod).items():
            refusal = describe_refusal(asdict(limit), sizes[name])
            if refusal:
                raise DataError(f"reference: '{name}' is {sizes[name]}, {refusal}")
        try:
            self.view = View(with_sizes(self._mod, sizes, least=0))
        except (ValueError, RuntimeError) as error:  # what TVM raises for shapes that do not fit each other
            raise DataError(
                f"reference: the model takes no inputs of these sizes, {sizes}: {last_line(error)}"
            ) from error
        self._sizes = sizes  # islands keep their dynamic sizes, as the compiled module has them

    @property
    def islands(self) -> list[str]:
        """Variables that undefined float operators compute."""
        return self._islands.names

    def members(self, name: str) -> tuple[str, ...]:
        """The bindings that are computed with a variable: of an island several, its result last."""
        return self._islands.members(name)

    def run(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray],
        state: SessionState | None = None,
        *,
        watch: Callable[[str, Any], None] | None = None,
        step: Step | None = None,
    ) -> list[np.ndarray]:
        """Run the module; one array an output.

        inputs   {input name: array} or arrays in order
        state    of a session: it is read, and then what the call gave; the results are the outputs that are no state
        watch    called with (variable name, value) after each binding, for comparing layer by layer
        step     called with (variable, expression, its arguments, what gives the definition's result for arguments);
                 what it gives stands for the result of the expression. The arguments of an island are the variables
                 that it reads; for none at all it reads what was computed
        raises   DataError for missing inputs, for those of another shape, and for indices outside of what they count
        """
        if state is None:
            return self._run(inputs, watch=watch, step=step)
        return run_session(self._run, inputs, state, self._states, self._outputs, watch=watch, step=step)  # type: ignore[arg-type]

    def _run(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray],
        *,
        watch: Callable[[str, Any], None] | None = None,
        step: Step | None = None,
    ) -> list[np.ndarray]:
        """All results for all inputs."""
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
        for var, _ in interpret(self.view, partial(self._function_of, values, step), values):
            if watch and not self._islands.inside(var.name):
                watch(var.name, values[var.name])
        result = read_array(self.view.func.body.body, values)
        return list(result) if isinstance(result, list | tuple) else [result]

    def _function_of(
        self, values: dict[str, Any], step: Step | None, var: relax.Var, call: relax.Call
    ) -> Function | None:
        """Function(call, *arrays) of a binding; None inside of an island, whose result is computed at once."""
        if self._islands.inside(var.name):
            return None
        is_island = self._islands.computes(var.name)

        def compute(args: Sequence[Any]) -> Any:
            if not is_island:
                return execute(call, args, self._own)
            instead = dict(zip(self._islands.inputs(var.name), args, strict=False))
            return self._islands.run(var.name, {**values, **instead})

        if step is None:
            return lambda _call, *args: compute([] if is_island else args)
        inputs = self._islands.inputs(var.name) if is_island else []
        return lambda _call, *args: step(var, call, [values[name] for name in inputs] if is_island else args, compute)


def _check_shapes(view: View, names: Mapping[str, str], inputs: Mapping[str, np.ndarray]) -> None:
    """Refuse inputs of another rank, or of another size where the module says one."""
    for param, name in names.items():
        wanted, sizes = sizes_of(view.params[param]), inputs[name].shape
        if len(wanted) != len(sizes) or any(isinstance(w, int) and w != g for w, g in zip(wanted, sizes, strict=True)):
            shape = ", ".join(map(str, wanted))
            raise DataError(f"reference: input '{name}' has shape {sizes}, the model takes ({shape})")


def execute(value: relax.Call, args: Sequence[Any], own: Mapping[str, Function] | None = None) -> Any:
    """Compute an operator on these arguments by its definition.

    own    operators that families of other packages define on integers
    """
    function = definition_of(value, own or {})
    assert function is not None, op_name(value)  # all others are islands
    with np.errstate(all="ignore"):
        result = function(value, *args)
    return result if isinstance(result, list | tuple) else np.asarray(result)


def is_defined(value: relax.Expr, own: Mapping[str, Function] | None = None) -> bool:
    """True if the definition says what an expression gives, bit for bit.

    own    operators that families of other packages define on integers
    """
    return not isinstance(value, relax.Call) or definition_of(value, own or {}) is not None
