"""`tvmq.quantize(..., tune=seconds)`: which layers become int8 is decided by running them on this machine.

    1  the whole model is built with nominal ranges, in float and in int8, and both are profiled layer by layer
    2  candidates: regions, i.e. integer layers that hand each other codes, and single layers that got slower. A
       region costs its layers and its part of the conversions; it is a candidate if float might be faster
    3  those with most to gain first: the model is built with the candidate in float and runs by turns with the best one
       so far; it replaces that one if it is faster by LEAST_GAIN

Neither ranges nor data change times, so the decision needs none. What it was stands in the ledger.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tvm

from tvmq.base.deprecation import warn_user
from tvmq.codegen.compile.build import build
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.symbolic import dynamic_dimensions
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule
from tvmq.runtime.executable import Executable
from tvmq.runtime.inputs import TensorInfo
from tvmq.runtime.timing import time_by_turns

LEAST_GAIN = 1.02  # less is noise
HOPELESS = 0.5  # a region that takes less of its time in float is no candidate, whatever conversions cost
PROFILES = 7
USUAL_SIZE = 64  # of a dynamic dimension that is no batch
CONVERSIONS = ("quantize", "dequantize", "requantize", "to_nhwc", "to_nchw")

Quantize = Callable[[QConfig], tvm.IRModule]
Seconds = dict[str, float]


@dataclass
class Verdict:
    """Layers that stay float because that was measured to be faster.

    floats     {source name of a layer that stays float: why}
    seconds    of a run: "float", "int8" with everything in int8 that can be, and "chosen"
    tried      candidates that were built and run
    left       candidates that the time did not suffice for
    """

    seconds: Seconds
    floats: dict[str, str] = field(default_factory=dict)
    tried: int = 0
    left: int = 0

    def rules(self) -> tuple[Rule, ...]:
        """Rules that keep these layers in float."""
        return tuple(Rule(re.compile(f"^{re.escape(name)}$"), None) for name in self.floats)

    def note(self, machine: str) -> str:
        """Note for the ledger."""
        times = ", ".join(f"{name} {_time(second)}" for name, second in self.seconds.items())
        rest = f", {self.left} not for want of time" if self.left else ""
        slower = "; int8 is slower than float here" if self.is_slower else ""
        return f"measured on {machine}: a run in {times}; {self.tried} candidates for float tried{rest}{slower}"

    @property
    def is_slower(self) -> bool:
        """True if the chosen model is slower than the float one."""
        return self.seconds["chosen"] > LEAST_GAIN * self.seconds["float"]


def decide(floats: tvm.IRModule, quantize: Quantize, config: QConfig, seconds: float, *, target: CpuTarget) -> Verdict:
    """Measure which layers to keep in float for about `seconds`, and at least the two whole models.

    floats    the prepared float module
    quantize  makes the integer module for options, without data
    target    the CPU to build for, which must run here
    """
    start = time.perf_counter()
    nominal = replace(config, calibrate_mode="global_scale", bias_correction=False, weight_rounding="nearest")
    whole = quantize(nominal)
    plain, best = _build_for_one(floats, target), _build_for_one(whole, target)
    feed = _feed(plain)
    beside = _time_in_turns({"float": plain, "int8": best}, feed)
    decision = Verdict({**beside, "chosen": beside["int8"]})
    candidates = _candidates(whole, *(_by_layer(exe, whole, feed) for exe in (plain, best)))
    for index, (names, times) in enumerate(candidates):
        if time.perf_counter() - start > seconds:
            decision.left = len(candidates) - index
            break
        why = f"measured: {_time(times[0])} in float, {_time(times[1])} in int8 with its conversions"
        trial = replace(decision, floats={**decision.floats, **dict.fromkeys(names, why)})
        other = _build_for_one(quantize(replace(nominal, rules=(*nominal.rules, *trial.rules()))), target)
        decision.tried += 1
        timing = _time_in_turns({"best": best, "other": other}, feed)
        if timing["best"] > LEAST_GAIN * timing["other"]:
            best, decision.floats = other, trial.floats
            decision.seconds["chosen"] *= timing["other"] / timing["best"]
    return decision


def with_decision(mod: tvm.IRModule, decision: Verdict, machine: str) -> tvm.IRModule:
    """The quantized module whose ledger tells what was measured; a warning where int8 is slower than float."""
    ledger = get_ledger(mod)
    for entry in ledger.layers.values():
        reasons = [decision.floats[name] for name in entry["layers"] if name in decision.floats]
        if reasons and entry["precision"] == "float":
            entry["why"] = reasons[0]
    ledger.notes.append(decision.note(machine))
    if decision.is_slower:
        warn_user(f"quantize: {decision.note(machine)}; keep the float model, or see tvmq inspect")
    return with_ledger(mod, ledger)


def _build_for_one(mod: tvm.IRModule, target: CpuTarget) -> Executable:
    """The executable for one sample."""
    sizes = {name: 1 if axis == 0 else USUAL_SIZE for name, (_, axis) in dynamic_dimensions(mod).items()}
    return build(mod, target=target, sizes=sizes)


def _candidates(whole: tvm.IRModule, floats: Seconds, integers: Seconds) -> list[tuple[list[str], tuple[float, float]]]:
    """(names of layers, (seconds in float, in int8)), those with most to gain first."""
    layers = get_ledger(whole).layers
    regions = _regions(layers)
    share = integers.get("", 0.0) / max(1, len(regions))  # of all conversions
    candidates = []
    for keys in regions if len(regions) > 1 else []:
        times = _sum(floats, keys), _sum(integers, keys) + share
        if times[1] > HOPELESS * times[0]:
            candidates.append((keys, times))
    for key, entry in layers.items():
        times = floats.get(key, 0.0), integers.get(key, 0.0)
        if entry["precision"] == "int8" and entry.get("macs") and times[1] > times[0] > 0:
            candidates.append(([key], times))
    candidates.sort(key=lambda one: one[1][0] - one[1][1])
    return [([name for key in keys for name in layers[key]["layers"]], times) for keys, times in candidates]


def _regions(layers: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Integer layers that read each other's codes, together."""
    integer = {key: entry for key, entry in layers.items() if entry["precision"] == "int8"}
    home = {member: key for key, entry in integer.items() for member in (key, *entry.get("members", ()))}
    region = {key: {key} for key in integer}
    for key, entry in integer.items():
        for source in {home[name] for name in entry.get("inputs", ()) if name in home}:
            if region[source] is not region[key]:
                joined = region[source] | region[key]
                region.update(dict.fromkeys(joined, joined))
    different = {id(keys): keys for keys in region.values()}
    return [sorted(keys, key=list(integer).index) for keys in different.values()]


def _by_layer(exe: Executable, whole: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> Seconds:
    """{layer of the ledger: seconds}; "" has the conversions and layouts."""
    layers = get_ledger(whole).layers
    owner = {name: key for key in reversed(list(layers)) for name in layers[key]["layers"]}
    totals: Seconds = {}
    for row in exe.profile(feed, repeat=PROFILES).layers:
        keys = [owner[name] for name in row.layers if name in owner]
        heavy = [key for key in keys if layers[key].get("macs")]
        moves = all(kernel.startswith(CONVERSIONS) for kernel in row.kernels)
        key = "" if moves or not keys else (heavy or keys)[0]
        totals[key] = totals.get(key, 0.0) + row.seconds
    return totals


def _time_in_turns(executables: Mapping[str, Executable], feed: Mapping[str, np.ndarray]) -> Seconds:
    """Median seconds of a run of each, taking turns."""
    return time_by_turns({name: exe.prepare_run(feed) for name, exe in executables.items()})


def _feed(exe: Executable) -> dict[str, np.ndarray]:
    """Random inputs of the right types: floats around zero, integers of 1."""
    random = np.random.default_rng(0)

    def sizes(info: TensorInfo) -> tuple[int, ...]:
        return tuple(map(int, info.shape))

    return {
        info.name: random.standard_normal(sizes(info)).astype(info.dtype)
        if info.dtype.startswith("float")
        else np.ones(sizes(info), info.dtype)
        for info in exe.input_info
    }


def _sum(seconds: Seconds, keys: Iterable[str]) -> float:
    return sum(seconds.get(key, 0.0) for key in keys)


def _time(seconds: float) -> str:
    """Duration as text.

    >>> _time(0.0000421), _time(0.0123)
    ('42.1 us', '12.3 ms')
    """
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
