"""Kernels kept on disk: equal files, damage, limits, several processes, and files merged for the linker."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tvm

import tvmq
import tvmq.codegen.target.cpu
from tests.support.models.networks import parse, text_of
from tvmq.base.tvm_internals import MAIN_SYMBOL
from tvmq.codegen.compile import kernel_objects
from tvmq.codegen.compile.build import build_executable
from tvmq.codegen.compile.build_options import BRIEF
from tvmq.errors import ConfigError
from tvmq.runtime.artifact.link.elf_object import LOCAL, UNDEFINED, ObjectFile, Relocation, Symbol, merge_objects

pytestmark = pytest.mark.skipif(
    not kernel_objects.is_linux_x86(tvmq.codegen.target.cpu.resolve_target()), reason="kernels are kept on Linux on x86-64"
)
MODEL = text_of(
    'x: R.Tensor((4, 16), "float32"), w: R.Tensor((16, 8), "float32")', "y = R.matmul(x, w)\nz = R.sin(y)", inputs=1
)
X = np.random.default_rng(0).random((4, 16)).astype(np.float32)


def build() -> tvmq.Executable:
    return tvmq.build(parse(MODEL), params={"w": np.ones((16, 8), np.float32)})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the kernels that were really compiled."""
    names: list[str] = []
    compile_them = kernel_objects._compile_kernels

    def watched(functions: dict, *rest: object) -> bytes:
        names.append("+".join(functions))
        return compile_them(functions, *rest)

    monkeypatch.setattr(kernel_objects, "_compile_kernels", watched)
    return names


@pytest.mark.slow
def test_a_second_build_compiles_nothing_and_saves_the_same(
    folder: Path, compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build()
    count = len(compiled)
    assert count == len(list(folder.iterdir())) >= 2
    second = build()
    assert len(compiled) == count
    monkeypatch.setenv("TVMQ_CACHE", "0")
    third = build()
    assert len(compiled) == 2 * count
    assert len({exe.save(tmp_path / "m.tvmq") for exe in (first, second, third)}) == 1
    assert all(np.array_equal(exe(X), first(X)) for exe in (second, third, tvmq.load(tmp_path / "m.tvmq")))


@pytest.mark.slow
def test_loops_share_object_files_in_brief_builds(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that no template made, once; in a build that is kept, or in another brief one, each has its own."""
    monkeypatch.setattr(kernel_objects, "_grouped", set())
    mod = parse(MODEL.replace("z = R.sin(y)", "v = R.sin(y)\n            z = R.cumsum(v, axis=1)"))
    params = {"w": np.ones((16, 8), np.float32)}

    def results() -> np.ndarray:
        return build_executable(mod, params, options=BRIEF)(X)

    first = results()
    assert sum("+" in name for name in compiled) == 1 and len(compiled) < len("+".join(compiled).split("+"))
    count = len(compiled)
    monkeypatch.setattr(kernel_objects, "_grouped", set())  # as in another process
    assert np.array_equal(results(), first) and len(compiled) == count
    entry = max(folder.iterdir(), key=lambda path: path.stat().st_size)
    entry.write_bytes(entry.read_bytes()[:-1])
    monkeypatch.setattr(kernel_objects, "_grouped", set())
    assert np.array_equal(results(), first) and len(compiled) == count + 1
    assert np.array_equal(results(), first)  # grouped before: alone now
    assert len(compiled) > count + 1 and not any("+" in name for name in compiled[count + 1 :])
    count = len(compiled)
    assert np.array_equal(tvmq.build(mod, params)(X), first)
    assert all("+" not in name for name in compiled[count:])


def test_hash_of_a_function_is_that_of_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    one = one_function("y[i] = x[i] + T.float32(1)")
    same, other = one_function("y[i] = x[i] + T.float32(1)"), one_function("y[i] = x[i] + T.float32(2)")
    first = kernel_objects._code_hash(one)
    assert first == kernel_objects._code_hash(same) == kernel_objects._code_hash(one.with_attr("x", 1))
    assert first != kernel_objects._code_hash(other)
    target = tvmq.codegen.target.cpu.resolve_target().as_tvm()
    keys = [kernel_objects._key(f, target, {}) for f in (one, same, one.with_attr("x", 1), other)]
    assert keys[0] == keys[1] and len(set(keys)) == 3
    monkeypatch.setattr(kernel_objects, "MOST_HASHES", 1)
    monkeypatch.setattr(kernel_objects, "_hashes", {})
    for func in (one, other, same):
        assert (kernel_objects._code_hash(func) == first) is (func is not other)
    assert len(kernel_objects._hashes) == 1


def one_function(statement: str) -> tvm.tirx.PrimFunc:
    text = f"""
# from tvm.script import tirx as T
@T.prim_func
def main(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        {statement}
"""
    return tvm.script.from_source(text)


@pytest.mark.slow
def test_a_damaged_entry_is_built_anew(folder: Path, compiled: list[str]) -> None:
    expected = build()(X)
    count = len(compiled)
    flipped, cut, *_ = sorted(folder.iterdir())
    data = bytearray(flipped.read_bytes())
    data[len(data) // 2] ^= 1
    flipped.write_bytes(data)
    cut.write_bytes(cut.read_bytes()[:20])
    assert np.array_equal(build()(X), expected)
    assert len(compiled) == count + 2
    build()
    assert len(compiled) == count + 2


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="^cache: '.*file' is not used, since it is no folder; set TVMQ_CACHE"):
        assert build()(X).shape == (4, 8)


def test_what_was_used_longest_ago_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, key in enumerate(("new", "middle", "old")):
        kernel_objects.write(key, bytes(100))
        os.utime(folder / key, (1e9 - age, 1e9 - age))
    assert kernel_objects.read("old") == bytes(100)  # and so it is the youngest
    kernel_objects.trim()
    assert len(list(folder.iterdir())) == 3
    monkeypatch.setattr(kernel_objects, "MOST_BYTES", 300)
    kernel_objects.trim()
    assert sorted(path.name for path in folder.iterdir()) == ["old"]


@pytest.mark.slow
def test_many_writers(folder: Path) -> None:
    """Threads and processes write and read the same entries; what is read is always whole."""
    script = (
        "from tvmq.codegen.compile import kernel_objects as cache\n"
        "for i in range(200):\n"
        "    cache.write(f'k{i % 5}', bytes([i % 5]) * 5000)\n"
        "    assert cache.read(f'k{i % 5}') in (None, bytes([i % 5]) * 5000)\n"
    )
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: subprocess.run([sys.executable, "-c", script], check=False), range(2)))
    assert [run.returncode for run in runs] == [0, 0]
    assert all(kernel_objects.read(f"k{i}") == bytes([i]) * 5000 for i in range(5))
    assert len(list(folder.iterdir())) == 5  # no temporary file is left


def test_names_of_several_files_mean_the_first_definition() -> None:
    shared = Symbol("pointer", 2, 1, 1, 0, 8)
    first = ObjectFile((), (Symbol("", LOCAL, 0, 0, 0, 0), Symbol("pointer", 1, 0, UNDEFINED, 0, 0)), ())
    second = ObjectFile((), (shared, Symbol("kernel", 1, 2, 2, 0, 8), Symbol(MAIN_SYMBOL, 2, 2, 2, 0, 8)), ())
    third = ObjectFile((), (shared, Symbol("helper", LOCAL, 2, 2, 0, 8)), (Relocation(2, 4, 9, 0, -4),))
    whole = merge_objects([first, second, third])
    assert [symbol.bind for symbol in whole.symbols] == [LOCAL, LOCAL, 2, 1, LOCAL, LOCAL, LOCAL]
    assert whole.relocations == (Relocation(2, 4, 9, 2, -4),)


@pytest.mark.slow
def test_entries_under_other_names_are_built_anew(folder: Path, compiled: list[str]) -> None:
    expected = build()(X)
    count = len(compiled)
    first, second, *_ = sorted(folder.iterdir())
    contents = first.read_bytes(), second.read_bytes()
    first.write_bytes(contents[1])
    second.write_bytes(contents[0])
    assert np.array_equal(build()(X), expected)
    assert len(compiled) == count + 2
    assert {first.read_bytes(), second.read_bytes()} == set(contents)


@pytest.mark.slow
@pytest.mark.parametrize("junk", [b"hello" * 100, b"", "ELF head", "cut", "other kernel"])
def test_what_is_no_such_kernel_is_built_anew(folder: Path, compiled: list[str], junk: bytes | str) -> None:
    """A file with a right hash and other contents, as somebody could write who knows how the hash is made."""
    expected = build()(X)
    count = len(compiled)
    entries = sorted(folder.iterdir())
    objects = [path.read_bytes()[kernel_objects.DIGEST :] for path in entries]
    for path, data, other in zip(entries, objects, objects[1:] + objects[:1], strict=True):
        named = {"ELF head": data[:64], "cut": data[:-100], "other kernel": other}
        kernel_objects.write(path.name, junk if isinstance(junk, bytes) else named[junk])
    assert np.array_equal(build()(X), expected)
    assert len(compiled) == 2 * count
    assert [path.read_bytes()[kernel_objects.DIGEST :] for path in entries] == objects


def test_links_pipes_and_files_of_others_are_no_entries(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_objects.write("kernel", b"code")
    (folder / "kernel").rename(tmp_path / "elsewhere")
    (folder / "kernel").symlink_to(tmp_path / "elsewhere")
    assert kernel_objects.read("kernel") is None
    assert not (folder / "kernel").is_symlink()
    os.mkfifo(folder / "kernel")
    assert kernel_objects.read("kernel") is None
    kernel_objects.write("kernel", b"code")
    assert kernel_objects.read("kernel") == b"code"


def test_new_folders_are_for_their_user_alone(folder: Path) -> None:
    kernel_objects.write("kernel", b"code")
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder)] == [0o700, 0o700]


@pytest.mark.parametrize("place", [".", ".."])
def test_a_folder_that_others_can_write_is_not_used(folder: Path, place: str) -> None:
    kernel_objects.write("kernel", b"code")
    (folder / place).chmod(0o770)
    reason = r"^cache: '.*' is not used, since others than its owner, user \d+, can write it \(mode 0770\).*chmod go-w"
    with pytest.warns(UserWarning, match=reason) as warned:
        assert kernel_objects.read("kernel") is None
        kernel_objects.write("other", b"code")
    assert len(warned) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["kernel"]


def test_a_folder_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_objects.write("kernel", b"code")
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.warns(
        UserWarning, match=rf"^cache: .* belongs to user {owner} \(mode 0700\) and this is user {owner + 1}"
    ):
        assert kernel_objects.read("kernel") is None


def test_a_link_to_a_folder_is_that_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_objects.write("kernel", b"code")
    (tmp_path / "link").symlink_to(folder.parent)
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "link"))
    assert kernel_objects.read("kernel") == b"code"


def test_the_home_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVMQ_CACHE", "~no_such_user_here/x")
    with pytest.raises(ConfigError, match=r"^cache: TVMQ_CACHE is '~no_such_user_here/x', and there is no such home"):
        kernel_objects.read("kernel")


@pytest.mark.slow
def test_a_bound_on_the_size_of_files_is_one_error(tmp_path: Path) -> None:
    """LLVM would end the process. In a child, since the bound holds for all that a process writes."""
    code = (
        "import resource, tvmq\n"
        "from tests.codegen.compile.test_kernel_cache import build\n"
        "from tvmq.errors import OutputError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    build()\n"
        "except OutputError as error:\n"
        "    assert 'files of this process may have 1000 (RLIMIT_FSIZE); raise it with `ulimit -f`' in str(error)\n"
        "    raise SystemExit(7)\n"
    )
    environment = {**os.environ, "TVMQ_CACHE": "0"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=120).returncode == 7
