"""4-bit weights in blocks: there and back, by recipes of files too, and recipes that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tvmq.codegen.kernels.conv.nibble_blocks import pack_blocks, recipe_of, unpack_blocks
from tvmq.codegen.kernels.parts.packing_recipes import gives, repack_weights, restore_weights
from tvmq.numerics.codes import pack_int4

SHAPES = [(8, 1), (32, 70), (64, 64)]


def weight_of(depth: int, columns: int) -> np.ndarray:
    return np.random.default_rng(depth).integers(-8, 8, (depth, columns)).astype(np.int8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_there_and_back(shape: tuple[int, int], lanes: int) -> None:
    weight = weight_of(*shape)
    packed = pack_blocks(weight, lanes)
    assert np.array_equal(unpack_blocks(packed, *shape, lanes), weight)
    plain, recipe = pack_int4(weight).tobytes(), recipe_of(weight, lanes)
    assert repack_weights(plain, recipe, len(packed)) == packed.tobytes()
    assert restore_weights(packed.tobytes(), recipe) == plain


@pytest.mark.parametrize(
    "recipe",
    [
        {"halves": [12, 4], "lanes": 8},
        {"halves": [0, 4], "lanes": 8},
        {"halves": [8, -4], "lanes": 8},
        {"halves": [8, 4], "lanes": 5},
        {"halves": [8, 2**40], "lanes": 8},
        {"halves": [8], "lanes": 8},
        {"halves": [8, 4]},
    ],
)
def test_recipes_that_are_none(recipe: dict[str, Any]) -> None:
    plain, packed = bytes(16), pack_blocks(weight_of(8, 4), 8).tobytes()
    assert not gives(plain, recipe, packed)
    with pytest.raises(Exception):  # noqa: B017  who loads the file makes one error of all
        restore_weights(packed, recipe)


def test_a_file_holds_them_once() -> None:
    rows = tvm.tirx.Var("rows", "int64")
    x, bb = relax.Var("x", relax.TensorType((1, rows, 128), "float32")), relax.BlockBuilder()
    weight = relax.const(np.random.default_rng(0).standard_normal((128, 1024)).astype(np.float32))
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit_output(relax.op.matmul(x, weight))
        bb.emit_func_output(y)
    with tvmq.qconfig(activations="dynamic", nbit_weight=4, group_size=32):
        qmod = tvmq.quantize(bb.get(), None, None)
    exe = tvmq.build(qmod, "llvm -mcpu=cascadelake")
    saved = exe.to_bytes()
    scales = 128 // 32 * 1024 * 4
    assert len(saved) < 128 * 1024 // 2 + 2 * scales + 30_000
    tvm.ir.assert_structural_equal(tvmq.load(saved, code=False).module, exe.module)
