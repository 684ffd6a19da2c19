"""Operators computed by a library's symbol: shared or linked in, C or packed, and the error where it is absent."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm.relax.dpl import is_op, wildcard

import tvmq
from tests.codegen.custom_lowering.chip import network, run
from tests.support.models.built_modules import build_module
from tvmq.errors import ArtifactError, BuildError, ConfigError
from tvmq.extension import Extern, Match

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or sys.platform != "linux", reason="needs gcc, and objects that Linux loads"
)

SOURCE = """
#include <stdint.h>
void NAME_table(const uint8_t *x, const uint8_t *values, uint8_t *y, int64_t count) {
    for (int64_t i = 0; i < count; i++) y[i] = values[x[i]];
}
int NAME_add(const uint8_t *a, const uint8_t *b, uint8_t *y, int64_t count, int64_t ma, int64_t mb, int64_t offset,
             int64_t shift, int64_t zero) {
    for (int64_t i = 0; i < count; i++) {
        int32_t code = ((a[i] * (int32_t)ma + b[i] * (int32_t)mb + (int32_t)offset) >> shift) + (int32_t)zero;
        y[i] = code < 0 ? 0 : code > 255 ? 255 : code;
    }
    return 0;
}
"""


def compiled(folder: Path, name: str, suffix: str) -> Path:
    """A library whose symbols begin with a name of their own: a process sees one library of each symbol."""
    source, path = folder / f"{name}.c", folder / f"lib{name}{suffix}"
    source.write_text(SOURCE.replace("NAME", name))
    kind = ["-shared"] if suffix == ".so" else ["-c"]
    subprocess.run(["gcc", "-O2", "-fPIC", *kind, str(source), "-o", str(path)], check=True)
    return path


def count(match: Match) -> int:
    return int(np.prod([int(size) for size in match.result.ty.shape]))


def sum_numbers(match: Match) -> list[int]:
    attrs = match.attrs("tvmq.add")
    return [count(match), attrs.a_multiplier, attrs.b_multiplier, attrs.offset, attrs.shift, attrs.zero_point]


def lowerings(name: str, path: Path | None) -> list[tvmq.Lowering]:
    return [
        tvmq.Lowering("tvmq.table[dtype=uint8]", Extern(f"{name}_table", path, extra=lambda match: [count(match)])),
        tvmq.Lowering("tvmq.add", Extern(f"{name}_add", path, extra=sum_numbers)),
    ]


@pytest.mark.slow
def test_a_shared_library(tmp_path):
    mod, feeds = network()
    path = compiled(tmp_path, "shared", ".so")
    exe = tvmq.build(mod, lowerings=lowerings("shared", path))
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))
    assert [check.differing for check in tvmq.verify(exe, feeds).lowerings] == [0, 0]
    (library,) = exe.lowerings["libraries"]
    assert library["file"] == "libshared.so" and library["symbols"] == ["shared_table", "shared_add"]
    assert "(symbol shared_add of libshared.so) computes /add_3" in str(tvmq.explain(exe))
    exe.save(tmp_path / "m.tvmq")
    assert tvmq.verify(tvmq.load(tmp_path / "m.tvmq"), feeds).exact


@pytest.mark.slow
def test_a_saved_model_looks_for_its_library_beside_it_and_says_what_it_needs(tmp_path):
    mod, feeds = network()
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir(), here.mkdir()
    exe = tvmq.build(mod, lowerings=lowerings("moved", compiled(there, "moved", ".so")))
    wanted = run(exe, feeds)
    exe.save(here / "m.tvmq")
    code = f"""
import numpy as np, sys, tvmq
try:
    exe = tvmq.load({str(here / "m.tvmq")!r}, num_threads=int(sys.argv[1]))
except tvmq.errors.ArtifactError as error:
    print(error)
else:
    data = np.load({str(tmp_path / "data.npz")!r})
    found = np.concatenate([exe.run({{"x": data[str(i)]}})[0] for i in range({len(feeds)})])
    print("equal" if np.array_equal(found, data["wanted"]) else "other")
"""
    np.savez(tmp_path / "data.npz", wanted=wanted, **{str(i): feed["x"] for i, feed in enumerate(feeds)})

    def fresh(threads: int = 1) -> str:
        done = subprocess.run([sys.executable, "-c", code, str(threads)], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert fresh() == "equal"
    (there / "libmoved.so").rename(here / "libmoved.so")
    assert fresh(2) == "equal"
    (here / "libmoved.so").rename(tmp_path / "gone.so")
    message = fresh()
    assert "the model calls moved_table, moved_add of library 'libmoved.so', which cannot be opened" in message
    assert f"put it beside the model or at '{there / 'libmoved.so'}'" in message


@pytest.mark.slow
def test_an_object_file_becomes_part_of_the_model(tmp_path):
    mod, feeds = network()
    path = compiled(tmp_path, "linked", ".o")
    exe = tvmq.build(mod, lowerings=lowerings("linked", path))
    assert exe.lowerings["libraries"] == []
    exe.save(tmp_path / "m.tvmq")
    path.unlink()
    loaded = tvmq.load(tmp_path / "m.tvmq")
    np.testing.assert_array_equal(run(loaded, feeds), run(tvmq.build(mod), feeds))
    assert all(check.differing == 0 for check in tvmq.verify(loaded, feeds).lowerings)


def test_absent_files_and_symbols(tmp_path):
    mod, _ = network()
    path = compiled(tmp_path, "absent", ".so")
    linked = compiled(tmp_path, "absent", ".o")
    (tmp_path / "text.o").write_text("no object")
    (tmp_path / "text.so").write_text("no library")
    cases = [
        (path, "other", "has no symbol 'other_table'; compile it with other_table"),
        (tmp_path / "no.so", "absent", "the model calls absent_table of library 'no.so', which cannot be opened"),
        (tmp_path / "text.so", "nobody", "of library 'text.so', which cannot be opened"),
        (linked, "other", "does not define 'other_table', it has absent_table, absent_add; compile it"),
        (tmp_path / "no.o", "absent", "cannot be read: No such file or directory"),
        (tmp_path / "text.o", "absent", "is no 64-bit ELF file"),
        (None, "nowhere", "the model calls 'nowhere_table', which no library of this process has; name the one"),
    ]
    for place, name, message in cases:
        with pytest.raises(BuildError, match=re.escape(message)):
            tvmq.build(mod, lowerings=lowerings(name, place)[:1])


@pytest.mark.slow
def test_a_symbol_of_two_libraries_is_refused(tmp_path):
    mod, _ = network()
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    tvmq.build(mod, lowerings=lowerings("twice", compiled(first, "twice", ".so")))
    with pytest.raises(BuildError, match=r"symbol 'twice_table' of .* is also one of .*first.*, which would be called"):
        tvmq.build(mod, lowerings=lowerings("twice", compiled(second, "twice", ".so")))


@pytest.mark.slow
def test_packed_functions_of_the_process_and_of_a_library(tmp_path):
    mod, feeds = network()
    wanted = run(tvmq.build(mod), feeds)
    calls: list[tuple[int, ...]] = []

    @tvm_ffi.register_global_func("tests.codegen.custom_lowering.table", override=True)
    def looked_up(x: Any, values: Any, y: Any) -> None:
        calls.append(tuple(x.shape))
        np.from_dlpack(y)[...] = np.from_dlpack(values)[np.from_dlpack(x)]

    exe = tvmq.build(mod, lowerings=[tvmq.Lowering("tvmq.table", _packed("tests.codegen.custom_lowering.table"))])
    np.testing.assert_array_equal(run(exe, feeds), wanted)
    assert calls == [(1, 4, 8, 8)] * len(feeds) and tvmq.verify(exe, feeds).lowerings[0].differing == 0
    exe.save(tmp_path / "m.tvmq")
    tvm_ffi.registry.remove_global_func("tests.codegen.custom_lowering.table")
    with pytest.raises(ArtifactError, match="calls the global function 'tests.codegen.custom_lowering.table' of TVM, and there is none"):
        tvmq.load(tmp_path / "m.tvmq")
    with pytest.raises(BuildError, match="and there is none; register it"):
        tvmq.build(mod, lowerings=[tvmq.Lowering("tvmq.table", _packed("tests.codegen.custom_lowering.table"))])
    path = compiled(tmp_path, "plain", ".so")
    with pytest.raises(BuildError, match="has no packed function 'plain_table'"):
        tvmq.build(mod, lowerings=[tvmq.Lowering("tvmq.table", Extern("plain_table", path, "packed"))])


@pytest.mark.slow
def test_a_library_of_packed_functions(tmp_path):
    """TVM's exported libraries have packed functions; the file may hold another model's kernels."""
    mod, feeds = network()
    x, values = te.placeholder((1, 4, 8, 8), "uint8", "x"), te.placeholder((256,), "uint8", "values")
    y = te.compute(x.shape, lambda *at: values[tirx.Cast("int32", x(*at))])
    func = te.create_prim_func([x, values, y]).with_attr("global_symbol", "packed_table")
    library = tvm.tirx.build(tvm.IRModule({"packed_table": func}), target=tvm.target.Target({"kind": "llvm"}))
    library = getattr(library, "mod", library)
    library.write_to_file(str(tmp_path / "packed.o"), "o")
    path = tmp_path / "libpacked.so"
    subprocess.run(["gcc", "-shared", str(tmp_path / "packed.o"), "-o", str(path), "-Wl,--unresolved-symbols=ignore-all"], check=True)
    exe = tvmq.build(mod, lowerings=[tvmq.Lowering("tvmq.table", Extern("packed_table", path, "packed"))])
    assert tvmq.verify(exe, feeds).lowerings[0].differing == 0
    exe.save(tmp_path / "m.tvmq")
    np.testing.assert_array_equal(run(tvmq.load(tmp_path / "m.tvmq"), feeds), run(exe, feeds))
    linked = tvmq.build(mod, lowerings=[tvmq.Lowering("tvmq.table", Extern("packed_table", tmp_path / "packed.o", "packed"))])
    np.testing.assert_array_equal(run(linked, feeds), run(exe, feeds))


@pytest.mark.slow
def test_code_for_another_machine_does_not_open_libraries_here(tmp_path):
    mod, _ = network()
    arm = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"
    exe = tvmq.build(mod, target=arm, lowerings=lowerings("far_away", Path("/usr/lib/libfar_away.so")))
    exe.save(tmp_path / "m.tvmq")
    assert exe.lowerings["libraries"][0]["symbols"] == ["far_away_table", "far_away_add"]
    with pytest.raises(BuildError, match="are linked for Linux on x86-64 alone; make them a shared library"):
        tvmq.build(mod, target=arm, lowerings=lowerings("far", compiled(tmp_path, "far", ".o")))


def _packed(name: str) -> Extern:
    return Extern(name, convention="packed")


@pytest.mark.parametrize(("arguments", "message"), [
    (("my conv",), "symbol must be the name of a function"),
    (("conv", "lib.a"), "a library is a .so or a .o file. Got 'lib.a'"),
    (("conv", None, "fast"), "convention must be 'pointers' or 'packed'. Got 'fast'"),
    (("conv", None, "packed", lambda match: [1]), "extra= numbers follow addresses"),
])  # fmt: skip
def test_an_extern_that_cannot_be_is_refused(arguments: tuple[Any, ...], message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        Extern(*arguments)


def test_addresses_do_not_tell_dynamic_sizes():
    mod = build_module({"x": ((1, "n"), "int32")}, lambda builder, x: builder.emit(relax.op.add(x, x), "twice"))
    pattern = is_op("relax.add")(wildcard(), wildcard())
    with pytest.raises(BuildError, match="its size 'n' is dynamic, and addresses do not tell it"):
        tvmq.build(mod, lowerings=[tvmq.Lowering(("chip.add", pattern), Extern("some_add"))])
