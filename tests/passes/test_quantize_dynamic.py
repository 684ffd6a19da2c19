"""Quantization without data: what becomes integers, that it is exact, and how near it stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import tvm
from onnx import numpy_helper

import tvmq
from tests.support.models.networks import Net, feeds_of, run_onnx
from tests.support.models.shared_models import albert
from tvmq.errors import ConfigError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import unpack_weights
from tvmq.graph.view import View, const_value, is_const, op_name

MODES = ("dynamic", None)


def quantized(model: onnx.ModelProto, mode: str | None, data: list | None = None, **options: object) -> tvm.IRModule:
    """As the passes make it."""
    with tvmq.qconfig(activations=mode, **options):
        return tvmq.quantize(*tvmq.from_onnx(model), data, guard=None)


def checked(model: onnx.ModelProto, mode: str | None, least_snr: float = 25.0, **options: object) -> tvmq.Executable:
    """Quantize without data, build, compare with the definition and with float."""
    executable = tvmq.build(quantized(model, mode, **options))
    feeds = feeds_of(model)
    verification = tvmq.verify(executable, feeds[:2])
    assert verification.exact, str(verification)
    for a, b in zip(run_onnx(model, feeds[0]), executable.run(feeds[0]), strict=True):
        noise = float(np.square(a.astype(np.float64) - b).sum())
        assert noise == 0 or 10 * np.log10(float(np.square(a, dtype=np.float64).sum()) / noise) >= least_snr
    return executable


def operators(executable: tvmq.Executable) -> list[str]:
    return [op_name(value) for _, value in View(executable.module).bindings]


def rows(n: Net, table: np.ndarray, factor: float = 1.0) -> str:
    """Rows of a table, by indices within it that are made of x."""
    ids = n.op("Cast", n.op("Abs", n.op("Mul", "x", n.constant(np.float32(factor)))), to=onnx.TensorProto.INT64)
    return n.op("Gather", n.constant(np.float32(table)), n.op("Min", ids, n.constant(np.int64([len(table) - 1]))))


def noise(model: onnx.ModelProto, executable: tvmq.Executable, feeds: list) -> float:
    """Squares of what the results differ from float's by."""
    return sum(float(np.square(run_onnx(model, feed)[0] - executable.run(feed)[0]).sum()) for feed in feeds)


def convolutions() -> onnx.ModelProto:
    """Plain, grouped, depthwise with strides, transposed in groups, transposed."""
    n = Net((2, 4, 9, 8))
    y = n.op("Relu", n.conv("x", 4, 6))
    y = n.conv(y, 6, 6, 3, groups=6, strides=[2, 2])
    y = n.op("Relu", n.conv(y, 6, 8, 1, groups=2))
    y = n.op("ConvTranspose", y, n.constant(n.weight(8, 4, 2, 2)), group=2)
    return n.model(n.op("ConvTranspose", y, n.constant(n.weight(8, 3, 2, 2)), strides=[2, 2]))


def attention() -> onnx.ModelProto:
    n = Net((2, 3, 8))
    q, k, v = (n.op("MatMul", "x", n.constant(n.weight(8, 8))) for _ in range(3))
    scores = n.op("Softmax", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 2, 1])), axis=-1)
    return n.model(n.op("Add", n.op("MatMul", scores, v), n.constant(n.weight(8))))


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("model", [convolutions, attention])
def test_exact_and_near(mode: str | None, model: object) -> None:
    executable = checked(model(), mode)
    assert ("tvmq.dynamic_scale" in operators(executable)) == (mode == "dynamic")


@pytest.mark.slow
def test_attention_is_all_integers_and_its_readers_share_one_quantize() -> None:
    executable = checked(attention(), "dynamic")
    layers = get_ledger(executable.module).layers.values()
    assert all(layer["precision"] == "int8" for layer in layers if layer["macs"])
    assert operators(executable).count("tvmq.dynamic_scale") == 5


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_embedding(mode: str | None) -> None:
    n = Net((2, 5))
    executable = checked(n.model(n.op("MatMul", rows(n, n.weight(50, 8), 10), n.constant(n.weight(8, 4)))), mode)
    assert "take" in operators(executable)
    entry = next(e for e in get_ledger(executable.module).layers.values() if e["op"] == "take")
    assert "int8 weights" in entry["why"]


def test_four_bits_and_rules() -> None:
    module = quantized(attention(), None, nbit_weight=4, rules=[tvmq.Rule("/matmul_0", None)])
    entries = {layer: entry for entry in get_ledger(module).layers.values() for layer in entry["layers"]}
    assert entries["/matmul_0"]["why"] == "rule '/matmul_0'"
    plain = View(unpack_weights(module)).bindings
    codes = [const_value(call.args[0]) for _, call in plain if op_name(call) == "tvmq.dequantize"]
    assert len(codes) == 2 and all(array.dtype == np.int8 and np.abs(array).max() <= 7 for array in codes)


@pytest.mark.slow
def test_same_weights_are_one_constant() -> None:
    n = Net((2, 8))
    w = n.constant(n.weight(8, 8))
    model = n.model(n.op("MatMul", n.op("Tanh", n.op("MatMul", "x", w)), w))
    module = checked(model, "dynamic").module
    weights = [call.args[1] for _, call in View(module).bindings if op_name(call) == "matmul"]
    assert weights[0].same_as(weights[1])


@pytest.mark.slow
def test_saved_and_loaded(tmp_path: Path) -> None:
    model = attention()
    executable = checked(model, "dynamic")
    executable.save(tmp_path / "a.tvmq")
    feed = feeds_of(model)[0]
    np.testing.assert_array_equal(tvmq.load(tmp_path / "a.tvmq").run(feed)[0], executable.run(feed)[0])


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(tvmq.errors.ConfigError, match="activations.*static, dynamic or None"):
        tvmq.qconfig(activations="sometimes")


def table_and_head() -> onnx.ModelProto:
    """Rows of a table, and a product of them."""
    n = Net((2, 3))
    return n.model(n.op("MatMul", rows(n, n.weight(200, 32), 10), n.constant(n.weight(32, 24))))


@pytest.mark.slow
def test_groups_of_weights() -> None:
    """A scale for each group, in matrices and tables; nearer than one for each channel; narrow kernels, equal bits."""
    whole = checked(table_and_head(), None, least_snr=10.0, nbit_weight=4)
    grouped = checked(table_and_head(), None, least_snr=10.0, nbit_weight=4, group_size=8)
    assert operators(grouped).count("tvmq.group_dequantize") == 2
    assert operators(grouped).count("tvmq.unpack") == 2
    for executable in (whole, grouped):
        assert any(name.endswith("_w4") for name in executable.kernels.values())
    feeds = feeds_of(table_and_head())[:1]
    assert noise(table_and_head(), grouped, feeds) < noise(table_and_head(), whole, feeds)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [4, 8])
def test_groups_of_other_bits(bits: int) -> None:
    checked(table_and_head(), None, least_snr=10.0, nbit_weight=bits, group_size=16)


def test_groups_that_do_not_divide() -> None:
    with pytest.raises(ConfigError, match="group_size=5 does not divide"):
        quantized(table_and_head(), None, group_size=5)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [4, 8])
def test_a_table_stands_in_the_file_once(bits: int, tmp_path: Path) -> None:
    """The code and the module share it, packed as it is."""
    n = Net((2, 3))
    ids = n.op("Cast", n.op("Abs", "x"), to=onnx.TensorProto.INT64)
    random = np.random.default_rng(0)  # codes that can hardly be compressed
    model = n.model(n.op("Gather", n.constant(np.float32(random.normal(size=(5000, 64)))), ids))
    executable = tvmq.build(quantized(model, None, nbit_weight=bits))
    executable.save(tmp_path / "m.tvmq")
    scales = 2 * 5000 * 4
    assert (tmp_path / "m.tvmq").stat().st_size < 5000 * 64 * bits / 8 + scales + 12000
    loaded = tvmq.load(tmp_path / "m.tvmq")
    tvm.ir.assert_structural_equal(loaded.module, executable.module)
    assert tvmq.verify(loaded, [{"x": np.float32([[0, 4999, -7], [9999, 1, 2]])}]).exact


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True])
def test_no_table_is_unpacked_whole(dynamic: bool) -> None:
    """The code holds a gather of packed rows, and no function that unpacks; also for dynamic lengths."""
    n = Net((2, 3))
    ids = n.op("Cast", n.op("Abs", n.op("Mul", "x", n.constant(np.float32(50)))), to=onnx.TensorProto.INT64)
    model = n.model(n.op("Gather", n.constant(n.weight(40, 7)), ids))
    feeds = feeds_of(model)[:2]  # some indices beyond the last row
    for value in (*model.graph.input, *model.graph.output):
        if dynamic:
            value.type.tensor_type.shape.dim[1].dim_param = "length"
    executable = tvmq.build(quantized(model, None, nbit_weight=4))
    assert tvmq.verify(executable, feeds).exact
    text = executable._parts.code.as_text()
    assert "take_packed" in text and "unpack" not in text


@pytest.mark.slow
@pytest.mark.parametrize("size", [8, 4])
def test_groups_of_weights_in_integers(size: int) -> None:
    """Nearer than a scale for each channel; a kernel where it multiplies groups of that size, plain loops elsewhere."""
    executable = checked(table_and_head(), "dynamic", least_snr=10.0, nbit_weight=4, group_size=size)
    assert "tvmq.group_matmul" in operators(executable) and operators(executable).count("tvmq.unpack") == 2
    whole, feeds = tvmq.build(quantized(table_and_head(), "dynamic", nbit_weight=4)), feeds_of(table_and_head())[:1]
    assert noise(table_and_head(), executable, feeds) < noise(table_and_head(), whole, feeds)


@pytest.mark.slow
def test_groups_in_integers_on_plain_cpus() -> None:
    module = quantized(table_and_head(), "dynamic", nbit_weight=4, group_size=8)
    feed = feeds_of(table_and_head())[0]
    results = [tvmq.build(module, target=target).run(feed)[0] for target in ("llvm", "x86-64", "x86-64-v3")]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def of_blocks(weight: np.ndarray, size: int) -> np.ndarray:
    """The weight [depth, columns] as a file of 4-bit blocks along the depth would give it."""
    groups = weight.reshape(-1, size, weight.shape[1])
    low = groups.min(axis=1, keepdims=True).astype(np.float16).astype(np.float32)
    step = ((groups.max(axis=1, keepdims=True) - low) / 15).astype(np.float16).astype(np.float32)
    codes = np.clip(np.rint((groups - low) / step), 0, 15).astype(np.float32)
    return np.asarray(codes * step + low, np.float32).reshape(weight.shape)


def two_products(size: int | None) -> onnx.ModelProto:
    """Two matrices, of blocks of so many weights; None: of floats."""
    n = Net((2, 3, 32))
    first, second = n.weight(32, 48), n.weight(48, 24)
    if size is not None:
        first, second = of_blocks(first, size), of_blocks(second, size)
    return n.model(n.op("MatMul", n.op("Tanh", n.op("MatMul", "x", n.constant(first))), n.constant(second)))


def test_weights_of_blocks_keep_their_codes() -> None:
    """Weights are floats of codes with steps and offsets: the module has the same ones, and says so."""
    module = quantized(two_products(16), "dynamic", nbit_weight=4, group_size=16)
    calls = [
        value for _, value in View(unpack_weights(module)).bindings if op_name(value) == "tvmq.group_offset_matmul"
    ]
    assert len(calls) == 2
    weights = [numpy_helper.to_array(i) for i in two_products(16).graph.initializer if i.dims[:1] in ([32], [48])]
    for call, weight in zip(calls, weights, strict=True):
        codes, scale, offset = (const_value(arg).astype(np.float64) for arg in call.args[2:])
        kept = codes * np.repeat(scale, 16, axis=0) + np.repeat(offset, 16, axis=0)
        np.testing.assert_allclose(kept, weight, rtol=0, atol=2.0**-20 * np.abs(weight).max())
    entries = [entry for entry in get_ledger(module).layers.values() if entry["macs"]]
    assert [entry.get("weight_grid") for entry in entries] == ["kept"] * 2
    floats = quantized(two_products(None), "dynamic", nbit_weight=4, group_size=16)
    assert not any("weight_grid" in entry for entry in get_ledger(floats).layers.values())
    assert "tvmq.group_offset_matmul" not in [op_name(value) for _, value in View(floats).bindings]


@pytest.mark.slow
def test_weights_of_blocks_lose_nothing() -> None:
    """Only activations are rounded: much nearer than floats of no blocks get, in another grouping as well."""
    checked(two_products(16), "dynamic", least_snr=38.0, nbit_weight=4, group_size=16)
    checked(two_products(16), "dynamic", least_snr=38.0, nbit_weight=4, group_size=8)
    model = two_products(None)
    feeds = feeds_of(model)
    executable = tvmq.build(quantized(model, "dynamic", nbit_weight=4, group_size=16))
    power = sum(float(np.square(run_onnx(model, feed)[0]).sum()) for feed in feeds)
    assert 10 * np.log10(power / noise(model, executable, feeds)) < 30


@pytest.mark.slow
def test_an_outlier_costs_its_group_alone() -> None:
    """Channels of activations a hundred times the others: their groups have scales of their own."""
    n = Net((2, 3, 64))
    factors = np.ones(64, np.float32)
    factors[5] = 300
    weight = of_blocks(n.weight(64, 24), 16)
    weight[:16] = of_blocks(weight[:16] / 300, 16)
    model = n.model(n.op("MatMul", n.op("Mul", "x", n.constant(factors)), n.constant(weight)))
    checked(model, "dynamic", least_snr=38.0, nbit_weight=4, group_size=16)


@pytest.mark.slow
def test_groups_in_integers_of_any_number_of_rows() -> None:
    n = Net((2, 3, 32))
    model = n.model(n.op("Tanh", n.op("MatMul", "x", n.constant(n.weight(32, 24)))))
    for dim, name in zip(model.graph.input[0].type.tensor_type.shape.dim, ("batch", "steps"), strict=False):
        dim.dim_param = name
    module = quantized(model, "dynamic", nbit_weight=4, group_size=16)
    with_vnni = tvmq.build(module, target="avx512-vnni")  # the instruction sets without it have no kernel for groups
    assert any("group_matmul" in name for name in with_vnni.kernels.values())
    executable = tvmq.build(module)
    feeds = [{"x": np.random.default_rng(0).normal(size=(b, s, 32)).astype(np.float32)} for b, s in ((1, 1), (2, 7))]
    assert tvmq.verify(executable, feeds).exact


def small_pictures() -> onnx.ModelProto:
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8, 3))
    y = n.op("Relu", n.conv(y, 8, 8, 3))
    y = n.op("Reshape", y, n.constant(np.int64([1, -1])))
    return n.model(n.op("MatMul", y, n.constant(n.weight(512, 16))))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"mode": None}, {"mode": None, "group_size": 16}, {"mode": "dynamic"}])
def test_data_round_the_weights(options: dict[str, object]) -> None:
    """Results are nearer to float's than with each weight at its nearest code; which layers, the ledger says."""
    model, errors = small_pictures(), []
    feeds = feeds_of(model)
    for data in (None, feeds):
        module = quantized(model, data=data, nbit_weight=4, **options)
        executable = tvmq.build(module)
        assert tvmq.verify(executable, feeds[:2]).exact
        errors.append(noise(model, executable, feeds))
        roundings = [entry.get("weight_rounding") for entry in get_ledger(module).layers.values() if entry["macs"]]
        assert roundings == [None if data is None else "calibrated"] * 3
    assert errors[1] < 0.8 * errors[0]


@pytest.mark.parametrize("options", [{"mode": "dynamic"}, {"mode": None, "group_size": 16}])
@pytest.mark.slow
def test_a_weight_of_several_layers_is_rounded_once_by_all_that_they_read(options: dict[str, object]) -> None:
    model = albert(layers=2, hidden=32, inner=32)
    feeds, rounded = feeds_of(model, 2), []
    for data in (None, feeds, feeds[::-1]):
        module = quantized(model, data=data, nbit_weight=4, **options)
        calls = [value for _, value in View(module).bindings if op_name(value) in ("tvmq.unpack", "tvmq.group_matmul")]
        rounded.append({arg: const_value(arg).tobytes() for value in calls for arg in value.args if is_const(arg)})
        assert len({code for code in rounded[-1].values() if len(code) == 32 * 32 // 2}) <= 6
        entries = [entry for entry in get_ledger(module).layers.values() if entry["macs"] and entry["op"] == "matmul"]
        found = [entry.get("weight_rounding") for entry in entries]
        assert found.count(None if data is None else "calibrated") >= 12
    assert sorted(rounded[0].values()) != sorted(rounded[1].values()) == sorted(rounded[2].values())


def test_data_are_not_needed_where_nothing_is_rounded() -> None:
    n = Net((2, 4))
    model = n.model(n.op("Tanh", "x"))
    module = quantized(model, None, feeds_of(model))
    assert tvmq.build(module).run(feeds_of(model)[0])[0].shape == (2, 4)


@pytest.mark.parametrize(("weights", "values"), [((5, 7), (3, 7, 7)), ((3, 5, 7), (7, 7)), ((2, 3, 5, 7), (3, 7, 6))])
def test_weighted_sums_of_operands_of_any_ranks(weights: tuple[int, ...], values: tuple[int, ...]) -> None:
    """Each row of the values has a scale, also behind a choice in place of the softmax's NaN."""
    n = Net(weights, values)
    p = n.op("Softmax", "x", axis=-1)
    p = n.op("Where", n.op("IsNaN", p), n.constant(np.float32(0)), p)
    executable = checked(n.model(n.op("MatMul", p, "x1")), "dynamic", 40.0)
    assert any(name.endswith("_row") for name in View(executable.module).var)
