"""The saved model, `.tvmq`: one zip of named members, none of them pickled.

    manifest.json   schema, versions, target, CPU features it needs, description, kernels, sha256 of the rest, and of
                    how it lies in the file where it is deflated
    vm.bin          bytecode and packed constants of the Relax virtual machine
    kernels.so      kernels as a shared library for Linux on x86-64
    kernels.bc      kernels as LLVM bitcode, compiled when loaded, for other systems; one of both is empty
    module.json     the module that was compiled, for `verify` and `explain`, without its constants
    constants.bin   those constants, one after the other, but for what vm.bin holds, as it is or packed

vm.bin is without weights that packing makes larger: "joined" of the manifest says how they are made of constants.bin.

For several CPUs, members of each code but the first begin with its number, 1/vm.bin, and lack the constants that stand
in the file already (see shared_constants). For a GPU there are kernels.cu, kernels.fatbin and cuda.bin
(artifact/cuda.py), and the code above is of its host.

The file holds machine code: whoever can write it can run code where it is loaded. Hashes find damage, not
malice; give `load(path, sha256=...)` the hash that `save` returned to be sure that it is the file you made.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmq.base.by_name import load_object
from tvmq.base.text import last_line, printable_name, read_json
from tvmq.codegen.target.cpu import index_of_best
from tvmq.codegen.target.cuda import CudaTarget, is_cuda
from tvmq.errors import ArtifactError, ConfigError, OutputError, TvmqError
from tvmq.runtime.artifact.bytecode import read_bytecode
from tvmq.runtime.artifact.code_bytes import (
    BITCODE,
    BYTECODE,
    CONSTANTS,
    FATBIN,
    GPU,
    LIBRARY,
    MODULE,
    NATIVE,
    SOURCE,
    from_bytes,
    to_bytes,
)
from tvmq.runtime.artifact.code_choice import runnable, targets_of
from tvmq.runtime.artifact.libraries import open_libraries
from tvmq.runtime.artifact.loaded_code import LoadedCode
from tvmq.runtime.artifact.manifest import (
    JOINED,
    SEVERAL,
    bounded_text,
    check_form,
    check_versions,
    codes_of,
    describe_code,
    make_manifest,
)
from tvmq.runtime.artifact.members import METHODS, Archive, open_archive
from tvmq.runtime.artifact.model_description import Description
from tvmq.runtime.artifact.saved_file import Readable, SavedFile, name_source
from tvmq.runtime.artifact.shared_constants import Known

if TYPE_CHECKING:
    import tvm

MANIFEST = "manifest.json"
PACKED = "packed"  # its entry of hashes of members as they lie in the file
CODE, IR = (BYTECODE, NATIVE, BITCODE), (MODULE, CONSTANTS)
MEMBERS = (MANIFEST, *CODE, *IR)
LEVEL = 6
LARGE, PIECES, WORTH = 2**20, 8, 0.15  # bytes of a large member; pieces of it that tell what deflating would save
GROWTH = 1.5  # packed weights of so many times the bytes are made when the model is loaded
# Bounds against damaged or hostile archives: unpacked bytes for each of the file's, beyond a base.
# Deflate could reach 1000; a model that compresses better than RATIO is stored as it is.
UNPACKED_BASE = 64 * 2**20
RATIO = 100
EPOCH = (1980, 1, 1, 0, 0, 0)
Reader = Callable[[Readable, int], Any]  # makes something of an open member of so many bytes


def save(path: Path, parts: Any, module: Callable[[], tvm.IRModule]) -> str:
    """Write the file whole or not at all; returns its sha256.

    parts    an executable's (runtime/executable.py)
    module   gives the Relax module that was compiled, if it is needed
    raises   OutputError; ArtifactError if the file it was loaded from has changed; what was there stays untouched then
    """
    from tvmq.base.whole_file import write_whole

    try:
        saved = parts.saved or SavedFile.of(f"save: '{path}'", pack_executable(parts, module()))
        write_whole(path, lambda file: file.writelines(saved.blocks()))
    except ArtifactError:  # the file it was loaded from was changed
        raise
    except OSError as error:
        raise OutputError(
            f"save: '{path}' could not be written ({error.strerror or error}), nothing was changed; make room or name "
            "another place"
        ) from error
    return saved.sha256


def pack_executable(parts: Any, module: tvm.IRModule) -> bytes:
    """The file of an executable that was built here."""
    from tvmq.runtime.artifact.module_bytes import module_to_bytes

    first, *further = parts.codes or (parts,)
    _refuse_modules(parts.description)
    code = to_bytes(first.code, first.target.host, first.native)
    recipes = first.recipes.sources if first.recipes and not further else None
    built = _sha256(code[BYTECODE])
    blobs = {**code, **module_to_bytes(module, code[BYTECODE], recipes)}
    joined = _cut(blobs, recipes) if recipes else {}
    if isinstance(first.target, CudaTarget):
        from tvmq.runtime.artifact.cuda import gpu_bytes

        blobs.update(gpu_bytes(first.code, first.source, first.target))
    descriptions = _further(further, blobs)
    manifest = make_manifest(first, {name: _sha256(blob) for name, blob in blobs.items()})
    manifest["bytecode"] = built
    if descriptions:
        manifest = {**manifest, "schema": SEVERAL, "further": descriptions}
    if joined:
        manifest = {**manifest, "schema": JOINED, "joined": joined}
    return pack(manifest, blobs)


def _refuse_modules(description: Description) -> None:
    """Refuse what a code generator made that is neither code for this CPU nor source of C."""
    kinds = description.lowerings.modules if description.lowerings is not None else ()
    if kinds:
        raise ArtifactError(
            f"save: a code generator made a module of kind '{kinds[0]}', which only this process can run; make it give "
            "LLVM code or source of C, or keep the code in a library of its own (Extern)"
        )


def _cut(blobs: dict[str, bytes], recipes: Known) -> dict[str, Any]:
    """Cut weights that packing made larger out of the bytecode; returns the cuts that put them back."""
    from tvmq.codegen.kernels.parts.packing_recipes import spell_out
    from tvmq.runtime.artifact.shared_constants import cut_constants

    size = len(blobs[BYTECODE])
    sources = {CONSTANTS: blobs[CONSTANTS]}
    blobs[BYTECODE], cuts = cut_constants(blobs[BYTECODE], sources, recipes, growth=GROWTH)
    return {"size": size, "cuts": [[*place, spell_out(recipe)] for *place, recipe in cuts]}


def _further(codes: Sequence[Any], blobs: dict[str, bytes]) -> list[dict[str, Any]]:
    """Add the members of further codes to those of the first; returns their descriptions."""
    from tvmq.runtime.artifact.shared_constants import cut_constants

    sources, descriptions = {name: blobs[name] for name in (BYTECODE, CONSTANTS)}, []
    for number, parts in enumerate(codes, 1):
        code = {f"{number}/{name}": blob for name, blob in to_bytes(parts.code, parts.target, parts.native).items()}
        bytecode = f"{number}/{BYTECODE}"
        built = _sha256(code[bytecode])
        code[bytecode], cuts = cut_constants(code[bytecode], sources, parts.recipes.sources)
        sources[bytecode] = code[bytecode]
        blobs.update(code)
        own = {"calls": parts.description.calls.to_json()}
        descriptions.append({**describe_code(parts), "bytecode": built, "own": own, "cuts": cuts})
    return descriptions


def pack(manifest: dict[str, Any], blobs: dict[str, bytes]) -> bytes:
    """The archive; the same bytes for the same contents."""
    data, unpacked = _zip(blobs, manifest)
    return data if _is_bounded(unpacked, len(data)) else _zip(blobs, manifest, zipfile.ZIP_STORED)[0]


def _zip(blobs: dict[str, bytes], manifest: dict[str, Any], method: int | None = None) -> tuple[bytes, int]:
    """The archive, and the bytes of its members' contents; the manifest last, as it says how the others lie there."""
    buffer, packed = io.BytesIO(), {}
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, blob in blobs.items():
            begin = _write(archive, name, blob, method)
            if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
                packed[name] = _sha256(buffer.getbuffer()[begin:])
        text = json.dumps({**manifest, PACKED: packed}, separators=(",", ":")).encode()
        _write(archive, MANIFEST, text, method)
    return buffer.getvalue(), sum(map(len, blobs.values())) + len(text)


def _write(archive: zipfile.ZipFile, name: str, blob: bytes, method: int | None) -> int:
    """Add a member; returns where its bytes begin."""
    info = zipfile.ZipInfo(name, EPOCH)  # no clock: equal models are equal files
    info.compress_type = _method(blob) if method is None else method
    info.create_system = 3  # nor the system
    archive.writestr(info, blob, compresslevel=LEVEL)
    return archive.start_dir - info.compress_size


def _method(blob: bytes) -> int:
    """Whether a member is deflated: not a large one that would hardly be smaller, as it takes longer to load."""
    if len(blob) < LARGE:
        return zipfile.ZIP_DEFLATED
    pieces = [blob[len(blob) * part // PIECES :][: LARGE // PIECES] for part in range(PIECES)]
    saved = 1 - sum(len(zlib.compress(piece, LEVEL)) for piece in pieces) / sum(map(len, pieces))
    return zipfile.ZIP_DEFLATED if saved > WORTH else zipfile.ZIP_STORED


def load(source: Path | bytes, sha256: str | None = None, *, code: bool = True) -> dict[str, Any]:
    """The parts of an executable; see executable.load for what is refused.

    source  a file, or what is in it
    code    False: without compiled code, whatever machine it is for
    """
    where = name_source(source)
    if sha256 is not None and not isinstance(sha256, str):
        raise ConfigError(f"load: sha256 must be the text that `save` returned. Got {sha256!r} instead")
    file = SavedFile.of_source(where, source)
    if sha256 is not None:
        with contextlib.suppress(Exception), open_archive(file):  # as it is hashed it will be read
            pass
        if file.sha256 != sha256.lower():
            raise ArtifactError(
                f"{where} has sha256 {file.sha256}, expected {sha256}; it is not the file that was saved"
            )
    return load_file(where, file, None if isinstance(source, bytes) else source.absolute().parent, code=code)


def load_file(where: str, file: SavedFile, folder: Path | None = None, *, code: bool = True) -> dict[str, Any]:
    """Read a model from an open file, or bytes; `where` begins the messages, `folder` may hold its libraries."""
    most = UNPACKED_BASE + RATIO * file.size
    manifest, blobs = unpack(where, file, partial(_readers, where, most) if code else _source_alone)
    targets = targets_of(where, manifest)
    number = runnable(where, codes_of(manifest), targets) if code else 0
    target, description = targets[number], codes_of(manifest)[number]
    families = manifest["description"]["ledger"]["config"].get("operators", ())
    return {
        "code": _machine_code(where, file, number, manifest, blobs, target, folder) if code else None,
        "target": target,
        "targets": tuple(targets) if len(targets) > 1 else (),
        "source": blobs[SOURCE].decode() if isinstance(target, CudaTarget) else "",
        "description": Description.from_json({**manifest["description"], **description.get("own", {})}),
        "kernels": description["kernels"],
        "module": lambda: _module(where, file, families, code=code),  # read when asked for
        "saved": file,
    }


def _machine_code(
    where: str, file: SavedFile, number: int, manifest: dict[str, Any], blobs: Mapping[str, Any], target: Any,
    folder: Path | None,
) -> LoadedCode:  # fmt: skip
    library = _gpu_library(blobs) if isinstance(target, CudaTarget) else None
    code = _code(where, number, manifest, blobs, UNPACKED_BASE + RATIO * file.size)
    file.settle()
    if code[BYTECODE] is None:  # in a form that only TVM reads
        code[BYTECODE] = _read_members(where, file)[BYTECODE]
    needs = manifest["description"].get("lowerings", {}).get("libraries", ())
    called = [*([library] if library else []), *open_libraries(needs, where, folder)]
    return from_bytes(code, target.host, called)


def _gpu_library(blobs: Mapping[str, Any]) -> Any:
    from tvmq.runtime.artifact.cuda import gpu_library  # needs the compiler for GPUs

    return gpu_library(blobs)


def _module(where: str, file: SavedFile, families: Sequence[str], *, code: bool) -> tvm.IRModule:
    """The module; the packages of operators that it names are imported where code of the file is, too."""
    from tvmq.runtime.artifact.module_bytes import module_from_bytes  # registers all operators
    from tvmq.runtime.artifact.module_checks import check_packages

    for family in families if code and isinstance(families, list | tuple) else ():  # their packages may make operators
        with contextlib.suppress(ImportError, AttributeError):  # whoever asks for a definition says what is missing
            load_object(str(family))
    module = module_from_bytes(where, _read_members(where, file))
    if not code:
        check_packages(where, module)
    return module


def _read_members(where: str, file: SavedFile) -> dict[str, bytes]:
    """All members, all constants in their places."""
    manifest, blobs = unpack(where, file)
    if manifest["schema"] == JOINED:
        cuts, most = manifest["joined"]["cuts"], UNPACKED_BASE + RATIO * file.size
        blobs[BYTECODE] = _join_constants(where, "joined.cuts", blobs[BYTECODE], cuts, blobs, most)
        _check_code(where, manifest, _sha256(blobs[BYTECODE]))
    return blobs


class _JoinedCode:
    """Reads the constants, then the bytecode with those weights that are made of them."""

    def __init__(self, manifest: Mapping[str, Any], most: int) -> None:
        self.joined, self.built = manifest["joined"], manifest.get("bytecode")
        self.most, self.constants = most, b""

    def read_constants(self, member: Readable, size: int) -> None:
        """To be read first."""
        self.constants = member.read(size)

    def read_bytecode(self, member: Readable, _size: int) -> Any:
        """As bytecode.read_bytecode; None for what is not as it was built."""
        from tvmq.runtime.artifact.shared_constants import JoinedReader

        reader = JoinedReader(member, self.joined["cuts"], {CONSTANTS: self.constants}, self.most)
        self.constants = b""
        code = read_bytecode(reader, self.joined["size"])
        return code if self.built in (None, reader.sha256()) else None


def _readers(where: str, most: int, manifest: dict[str, Any]) -> dict[str, Reader]:
    """Readers for the members of a model that is to run: what this CPU does not need is checked only."""
    count = _count(manifest)
    number = (index_of_best(targets_of(where, manifest)) or 0) if count > 1 else 0
    wanted = {f"{number}/{name}" if number else name for name in CODE}
    if number:  # it takes constants from others
        wanted |= {
            name for cut in manifest["further"][number - 1]["cuts"] for name in cut[1:2] if isinstance(name, str)
        }
    members = (*IR, *CODE, *(f"{other}/{name}" for other in range(1, count) for name in CODE))
    unwanted: dict[str, Reader] = {name: _nothing for name in members if name not in wanted}
    if manifest["schema"] == JOINED and manifest["joined"]["cuts"]:
        code = _JoinedCode(manifest, most)
        return {**unwanted, CONSTANTS: code.read_constants, BYTECODE: code.read_bytecode}
    return unwanted if number else {**unwanted, BYTECODE: read_bytecode}


def _source_alone(manifest: dict[str, Any]) -> dict[str, Reader]:
    """Readers for the members of a model that is only looked at: of a GPU the source, the others are checked."""
    codes = [f"{number}/" if number else "" for number in range(_count(manifest))]
    return dict.fromkeys([*IR, FATBIN, LIBRARY, *(code + name for code in codes for name in CODE)], _nothing)


def _nothing(_member: Readable, _size: int) -> None:
    """Skip a member that need not be kept."""


def _code(where: str, number: int, manifest: dict[str, Any], blobs: Mapping[str, Any], most: int) -> dict[str, Any]:
    """The members of one code, its constants in their places."""
    if number == 0:
        if manifest["schema"] != JOINED:
            _check_code(where, manifest, manifest["sha256"][BYTECODE])
        return {name: blobs[name] for name in CODE}
    code = {name: blobs[f"{number}/{name}"] for name in CODE}
    described = manifest["further"][number - 1]
    entry = f"further[{number - 1}].cuts"
    code[BYTECODE] = _join_constants(where, entry, code[BYTECODE], described["cuts"], blobs, most)
    _check_code(where, described, _sha256(code[BYTECODE]))
    return code


def _check_code(where: str, described: Mapping[str, Any], digest: str) -> None:
    """Refuse bytecode that is not what was built, whatever the way from the file to here."""
    if described.get("bytecode", digest) != digest:
        raise ArtifactError(f"{where}: the code is not what was built (its hash differs); save the model again")


def _join_constants(where: str, entry: str, code: bytes, cuts: Any, sources: Mapping[str, Any], most: int) -> bytes:
    """Bytecode with its constants; `entry` of the manifest says which are missing."""
    from tvmq.runtime.artifact.shared_constants import join_constants

    try:
        return join_constants(code, cuts, sources, most)
    except Exception as error:  # what a wrong place or recipe leads to
        raise ArtifactError(f"{where}: '{entry}' of the manifest is wrong ({error}); save the model again") from error


def unpack(
    where: str, data: bytes | SavedFile, readers: Callable[[dict[str, Any]], Mapping[str, Reader]] = lambda _: {}
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest and the other members of an archive, checked against each other.

    where    begins the messages
    readers  gives for a manifest what reads some members; their results are given in place of the bytes
    raises   ArtifactError for anything that `pack` of this schema and this TVM does not make
    """
    file = SavedFile.of(where, data) if isinstance(data, bytes) else data
    try:
        with open_archive(file) as archive:
            _check_members(where, archive, file.size)
            manifest = read_json(bounded_text(where, archive.text(MANIFEST)))
            check_versions(where, manifest)
            several = [f"{number}/{name}" for number in range(1, _count(manifest)) for name in CODE]
            _check_names(where, archive.names, several)
            check_form(where, manifest)
            gpu, chosen = GPU if is_cuda(manifest.get("target")) else (), readers(manifest)
            names = (CONSTANTS, *CODE, MODULE, *gpu, *several)  # constants first: bytecode may be made of them
            return manifest, {name: _read(where, archive, name, manifest, chosen.get(name)) for name in names}
    except TvmqError:
        raise
    except Exception as error:  # zipfile, zlib and json raise a dozen kinds for damaged files
        way = "save the model again"
        if where.endswith((".onnx'", ".pt2'")):
            way = "it is named as a float model: `tvmq quantize` makes a .tvmq of one"
        elif where.endswith((".pt'", ".pth'", ".ckpt'")):
            way = "it is named as a torch checkpoint: export its network (torch.onnx.export) and quantize that"
        raise ArtifactError(f"{where} is no tvmq file, or it is damaged ({last_line(error)}); {way}") from error


def _read(where: str, archive: Archive, name: str, manifest: dict[str, Any], reader: Reader | None) -> Any:
    """Read a member (bytes without a reader); ArtifactError if its hash is not that of the manifest."""
    packed = manifest.get(PACKED, {}) if reader is _nothing else {}
    member = archive.open(name, hashed=name not in packed)
    size = archive.size(name)
    result = member.read(size) if reader is None else reader(member, size)
    lying, content = member.digests()
    if content is None and lying != packed[name]:  # damaged, or packed anew by somebody
        content = archive.open(name, hashed=True).digests()[1]
    if content is not None and content != manifest["sha256"].get(name):
        raise ArtifactError(f"{where}: '{name}' is damaged (its hash differs); save the model again")
    return result


def _check_members(where: str, archive: Archive, size: int) -> None:
    """Refuse what could fill the memory before anything is unpacked."""
    unpacked = sum(info.file_size for info in archive.members)
    if not _is_bounded(unpacked, size):
        raise ArtifactError(f"{where} claims {unpacked} bytes packed into {size}; it is no tvmq file")
    for info in archive.members:
        if info.compress_type not in METHODS or info.flag_bits & 1:
            raise ArtifactError(
                f"{where}: '{info.filename}' is encrypted or packed in an unknown way; it is no tvmq file"
            )


def _count(manifest: dict[str, Any]) -> int:
    """Number of codes, of a manifest whose form has not been checked."""
    further = manifest.get("further") if manifest["schema"] == SEVERAL else None
    return 1 + (len(further) if isinstance(further, list) else 0)


def _check_names(where: str, names: list[str], several: Sequence[str]) -> None:
    known = {*MEMBERS, *GPU, *several}
    for name, count in Counter(names).items():
        if name not in known or count > 1:
            raise ArtifactError(f"{where} holds {count} members '{printable_name(name)}'; it is no tvmq file")


def _is_bounded(unpacked: int, packed: int) -> bool:
    return unpacked <= UNPACKED_BASE + RATIO * packed


def _sha256(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()
