"""Damaged or forged contents with valid hashes: a refusal in one sentence, never a crash.

Most tests are of the parts that read, which pass nothing to TVM; loading and running happens in one child process.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tvmq.base.tvm_internals import CALL, CONSTANT, FIRST_SPECIAL_REGISTER, FUNCTION_KIND, GOTO, IF, KIND_SHIFT, RETURN
from tvmq.errors import ArtifactError
from tvmq.runtime.artifact import container
from tvmq.runtime.artifact.bytecode import Bytecode, BytecodeFunction, check_lengths, read_bytecode
from tvmq.runtime.artifact.bytecode_checks import check_bytecode
from tvmq.runtime.artifact.code_bytes import BYTECODE
from tvmq.runtime.artifact.saved_file import SavedFile

PLACES = 60


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], manifest: dict) -> bytes:
    """The file with the right hashes of whatever is in it."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items() if name != container.MANIFEST}
    text = json.dumps({**manifest, "sha256": hashes, "packed": {}}).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {**parts, container.MANIFEST: text}.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def damaged(data: bytes, random: np.random.Generator) -> bytes:
    """Bytes with some changed or missing, or with the end cut off."""
    place, kind = int(random.integers(len(data))), int(random.integers(4))
    if kind == 0:
        return data[:place] + bytes([data[place] ^ int(random.integers(1, 256))]) + data[place + 1 :]
    if kind == 1:
        return data[:place] + b"\xff" * 8 + data[place + 8 :]
    return data[:place] + (data[place + int(random.choice([1, 8, 64])) :] if kind == 2 else b"")


@pytest.fixture(scope="module")
def whole_code(digits) -> bytes:
    return container._read_members("here", SavedFile.open("here", digits.path))[BYTECODE]


def test_truncated_bytecode_is_told_from_its_lengths(whole_code):
    check_lengths(whole_code)
    for place in np.linspace(8, len(whole_code) - 1, PLACES).astype(int):
        with pytest.raises(ArtifactError, match="the code is damaged"):
            check_lengths(whole_code[:place])


def test_bytecode_of_this_tvmq_stays_within_itself(whole_code):
    check_bytecode(read_bytecode(io.BytesIO(whole_code), len(whole_code)))


PACKED, MAIN = BytecodeFunction(0, "kernel", 0, 0, [], 0), ["x"]
WRONG = {
    "a register that there is not": [[CALL, 5, 0, 1, 0], [RETURN, 5]],
    "a register that nothing has written": [[CALL, 1, 0, 1, 2], [RETURN, 1]],
    "a negative register": [[CALL, -1, 0, 1, 0], [RETURN, 0]],
    "a constant that there is not": [[CALL, 1, 0, 1, CONSTANT | 1], [RETURN, 1]],
    "a function that there is not": [[CALL, 1, 0, 1, FUNCTION_KIND << KIND_SHIFT | 9], [RETURN, 1]],
    "an argument of no kind": [[CALL, 1, 0, 1, 9 << KIND_SHIFT], [RETURN, 1]],
    "a call with too few arguments": [[CALL, 1, 1, 0], [RETURN, 1]],
    "a result that nothing has written": [[CALL, 1, 0, 1, 0], [RETURN, 2]],
    "a jump behind the end": [[GOTO, 2], [RETURN, 0]],
    "a jump before the beginning": [[IF, 0, -1], [RETURN, 0]],
    "a jump to itself": [[GOTO, 0], [RETURN, 0]],
    "no return": [[CALL, 1, 0, 1, 0], [CALL, 1, 0, 1, 0]],
    "a register of the machine beyond its own": [[CALL, 1, 0, 1, FIRST_SPECIAL_REGISTER + 2], [RETURN, 1]],
    "a pattern that is cut off": [[CALL, 1, 2, 3, 0, 0, 1 << KIND_SHIFT | 4], [RETURN, 1]],
}


@pytest.mark.parametrize("name", WRONG)
def test_instructions_that_leave_the_function(name):
    match = BytecodeFunction(0, "vm.builtin.match_shape", 0, 0, [], 0)
    main = BytecodeFunction(1, "main", 0, len(WRONG[name]), ["x"], 3)
    code = Bytecode([PACKED, main, match], ["a constant"], WRONG[name])
    with pytest.raises(ArtifactError, match="^load: the code is damaged .'main': .*; save the model again$"):
        check_bytecode(code)


@pytest.mark.parametrize(
    "change", [{"begin": -1}, {"end": 3}, {"begin": 2}, {"registers": 2**40}, {"registers": 0}, {"end": 2**62}]
)
def test_functions_that_are_not_there(change):
    facts = {"kind": 1, "name": "main", "begin": 0, "end": 2, "inputs": ["x"], "registers": 2, **change}
    code = Bytecode([PACKED, BytecodeFunction(**facts)], [], [[CALL, 1, 0, 1, 0], [RETURN, 1]])
    with pytest.raises(ArtifactError, match="the code is damaged"):
        check_bytecode(code)


CHILD = """
import sys, tvmq
from pathlib import Path
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        tvmq.load(path)
        print(path.name, "loaded", flush=True)
    except tvmq.errors.TvmqError as error:
        print(path.name, "refused", str(error).count(chr(10)), flush=True)
"""


@pytest.mark.slow
def test_no_damage_of_code_ends_the_process(digits, tmp_path):
    """Each member but the machine code, at many places, the hashes made anew."""
    parts, random = members(digits.path), np.random.default_rng(5)
    manifest = json.loads(parts[container.MANIFEST])
    for number in range(PLACES):
        name = (BYTECODE, "constants.bin")[number % 4 == 3]
        changed = {**parts, name: damaged(parts[name], random)}
        facts = manifest
        if number % 4 == 1:  # of a tvmq that did not say what was built: lengths and numbers alone tell it
            facts = {key: value for key, value in manifest.items() if key != "bytecode"}
            changed[name] = parts[name][: int(random.integers(len(parts[name])))]
        (tmp_path / f"{number:03d}-{name}").write_bytes(packed(changed, facts))
    result = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, check=False)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert result.returncode == 0 and len(lines) == PLACES, result.stderr[-500:]
    assert all(line[1:] == ["refused", "0"] for line in lines if BYTECODE in line[0])


@pytest.mark.parametrize(
    ("change", "says"),
    [({"dtype": "int8"}, "int8"), ({"shape": [7, 7]}, r"\[7, 7\]"), ({"shape": []}, r"\[\]"), (None, "nothing")],
)
def test_outputs_that_are_not_as_the_manifest_says(digits, tmp_path, change, says):
    parts = members(digits.path)
    manifest = json.loads(parts[container.MANIFEST])
    outputs = manifest["description"]["outputs"]
    if change is None:
        outputs.clear()
    else:
        outputs[0].update(change)
    (tmp_path / "lie.tvmq").write_bytes(packed(parts, manifest))
    exe = tvmq.load(tmp_path / "lie.tvmq")
    feed = {info.name: np.zeros(info.shape, info.dtype) for info in exe.input_info}
    for _ in range(2):
        with pytest.raises(ArtifactError, match=f"run: the code gives float32 .*, its description says .*{says}"):
            exe.run(feed)


def test_a_directory_of_many_entries_is_refused_unread(tmp_path):
    """Before the hash is looked at, too; the time would grow with the square of the entries."""
    path = tmp_path / "many.tvmq"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(4000):
            archive.writestr(str(number), b"")
    with pytest.raises(ArtifactError, match="a directory of"):
        tvmq.load(path)
    with pytest.raises(ArtifactError, match="it is not the file that was saved"):
        tvmq.load(path, sha256="0" * 64)


def test_a_module_whose_names_are_damaged(digits, tmp_path):
    """The model runs; an access to its module raises a sentence."""
    parts = members(digits.path)
    name = "module.json"
    assert b'"tvmq.names"' in parts[name] and b'{\\"' in parts[name]
    changed = {**parts, name: parts[name].replace(b'{\\"', b'{\\\\"')}
    (tmp_path / "lie.tvmq").write_bytes(packed(changed, json.loads(parts[container.MANIFEST])))
    exe = tvmq.load(tmp_path / "lie.tvmq")
    with pytest.raises(ArtifactError, match="TVM cannot read 'module.json'"):
        _ = exe.module
