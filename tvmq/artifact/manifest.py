"""What the manifest of a saved model says, and the check that it says it."""

from __future__ import annotations

import reprlib
from typing import Any

import tvm
import tvm_ffi

from tvmq.artifact.json_forms import MISSING, first_wrong
from tvmq.errors import ArtifactError
from tvmq.version import __version__

SCHEMA = 3
SEVERAL = 4  # schema of a file with code for several CPUs
# Bounds against texts that fill the memory when they are read: bytes, and entries, of which 50 a layer are usual.
LONGEST, MOST_ENTRIES = 64 * 2**20, 2**20
SIZE = range(2**63)
TYPES = frozenset(
    ["bool", *(f"float{n}" for n in (16, 32, 64)), *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))]
)
NUMBERS = (float, int, [(float, int), ...])

# Forms of entries, see artifact/json_forms.py; what was added since schema 3 may be absent.
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
    frozenset(): object,
}
_INDEX = {"input": str, "sizes": [(SIZE, str), ...], "layer": str, "operator": str}
_ORIGIN = {"layers": [str, ...], "macs": SIZE, "dtype": str}
_ORIGINS = {"origins": ([_ORIGIN, ...], MISSING)}
_CALLS = {**_ORIGINS, "common": ({str: _ORIGINS}, MISSING)}
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
        "limits": {str: {"least": SIZE, "most": SIZE, "why": str}},
        "functions": ({str: _FUNCTION}, MISSING),
        "notes": ({str: str}, MISSING),
        "indices": ([_INDEX, ...], MISSING),
        "common": ([{"function": str, "sizes": {str: object}, **_FUNCTION}, ...], MISSING),
        "calls": (_CALLS, MISSING),
    },
    "kernels": {str: str},
    "sha256": {str: str},
}
# What says which CPU a code is for; "own" is what its description has of its own, "cuts" those of shared_constants.
_CODE = {key: _FORM[key] for key in ("arch", "target", "needs", "kernels")}
_FURTHER = [{**_CODE, "own": {"calls": _CALLS}, "cuts": [[object, ...], ...]}, ...]


def make_manifest(parts: Any, hashes: dict[str, str]) -> dict[str, Any]:
    """The manifest of an executable's parts; `hashes` are those of the other members."""
    return {
        "schema": SCHEMA,
        "tvmq": __version__,
        "tvm": str(tvm.__version__),
        "tvm_ffi": str(tvm_ffi.__version__),
        **describe_code(parts),
        "description": parts.description,
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
    """What a CPU must be to run the code of an executable's parts, and its kernels."""
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
    if manifest["schema"] not in (SCHEMA, SEVERAL):
        raise ArtifactError(
            f"{where} has schema {manifest['schema']!r}, this tvmq {__version__} reads {SCHEMA} and {SEVERAL}; "
            f"it was saved by tvmq {manifest.get('tvmq')}: build and save the model again"
        )
    if manifest.get("tvm") != str(tvm.__version__):
        raise ArtifactError(
            f"{where} was saved with apache-tvm {manifest.get('tvm')}, this is {tvm.__version__}, "
            "and compiled code does not carry over; build and save the model again"
        )


def check_form(where: str, manifest: dict[str, Any]) -> None:
    """ArtifactError naming the first entry that is not as `make_manifest` writes it: its type, a number, a name."""
    form = {**_FORM, "further": _FURTHER if manifest["schema"] == SEVERAL else MISSING}
    wrong = first_wrong(manifest, form) or first_wrong(manifest, _form_of_names(manifest))
    if wrong:
        path, value = wrong
        reason = "is missing" if value is MISSING else f"cannot be {reprlib.repr(value)}"
        raise ArtifactError(f"{where}: '{path}' of the manifest {reason}; save the model again")


def _form_of_names(manifest: dict[str, Any]) -> dict[str, Any]:
    """The form of what names other entries, of a manifest that has the form _FORM."""
    description = manifest["description"]
    inputs = {tensor["name"]: tensor["shape"] for tensor in description["inputs"]}
    free = frozenset(size for shape in inputs.values() for size in shape if isinstance(size, str))
    sizes: dict[Any, range] = {**dict.fromkeys(free & {description["batch"]}, SIZE[1:]), free: SIZE[1:]}
    common = description.get("common", [])
    codes = [code.get("own", description).get("calls", MISSING) for code in codes_of(manifest)]
    forms = [_form_of_calls(calls, len(inputs), [one["function"] for one in common]) for calls in codes]
    return {
        "description": {
            "batch": free | {""},
            "indices": ([_form_of_index(use, inputs, free) for use in description.get("indices", [])], MISSING),
            "common": ([{"sizes": sizes}, ...], MISSING),
            "calls": forms[0],
        },
        "further": ([{"own": {"calls": form}} for form in forms[1:]], MISSING),
    }


def _form_of_index(use: dict[str, Any], inputs: dict[str, list[Any]], free: frozenset[str]) -> dict[str, Any]:
    """Of an input that is an index: one size, or one for each item of its last dimension."""
    count = len(use["sizes"]) if [len(use["sizes"])] == inputs.get(use["input"], [])[-1:] else 1
    return {"input": frozenset(inputs), "sizes": [(SIZE, free)] * count}


def _form_of_calls(calls: Any, inputs: int, common: list[str]) -> Any:
    """Of what is known of the calls of main (main_calls.describe_calls), and of its code for common sizes."""
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
