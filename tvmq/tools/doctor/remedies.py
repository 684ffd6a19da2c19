"""Remedies for a loss of accuracy in int8: the guard of `quantize`, which raises precision, and other options."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import tvm

from tvmq.errors import TvmqError
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule, short_names
from tvmq.tools.analysis.explanation import explain
from tvmq.tools.doctor.guard_rules import GUARD, guard_rules, raised_layers
from tvmq.tools.doctor.trial import ModelTrials, Outcome

GAIN = 2.0  # dB: less does not count as a remedy
MOST_RULES = 8  # more are not printed: the guard finds them by itself
NAMED = 3  # groups of layers to blame
MODES = ("percentile", "minmax")
ON_BY_DEFAULT = "--guard 'sqnr >= 20'  # which is on by default"


@dataclass(frozen=True)
class Remedy:
    """Change of the options that may restore accuracy.

    description  what it does, in words
    option       the same for `tvmq quantize`
    python       the same in Python
    config       options to try it with
    details      layers that it changes, one per line
    rules        the same as rules
    """

    description: str
    option: str
    python: str
    config: QConfig | None = None
    details: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


def try_guard(trials: ModelTrials, module: tvm.IRModule) -> tuple[Remedy, Outcome] | None:
    """Remedy that the guard finds within the time budget; None if it raises no layer."""
    try:
        guarded = trials.apply_guard(module)
    except TvmqError:
        return None
    raised = raised_layers(explain(guarded).ledger.layers)
    if not raised:
        return None
    dynamic = sum(bool(entry.get("dynamic")) for entry in raised)
    counts = [(len(raised) - dynamic, "in float"), (dynamic, "with scales computed at run time")]
    words = [f"{count} {'layer' if count == 1 else 'layers'} {how}" for count, how in counts if count]
    remedy = remedy_of_rules(f"the guard: {' and '.join(words)}", guard_rules(explain(guarded).ledger.layers))
    return replace(remedy, details=tuple(blamed_groups(guarded)[:NAMED])), trials.judge_integer(guarded)


def remedy_of_rules(words: str, rules: Sequence[Rule]) -> Remedy:
    """Remedy that sets these rules; if they are more than MOST_RULES, the option is the guard itself.

    >>> remedy = remedy_of_rules("2 layers in float", [Rule("/a/Conv", None), Rule("/b/*", activations="dynamic")])
    >>> remedy.option
    "--rule '/a/Conv=float' --rule '/b/*=dynamic'"
    >>> remedy.python
    "tvmq.qconfig(rules=[tvmq.Rule('/a/Conv', None), tvmq.Rule('/b/*', activations='dynamic')])"
    """
    if len(rules) > MOST_RULES:
        option = f"{ON_BY_DEFAULT}; --json has the {len(rules)} rules"
        return Remedy(words, option, "tvmq.quantize(...)", rules=tuple(rules))
    options = [f"--rule '{rule.match}={'float' if rule.is_float else rule.activations}'" for rule in rules]
    python = f"tvmq.qconfig(rules=[{', '.join(f'tvmq.{rule!r}' for rule in rules)}])"
    return Remedy(words, " ".join(options), python, rules=tuple(rules))


def blamed_groups(module: tvm.IRModule) -> list[str]:
    """Groups of layers that the guard raised, as text: names, reason, SQNR before and after."""
    groups: dict[str, list[str]] = {}
    for entry in raised_layers(explain(module).ledger.layers):
        groups.setdefault(str(entry["why"]).removeprefix(GUARD), []).extend(entry["layers"])
    more = {why: f" and {len(names) - NAMED} more" if len(names) > NAMED else "" for why, names in groups.items()}
    return [f"'{short_names(names[:NAMED])}{more[why]}' {why}" for why, names in groups.items()]


def other_options(blamed: str, config: QConfig) -> Iterator[Remedy]:
    """Options to try where the guard does not suffice, in order."""
    if blamed != "activations" and config.nbit_weight < 8:
        yield _option("nbit_weight", min(8, 2 * config.nbit_weight), config)
    if blamed != "weights" and config.nbit_input < 8:
        yield _option("nbit_input", min(8, 2 * config.nbit_input), config)
    if blamed == "weights":
        yield _option("weight_scale", "mse", config)
    else:
        yield from (_option("calibrate_mode", mode, config) for mode in MODES if mode != config.calibrate_mode)


def best_option(
    trials: ModelTrials, before: Outcome, ways: Iterable[Remedy]
) -> tuple[tuple[Remedy, Outcome] | None, int]:
    """(best remedy and its outcome, or None; number of remedies tried). Stops at the first acceptable outcome."""
    best, count = None, 0
    for way in ways:
        if trials.context.is_late():
            break
        try:
            outcome = trials.quantize_and_judge(way.config or trials.context.config)
        except TvmqError:  # options that do not go together with this model
            continue
        count += 1
        if outcome.sqnr >= max(before.sqnr + GAIN, best[1].sqnr if best else -math.inf):
            best = way, outcome
        if outcome.is_acceptable:
            break
    return best, count


def _option(name: str, value: str | int, config: QConfig) -> Remedy:
    flag = name.replace("_", "-")
    changed = replace(config, **{name: value})  # type: ignore[arg-type]
    return Remedy(f"{name} {value}", f"--{flag} {value}", f"tvmq.qconfig({name}={value!r})", changed)
