"""Code for common sizes of dynamic dimensions: the bits of the definition at every size, also saved, and refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.dynamic_models import LONGEST, encoder, pictures, texts
from tvmq.codegen.lower.lower_functions import MOST
from tvmq.errors import ConfigError

SIZES = {"batch": [1, 3], "sequence": [5]}


@pytest.fixture(scope="module")
def module() -> tvm.IRModule:
    return tvmq.quantize(*tvmq.from_onnx(encoder()), [texts(3, length, length) for length in (4, 9, 16)], guard=None)


@pytest.fixture(scope="module")
def exe(module: tvm.IRModule) -> tvmq.Executable:
    return tvmq.build(module, sizes=SIZES)


@pytest.fixture(scope="module")
def plain(module: tvm.IRModule) -> tvmq.Executable:
    """Code for all sizes, which equals the definition (test_dynamic_shapes.py)."""
    return tvmq.build(module)


def assert_equal(found: list[np.ndarray], wanted: Any) -> None:
    for a, b in zip(found, map(np.asarray, wanted), strict=True):
        assert a.shape == b.shape
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


@pytest.mark.slow
def test_pieces_of_several_sizes_equal_the_definition(exe: tvmq.Executable) -> None:
    feed = texts(4, 5)
    assert_equal(exe.run(feed), tvmq.reference.run(exe.module, feed))


@pytest.mark.thinned(6)
@pytest.mark.parametrize("count, length", [(1, 5), (3, 5), (7, 5), (4, 6), (1, LONGEST), (0, 5)])
@pytest.mark.slow
def test_every_size_gives_the_same(exe: tvmq.Executable, plain: tvmq.Executable, count: int, length: int) -> None:
    feed = {name: array[:count] for name, array in texts(max(count, 1), length, count).items()}
    assert_equal(exe.run(feed), plain.run(feed))


@pytest.mark.slow
def test_which_code_runs(exe: tvmq.Executable) -> None:
    """All combinations, largest first; seven texts of five words are 3 + 3 + 1, other lengths one by one."""
    assert exe.sizes == ({"batch": 3, "sequence": 5}, {"batch": 1, "sequence": 5})
    main = exe["main"]
    assert [main.function_for(texts(*size)) for size in ((3, 5), (1, 5), (3, 6))] == ["main_1", "main_2", "main"]
    assert [main.function_for(texts(count, 5)) for count in (2, 6, 7)] == ["main_2", "main_1", "main"]
    names = [one.name for one in main._sized]
    pieces = main._dynamic_run._pieces({"batch": 7, "sequence": 5})
    assert [(names[number], size) for number, size in pieces] == [("main_1", 3), ("main_1", 3), ("main_2", 1)]


@pytest.mark.slow
def test_saved_models_keep_them(exe: tvmq.Executable, plain: tvmq.Executable, tmp_path: Path) -> None:
    digest = exe.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq", sha256=digest)
    assert loaded.sizes == exe.sizes and loaded.input_info == exe.input_info
    assert loaded["main"].function_for(texts(3, 5)) == "main_1"
    for size in ((3, 5), (4, 5), (2, 7)):
        assert_equal(loaded.run(texts(*size)), plain.run(texts(*size)))


@pytest.mark.slow
def test_fixed_code_costs_few_bytes(plain: tvmq.Executable, exe: tvmq.Executable, tmp_path: Path) -> None:
    """Weights that several functions pack alike are there once."""
    exe.save(tmp_path / "common.tvmq")
    plain.save(tmp_path / "dynamic.tvmq")
    assert (tmp_path / "common.tvmq").stat().st_size < 3 * (tmp_path / "dynamic.tvmq").stat().st_size


@pytest.mark.parametrize("target", ["llvm -mcpu=cascadelake", "llvm -mcpu=haswell"])
def test_code_of_single_rows_shares_packed_weights(target: str) -> None:
    """A single token, and any number of them: one product reads the weights in the order of the other's."""
    batch, words = (tvm.tirx.Var(name, "int64") for name in ("batch", "words"))
    x, bb = tvm.relax.Var("x", tvm.relax.TensorType((batch, words, 256), "float32")), tvm.relax.BlockBuilder()
    weight = tvm.relax.const(np.random.default_rng(0).standard_normal((256, 384)).astype(np.float32))
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit_output(tvm.relax.op.matmul(x, weight))
        bb.emit_func_output(y)
    with tvmq.qconfig(activations="dynamic"):
        qmod = tvmq.quantize(bb.get(), None, None)
    sizes = [len(tvmq.build(qmod, target, sizes=common).to_bytes()) for common in (None, {"words": [1]})]
    assert sizes[1] - sizes[0] < 256 * 384 / 4


@pytest.mark.slow
def test_explain_names_them(exe: tvmq.Executable) -> None:
    text = str(tvmq.explain(exe))
    assert "specialized code for batch 3, sequence 5; batch 1, sequence 5; other" in text
    assert tvmq.explain(exe).to_dict()["sizes"][0] == {"batch": 3, "sequence": 5}


@pytest.mark.slow
def test_the_profile_is_that_of_the_code_that_runs(exe: tvmq.Executable) -> None:
    fixed, dynamic = (exe.profile(texts(3, length), repeat=1) for length in (5, 7))
    assert any("attention" in kernel for row in fixed.layers for kernel in row.kernels)
    assert not any("shape_func" in kernel for row in fixed.layers for kernel in row.kernels)
    assert fixed.calls < dynamic.calls  # one run of three texts, or three runs


@pytest.mark.slow
def test_several_cpus(module: tvm.IRModule, plain: tvmq.Executable, tmp_path: Path) -> None:
    exe = tvmq.build(module, ["llvm -mcpu=core-avx2", "llvm -mcpu=nehalem"], sizes={"sequence": [5]})
    exe.save(tmp_path / "fat.tvmq")
    loaded = tvmq.load(tmp_path / "fat.tvmq")
    assert exe.sizes == loaded.sizes == ({"batch": 1, "sequence": 5},)
    assert_equal(loaded.run(texts(2, 5)), plain.run(texts(2, 5)))


@pytest.mark.slow
def test_sizes_that_are_numbers_beside_common_ones() -> None:
    mod, params = tvmq.from_onnx(pictures())
    feeds = [{"x": np.random.default_rng(rows).random((2, 3, rows, 16), np.float32)} for rows in (8, 16)]
    exe = tvmq.build(mod, params=params, sizes={"batch": 1, "rows": [8], "columns": [16]})
    assert exe.sizes == ({"rows": 8, "columns": 16},) and exe.input_info[0].shape[0] == 1
    assert exe["main"].function_for({"x": feeds[0]["x"][:1]}) == "main_1"
    assert exe["main"].function_for({"x": feeds[1]["x"][:1]}) == "main"


@pytest.mark.slow_cases("sizes0-s*", "sizes1-s*", "sizes2-s*")
@pytest.mark.parametrize("sizes, message", [
    ({"sequence": []}, "sizes: 'sequence' has an empty list; name a size or leave 'sequence' out"),
    ({"words": [3]}, "sizes: 'words' is no dynamic dimension of the model; they are batch, sequence"),
    ({"sequence": [0]}, "sizes: 'sequence' must be an integer of at least 1. Got 0 instead"),
    ({"sequence": ["5"]}, "sizes: 'sequence' must be an integer of at least 1. Got '5' instead"),
    ({"sequence": [8, 65]}, "sizes: 'sequence' cannot be 65, the model takes 1 to 64: layer"),
    ({"sequence": range(1, MOST + 2)}, f"sizes: {MOST + 1} combinations of common sizes, at most {MOST} are"),
])  # fmt: skip
def test_sizes_that_are_refused(module: tvm.IRModule, sizes: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        tvmq.build(module, sizes=sizes)


def test_gpus_have_no_common_sizes(module: tvm.IRModule) -> None:
    with pytest.raises(ConfigError, match="sizes: lists of common sizes are for CPUs"):
        tvmq.build(module, {"kind": "cuda", "arch": "sm_90"}, sizes=SIZES)
