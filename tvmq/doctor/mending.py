"""What may mend a model that int8 hurts: other options first, they cost no speed; then layers that stay float."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tvmq.config import QConfig
from tvmq.doctor.trial import Clinic, Outcome
from tvmq.errors import TvmqError
from tvmq.rules import Rule

GAIN = 2.0  # dB: less is no mend
SINGLES = 6  # suspects that are tried one by one
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


def mends(suspects: Sequence[str], blamed: str, config: QConfig) -> Iterator[Mend]:
    """What is worth a trial, in order."""
    if blamed != "activations" and config.nbit_weight < 8:
        yield _option("nbit_weight", min(8, 2 * config.nbit_weight), config)
    if blamed != "weights" and config.nbit_input < 8:
        yield _option("nbit_input", min(8, 2 * config.nbit_input), config)
    if blamed == "weights":
        yield _option("weight_scale", "mse", config)
    else:
        yield from (_option("calibrate_mode", mode, config) for mode in MODES[:2] if mode != config.calibrate_mode)
    yield from (of_layers([name], config) for name in suspects[:SINGLES])


def tried(
    clinic: Clinic, config: QConfig, before: Outcome, ways: Iterable[Mend]
) -> tuple[tuple[Mend, Outcome] | None, int]:
    """The best of the ways, or None if none helps, and how many were tried.

    The first one that makes the model healthy ends the search. Where no single layer does, those that helped are kept
    float together, the most helpful first, one more each time.
    """
    results: list[tuple[Mend, Outcome]] = []
    for way in ways:
        if clinic.patient.is_late():
            break
        results += _trial(clinic, way)
        if results and results[-1][1].is_healthy:
            return results[-1], len(results)
    together = [
        names for mend, outcome in _by_gain(results) for names in mend.names if outcome.sqnr > before.sqnr + 0.5
    ]
    for count in range(2, len(together) + 1):
        if clinic.patient.is_late():
            break
        results += _trial(clinic, of_layers(together[:count], config))
        if results[-1][1].is_healthy:
            break
    best = next(iter(_by_gain(results)), None)
    helps = best is not None and best[1].sqnr >= before.sqnr + GAIN
    return (best if helps else None), len(results)


def _by_gain(results: list[tuple[Mend, Outcome]]) -> list[tuple[Mend, Outcome]]:
    return sorted(results, key=lambda result: -result[1].sqnr)


def _trial(clinic: Clinic, way: Mend) -> list[tuple[Mend, Outcome]]:
    """The outcome of a way; none where the options do not go together with this model."""
    try:
        return [(way, clinic.integer(way.config))]
    except TvmqError:
        return []
