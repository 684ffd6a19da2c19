"""A description as JSON, and back: every field is checked, nothing that it names is loaded.

    {"tvmq_backend": 1, "name": "mychip", "activations": ["int8"], ..., "operators": [
        {"pattern": "conv*", "inputs": {"dtype": "int8"}, "weights": {"dtype": "int4", "granularity": "per_tensor"}}]}

A field that is left out has its default; `activations`, where entries say what they read, that storage.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from tvmq.backends.description import LISTS, WORDS, Backend
from tvmq.backends.operator_entry import COMPUTES, OVERFLOWS, OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.backends.vocabulary import BIAS_TYPES, FAMILIES, FLOAT_TYPES
from tvmq.base.by_name import is_object_name
from tvmq.base.regular_file import check_regular
from tvmq.base.schema import (
    checked_choice,
    checked_choices,
    checked_fields,
    checked_int,
    checked_list,
    checked_switch,
    checked_text,
    inside,
    refuse,
)
from tvmq.errors import ConfigError
from tvmq.numerics.code_type import CODE_TYPES
from tvmq.numerics.requantize_rule import RequantizeRule

FORMAT = "tvmq_backend"
VERSION = 1
FIELDS = (FORMAT, *(field.name for field in fields(Backend)))
SWITCHES = (
    "per_channel", "zero_points", "multipliers", "tables", "division", "wide", "floats", "reduce_range",
)  # fmt: skip
NUMBERS = {"accumulator_bits": (8, 32), "largest_kernel": (1, 2**31)}
LIMITS = {"kernel": "largest_kernel", "channels": "most_channels", "alignment": "channel_alignment"}
ENTRY = ("pattern", "computes", "inputs", "weights", "bias", "output", "same_scales", "requantize", "accumulator_bits",
         "overflow", "limits")  # fmt: skip


# ---- writing


def write(backend: Backend) -> str:
    """See Backend.to_json: one field a line, one entry of `operators` a line."""
    data = {FORMAT: VERSION} | {field.name: _plain_value(getattr(backend, field.name)) for field in fields(backend)}
    if backend.requantize_rule is not None:  # they follow from it
        del data["requantize"], data["roundings"]
    entries = data.pop("operators")
    # those that are objects hold functions, which no JSON has
    data["lowerings"] = [lowering for lowering in backend.lowerings if isinstance(lowering, str)]
    if not data["lowerings"]:
        del data["lowerings"]
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in data.items()]
    own = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
    lines.append(f'  "operators": [\n{own}\n  ]' if entries else '  "operators": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain_value(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, RequantizeRule):
        return value.to_dict()
    if isinstance(value, OperatorEntry):
        return _plain_entry(value)
    return [_plain_value(item) for item in value] if isinstance(value, tuple) else value


def _plain_entry(entry: OperatorEntry) -> dict[str, Any]:
    """Entry as plain data, in the order of ENTRY."""
    data: dict[str, Any] = {"pattern": _one_or_all(entry.patterns)}
    for name in ENTRY[1:-1]:
        value, default = getattr(entry, name), OperatorEntry.__dataclass_fields__[name].default
        if value != default:
            data[name] = (
                _plain_form(value) if isinstance(value, (TensorForm, WeightForm)) else _one_or_all(_plain_value(value))
            )
    limits = {name: value for name, field in LIMITS.items() if (value := getattr(entry, field)) is not None}
    return data | ({"limits": limits} if limits else {})


def _plain_form(form: TensorForm | WeightForm) -> dict[str, Any]:
    own = type(form).__dataclass_fields__
    values = {name: getattr(form, name) for name in own if getattr(form, name) != own[name].default}
    return {name: _one_or_all(value) for name, value in values.items()}


def _one_or_all(value: Any) -> Any:
    """Unwrap a tuple or list of one item."""
    if not isinstance(value, (tuple, list)):
        return value
    return value[0] if len(value) == 1 else list(value)


# ---- reading


def read_backend(path: str | Path) -> Backend:
    """The description in a JSON file.

    raises  ConfigError if it cannot be read, is no JSON, or describes what there is not
    """
    try:
        check_regular(path)
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    return read(data, str(path))


def read(text: str | bytes, where: str) -> Backend:
    """See Backend.from_json."""
    path = f"{where}:"
    data = checked_fields(_parse_json(text, where), path, FIELDS, ("name",))
    if (version := data.get(FORMAT, VERSION)) != VERSION:
        refuse(inside(path, FORMAT), f"must be {VERSION}, the only form that there is. Got {version!r} instead")
    values = {name: _field(name, value, inside(path, name)) for name, value in data.items() if name != FORMAT}
    if "activations" not in values and (storages := _storages(values.get("operators", ()))):
        values["activations"] = storages
    try:
        return Backend(**values)
    except ConfigError as error:
        message = str(error).removeprefix(f"Backend {values['name']!r}: ")
        raise ConfigError(f"{where}: {message}") from error


def _parse_json(text: str | bytes, where: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=lambda pairs: _without_twins(pairs, where),
            parse_constant=lambda word: _no_number(word, where),
        )
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{where}: not JSON: byte {error.start} is no UTF-8") from error
    except RecursionError as error:
        raise ConfigError(f"{where}: not a description: its lists stand in each other too deep") from error


def _without_twins(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            refuse(f"{where}:", f"field {name!r} stands twice in one object; leave one of them out")
        values[name] = value
    return values


def _no_number(word: str, where: str) -> Any:
    refuse(f"{where}:", f"{word} is no number of JSON")


def _storages(entries: tuple[OperatorEntry, ...]) -> tuple[str, ...]:
    """Storages of what entries read, in their order."""
    names = [name for entry in entries if entry.inputs for name in entry.inputs.dtype]
    return tuple(dict.fromkeys(CODE_TYPES[name].storage for name in names))


def _field(name: str, value: Any, path: str) -> Any:
    """The value of a field of a Backend."""
    if name in LISTS:
        return checked_choices(value, path, LISTS[name])
    if name in WORDS:
        return checked_choice(value, path, WORDS[name])
    if name in SWITCHES:
        return checked_switch(value, path)
    if name in NUMBERS:
        return None if value is None and name == "largest_kernel" else checked_int(value, path, *NUMBERS[name])
    if name == "families":
        return None if value is None else frozenset(checked_choices(value, path, FAMILIES))
    if name == "streams":
        return tuple(
            checked_choice(item, inside(path, i), ("int16",)) for i, item in enumerate(checked_list(value, path))
        )
    if name == "requantize_rule":
        return None if value is None else RequantizeRule.from_dict(value, path)
    if name == "lowerings":
        return tuple(_object_name(item, inside(path, place)) for place, item in enumerate(checked_list(value, path)))
    if name == "operators":
        return tuple(_entry(item, inside(path, place)) for place, item in enumerate(checked_list(value, path)))
    return checked_text(value, path)


def _object_name(value: Any, path: str) -> str:
    """ "module:object", which is loaded when it is used."""
    if not is_object_name(value):
        refuse(path, f'must be the "module:object" of a tvmq.Lowering. Got {value!r} instead')
    return str(value)


def _entry(data: Any, path: str) -> OperatorEntry:
    """Parse an entry of `operators`."""
    data = checked_fields(data, path, ENTRY, ("pattern",))
    limits = checked_fields(data.get("limits", {}), inside(path, "limits"), tuple(LIMITS))
    for name, value in limits.items():
        checked_int(value, inside(inside(path, "limits"), name), 1, 2**31 if name != "alignment" else 2**16)
    values = {LIMITS[name]: value for name, value in limits.items()}
    for name, value in data.items():
        if name not in ("pattern", "limits"):
            values[name] = _entry_field(name, value, inside(path, name))
    entry = object.__new__(OperatorEntry)  # checked below, under its path
    patterns = data["pattern"]
    values["patterns"] = (
        tuple(checked_list(patterns, inside(path, "pattern"))) if not isinstance(patterns, str) else (patterns,)
    )
    return _fill_and_check(entry, values, path)


def _entry_field(name: str, value: Any, path: str) -> Any:
    if name in ("inputs", "weights"):
        return _form(TensorForm if name == "inputs" else WeightForm, value, path)
    if name == "output":
        return _names(value, path, (*CODE_TYPES, *FLOAT_TYPES))
    if name == "requantize":
        return RequantizeRule.from_dict(value, path)
    if name == "same_scales":
        return checked_switch(value, path)
    if name == "accumulator_bits":
        return checked_int(value, path, 8, 32)
    words = {"computes": COMPUTES, "bias": BIAS_TYPES, "overflow": OVERFLOWS}
    return checked_choice(value, path, words[name])


def _form(kind: type[Any], data: Any, path: str) -> Any:
    """A TensorForm or WeightForm."""
    known = tuple(kind.__dataclass_fields__)
    data = checked_fields(data, path, known)
    values: dict[str, Any] = dict(data)
    if "dtype" in data:
        values["dtype"] = _names(data["dtype"], inside(path, "dtype"), None)
    return _fill_and_check(object.__new__(kind), values, path)


def _names(value: Any, path: str, allowed: tuple[str, ...] | None) -> tuple[str, ...]:
    """Parse a word or a list of them; what they may be is checked later where `allowed` is None."""
    items = (value,) if isinstance(value, str) else tuple(checked_list(value, path))
    if not items:
        refuse(path, "names no type; leave it out, or name one")
    if allowed is None:
        return tuple(checked_text(item, inside(path, place)) for place, item in enumerate(items))
    return tuple(checked_choice(item, path, allowed) for item in items)


def _fill_and_check(record: Any, values: Mapping[str, Any], path: str) -> Any:
    """Fill a frozen dataclass with these values and check it under its path."""
    for name, field in type(record).__dataclass_fields__.items():
        object.__setattr__(record, name, values.get(name, field.default))
    record.check(path)
    return record
