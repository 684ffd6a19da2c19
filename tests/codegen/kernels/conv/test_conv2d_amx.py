"""conv2d_amx kernels against the definition; where they are chosen; what the system must allow."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from onnx import TensorProto, helper

import tvmq
from tests.codegen.kernels.conv.test_conv2d import SHAPES
from tests.codegen.kernels.harness import compare, conv_operands, epilogue_for, huge_multipliers, levels, run_kernel
from tests.support.models.dynamic_models import Nodes
from tvmq import numerics
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.conv2d_amx import conv2d_amx, fits_tiles
from tvmq.codegen.kernels.conv.matmul import matmul
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Requantize
from tvmq.codegen.kernels.parts.packing_recipes import repack_weights, restore_weights
from tvmq.codegen.target import host
from tvmq.codegen.target.cpu import resolve_target, without_tiles
from tvmq.library.machines import check_machines
from tvmq.runtime.threads import with_threads

AMX = levels("amx")
# one group; pixels around tiles of 16 and 32 rows, windows around 64 bytes, filters around panels of 64
CASES = [conv for conv in SHAPES if conv.groups == 1] + [
    Conv2d(1, 1, 15, 64, 64), Conv2d(1, 1, 17, 63, 65), Conv2d(1, 3, 11, 65, 130), Conv2d(1, 8, 8, 128, 200),
    Conv2d(1, 17, 16, 16, 40, (1, 1), (2, 2)), Conv2d(2, 9, 9, 64, 48, (1, 1), (3, 2)),
    Conv2d(1, 12, 10, 20, 33, (3, 2), (2, 1), (2, 0, 1, 1)), Conv2d(1, 9, 9, 64, 40, (3, 3), x_dtype="int8"),
    Conv2d(1, 40, 40, 32, 64, (3, 3), (1, 1), (1, 1, 1, 1)), Conv2d(3, 30, 30, 8, 35, (3, 3), (1, 1), (1, 1, 1, 1)),
]  # fmt: skip
KINDS = ("sums", "codes", "int8 codes", "add", "table", "all", "floats")


@pytest.mark.thinned(6)
@pytest.mark.parametrize("level", AMX)
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(level: str, number: int) -> None:
    conv = CASES[number]
    for turn in (0, 3):
        operands = epilogue_for(conv, KINDS[(number + turn) % len(KINDS)])
        compare(conv, level, *operands, x_zero=7 if number % 2 else 0, make=conv2d_amx)


@pytest.mark.slow
@pytest.mark.parametrize("level", AMX)
def test_sums_at_the_ends_of_their_range(level: str) -> None:
    conv = Conv2d(1, 5, 5, 32, 70)
    compare(conv, level, (huge_multipliers(conv),), (), make=conv2d_amx)
    wide = Requantize(np.resize(np.float32([0.05, 1.0, 0.3]), conv.filters), 0, -32767, 32767, "int16")
    compare(conv, level, (wide,), (), x_zero=3, make=conv2d_amx)


@pytest.mark.slow
@pytest.mark.parametrize("level", AMX)
@pytest.mark.parametrize("rows", [(7,), (33,), (2, 40)])
def test_products_of_rows(level: str, rows: tuple[int, ...]) -> None:
    """Products of a known number of rows, by two threads."""
    random = np.random.default_rng(len(rows))
    x = random.integers(0, 256, (*rows, 100)).astype(np.uint8)
    weight = random.integers(-128, 128, (100, 70)).astype(np.int8)
    kernel = matmul(rows, 100, 70, weight, np.arange(70, dtype=np.int32), (), isa_named(level))
    assert kernel.name.startswith("conv2d_amx_amx_")
    sums = with_threads(2, lambda: run_kernel(kernel, [x], level))
    np.testing.assert_array_equal(sums, numerics.matmul(x, weight) + np.arange(70, dtype=np.int32))


def test_where_tiles_are_chosen() -> None:
    amx, conv = isa_named("amx"), Conv2d(1, 14, 14, 64, 64, (3, 3), (1, 1), (1, 1, 1, 1))
    _, weight, bias = conv_operands(conv)
    assert choose_convolution(conv, weight, bias, 0, (), amx).name.startswith("conv2d_amx_amx_28x4")
    assert not fits_tiles(conv, weight, isa_named("avx512vbmi"))
    assert not fits_tiles(conv, weight // 32, amx)  # of 4 bits, which are read as nibbles
    assert not fits_tiles(replace(conv, x_dtype="int16"), weight, amx)
    assert not fits_tiles(replace(conv, groups=2), weight[:, :32], amx)
    for small in (Conv2d(1, 1, 1, 64, 64), Conv2d(1, 9, 9, 16, 64), Conv2d(1, 9, 9, 64, 16)):
        assert not fits_tiles(small, conv_operands(small)[1], amx)


@pytest.mark.parametrize("number", [0, 8, 12, -2])
def test_files_hold_the_weights_once(number: int) -> None:
    """Packed weights are made of plain ones, and these of them."""
    conv = CASES[number]
    _, weight, bias = conv_operands(conv)
    kernel = conv2d_amx(conv, weight, bias, 0, epilogue_for(conv, "codes")[0], isa_named("amx"))
    assert kernel.packed_from is not None
    plain, recipe = kernel.packed_from
    packed = kernel.constants[0].tobytes()
    assert repack_weights(plain.tobytes(), recipe, len(packed)) == packed
    assert restore_weights(packed, recipe) == plain.tobytes()
    with pytest.raises(ValueError, match="sizes below 1"):
        repack_weights(plain.tobytes(), {**recipe, "multiple": 0}, len(packed))


def test_targets_with_tiles_and_without() -> None:
    target = resolve_target("amx")
    assert target.isa.name == "amx" and {"amx-int8", "amx-tile"} <= target.needs
    assert resolve_target("llvm -mcpu=sapphirerapids").isa.name == "amx"
    other = without_tiles(target)
    assert other.isa.name == "avx512vbmi" and other.needs == target.needs - host.TILES
    assert without_tiles(other) is other
    # a program in C does not ask the system
    assert [machine.isa.name for machine in check_machines(["amx", "avx512-vnni"])] == ["avx512vbmi", "avx512vnni"]


def test_tiles_that_the_system_refuses_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = frozenset({"avx2", "amx_tile", "amx_int8"})
    monkeypatch.setattr(host, "linux_flags", lambda: flags)
    for granted, has in ((True, flags), (False, frozenset({"avx2"}))):
        monkeypatch.setattr(host, "allows_tiles", lambda granted=granted: granted)
        assert host.host_flags() == has
    # another system, of whose flags nothing is known
    assert host.correct(frozenset({"avx2", "amx-int8"}), frozenset()) == ("-amx-int8",)


def test_the_system_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for answer, granted in ((0, True), (-1, False)):
        calls: list[tuple[int, ...]] = []
        monkeypatch.setattr(host, "_arch", lambda: "x86")
        library = SimpleNamespace(syscall=lambda *numbers, answer=answer, calls=calls: calls.append(numbers) or answer)
        monkeypatch.setattr(ctypes, "CDLL", lambda _name, library=library: library)
        host.allows_tiles.cache_clear()
        assert (host.allows_tiles(), host.allows_tiles()) == (granted, granted) and len(calls) == 1
    host.allows_tiles.cache_clear()
    monkeypatch.setattr(host, "_arch", lambda: "aarch64")
    assert not host.allows_tiles() and len(calls) == 1
    monkeypatch.undo()
    host.allows_tiles.cache_clear()


@pytest.mark.slow
@pytest.mark.isa("amx_int8")
def test_a_saved_model_asks_in_a_process_of_its_own(tmp_path: Path) -> None:
    g = Nodes(0)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64, 12, 12])
    hidden = g.add("Relu", g.add("Conv", "x", g.weight(64, 64, 3, 3)))
    model = g.model([x], g.add("Conv", hidden, g.weight(64, 64, 1, 1)))
    feed = {"x": np.random.default_rng(0).standard_normal((1, 64, 12, 12)).astype(np.float32)}
    exe = tvmq.build(tvmq.quantize(*tvmq.from_onnx(model), [feed]), target="amx")
    assert any(name.startswith("conv2d_amx_amx_") for name in exe.kernels.values())
    exe.save(tmp_path / "m.tvmq")
    np.save(tmp_path / "x.npy", feed["x"])
    code = """
import sys, numpy as np, tvmq
folder = sys.argv[1]
y, = tvmq.load(folder + "/m.tvmq").run({"x": np.load(folder + "/x.npy")})
np.save(folder + "/y.npy", y)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), exe.run(feed)[0])
