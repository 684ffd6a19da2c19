"""All choices of precision from one compiled module: roundings that switches turn on and off.

Before                                            After
    x_sq = simulated_quantize(x)                      x_sq = simulated_quantize(x)
    w_sq = simulated_quantize(w)                      x_c = where(switch_0, x_sq, x)
    c = conv2d(x_sq, w_sq)                            x_d = where(switch_1, x_c rounded by its own scale, x_c)
                                                      c = where(switch_2, conv2d(x_d, rounded w), conv2d(x_c, w))

To compile an integer module for each choice took ten times as long as to quantize. A rehearsal rounds where the integer
module would, in float: it ranks choices. What is handed out is an integer module, which is measured itself.

Tests: tests/quantization/guard/test_kinds_of_networks.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.ledger import get_ledger
from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import View, const_value, is_const, op_name, used_vars
from tvmq.options.rules import Rule
from tvmq.passes.families.base import Group, round_constant
from tvmq.passes.families.run_time_scales import LARGEST_CODE, WEIGHTED, shared_axes
from tvmq.passes.families.weights import qparams_of
from tvmq.passes.partition import integer_groups
from tvmq.quantization.guard.bound import Figure
from tvmq.quantization.guard.judge import Evaluator, Judge, Run

SIMULATED = "tvmq.simulated_quantize"


@dataclass(frozen=True)
class Precision:
    """Layers of more precision than 8 bits with calibrated scales, by their keys in the ledger.

    floats   stay float
    dynamic  convolutions and products whose codes are made at run time

    >>> Precision(frozenset(["lv3", "lv2"]), frozenset(["lv1"])).rules()
    (Rule('lv2', None), Rule('lv3', None), Rule('lv1', activations='dynamic'))
    """

    floats: frozenset[str] = frozenset()
    dynamic: frozenset[str] = frozenset()

    def rules(self) -> tuple[Rule, ...]:
        """Rules by which `quantize` makes these choices."""
        floats = [Rule(key, None) for key in sorted(self.floats)]
        return (*floats, *(Rule(key, activations="dynamic") for key in sorted(self.dynamic)))

    def restore(self, keys: Iterable[str]) -> Precision:
        """Precision with these layers in 8 bits again."""
        return Precision(self.floats.difference(keys), self.dynamic.difference(keys))

    def at_run_time(self, keys: Iterable[str]) -> Precision:
        """Precision with these layers by scales made at run time, no longer in float."""
        return Precision(self.floats.difference(keys), self.dynamic.union(keys))


READ, WEIGHT, DYNAMIC = "read", "weight", "dynamic"
Options = Mapping[str, str]  # {key of a layer: other codes than the usual ones, by their name}


@dataclass(frozen=True)
class Switch:
    """Switch of a rounding.

    kind    of what is read, of a weight, or of what is read by a scale made at run time
    group   that reads it; None: a float operator
    tensor  that is read; "" of others
    option  the codes of another module than the usual one, by its name
    """

    name: str
    kind: str
    group: str | None
    tensor: str = ""
    option: str = ""


class Rehearsal:
    """Figures of a calibrated module with any of its groups in float.

    calibrated  the float module with its simulated_quantize operators
    judge       has samples and what float gives for them
    compiled    compiles a module for this CPU; called at the first figure
    dynamic     scales can be made at run time: of the groups `dynamic`
    variants    {option: the same module with other codes}, which single groups may take
    """

    def __init__(
        self,
        calibrated: tvm.IRModule,
        judge: Judge,
        compiled: Evaluator,
        *,
        dynamic: bool = True,
        variants: Mapping[str, tvm.IRModule] | None = None,
    ) -> None:
        self.view = View(calibrated)
        self.groups = {group.output: group for group in integer_groups(get_ledger(calibrated).layers)}
        self._home = {member: group.output for group in self.groups.values() for member in group.members}
        self._judge, self._compiled = judge, compiled
        self._calibrated, self._variants = calibrated, dict(variants or {})
        self._switches: list[Switch] = []
        self._run: Run | None = None
        self._readers = self._groups_that_read()
        self.dynamic = [key for key, group in self.groups.items() if dynamic and _can_be_dynamic(self.view, group)]

    def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
        """Figure with groups, by the names of their results, in more precision; not exact below `least` dB."""
        return self._judge.measure(self.run_of(precision), roughly=True, least=least)

    def run_of(self, precision: Precision, options: Options | None = None) -> Run:
        """Run of the module with these choices.

        options  of groups that are in codes
        """
        self._compile()
        run, feed = self._run, self._positions(self.effective_precision(precision), options or {})
        assert run is not None
        return lambda batch: run({**batch, **feed})

    def options(self) -> dict[str, set[str]]:
        """{option: groups whose codes differ there from the usual ones}."""
        self._compile()
        differing: dict[str, set[str]] = {option: set() for option in self._variants}
        for switch in self._switches:
            if switch.option and switch.group is not None:
                differing[switch.option].add(switch.group)
        return differing

    def _compile(self) -> None:
        if self._run is None:
            module, self._switches = with_switches(self._calibrated, self._home, self._variants)
            self._run = self._compiled(module)

    def effective_precision(self, precision: Precision) -> Precision:
        """Precision that results in the end: what only moves codes goes with the groups that read it."""
        floats = set(precision.floats)
        for key, group in reversed(self.groups.items()):
            if group.passes and key in floats and any(reader not in floats for reader in self._readers.get(key, ())):
                floats.discard(key)
        return Precision(frozenset(floats), precision.dynamic)

    def _groups_that_read(self) -> dict[str, list[str]]:
        """{tensor: groups that read it in codes}."""
        readers: dict[str, list[str]] = {}
        for key, group in self.groups.items():
            for name in group.inputs:
                readers.setdefault(name, []).append(key)
        return readers

    def _positions(self, precision: Precision, options: Options) -> dict[str, np.ndarray]:
        return {
            switch.name: np.array(
                options.get(switch.group or "") == switch.option if switch.option else self._is_on(switch, precision)
            )
            for switch in self._switches
        }

    def _is_on(self, switch: Switch, precision: Precision) -> bool:
        """Float operators read codes where the tensor comes from integers, and other integers read it."""
        group, floats = switch.group, precision.floats | precision.dynamic
        if switch.kind == DYNAMIC:
            return group in precision.dynamic
        if group is not None and group not in (precision.floats if switch.kind == WEIGHT else floats):
            return True
        producer = self._home.get(switch.tensor)
        is_integer = producer is not None and producer not in floats
        return is_integer and any(reader not in floats for reader in self._readers.get(switch.tensor, ()))


def _can_be_dynamic(view: View, group: Group) -> bool:
    """True for what reads one activation and has a constant weight, which is rounded here."""
    value = view.value[group.root]
    weight = view.value.get(value.args[1].name) if op_name(value) in WEIGHTED and not is_const(value.args[1]) else None
    return weight is not None and op_name(weight) == SIMULATED and weight.attrs.kind == "weight"


def with_switches(
    mod: tvm.IRModule, home: Mapping[str, str], variants: Mapping[str, tvm.IRModule] | None = None
) -> tuple[tvm.IRModule, list[Switch]]:
    """The module with an input more for each rounding, true where it is on.

    mod       calibrated
    home      {variable: group that it belongs to}
    variants  {option: the same module with other scales, codes or bits}
    """
    wiring = _Wiring(mod, home, {option: View(other) for option, other in (variants or {}).items()})
    return wiring.run(), [switch for switch, _ in wiring.switches.values()]


class _Wiring:
    """Rewrites the module; `switches` are {(rounded variable, group that reads it): switch and its parameter}."""

    def __init__(self, mod: tvm.IRModule, home: Mapping[str, str], variants: Mapping[str, View]) -> None:
        self.rewriter, self.home, self.variants = Rewriter(mod), home, variants
        self.view = self.rewriter.view
        self.switches: dict[tuple[str | None, ...], tuple[Switch, relax.Var]] = {}
        self._round_weight: dict[str, tuple[relax.Expr, dict[str, relax.Var]]] = {}
        self._weights: dict[str, tuple[relax.Constant, dict[str, relax.Constant]]] = {}
        self._switched: dict[tuple[str, str | None], relax.Var] = {}

    def run(self) -> tvm.IRModule:
        """Rewrite all bindings."""
        rewriter = self.rewriter
        for var, value in self.view.bindings:
            rewriter.at(var.name)
            if op_name(value) == SIMULATED:
                self._remember(var, value)
                continue
            group = self.home.get(var.name)
            self._choose(used_vars(value), group)
            rewriter.bind(var, self._layer(var, value, group))
        self._choose(self.view.outputs, None)
        return rewriter.finish(params=[*rewriter.params, *(param for _, param in self.switches.values())])

    def _remember(self, var: relax.Var, value: relax.Call) -> None:
        """Remember a rounding, which is used where somebody reads it; of a weight both are constants."""
        if value.attrs.kind == "weight":
            usual = _round_weight(value)
            codes = {"": usual}
            for option, call in self._other_roundings(var.name):
                other = _round_weight(call)
                if not np.array_equal(const_value(other), const_value(usual)):
                    codes[option] = other
            self._weights[var.name] = value.args[0], codes
            self.rewriter.bind(var, value.args[0])
            return
        new = self.rewriter.substitute(value)
        rounded = {"": self.rewriter.emit(new, var.name)}
        for option, call in self._other_roundings(var.name):
            if not _rounds_alike(call, value):
                rounding = relax.Call(call.op, [new.args[0], *call.args[1:]], call.attrs, call.ty_args)
                rounded[option] = self.rewriter.emit(rounding, f"{var.name}_{option}")
        self._round_weight[var.name] = new.args[0], rounded

    def _other_roundings(self, name: str) -> Iterator[tuple[str, relax.Call]]:
        """Roundings of the same tensor in the variants."""
        for option, view in self.variants.items():
            if name in view.value and op_name(view.value[name]) == SIMULATED:
                yield option, view.value[name]

    def _choose(self, names: object, group: str | None) -> None:
        """Map the rounded variables to what this group reads."""
        for name in self._round_weight.keys() & set(names):  # type: ignore[call-overload]
            if (name, group) not in self._switched:
                plain, rounded = self._round_weight[name]
                tensor = self.view.value[name].args[0].name
                on = self._switch((name, group), READ, group, tensor)
                chosen = self.rewriter.emit(relax.op.where(on, rounded[""], plain), f"{name}_chosen")
                for option in list(rounded)[1:] if group is not None else ():
                    on = self._switch((name, group, option), READ, group, tensor, option)
                    chosen = self.rewriter.emit(relax.op.where(on, rounded[option], chosen), f"{name}_chosen_{option}")
                self._switched[name, group] = chosen
            self.rewriter.bind(self.view.var[name], self._switched[name, group])

    def _layer(self, var: relax.Var, value: relax.Expr, group: str | None) -> relax.Var:
        """Emit a binding as it is; with a weight twice, plain and with its codes: constants are what kernels need."""
        rewriter = self.rewriter
        weights = [name for name in used_vars(value) if name in self._weights]
        if not weights:
            return rewriter.emit(rewriter.substitute(value), var.name)
        name = weights[0]
        result = rewriter.emit(rewriter.substitute(value), f"{var.name}_float")
        for option, codes in self._weights[name][1].items():
            rewriter.bind(self.view.var[name], codes)
            new = rewriter.substitute(value)
            read = new.args[0] if option else self._by_own_scale(new, op_name(value), group)
            call = relax.Call(new.op, [read, *new.args[1:]], new.attrs, new.ty_args)
            other = rewriter.emit(call, f"{var.name}_codes{option}")
            on = self._switch((name, group, option), WEIGHT, group, option=option)
            result = rewriter.emit(relax.op.where(on, other, result), f"{var.name}_read_{option}")
        return result

    def _by_own_scale(self, call: relax.Call, name: str, group: str | None) -> relax.Expr:
        """Input of a product, or codes of it made at run time."""
        x = call.args[0]
        if name not in WEIGHTED or group is None:
            return x
        (first, count), emit = shared_axes(call, 0), self.rewriter.emit
        scale = emit(ops.dynamic_scale(x, first=first, count=count, largest_code=LARGEST_CODE), f"{x.name}_own_scale")
        codes = emit(ops.dynamic_quantize(x, scale, largest_code=LARGEST_CODE), f"{x.name}_own_codes")
        floats = emit(relax.op.multiply(relax.op.astype(codes, "float32"), scale), f"{x.name}_own")
        on = self._switch((x.name, f"{group}:own"), DYNAMIC, group)
        return emit(relax.op.where(on, floats, x), f"{x.name}_read")

    def _switch(
        self, key: tuple[str | None, ...], kind: str, group: str | None, tensor: str = "", option: str = ""
    ) -> relax.Var:
        if key not in self.switches:
            switch = Switch(f"tvmq_switch_{len(self.switches)}", kind, group, tensor, option)
            self.switches[key] = switch, relax.Var(switch.name, relax.TensorType((), "bool"))
        return self.switches[key][1]


def _rounds_alike(one: relax.Call, other: relax.Call) -> bool:
    """True for the same scale, zero point and specification."""
    pairs = zip(one.args[1:], other.args[1:], strict=True)
    same = all(np.array_equal(const_value(a), const_value(b)) for a, b in pairs)
    return same and spec_of(one.attrs) == spec_of(other.attrs)


def _round_weight(call: relax.Call) -> relax.Constant:
    """A weight as the floats that its codes stand for."""
    return relax.const(round_constant(const_value(call.args[0]), qparams_of(call)))
