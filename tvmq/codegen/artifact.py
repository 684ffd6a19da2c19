"""The saved model, `.tvmq`: one zip of named members, none of them pickled.

    manifest.json   schema, versions, target and the CPU features it needs, description, kernels, sha256 of the other members
    vm.bin          bytecode and constants of the Relax virtual machine
    kernels.bc      machine-independent code of the kernels (LLVM bitcode): loading needs no C compiler
    module.json     the module that was compiled, for `verify`

The file holds machine code: whoever can write it can run code where it is loaded. Hashes find damage, not malice; give
`load(path, sha256=...)` the hash that `save` returned to be sure that it is the file you made.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi

from tvmq.codegen.target import host_features, missing_features, resolve_target
from tvmq.codegen.vm_pipeline import BITCODE, BYTECODE, from_bytes, to_bytes
from tvmq.errors import ArtifactError, OutputError, TargetError
from tvmq.graph import ops as _ops  # noqa: F401  registers the operators that module.json names
from tvmq.version import __version__

SCHEMA = 1
MANIFEST, MODULE = "manifest.json", "module.json"
MEMBERS = (MANIFEST, BYTECODE, BITCODE, MODULE)
# Bounds against damaged or hostile archives, unpacked.
LARGEST_MEMBER = 8 * 2**30
LARGEST_MANIFEST = 64 * 2**20
EPOCH = (1980, 1, 1, 0, 0, 0)


def save(path: Path, parts: Any) -> str:
    """Write the file whole or not at all; returns its sha256."""
    blobs = {**to_bytes(parts.code), MODULE: tvm.ir.save_json(parts.module).encode()}
    manifest = {
        "schema": SCHEMA,
        "tvmq": __version__,
        "tvm": str(tvm.__version__),
        "tvm_ffi": str(tvm_ffi.__version__),
        "target": dict(parts.target.tvm),
        "needs": sorted(parts.target.needs),
        "description": parts.description,
        "kernels": parts.kernels,
        "sha256": {name: hashlib.sha256(blob).hexdigest() for name, blob in blobs.items()},
    }
    blobs = {MANIFEST: json.dumps(manifest, indent=1, sort_keys=True).encode(), **blobs}
    try:
        return _written(path, blobs)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"save: cannot write '{path}': {reason}; nothing was written there") from error


def _written(path: Path, blobs: dict[str, bytes]) -> str:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            for member, blob in blobs.items():
                info = zipfile.ZipInfo(member, EPOCH)  # no clock: equal models are equal files
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, blob, compresslevel=1)
        digest = hashlib.sha256(temporary.read_bytes()).hexdigest()
        os.chmod(temporary, 0o644)
        temporary.replace(path)
        return digest
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path, sha256: str | None = None) -> dict[str, Any]:
    """The parts of an Executable; see Executable.load for what is refused."""
    data = _read(path)
    digest = hashlib.sha256(data).hexdigest()
    if sha256 is not None and digest != sha256.lower():
        raise ArtifactError(f"load: '{path}' has sha256 {digest}, expected {sha256}; it is not the file that was saved")
    blobs, manifest = _members(path)
    _check_versions(path, manifest)
    target = resolve_target(manifest["target"])
    lacking = missing_features(frozenset(manifest["needs"]), host_features())
    if lacking:
        raise TargetError(
            f"load: '{path}' was built for {target.mcpu} and needs {', '.join(sorted(lacking))}, which this CPU lacks; "
            "build it here, or with a target that both CPUs have"
        )
    return {
        "code": from_bytes({name: blobs[name] for name in (BYTECODE, BITCODE) if name in blobs}),
        "target": target,
        "description": manifest["description"],
        "kernels": manifest["kernels"],
        "module": tvm.ir.load_json(blobs[MODULE].decode()),
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArtifactError(f"load: cannot read '{path}': {error.strerror}") from error


def _members(path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Checked members and the manifest."""
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                limit = LARGEST_MANIFEST if info.filename == MANIFEST else LARGEST_MEMBER
                if info.filename not in MEMBERS:
                    raise ArtifactError(f"load: '{path}' holds '{info.filename}', which no tvmq file has; it is foreign")
                if info.file_size > limit:
                    raise ArtifactError(f"load: '{path}': '{info.filename}' claims {info.file_size} bytes; the limit is {limit}")
            blobs = {info.filename: archive.read(info) for info in archive.infolist()}
        manifest = json.loads(blobs[MANIFEST])
        hashes = dict(manifest["sha256"])
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, NotImplementedError) as error:
        raise ArtifactError(f"load: '{path}' is no tvmq file, or it is damaged ({_words(error)}); save it again") from error
    for name in (BYTECODE, MODULE, *hashes):
        if name not in blobs or hashlib.sha256(blobs[name]).hexdigest() != hashes.get(name):
            raise ArtifactError(f"load: '{path}': '{name}' is missing or damaged; save it again")
    return blobs, manifest


def _words(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _check_versions(path: Path, manifest: dict[str, Any]) -> None:
    if manifest.get("schema") != SCHEMA:
        raise ArtifactError(
            f"load: '{path}' has schema {manifest.get('schema')}, this tvmq reads {SCHEMA}; "
            f"it was saved by tvmq {manifest.get('tvmq')}, build the model again"
        )
    if manifest.get("tvm") != str(tvm.__version__):
        raise ArtifactError(
            f"load: '{path}' was saved with apache-tvm {manifest.get('tvm')}, this is {tvm.__version__}; build the model again"
        )
