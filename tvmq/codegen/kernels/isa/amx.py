"""AMX: matrix tiles of 16 rows of 64 bytes, beside AVX-512 VNNI and VBMI (Sapphire Rapids 2023).

Tiles are named by number, 0 to 7; how many rows each has is set first, by `configure`, and lasts until `release`. Linux
asks a process for its wish to use them (target/host.py).

Tests: tests/codegen/kernels/conv/test_conv2d_amx.py
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm import tirx
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.isa.avx512 import Avx512VBMI
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, store, workspace

ROWS, ROW_BYTES = 16, 64
PALETTE, FIRST_WIDTH, FIRST_HEIGHT = 1, 16, 48  # bytes of a configuration


def configure(rows: Sequence[int]) -> None:
    """Set the rows of tiles 0, 1, ..., each of 64 bytes; their contents become zeros."""
    setting = [0] * 64
    setting[0] = PALETTE
    for number, height in enumerate(rows):
        setting[FIRST_WIDTH + 2 * number] = ROW_BYTES
        setting[FIRST_HEIGHT + number] = height
    memory = workspace(64, "uint8")
    for place, value in enumerate(setting):
        store(memory, place, tirx.const(value, "uint8"), 1)
    _call("ldtilecfg", T.address_of(memory[0]))


def release() -> None:
    """Give the tiles back: until then each switch of threads saves them."""
    _call("tilerelease")


def set_zero(tile: int) -> None:
    """tile = 0."""
    _call("tilezero", tirx.const(tile, "int8"))


def load_tile(tile: int, buffer: Buffer, begin: Expr, pitch: Expr) -> None:
    """Rows of 64 bytes of a flat buffer of bytes, the first from `begin`, one every `pitch`."""
    _call("tileloadd64", tirx.const(tile, "int8"), T.address_of(buffer[begin]), T.Cast("int64", pitch))


def store_tile(tile: int, buffer: Buffer, begin: Expr, pitch: int) -> None:
    """Write the rows to a flat buffer from element `begin`, one every `pitch` bytes."""
    _call("tilestored64", tirx.const(tile, "int8"), T.address_of(buffer[begin]), tirx.const(pitch, "int64"))


def multiply(sums: int, pixels: int, weights: int) -> None:
    """sums[row, lane] += pixels[row, 4 * i + tap] * weights[i, 4 * lane + tap] for i < 16, tap < 4; uint8 x int8."""
    _call("tdpbusd", *(tirx.const(tile, "int8") for tile in (sums, pixels, weights)))


def _call(name: str, *arguments: Expr) -> None:
    T.evaluate(T.call_llvm_intrin("void", f"llvm.x86.{name}", *arguments))


class Amx(Avx512VBMI):
    """AVX-512 as before, and matrix tiles."""

    name = "amx"
    features = (*Avx512VBMI.features, "amx-tile", "amx-int8")
    has_matrix_tiles = True


AMX = Amx()
