"""Form of the manifest of a saved model, and the check that it has this form.

What a value that was read from JSON has to be, down to the names and numbers in it, and where it is not that.

A form is
    a type              an instance of it; bool is no number
    a range             one of these whole numbers
    a frozenset         one of these texts
    MISSING             the entry may be absent
    a tuple             any of these forms
    [form, ...]         a list of any length; without the dots: one of these items
    {name: form}        a dictionary with these entries. Further ones are ignored, unless the key `str` has a form for
                        all of them, or a frozenset one for those that it names: then there are no others

Tests: tests/runtime/artifact/test_container.py
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import tvm_ffi

from tvmq.base.tvm_runtime import tvm_version
from tvmq.errors import ArtifactError
from tvmq.version import __version__

MISSING = object()
Wrong = tuple[str, Any]  # the path of an entry and what stands there


def first_wrong(value: Any, form: Any, path: str = "") -> Wrong | None:
    """The first entry that does not have its form, with its path; None if all have.

    >>> first_wrong({"size": [1, -2]}, {"size": [range(9), ...]})
    ('size[1]', -2)
    >>> first_wrong({"batch": "n"}, {"batch": frozenset(["m", "n"])}) is None
    True
    """
    if isinstance(form, tuple):
        faults = [first_wrong(value, one, path) for one in form]
        return None if None in faults else faults[0]
    if isinstance(form, list) and isinstance(value, list) and (form[-1:] == [...] or len(form) == len(value)):
        parts = _items(value, form, path)
    elif isinstance(form, dict) and isinstance(value, dict):
        parts = _entries(value, form, path)
    else:
        return None if _fits(value, form) else (path, value)
    wrong = (first_wrong(*part) for part in parts)
    return next((one for one in wrong if one is not None), None)


def has_form(value: Any, form: Any) -> bool:
    """True if `first_wrong` finds nothing in what was read from JSON, in a fraction of the time; may be False then.

    >>> has_form({"size": [1, -2]}, {"size": [range(9), ...]}), has_form([1.5, 2], [(float, int), ...])
    (False, True)
    """
    return _check(form)(value)


Check = Callable[[Any], bool]
_SIMPLE: dict[Any, Check] = {
    object: lambda value: value is not MISSING,
    str: lambda value: type(value) is str,
    int: lambda value: type(value) is int,
    float: lambda value: type(value) is float,
    MISSING: lambda value: value is MISSING,
}


def _check(form: Any, known: dict[int, Check] | None = None) -> Check:
    """The function of a value that tells whether it has a form.

    known   of parts of the form, by their id
    """
    known = {} if known is None else known
    if id(form) not in known:
        known[id(form)] = _new_check(form, known)
    return known[id(form)]


def _new_check(form: Any, known: dict[int, Check]) -> Check:
    if isinstance(form, tuple):
        return _any_of([_check(one, known) for one in form])
    if isinstance(form, list) and form[-1:] == [...]:
        return _list_of(_check(form[0], known))
    if isinstance(form, list):
        return _items_of([_check(one, known) for one in form])
    if isinstance(form, dict):
        return _entries_of(form, known)
    if isinstance(form, range | frozenset):
        kind = int if isinstance(form, range) else str
        return lambda value: type(value) is kind and value in form
    return _SIMPLE[form]


def _any_of(checks: Sequence[Check]) -> Check:
    def check(value: Any) -> bool:
        for one in checks:  # no generator: this is called for every entry
            if one(value):
                return True
        return False

    return check


def _list_of(check: Check) -> Check:
    return lambda value: type(value) is list and all(map(check, value))


def _items_of(checks: Sequence[Check]) -> Check:
    def check(value: Any) -> bool:
        return (
            type(value) is list
            and len(value) == len(checks)
            and all(one(item) for one, item in zip(checks, value, strict=True))
        )

    return check


def _entries_of(form: dict[Any, Any], known: dict[int, Check]) -> Check:
    fixed = [(name, _check(one, known)) for name, one in form.items() if isinstance(name, str)]
    others = [(names, _check(one, known)) for names, one in form.items() if not isinstance(names, str)]
    names_of_fixed = {name for name, _ in fixed}

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, one in fixed:
            if not one(value.get(name, MISSING)):
                return False
        if not others:
            return True
        names, other = others[-1]
        if names is str and not fixed:
            return all(map(other, value.values()))
        further = [name for name in value if name not in names_of_fixed]
        return all((names is str or name in names) and other(value[name]) for name in further)

    return check


@cache
def _check_of(is_several: bool, is_joined: bool) -> Check:
    """Check of the entries of a manifest that do not name each other."""
    return _check(_form_of(is_several, is_joined))


def _form_of(is_several: bool, is_joined: bool) -> dict[str, Any]:
    return {**_FORM, "further": _FURTHER if is_several else MISSING, "joined": _JOINED if is_joined else MISSING}


def _fits(value: Any, form: Any) -> bool:
    """True if a value has a form that has no parts."""
    if value is MISSING or form is MISSING or isinstance(form, list | dict):
        return value is form
    if form is object:
        return True
    kind = form if isinstance(form, type) else int if isinstance(form, range) else str
    return isinstance(value, kind) and not isinstance(value, bool) and (kind is form or value in form)


def _items(values: list[Any], form: list[Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    forms = form[:1] * len(values) if form[-1:] == [...] else form
    return ((value, one, f"{path}[{i}]") for i, (value, one) in enumerate(zip(values, forms, strict=True)))


def _entries(values: dict[str, Any], form: dict[Any, Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    fixed = {name: one for name, one in form.items() if isinstance(name, str)}
    forms = dict(fixed)
    for names, others in ((key, one) for key, one in form.items() if key not in fixed):
        forms |= {
            name: others if names is str or name in names else frozenset() for name in values if name not in fixed
        }
    return ((values.get(name, MISSING), one, f"{path}.{name}".lstrip(".")) for name, one in forms.items())


SCHEMA = 3
SEVERAL = 4  # schema of a file with code for several CPUs
JOINED = 5  # of one whose module and code share their weights
# Bounds against texts that fill the memory when they are read: bytes, and entries, of which 50 a layer are usual.
LONGEST, MOST_ENTRIES = 64 * 2**20, 2**20
SIZE = range(2**63)
TYPES = frozenset(
    ["bool", *(f"float{n}" for n in (16, 32, 64)), *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))]
)
NUMBERS = (float, int, [(float, int), ...])

# Forms of entries, see artifact/manifest.py; what was added since schema 3 may be absent.
_TENSOR = {
    "name": str,
    "shape": [(SIZE, str), ...],
    "dtype": TYPES,
    "scale": (NUMBERS, MISSING),
    "zero_point": (NUMBERS, MISSING),
    frozenset(): object,
}
_FUNCTION = {"inputs": [_TENSOR, ...], "outputs": [_TENSOR, ...]}
_LEDGER = {
    "stage": str,
    "config": {str: object},
    "backend": (str, MISSING),
    "layers": {str: {"op": str, "precision": str, "why": str}},
    "notes": [str, ...],
    "codes": ({str: [(float, int), int]}, MISSING),
    "data_hash": (str, MISSING),
    "preprocessing": ({"picture": ({str: object}, MISSING), "labels": ([str, ...], MISSING)}, MISSING),
    frozenset(): object,
}
_INDEX = {"input": str, "sizes": [(SIZE, str), ...], "layer": str, "operator": str}
_ORIGIN = {"layers": [str, ...], "macs": SIZE, "dtype": str}
_ORIGINS = {"origins": ([_ORIGIN, ...], MISSING)}
_CALLS = {**_ORIGINS, "common": ({str: _ORIGINS}, MISSING)}
_LIBRARY = {"file": str, "path": str, "symbols": [str, ...], "convention": frozenset(["pointers", "packed"])}
_TAKEN = {
    **dict.fromkeys(("lowering", "kind", "result", "symbol"), str),
    **dict.fromkeys(("layers", "operators", "inputs"), [str, ...]),
}
_LOWERINGS = {
    "names": [{"name": str, "kind": str, "begins": str}, ...],
    "taken": [_TAKEN, ...],
    "missed": [{"lowering": str, "layer": str, "why": str}, ...],
    "libraries": [_LIBRARY, ...],
}
_STATE = {
    "tensors": [
        {
            "input": str,
            "output": str,
            "kind": frozenset(["replaced", "appended"]),
            "axis": (range(16), MISSING),
            "initial": (float, int),
            "scale": (float, MISSING),
            "zero_point": int,
            "shape": [(SIZE, str), ...],
            "dtype": TYPES,
        },
        ...,
    ],
    "inputs": [[str, [(SIZE, str), ...]], ...],
    "batch": str,
    "digest": str,
}
_FORM = {
    "schema": int,
    "tvmq": str,
    "tvm": str,
    "tvm_ffi": str,
    "arch": str,
    "target": {str: object},
    "needs": [str, ...],
    "description": {
        **_FUNCTION,
        "ledger": _LEDGER,
        "names": {str: [str, ...]},
        "batch": str,
        "limits": {str: {"least": SIZE, "most": SIZE, "why": str, "multiple": (SIZE, MISSING)}},
        "functions": ({str: _FUNCTION}, MISSING),
        "notes": ({str: str}, MISSING),
        "indices": ([_INDEX, ...], MISSING),
        "common": ([{"function": str, "sizes": {str: object}, **_FUNCTION}, ...], MISSING),
        "calls": (_CALLS, MISSING),
        "lowerings": (_LOWERINGS, MISSING),
        "state": (_STATE, MISSING),
    },
    "kernels": {str: str},
    "bytecode": (str, MISSING),  # sha256 of it whole, as it was built
    "sha256": {str: str},
    "packed": ({str: str}, MISSING),
}
# What says which CPU a code is for; "own" is what its description has of its own, "cuts" those of shared_constants.
_CODE = {key: _FORM[key] for key in ("arch", "target", "needs", "kernels", "bytecode")}
_FURTHER = [{**_CODE, "own": {"calls": _CALLS}, "cuts": [[object, ...], ...]}, ...]

_JOINED = {"size": SIZE, "cuts": [[object, ...], ...]}


def make_manifest(parts: Any, hashes: dict[str, str]) -> dict[str, Any]:
    """The manifest of an executable's parts; `hashes` are those of the other members."""
    return {
        "schema": SCHEMA,
        "tvmq": __version__,
        "tvm": tvm_version(),
        "tvm_ffi": str(tvm_ffi.__version__),
        **describe_code(parts),
        "description": parts.description.to_json(),
        "sha256": hashes,
    }


def bounded_text(where: str, text: bytes) -> bytes:
    """The text of a manifest; ArtifactError if it is larger than one of a model can be."""
    entries = sum(map(text.count, (b",", b"[", b"{")))
    if len(text) > LONGEST or entries > MOST_ENTRIES:
        raise ArtifactError(
            f"{where}: its manifest has {len(text)} bytes and {entries} entries, the limits are {LONGEST} and "
            f"{MOST_ENTRIES}; it is no tvmq file"
        )
    return text


def describe_code(parts: Any) -> dict[str, Any]:
    """Requirements on the CPU that runs the code of an executable's parts, and its kernels."""
    return {
        "arch": parts.target.host.arch,
        "target": dict(parts.target.tvm),
        "needs": sorted(parts.target.needs),
        "kernels": parts.kernels,
    }


def codes_of(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Descriptions of all codes: that of the manifest itself, then the further ones."""
    further: list[dict[str, Any]] = manifest.get("further", [])
    return [manifest, *further]


def check_versions(where: str, manifest: Any) -> None:
    """ArtifactError if this tvmq and this TVM cannot read what the manifest describes."""
    if not isinstance(manifest, dict) or "schema" not in manifest:
        raise ArtifactError(f"{where}: its manifest has no schema version; it is no tvmq file, or damaged")
    if manifest["schema"] not in (SCHEMA, SEVERAL, JOINED):
        raise ArtifactError(
            f"{where} has schema {manifest['schema']!r}, this tvmq {__version__} reads {SCHEMA} to {JOINED}; "
            f"it was saved by tvmq {manifest.get('tvmq')}: build and save the model again"
        )
    if manifest.get("tvm") != tvm_version():
        raise ArtifactError(
            f"{where} was saved with apache-tvm {manifest.get('tvm')}, this is {tvm_version()}, "
            "and compiled code does not carry over; build and save the model again"
        )


def check_form(where: str, manifest: dict[str, Any]) -> None:
    """ArtifactError naming the first entry that is not as `make_manifest` writes it: its type, a number, a name."""
    kind = manifest["schema"] == SEVERAL, manifest["schema"] == JOINED
    wrong = None if _check_of(*kind)(manifest) else first_wrong(manifest, _form_of(*kind))
    if wrong is None:
        form = _form_of_names(manifest)
        wrong = None if has_form(manifest, form) else first_wrong(manifest, form)
    if wrong:
        path, value = wrong
        reason = "is missing" if value is MISSING else f"cannot be {reprlib.repr(value)}"
        raise ArtifactError(f"{where}: '{path}' of the manifest {reason}; save the model again")


def _form_of_names(manifest: dict[str, Any]) -> dict[str, Any]:
    """The form of what names other entries, of a manifest that has the form _FORM."""
    description = manifest["description"]
    inputs = {tensor["name"]: tensor["shape"] for tensor in description["inputs"]}
    dynamic = frozenset(size for shape in inputs.values() for size in shape if isinstance(size, str))
    sizes: dict[Any, range] = {**dict.fromkeys(dynamic & {description["batch"]}, SIZE[1:]), dynamic: SIZE[1:]}
    common = description.get("common", [])
    codes = [code.get("own", description).get("calls", MISSING) for code in codes_of(manifest)]
    forms = [_form_of_calls(calls, len(inputs), [one["function"] for one in common]) for calls in codes]
    return {
        "description": {
            "batch": dynamic | {""},
            "indices": ([_form_of_index(use, inputs, dynamic) for use in description.get("indices", [])], MISSING),
            "common": ([{"sizes": sizes}, ...], MISSING),
            "calls": forms[0],
        },
        "further": ([{"own": {"calls": form}} for form in forms[1:]], MISSING),
    }


def _form_of_index(use: dict[str, Any], inputs: dict[str, list[Any]], dynamic: frozenset[str]) -> dict[str, Any]:
    """Form of an input that is an index: one size, or one for each item of its last dimension."""
    count = len(use["sizes"]) if [len(use["sizes"])] == inputs.get(use["input"], [])[-1:] else 1
    return {"input": frozenset(inputs), "sizes": [(SIZE, dynamic)] * count}


def _form_of_calls(calls: Any, inputs: int, common: list[str]) -> Any:
    """Form of a CallDescription: the calls of main, and of its code for common sizes."""
    if calls is MISSING and not common:
        return MISSING
    known = {} if calls is MISSING else calls
    form: dict[str, Any] = {
        "functions": ([[str, range(len(known.get("origins", ())))], ...], MISSING),
        "unaligned": ([range(inputs), ...], MISSING),
    }
    if common:
        parts = known.get("common", {})
        form["common"] = {name: _form_of_calls(parts.get(name, {}), inputs, []) for name in common}
    return form
