"""Kernels kept on disk: equal files, damage, limits, several processes, and files merged for the linker."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tvmq
import tvmq.codegen.target
from tests.models import parse
from tvmq.codegen import kernel_cache, kernel_objects
from tvmq.codegen.elf_object import LOCAL, UNDEFINED, ObjectFile, Relocation, Symbol
from tvmq.codegen.merge_objects import ENTRY, merged

pytestmark = pytest.mark.skipif(
    not kernel_objects.is_linux_x86(tvmq.codegen.target.resolve_target()), reason="kernels are kept on Linux on x86-64"
)
MODEL = """
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 16), "float32"), w: R.Tensor((16, 8), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.sin(y)
            R.output(z)
        return z
"""
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
    compile_one = kernel_objects._compiled

    def watched(name: str, *rest: object) -> bytes:
        names.append(name)
        return compile_one(name, *rest)

    monkeypatch.setattr(kernel_objects, "_compiled", watched)
    return names


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


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "file"))
    assert build()(X).shape == (4, 8)


def test_what_was_used_longest_ago_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, key in enumerate(("new", "middle", "old")):
        kernel_cache.write(key, bytes(100))
        os.utime(folder / key, (1e9 - age, 1e9 - age))
    assert kernel_cache.read("old") == bytes(100)  # and so it is the youngest
    kernel_cache.trim()
    assert len(list(folder.iterdir())) == 3
    monkeypatch.setattr(kernel_cache, "MOST_BYTES", 300)
    kernel_cache.trim()
    assert sorted(path.name for path in folder.iterdir()) == ["old"]


def test_many_writers(folder: Path) -> None:
    """Threads and processes write and read the same entries; what is read is always whole."""
    script = (
        "from tvmq.codegen import kernel_cache as cache\n"
        "for i in range(200):\n"
        "    cache.write(f'k{i % 5}', bytes([i % 5]) * 5000)\n"
        "    assert cache.read(f'k{i % 5}') in (None, bytes([i % 5]) * 5000)\n"
    )
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: subprocess.run([sys.executable, "-c", script], check=False), range(2)))
    assert [run.returncode for run in runs] == [0, 0]
    assert all(kernel_cache.read(f"k{i}") == bytes([i]) * 5000 for i in range(5))
    assert len(list(folder.iterdir())) == 5  # no temporary file is left


def test_names_of_several_files_mean_the_first_definition() -> None:
    shared = Symbol("pointer", 2, 1, 1, 0, 8)
    first = ObjectFile((), (Symbol("", LOCAL, 0, 0, 0, 0), Symbol("pointer", 1, 0, UNDEFINED, 0, 0)), ())
    second = ObjectFile((), (shared, Symbol("kernel", 1, 2, 2, 0, 8), Symbol(ENTRY, 2, 2, 2, 0, 8)), ())
    third = ObjectFile((), (shared, Symbol("helper", LOCAL, 2, 2, 0, 8)), (Relocation(2, 4, 9, 0, -4),))
    whole = merged([first, second, third])
    assert [symbol.bind for symbol in whole.symbols] == [LOCAL, LOCAL, 2, 1, LOCAL, LOCAL, LOCAL]
    assert whole.relocations == (Relocation(2, 4, 9, 2, -4),)
