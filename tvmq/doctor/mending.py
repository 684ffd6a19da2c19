"""What may mend a model that int8 hurts: other options first, they cost no speed; then the guard of `quantize`, which
keeps layers in float."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tvmq.analysis.explanation import explain
from tvmq.config import QConfig
from tvmq.doctor.trial import Clinic, Outcome
from tvmq.errors import TvmqError
from tvmq.rules import Rule

GAIN = 2.0  # dB: less is no mend
MOST_RULES = 8  # more are no advice: the guard makes them by itself
MODES = ("percentile", "minmax", "kl_divergence")


@dataclass(frozen=True)
class Mend:
    """A change of the options.

    words   what it does
    option  for `tvmq quantize`
    python  for Python
    config  the options with it
    names   layers that it keeps float
    """

    words: str
    option: str
    python: str
    config: QConfig
    names: tuple[str, ...] = ()


def of_layers(names: Sequence[str], config: QConfig) -> Mend:
    """Keep these layers float.

    >>> mend = of_layers(["/a/Conv", "/b[0]/Conv"], QConfig())
    >>> mend.option
    "--rule '/a/Conv=float' --rule '/b[[]0]/Conv=float'"
    >>> mend.python
    "tvmq.qconfig(rules=[tvmq.Rule('/a/Conv', None), tvmq.Rule('/b[[]0]/Conv', None)])"
    """
    rules = [Rule(literal(name), None) for name in names]
    return Mend(
        f"{', '.join(map(repr, names))} in float",
        " ".join(f"--rule '{rule.match}=float'" for rule in rules),
        f"tvmq.qconfig(rules=[{', '.join(f'tvmq.{rule!r}' for rule in rules)}])",
        replace(config, rules=(*config.rules, *rules)),
        tuple(names),
    )


def literal(name: str) -> str:
    """A glob that matches this name alone.

    >>> literal("blocks[1]/conv*")
    'blocks[[]1]/conv[*]'
    """
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _option(name: str, value: str | int, config: QConfig) -> Mend:
    flag = name.replace("_", "-")
    return Mend(
        f"{name} {value}",
        f"--{flag} {value}",
        f"tvmq.qconfig({name}={value!r})",
        replace(config, **{name: value}),  # type: ignore[arg-type]
    )


def mends(blamed: str, config: QConfig) -> Iterator[Mend]:
    """Options that are worth a trial, in order."""
    if blamed != "activations" and config.nbit_weight < 8:
        yield _option("nbit_weight", min(8, 2 * config.nbit_weight), config)
    if blamed != "weights" and config.nbit_input < 8:
        yield _option("nbit_input", min(8, 2 * config.nbit_input), config)
    if blamed == "weights":
        yield _option("weight_scale", "mse", config)
    else:
        yield from (_option("calibrate_mode", mode, config) for mode in MODES[:2] if mode != config.calibrate_mode)


def tried(
    clinic: Clinic, config: QConfig, before: Outcome, ways: Iterable[Mend]
) -> tuple[tuple[Mend, Outcome] | None, int]:
    """The best of the ways, or None if none helps, and how many were tried.

    The first one that makes the model healthy ends the search. Where no option does, the guard is asked; what it has
    when the time is up counts.
    """
    results: list[tuple[Mend, Outcome]] = []
    for way in ways:
        if clinic.patient.is_late():
            break
        results += _trial(clinic, way)
        if results and results[-1][1].is_healthy:
            return results[-1], len(results)
    if not clinic.patient.is_late():
        results += _by_guard(clinic, config)
    best = next(iter(_by_gain(results)), None)
    helps = best is not None and best[1].sqnr >= before.sqnr + GAIN
    return (best if helps else None), len(results)


def _by_guard(clinic: Clinic, config: QConfig) -> list[tuple[Mend, Outcome]]:
    """What the guard makes of the model; nothing where it changes nothing."""
    try:
        module = clinic.guarded(config)
    except TvmqError:
        return []
    layers = explain(module).ledger.layers.values()
    floats = [entry["layers"] for entry in layers if str(entry["why"]).startswith("guard: ")]
    if not floats:
        return []
    names = list(dict.fromkeys(own[0] for own in floats))  # one name is enough to match a fused layer
    mend = of_layers(names, config)
    if len(names) > MOST_RULES:
        words = f"{len(floats)} layers in float by the guard, '{names[0]}' first"
        mend = replace(mend, words=words, option="--guard 'sqnr >= 20'  # on by default", python="tvmq.quantize(...)")
    return [(mend, clinic.judge_integer(module))]


def _by_gain(results: list[tuple[Mend, Outcome]]) -> list[tuple[Mend, Outcome]]:
    return sorted(results, key=lambda result: -result[1].sqnr)


def _trial(clinic: Clinic, way: Mend) -> list[tuple[Mend, Outcome]]:
    """The outcome of a way; none where the options do not go together with this model."""
    try:
        return [(way, clinic.integer(way.config))]
    except TvmqError:
        return []
