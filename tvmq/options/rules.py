"""Exceptions by layer: a `Rule` says which layers it matches and how those are quantized.

    Rule("*/classifier/*", None)                              name glob: these layers stay float
    Rule(re.compile(r"layer4\\..*conv2"), weights=QuantSpec("int8", 4, symmetric=True))
    Rule("op:nn.conv2d", activations=QuantSpec("int8"))       operator type, globs allowed: "op:nn.*"
    Rule(lambda layer: layer.macs < 10_000, None)             any predicate of the layer's facts
    Rule(op="nn.conv2d_transpose", observer="percentile")     how the ranges of what these layers read are chosen
    Rule("*/head/*", activations="dynamic")                   what these layers read gets its scale at run time

Rules are read from first to last and the last one that matches a layer wins, whole: it does not inherit from
the rules it overrides. A rule that matches no layer at all is an error, because it is nearly always a typing
mistake; the message names the nearest layers. A name as it is printed, `/a/{b, c}` for a fused layer included, stands
for that layer alone, whatever its letters mean in a glob.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Union

from tvmq.base.by_name import is_object_name
from tvmq.calibration.observers import OBSERVERS, WEIGHT_OBSERVERS
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec

OP_PREFIX = "op:"
DYNAMIC = "dynamic"  # activations of a rule: scales that are made at run time
CUT = "..."  # ends a name for which a table has no room


LONGEST = 300  # characters of a wrong value that messages quote


@dataclass(frozen=True)
class LayerFacts:
    """Facts about a layer that a rule may ask for.

    key           unique name of the layer in the module
    names         source names (ONNX node names, torch module names); a fused layer has several
    op            operator type without "relax.", for example "nn.conv2d"
    macs          multiply-accumulates for one run, 0 for operators without any
    weight_shape  shape of the weight, () where there is none
    output_shape  shape of the result; dynamic dimensions are texts
    index         position among the layers of the same operator type, from 0, in order of execution

    >>> rule = lambda layer: layer.op == "nn.conv2d" and layer.macs > 1000
    >>> rule(LayerFacts("lv1", ("/stem/conv",), "nn.conv2d", macs=4608))
    True
    """

    key: str
    names: tuple[str, ...] = ()
    op: str = ""
    macs: int = 0
    weight_shape: tuple[int | str, ...] = ()
    output_shape: tuple[int | str, ...] = ()
    index: int = 0


def short_names(names: Sequence[str]) -> str:
    """Names of one operator as they are printed, their common beginning written once.

    >>> short_names(["/stem/conv", "/stem/act"]), short_names(["/stem/conv", "/pool"]), short_names(["conv"])
    ('/stem/{conv, act}', '/{stem/conv, pool}', 'conv')
    """
    if len(names) == 1:
        return names[0]
    common = ""
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            break
        common += letters[0]
    common = common[: max(common.rfind("/"), common.rfind(".")) + 1]
    return f"{common}{{{', '.join(name[len(common) :] for name in names)}}}" if common else ", ".join(names)


def _spelled_out(text: str) -> list[str]:
    """The names that `short_names` made one text of.

    >>> _spelled_out("/stem/{conv, act}"), _spelled_out("conv, pool"), _spelled_out("/stem/*")
    (['/stem/conv', '/stem/act'], ['conv', 'pool'], [])
    """
    if ", " not in text:
        return []
    common, brace, rest = text.partition("{")
    if brace and rest.endswith("}"):
        return [common + name for name in rest[:-1].split(", ")]
    return text.split(", ")


Predicate = Callable[[LayerFacts], bool]
Match = Union[str, "re.Pattern[str]", Predicate]


class _Unset:
    """The value of `spec` where none was given; None already means float."""

    def __repr__(self) -> str:
        return "..."


_UNSET = _Unset()


@dataclass(frozen=True, init=False, repr=False)
class Rule:
    """An exception: `match` chooses layers, the rest says how they are quantized.

    match        name as it is printed, name glob (`*` crosses "/"), compiled regex (searched for anywhere in a name),
                 "op:<operator type or glob>", or a function of LayerFacts that returns True or False
    spec         None: the layer stays float. A symmetric QuantSpec: for what it reads and for its weight
    op           the same as match="op:..."
    activations  QuantSpec of the tensors that the layer reads; "dynamic": convolutions and matrix products get the
                 scale of what they read at run time, one for each sample or row; None keeps the configuration's
    weights      QuantSpec of its weight, symmetric; None keeps the configuration's
    observer     how the ranges of the tensors that the layer reads are chosen, as calibrate_mode names it. A tensor
                 that several layers read has one range: of the rules that give them observers the last one decides
    weight_observer  how the range of its weight is chosen, as weight_scale names it; both also as "module:object"
    raises       ConfigError if the rule says nothing, or contradicts itself

    >>> Rule("*/classifier/*", None)
    Rule('*/classifier/*', None)
    >>> Rule(op="nn.dense", weights=QuantSpec("int8", 4, symmetric=True)).is_float
    False
    """

    match: Match
    is_float: bool
    activations: QuantSpec | str | None
    weights: QuantSpec | None
    observer: str | None
    weight_observer: str | None

    def __init__(
        self,
        match: Match | None = None,
        spec: QuantSpec | None | _Unset = _UNSET,
        *,
        op: str | None = None,
        activations: QuantSpec | str | None = None,
        weights: QuantSpec | None = None,
        observer: str | None = None,
        weight_observer: str | None = None,
    ) -> None:
        chosen = _checked_match(match, op)
        where = f"Rule {_text(chosen)}"
        if isinstance(spec, QuantSpec):
            activations, weights = _both_from(where, spec, activations, weights)
        elif spec is None and (activations or weights or observer or weight_observer):
            raise ConfigError(f"{where}: None means float; leave out activations=, weights= and observers")
        elif spec is not None and not isinstance(spec, _Unset):
            raise ConfigError(f"{where}: spec must be a QuantSpec, or None for float. Got {spec!r} instead")
        elif isinstance(spec, _Unset) and not (activations or weights or observer or weight_observer):
            raise ConfigError(
                f"{where}: says nothing; add None (float), a QuantSpec, activations=, weights=, observer=, "
                "weight_observer="
            )
        _check_specs(where, activations, weights)
        _check_observers(where, activations, observer, weight_observer)
        object.__setattr__(self, "match", chosen)
        object.__setattr__(self, "is_float", spec is None)
        object.__setattr__(self, "activations", activations)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "observer", observer)
        object.__setattr__(self, "weight_observer", weight_observer)

    def __repr__(self) -> str:
        if self.is_float:
            return f"Rule({_text(self.match)}, None)"
        arguments = [f"{name}={value!r}" for name, value in self._arguments().items()]
        return f"Rule({', '.join([_text(self.match), *arguments])})"

    def _arguments(self) -> dict[str, Any]:
        """Arguments of the rule, by name."""
        names = ("activations", "weights", "observer", "weight_observer")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def _names(self, layer: LayerFacts) -> bool:
        """True if the rule is a name of this layer as it is printed: plain, of several in braces, or cut by "..."."""
        if not isinstance(self.match, str):
            return False
        own, title = (*layer.names, layer.key), short_names(layer.names or (layer.key,))
        is_cut = self.match.endswith(CUT) and len(self.match) > len(CUT) and title.startswith(self.match[: -len(CUT)])
        return is_cut or not {self.match, *_spelled_out(self.match)}.isdisjoint(own)

    def matches(self, layer: LayerFacts) -> bool:
        """True if the rule speaks about this layer; a layer of several names is matched by any of them.

        Where a rule is the printed name of some layer, `resolve` reads it as no glob.
        """
        match = self.match
        if self._names(layer):
            return True
        if isinstance(match, str) and match.startswith(OP_PREFIX):
            return fnmatchcase(layer.op, match.removeprefix(OP_PREFIX).removeprefix("relax."))
        names = (*layer.names, layer.key)
        if isinstance(match, str):
            return any(fnmatchcase(name, match) for name in names)
        if isinstance(match, re.Pattern):
            return any(match.search(name) for name in names)
        return bool(match(layer))

    def to_dict(self) -> dict[str, Any]:
        """The rule as a dictionary for JSON; of a function only its name, which `from_dict` refuses."""
        if isinstance(self.match, str):
            match: dict[str, Any] = {"match": self.match}
        elif isinstance(self.match, re.Pattern):
            match = {"regex": self.match.pattern, "flags": int(self.match.flags)}
        else:
            match = {"function": _text(self.match)}
        if self.is_float:
            return {**match, "float": True}
        arguments = self._arguments().items()
        return {**match, **{name: value if isinstance(value, str) else value.to_dict() for name, value in arguments}}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Rule:
        """Inverse of `to_dict`; ConfigError for a function, missing fields and what is no dictionary."""
        if not isinstance(fields, Mapping) or not {"match", "regex"} & fields.keys():
            raise ConfigError(
                f"Rule: 'match' or 'regex' is missing; functions cannot be read back. Got {repr(fields)[:LONGEST]}"
            )
        match: Match = fields["match"] if "match" in fields else _compile_regex(fields["regex"], fields.get("flags", 0))
        if fields.get("float"):
            return cls(match, None)

        def spec(name: str) -> Any:
            value = fields.get(name)
            return value if value is None or isinstance(value, str) else QuantSpec.from_dict(value)

        observers = {name: fields.get(name) for name in ("observer", "weight_observer")}
        return cls(match, activations=spec("activations"), weights=spec("weights"), **observers)


def rules_from(items: Any) -> list[Rule]:
    """Rules of options in JSON: rules, or dictionaries that `to_dict` gave; ConfigError for anything else."""
    if not isinstance(items, list | tuple):
        raise ConfigError(f"qconfig: 'rules' must be a list of rules. Got {repr(items)[:LONGEST]} instead")
    return [item if isinstance(item, Rule) else Rule.from_dict(item) for item in items]


def _compile_regex(pattern: Any, flags: Any) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except (re.error, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(
            f"Rule: 'regex' must be a regular expression of Python ({error}). Got {repr(pattern)[:LONGEST]} instead"
        ) from error


def _checked_match(match: Match | None, op: str | None) -> Match:
    """The one of the two that was given, in the form that `Rule.match` keeps."""
    if (match is None) == (op is None):
        raise ConfigError("Rule: give one of match (glob, compiled regex, 'op:...', function) and op=")
    if op is not None:
        return OP_PREFIX + op.removeprefix(OP_PREFIX)
    if not (isinstance(match, (str, re.Pattern)) or callable(match)):
        raise ConfigError(
            f"Rule: match must be a glob, a compiled regex, 'op:...' or a function. Got {match!r} instead"
        )
    return match


def _both_from(
    where: str, spec: QuantSpec, activations: QuantSpec | str | None, weights: QuantSpec | None
) -> tuple[QuantSpec, QuantSpec]:
    """Specs of activations and weights from a positional one; activations have one scale for the tensor."""
    if activations is not None or weights is not None:
        raise ConfigError(f"{where}: give one QuantSpec for both, or activations= and weights=, no mixture")
    if not spec.symmetric:
        raise ConfigError(f"{where}: one QuantSpec for both must be symmetric; or say activations=, weights=")
    return replace(spec, per_channel=False), spec


def _check_specs(where: str, activations: QuantSpec | str | None, weights: QuantSpec | None) -> None:
    if isinstance(activations, str) and activations != DYNAMIC:
        raise ConfigError(f"{where}: activations must be a QuantSpec or 'dynamic'. Got {activations!r} instead")
    for name, spec in (("activations", None if activations == DYNAMIC else activations), ("weights", weights)):
        if spec is not None and not isinstance(spec, QuantSpec):
            raise ConfigError(f"{where}: {name} must be a QuantSpec. Got {spec!r} instead")
    if weights is not None and not weights.symmetric:
        remedy = f"use QuantSpec('int8', {weights.bits}, symmetric=True)"
        raise ConfigError(f"{where}: weights must be symmetric. Got {weights!r} instead; {remedy}")
    if isinstance(activations, QuantSpec) and activations.per_channel:
        raise ConfigError(f"{where}: activations have one scale for the tensor; use per_channel=False")


def _check_observers(
    where: str, activations: QuantSpec | str | None, observer: str | None, weight_observer: str | None
) -> None:
    if observer is not None and activations == DYNAMIC:
        raise ConfigError(f"{where}: scales made at run time need no observer; leave out observer= or 'dynamic'")
    known = {"observer": (observer, OBSERVERS), "weight_observer": (weight_observer, WEIGHT_OBSERVERS)}
    for name, (choice, table) in known.items():
        if choice is not None and choice not in table and not is_object_name(choice):
            raise ConfigError(
                f'{where}: {name} must be one of {", ".join(table)}, or a "module:object". Got {choice!r} instead'
            )


def _text(match: object) -> str:
    """A match as one would type it."""
    if isinstance(match, re.Pattern):
        return f"re.compile({match.pattern!r})"
    return repr(match) if not callable(match) else getattr(match, "__qualname__", repr(match))


@dataclass(frozen=True)
class Decision:
    """How the rules want a layer.

    rule         the rule that won, None where none matched
    is_float     the layer stays float
    activations  QuantSpec that replaces the configuration's for what the layer reads, or None
    weights      the same for its weight
    is_dynamic   what the layer reads gets its scale at run time, if it is a convolution or product
    described    the backend chose the specs, no rule: tensors that several layers read have the least of their codes
    order        place of the rule among the rules, -1 without
    """

    rule: Rule | None = None
    is_float: bool = False
    activations: QuantSpec | None = None
    weights: QuantSpec | None = None
    is_dynamic: bool = False
    described: bool = False
    order: int = field(default=-1, compare=False)
    why: str = field(default="default", compare=False)


def resolve(layers: Iterable[LayerFacts], rules: Sequence[Rule]) -> dict[str, Decision]:
    """Decision for each layer, by `key`: the last rule that matches it, else a Decision with rule None.

    raises  ConfigError for the first rule that matches nothing, with near misses

    >>> stem, head = LayerFacts("lv0", ("/stem/Conv",)), LayerFacts("lv1", ("/head/Gemm",))
    >>> decisions = resolve([stem, head], [Rule("*/head/*", None)])
    >>> decisions["lv0"].is_float, decisions["lv1"].is_float, decisions["lv1"].why
    (False, True, "rule '*/head/*'")
    """
    layers = list(layers)
    decisions = {layer.key: Decision() for layer in layers}
    for order, rule in enumerate(rules):
        named = [layer.key for layer in layers if rule._names(layer)]
        matched = named or [layer.key for layer in layers if rule.matches(layer)]
        if not matched:
            raise ConfigError(_nothing_matched(rule, layers))
        spec = None if isinstance(rule.activations, str) else rule.activations
        is_dynamic, why = rule.activations == DYNAMIC, f"rule {_text(rule.match)}"
        decision = Decision(rule, rule.is_float, spec, rule.weights, is_dynamic, order=order, why=why)
        decisions.update(dict.fromkeys(matched, decision))
    return decisions


def _nothing_matched(rule: Rule, layers: Sequence[LayerFacts]) -> str:
    """The sentence of the error; near misses are layer names or operator types, as the rule speaks of."""
    start = f"rules, {rule!r}: matches none of {len(layers)} layers"
    if not isinstance(rule.match, (str, re.Pattern)):
        return f"{start}; the function returned False for each"
    text = rule.match if isinstance(rule.match, str) else rule.match.pattern
    if text.startswith(OP_PREFIX):
        ops = dict.fromkeys(layer.op for layer in layers)
        return start + did_you_mean(text.removeprefix(OP_PREFIX), ops, "operator types")
    names = dict.fromkeys(name for layer in layers for name in (layer.names or (layer.key,)))
    return start + did_you_mean(text, names, "layers")


def did_you_mean(word: str, known: Iterable[str], what: str = "known") -> str:
    """'; did you mean ...?' with the nearest of the known words, or '; <what>: ...' where none is near.

    A known word is also near where one part of it (between "/", "." or ":") is near to one part of `word`,
    so that '*/clasifier/*' finds '/features/classifier/Gemm'.

    >>> did_you_mean("nbit_weigth", ["nbit_weight", "nbit_input", "rules"])
    "; did you mean 'nbit_weight'?"
    >>> did_you_mean("*/clasifier/*", ["/stem/Conv", "/top/classifier/Gemm"])
    "; did you mean '/top/classifier/Gemm'?"
    """
    candidates = list(known)
    near = difflib.get_close_matches(word, candidates, n=3, cutoff=0.7) or _near_by_parts(word, candidates)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    if not candidates:
        return f"; there are no {what}"
    shown = ", ".join(candidates[:8]) + (", ..." if len(candidates) > 8 else "")
    return f"; {what}: {shown}"


def _near_by_parts(word: str, candidates: Sequence[str]) -> list[str]:
    """Up to three candidates that share a nearly equal part, of 3 letters or more, with `word`."""
    wanted = [part for part in re.split(r"[^\w-]+", word) if len(part) > 2]

    def closeness(candidate: str) -> float:
        parts = re.split(r"[/.:]+", candidate)
        ratios = [difflib.SequenceMatcher(None, a, b).ratio() for a in wanted for b in parts if b]
        return max(ratios, default=0.0)

    scored = sorted(((closeness(c), c) for c in candidates), key=lambda pair: (-pair[0], pair[1]))
    return [candidate for score, candidate in scored[:3] if score >= 0.75]
