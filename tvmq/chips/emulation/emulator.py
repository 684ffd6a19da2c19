"""`tvmq.emulate`: an integer module on a described chip, in NumPy.

What the description says is computed as it says: sums in its accumulators, codes of sums by its requantize rule, the
results of float operators rounded to its floats. Everything else is the definition (tvmq.reference). With a description
that says what the module says, the results are those of the compiled module, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.base.text import printable
from tvmq.chips.emulation.arithmetic import Arithmetic, arithmetic_of
from tvmq.chips.emulation.counts import Counts, LayerCounts, counts_table
from tvmq.chips.emulation.operators import OPERATORS, SUMS, Define, Site
from tvmq.errors import AccumulatorError
from tvmq.graph.analysis.core_bounds import Bounds
from tvmq.graph.ledger import get_ledger, require_stage
from tvmq.graph.module_functions import plain_module
from tvmq.graph.names import output_names
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION
from tvmq.graph.view import View, op_name, sizes_of
from tvmq.numerics.narrow_float_types import round_floats
from tvmq.reference import Reference

# What makes floats of codes and codes of floats.
CONVERSIONS = ("tvmq.quantize", "tvmq.dequantize")
CONVOLUTIONS = where(kind=CONVOLUTION)


def emulate(mod: tvm.IRModule, backend: str | Backend | None) -> Emulator:
    """The chip with this module: an `Emulator`, which runs as an executable does, and counts.

    mod      an integer module, as `quantize` gives it
    backend  a tvmq.Backend, its "module:object", a JSON file, or the name of one of tvmq.backends; None is the
             portable CPU
    raises   StageError for a module that is not quantized, ConfigError for an unknown backend

    >>> import numpy as np, tvmq
    >>> from tvmq.demo import load_demo
    >>> digits = load_demo()
    >>> mod, params = tvmq.from_onnx(digits.model, shape={"image": (1, *digits.test.shape[1:])})
    >>> qmod = tvmq.quantize(mod, params, {"image": digits.calibration[:8]}, guard=None)
    >>> chip = tvmq.emulate(qmod, "cpu")
    >>> x = {"image": digits.test[:1]}
    >>> all(np.array_equal(a, b) for a, b in zip(chip.run(x), tvmq.build(qmod).run(x)))
    True
    """
    mod = plain_module(mod)
    require_stage(mod, "emulate", ("realized",))
    description = backend_named(backend)
    return Emulator(mod, partial(arithmetic_of, description), description.name)


class Emulator:
    """A module on a chip; made by `tvmq.emulate`.

    chip     its arithmetic by operator family and depthwise=, as `arithmetic_of` gives that of a description
    name     of the chip
    layers   what was counted in each layer, over all runs
    touched  variables that the chip computes in another way than the definition; equal or not
    """

    def __init__(self, mod: tvm.IRModule, chip: Callable[..., Arithmetic], name: str = "") -> None:
        self.name, self.arithmetic, self._chip = name, chip(), chip
        self._of_layer: dict[tuple[str, ...], Arithmetic] = {}
        self.reference = Reference(mod)
        self._ledger, self._counts = get_ledger(mod), Counts()
        self.touched: set[str] = set()
        self._bounds: tuple[View, Bounds] | None = None
        self._trace: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}

    @property
    def layers(self) -> tuple[LayerCounts, ...]:
        """Counts of the layers, in the order of the module."""
        return tuple(self._counts.layers.values())

    @property
    def accumulators(self) -> str:
        """Its accumulators, in words."""
        chip = self.arithmetic.accumulator
        says = {"proved": "", "wrap": " that wrap", "saturate": " that saturate"}[chip.overflow]
        return f"{chip.bits} bits{says}"

    @property
    def output_names(self) -> list[str]:
        """Names of the model's results."""
        return output_names(self.view.func, len(self.view.outputs))

    @property
    def view(self) -> View:
        """The module, as it was last run."""
        return self.reference.view

    def clear(self) -> None:
        """Begin to count anew."""
        self._counts.clear()

    def __call__(self, *inputs: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Compute one array where the model has one result, else a list of arrays."""
        results = self.run(inputs)
        return results[0] if len(results) == 1 else results

    def run(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray],
        *,
        watch: Callable[[str, Any], None] | None = None,
        beside: Callable[[str, Any, Callable[[], Any]], Any] | None = None,
    ) -> list[np.ndarray]:
        """Compute one array for each output.

        inputs   {input name: array} or arrays in order
        watch    called with (variable, value) after each operator
        beside   called with (variable, the chip's result, a function that gives the definition's for the same
                 arguments); what it gives, if not None, stands instead of the chip's result
        raises   AccumulatorError naming the layer where a sum leaves accumulators that were said to be proved;
                 DataError as `tvmq.reference.run`
        """

        def step(var: relax.Var, call: relax.Call, args: Sequence[Any], define: Define) -> Any:
            result = self._step(var, call, [] if var.name in self.reference.islands else args, define)
            instead = beside(var.name, result, lambda: define(args)) if beside else None
            return result if instead is None else instead

        self._trace.clear()
        return self.reference.run(inputs, watch=watch, step=step)

    def __str__(self) -> str:
        return counts_table(self.layers, self.accumulators)

    # ---- one operator

    def _step(self, var: relax.Var, call: relax.Call, args: Sequence[Any], define: Define) -> Any:
        name = op_name(call)
        if not _is_described(name, args):
            return self._floats(var.name, name, args, define)
        layer = self._layer(var.name)
        reach = self._bounds_of_sums().reach.get(var.name)
        chip = self.arithmetic_of(layer.names)
        proved = reach is not None and reach <= chip.accumulator.maximum
        if name in SUMS:
            layer.reach = reach if reach is None or layer.reach is None else max(layer.reach, reach)
            layer.proved = layer.proved and proved
        if (name in SUMS and not proved) or (name not in SUMS and chip.rule is not None):
            self.touched.add(var.name)
        before = layer.overflows
        scale_y = self._ledger.codes.get(var.name, (1.0, 0))[0]
        result = OPERATORS[name](Site(call, args, define, chip, layer, proved, self._trace, var.name, float(scale_y)))
        if layer.overflows > before and chip.accumulator.overflow == "proved":
            raise self._overflow_error(layer, layer.overflows - before, chip)
        return result

    def _floats(self, variable: str, name: str, args: Sequence[Any], define: Define) -> Any:
        """The definition, its floats rounded to those of the chip."""
        floats = self.arithmetic_of(self.view.sources(variable)).floats
        if floats == "float32":
            return define(args)
        self.touched.add(variable)
        if name not in CONVERSIONS:  # their scales stay float32
            args = [round_floats(arg, floats) if isinstance(arg, np.ndarray) else arg for arg in args]
        result = define(args)
        if isinstance(result, list | tuple):
            return [round_floats(item, floats) for item in result]
        return round_floats(result, floats)

    def _bounds_of_sums(self) -> Bounds:
        """Bounds of the module as it is now; dynamic sizes get theirs with the first input."""
        if self._bounds is None or self._bounds[0] is not self.view:
            self._bounds = self.view, Bounds(self.view)
        return self._bounds[1]

    def _layer(self, variable: str) -> LayerCounts:
        names = self.view.sources(variable)
        layer = self._counts.counts_of(names)
        if not layer.operator:
            layer.operator, layer.reach = self.operator_of(names), 0
        return layer

    def arithmetic_of(self, names: tuple[str, ...]) -> Arithmetic:
        """How the chip computes a layer."""
        if names not in self._of_layer:
            self._of_layer[names] = self._chip(self.operator_of(names), depthwise=self._is_depthwise(names))
        return self._of_layer[names]

    def _is_depthwise(self, names: tuple[str, ...]) -> bool:
        """True where a filter of the layer reads one channel of several."""
        calls = [value for var, value in self.view.bindings if self.view.sources(var.name) == names]
        convolutions = [call for call in calls if op_name(call) in CONVOLUTIONS]
        return any(int(c.attrs.groups) > 1 and sizes_of(c.args[1])[1] == 1 for c in convolutions)

    def operator_of(self, names: tuple[str, ...]) -> str:
        """The family of a layer; the operator that is called so where it has none."""
        for entry in self._ledger.layers.values():
            if tuple(entry.get("layers", ())) == names:
                return str(entry["op"])
        operator_names = [op_name(value) for var, value in self.view.bindings if self.view.sources(var.name) == names]
        return operator_names[-1] if operator_names else ""

    def _overflow_error(self, layer: LayerCounts, count: int, arithmetic: Arithmetic) -> AccumulatorError:
        chip = arithmetic.accumulator
        return AccumulatorError.of_layer(
            "emulate",
            ", ".join(printable(name) for name in layer.names),
            f"{count} sums leave the accumulators of backend {self.name}, which have {chip.bits} bits and end at "
            f"{chip.maximum}",
            'say what happens then, overflow="wrap" or "saturate", or give its weights fewer bits',
        )


def _is_described(name: str, args: Sequence[Any]) -> bool:
    """True for operators on integers in which the chip has a word."""
    if name not in OPERATORS or not args or not isinstance(args[0], np.ndarray) or args[0].dtype.kind not in "iu":
        return False
    return name not in ("add", "multiply") or args[0].dtype == np.int32


__all__ = ["Emulator", "emulate"]
