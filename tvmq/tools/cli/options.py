"""Command-line options generated from those of qconfig, so that names, choices and help texts agree."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints

import typer

from tvmq.base.regular_file import check_regular
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import DEFAULTS, OPTION_CHOICES, OPTION_HELP, QConfig, qconfig
from tvmq.options.options import FIXED, Options
from tvmq.options.rules import DYNAMIC, Rule, rules_from
from tvmq.tools.cli.trust import refuse_code

PANEL = "Quantization (the options of tvmq.qconfig)"
TYPES = get_type_hints(Options)
LISTS: dict[str, Any] = {
    "skip_conv_layers": list[int], **dict.fromkeys(("debug_enabled_ops", "passes", "operators"), list[str]),
}  # fmt: skip

RULE_HELP = (
    "Precision of some layers, as PATTERN=SPEC; repeatable, the last match wins. PATTERN is a layer's name as printed,"
    " a glob of names, or op:TYPE. SPEC is 'float' or bits: w for weights, a for activations; 'dynamic' instead of a8"
    " computes scales at run time."
    " Examples: '*/classifier/*=float', 'op:matmul=w4', '/stem/Conv=w8a16', '/head/*=dynamic'."
)
_BITS = re.compile(r"(?:w(?P<weights>\d+))?(?:a(?P<activations>\d+)|(?P<dynamic>dynamic))?")


def _annotation(option: str) -> Any:
    """Typer option for an option of qconfig; its default None means not given."""
    default = getattr(DEFAULTS, option)
    text = f"{OPTION_HELP[option]} Default: {_default_text(default)}."
    switch = _switch(option, isinstance(default, bool))
    return Annotated[_kind(option) | None, typer.Option(switch, help=text, rich_help_panel=PANEL, show_default=False)]


def _switch(option: str, is_switch: bool) -> str:
    """An option as it is typed."""
    name = option.replace("_", "-")
    return f"--{name}/--no-{name}" if is_switch else f"--{name}"


def _kind(option: str) -> Any:
    """Type of an option's value, without None; typer checks it and shows choices."""
    if option in OPTION_CHOICES:
        return Enum("Choice", {choice: choice for choice in OPTION_CHOICES[option]})
    if option in LISTS:
        return LISTS[option]
    (kind,) = (one for one in get_args(TYPES[option]) or (TYPES[option],) if one is not NoneType)
    return kind


def _hidden_annotation(option: str, kind: type) -> Any:
    """Hidden typer option of an older version with only one value left: accepted with a warning."""
    return Annotated[kind | None, typer.Option(_switch(option, kind is bool), hidden=True, show_default=False)]


def _default_text(default: Any) -> str:
    """Default as typed on the command line."""
    if isinstance(default, bool):
        return "on" if default else "off"
    return "none" if default is None else str(default)


def _parameters() -> list[inspect.Parameter]:
    """Keyword parameters: one for each option of qconfig, and --rule, --relay and --config."""
    extra = {
        "rule": Annotated[list[str] | None, typer.Option("--rule", help=RULE_HELP, rich_help_panel=PANEL)],
        "relay": Annotated[bool, typer.Option(
            "--relay", help="Start from Relay's defaults.", rich_help_panel=PANEL)],
        "config": Annotated[Path | None, typer.Option(
            "--config", help="JSON file of options; the command line overrides it.", rich_help_panel=PANEL)],
    }  # fmt: skip
    names = [option.name for option in fields(QConfig) if option.name not in ("rules", "given")]
    read = {name: _hidden_annotation(name, type(value)) for name, (value, _, _) in FIXED.items()}
    annotations = {**{name: _annotation(name) for name in names}, **read, **extra}
    defaults = {**dict.fromkeys(annotations), "relay": False}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind)
        for name, kind in annotations.items()
    ]


def with_qconfig_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options of qconfig to a command, which receives the resulting QConfig as its parameter `config`."""
    added = _parameters()
    signature = inspect.signature(command, eval_str=True)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "config"]

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        options = {parameter.name: values.pop(parameter.name) for parameter in added}
        return command(**values, config=config_from(options))

    # typer reads the signature for the options; __wrapped__ would lead it to the one of the command
    del run.__wrapped__
    run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *added]}
    return run


def config_from(values: Mapping[str, Any]) -> QConfig:
    """QConfig from command-line values; None and empty lists mean not given."""
    options = {
        name: None if value == "none" and "none" in OPTION_CHOICES.get(name, ()) else value
        for name, value in values.items()
        if name not in ("rule", "relay", "config") and value is not None and value != []
    }
    read = read_config(values["config"]) if values.get("config") else {}
    rules = rules_from(read.pop("rules", ()))
    make = qconfig.relay if values.get("relay") else qconfig
    config = make(**{**read, **options})
    rules += [parse_rule(text, config) for text in values.get("rule") or ()]
    return make(**{**read, **options, "rules": rules})


def with_options(config: QConfig, **options: Any) -> QConfig:
    """The configuration with these options, which count as given."""
    return replace(config, **options, given=(config.given or frozenset()) | options.keys())


def read_config(path: Path) -> dict[str, Any]:
    """Options from a JSON file; ConfigError if it is not valid."""
    try:
        check_regular(path)
        options = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"--config: '{path}' cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ConfigError(f"--config: '{path}' is not JSON ({error}); write {{\"nbit_weight\": 4}}") from error
    if not isinstance(options, dict):
        raise ConfigError(f"--config: '{path}' must hold an object {{...}}. Got {type(options).__name__} instead")
    refuse_code(options, f"--config: '{path}'")
    return options


def parse_rule(text: str, config: QConfig) -> Rule:
    """Parse PATTERN=SPEC; the configuration decides what the spec leaves open.

    raises  ConfigError that shows the valid forms

    >>> parse_rule("*/classifier/*=float", DEFAULTS)
    Rule('*/classifier/*', None)
    >>> parse_rule("op:matmul=w4", DEFAULTS).weights.qmax
    7
    >>> parse_rule("/head/*=w4dynamic", DEFAULTS).activations
    'dynamic'
    """
    pattern, _, spec = text.rpartition("=")
    bits = _BITS.fullmatch(spec)
    if not pattern or not spec or (spec != "float" and bits is None):
        raise ConfigError(f"--rule: '{text}' is not PATTERN=SPEC; try '*/head/*=float', 'op:matmul=w4a8'")
    if bits is None:
        return Rule(pattern, None)
    weights, activations = bits["weights"], bits["activations"]
    activation_spec = _spec(int(activations), symmetric=config.scheme == "symmetric") if activations else None
    weight_spec = _spec(int(weights), symmetric=True, per_channel=config.per_channel) if weights else None
    return Rule(pattern, weights=weight_spec, activations=DYNAMIC if bits["dynamic"] else activation_spec)


def _spec(bits: int, *, symmetric: bool, per_channel: bool = False) -> QuantSpec:
    """Spec of `bits` bits in the smallest type that holds them."""
    narrow = "int8" if symmetric else "uint8"
    return QuantSpec("int16" if bits > 8 else narrow, bits, symmetric=symmetric, per_channel=per_channel)
