"""What the manifest of a saved model says, and the check that it says it."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
import tvm_ffi

from tvmq.errors import ArtifactError
from tvmq.version import __version__

SCHEMA = 3
SEVERAL = 4  # schema of a file with code for several CPUs
# Bounds against texts that fill the memory when they are read: bytes, and entries, of which 50 a layer are usual.
LONGEST, MOST_ENTRIES = 64 * 2**20, 2**20
MISSING = object()

# A value's form: a type or a tuple of types, [form] for a list of any length, {str: form} for a dictionary of any
# keys, or a dictionary of forms for fixed keys; further keys are ignored.
_TENSOR = {"name": str, "shape": [(int, str)], "dtype": str}
_LIMIT = {"least": int, "most": int, "why": str}
_LEDGER = {
    "stage": str,
    "config": {str: object},
    "layers": {str: {"op": str, "precision": str, "why": str}},
    "notes": [str],
}
_INDICES = [{"input": str, "sizes": [(int, str)], "layer": str, "operator": str}]
_COMMON = [{"function": str, "sizes": {str: int}, "inputs": [_TENSOR], "outputs": [_TENSOR]}]
_FUNCTIONS = {str: {"inputs": [_TENSOR], "outputs": [_TENSOR]}}
_FORM = {
    "schema": int,
    "tvmq": str,
    "tvm": str,
    "tvm_ffi": str,
    "arch": str,
    "target": {str: object},
    "needs": [str],
    "description": {
        "inputs": [_TENSOR],
        "outputs": [_TENSOR],
        "ledger": _LEDGER,
        "names": {str: [str]},
        "batch": str,
        "limits": {str: _LIMIT},
    },
    "kernels": {str: str},
    "sha256": {str: str},
}
# What says which CPU a code is for; "own" is what its description has of its own, "cuts" those of shared_constants.
_CODE = {key: _FORM[key] for key in ("arch", "target", "needs", "kernels")}
_FURTHER = [{**_CODE, "own": {"calls": {str: object}}, "cuts": [[object]]}]


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
    """ArtifactError naming the first entry that has another type than `make_manifest` gives it."""
    wrong = _first_wrong(manifest, _FORM, "") or _first_wrong(_functions(manifest), _FUNCTIONS, "description.functions")
    wrong = wrong or _first_wrong(manifest["description"].get("notes", {}), {str: str}, "description.notes")
    wrong = wrong or _first_wrong(manifest["description"].get("indices", []), _INDICES, "description.indices")
    wrong = wrong or _first_wrong(manifest["description"].get("common", []), _COMMON, "description.common")
    if not wrong and manifest["schema"] == SEVERAL:
        wrong = _first_wrong(manifest.get("further", MISSING), _FURTHER, "further")
    if wrong:
        raise ArtifactError(f"{where}: '{wrong}' of the manifest is missing or of a wrong type; save the model again")
    described = (manifest["description"], *_functions(manifest).values())
    for tensor in (tensor for part in described for tensor in (*part["inputs"], *part["outputs"])):
        lowest = min((size for size in tensor["shape"] if isinstance(size, int)), default=0)
        if lowest < 0 or not _is_dtype(tensor["dtype"]):
            raise ArtifactError(
                f"{where}: the manifest says that '{tensor['name']}' is {tensor['dtype']}{tensor['shape']}, "
                "which no tensor is; save the model again"
            )


def _functions(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a model in four functions says about the three that main calls; absent in others."""
    functions: dict[str, Any] = manifest["description"].get("functions", {})
    return functions


def _is_dtype(text: str) -> bool:
    try:
        return np.dtype(text).kind in "fiub"
    except TypeError:
        return False


def _first_wrong(value: Any, form: Any, path: str) -> str | None:
    """Path of the first entry that has not the wanted form; None if all have."""
    if value is MISSING:
        return path
    if isinstance(form, type | tuple):
        fits = isinstance(value, form) and (form is object or not isinstance(value, bool))
        return None if fits else path
    if isinstance(form, list):
        if not isinstance(value, list):
            return path
        parts = {f"{path}[{i}]": (item, form[0]) for i, item in enumerate(value)}
    else:
        if not isinstance(value, dict):
            return path
        items = {key: form[str] for key in value} if str in form else form
        parts = {f"{path}.{key}".lstrip("."): (value.get(key, MISSING), item) for key, item in items.items()}
    wrong = (_first_wrong(item, inner, inside) for inside, (item, inner) in parts.items())
    return next((found for found in wrong if found is not None), None)
