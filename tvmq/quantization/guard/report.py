"""Report of the guard: in the ledger for each layer and step, and one sentence where the bound is missed.

Tests: tests/quantization/guard/test_guard.py
"""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.quantization.guard.bound import Figure, Guard
from tvmq.quantization.guard.raising import Search
from tvmq.quantization.guard.regions import Part

NAMED_PARTS = 3
TRAINING = "training with quantization in mind (finetune=, `tvmq finetune`)"
LEFT = f"left: more calibration samples, {TRAINING}"


def with_report(module: tvm.IRModule, search: Search, final: Figure) -> tvm.IRModule:
    """The module of more precision whose ledger tells why."""
    ledger = get_ledger(module)
    for part, in_codes in search.blamed:
        for key in part.keys:
            entry = ledger.layers.get(key) or ledger.layers.get(search.layers[key].get("root", key))
            if entry is None or not str(entry["why"]).startswith("rule "):
                continue  # rules of the user take precedence
            what = "codes made at run time" if entry.get("dynamic") else "float"
            entry["why"] = f"guard: {what}: {in_codes} in 8 bits, {final} so, forecast {_time(part.seconds)}"
    ledger.notes += [f"guard: {text}: {figure}" for text, figure in steps(search, final)]
    return with_ledger(module, ledger)


def steps(search: Search, final: Figure) -> list[tuple[str, Figure]]:
    """All that was tried, from the module in 8 bits to what is handed out."""
    return [("in 8 bits", search.before.figure), *search.steps, ("so", final)]


def missed_bound(search: Search, final: Figure, guard: Guard, *, tried: int, refusal: str | None) -> str:
    """The sentence for a model that does not keep the bound.

    refusal  why no precision was raised, None where that did not suffice
    """
    start = f"quantize: int8 keeps {final} of float's outputs, the guard asks for {guard}; to blame: {_blame(search)}"
    best = f"{tried} choices of more precision were tried, the best has {search.best.figure}"
    if refusal is not None:
        left = f"{refusal}; left: another target, or {TRAINING}"
    else:
        left = LEFT
    return f"{start}; {best}; {left}, or a lower bound (guard=, --guard; guard=None asks for none)"


def nothing_left(search: Search, guard: Guard, *, tried: int) -> str:
    """The sentence for a model that keeps the bound with all its convolutions and products in float alone."""
    start = f"quantize: int8 keeps {search.before.figure} of float's outputs, the guard asks for {guard}"
    return (
        f"{start}; {tried} choices of more precision were tried, and none with a convolution or product in 8 bits "
        f"keeps the bound: this is the float model; to blame: {_blame(search)}; {LEFT}, or a lower bound (guard=, "
        "--guard; guard=None asks for none)"
    )


def little_left(search: Search, final: Figure, guard: Guard, share: float) -> str:
    """The sentence for a model that keeps the bound with less than half of its work in 8 bits.

    share  of the multiply-accumulates in 8 bits
    """
    return (
        f"quantize: only {share:.0%} of the multiply-accumulates are in 8 bits: all in 8 bits keep "
        f"{search.before.figure} of float's outputs, the guard asks for {guard}, and this model keeps {final}; to "
        f"blame: {_blame(search)}; to keep more of it in 8 bits: calibrate_mode='percentile' for tensors with "
        f"outliers, 16 bits for the head (a rule), {TRAINING}, or a lower bound (guard=, --guard)"
    )


def _blame(search: Search) -> str:
    """The parts whose 8 bits cost most accuracy."""
    worst = sorted(search.blamed, key=lambda one: one[1].sqnr)
    parts = _texts([part for part, _ in worst])
    return parts or "no layer alone"


def _texts(parts: Sequence[Part]) -> str:
    rest = len(parts) - NAMED_PARTS
    return ", ".join(map(str, parts[:NAMED_PARTS])) + (f" and {rest} more groups of layers" if rest > 0 else "")


def _time(seconds: float) -> str:
    """Milliseconds of a forecast, as text.

    >>> _time(0.0003), _time(0.0000042)
    ('0.300 ms', '0.004 ms')
    """
    return f"{seconds * 1e3:.3f} ms"
