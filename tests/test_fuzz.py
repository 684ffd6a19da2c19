"""Wild models: a few seeds of `benchmarks/fuzz.py`, and regressions that it found.

A case with all stages compiles four modules and takes a second or more, so that most seeds stop behind quantization.
"""

from __future__ import annotations

import importlib
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.support.fuzz.case import Outcome, check_ledger, run_case, smaller, undefined
from tests.support.fuzz.damage import KINDS, run_damage, whole
from tests.support.fuzz.graphs import fuzz_feeds, fuzz_model
from tests.support.fuzz.room import onnxruntime_results, rounding_room
from tests.support.project import ROOT
from tvmq.errors import CalibrationError, DataError, ModelError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.tools.cli.files import read_arrays

pytest.importorskip("onnxruntime")
CHUNK = 19


def outcome(seed: int, *, builds: bool) -> Outcome:
    model = fuzz_model(seed)
    return run_case(model, fuzz_feeds(model, seed, 2), builds=builds)


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("first", range(0, 190, CHUNK))
def test_import_and_quantize(first):
    """Never anything but an integer module or a clear error, and most of them the former."""
    found = {seed: outcome(seed, builds=False) for seed in range(first, first + CHUNK)}
    assert {seed: (o.kind, o.text) for seed, o in found.items() if o.failed} == {}
    assert sum(o.kind == "exact" for o in found.values()) >= CHUNK * 0.6


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("seed", range(5000, 5010))
def test_the_whole_road(seed):
    found = outcome(seed, builds=True)
    assert not found.failed, f"{found.kind} ({found.stage}): {found.text}"


@pytest.mark.slow
def test_damaged_files():
    """.onnx, .tvmq and calibration files by turns: one clear error, or what the damage did not reach."""
    found = {seed: run_damage(seed) for seed in range(90)}
    assert {seed: o.text for seed, o in found.items() if o.failed} == {}
    assert {o.stage for o in found.values()} == set(KINDS)
    assert sum(o.kind == "refused" for o in found.values()) > 60


@pytest.mark.slow
@pytest.mark.parametrize("field, value, words", [(8, 0x40, "encryption"), (6, 93, "zip file version 9.3")])
def test_archives_that_say_they_are_packed_otherwise(tmp_path, field, value, words):
    """Flags and version in the central directory, behind its signature."""
    data = bytearray(whole()[1][".calibration.npz"])
    for match in re.finditer(b"PK\x01\x02", bytes(data)):
        data[match.start() + field] = value
    path = tmp_path / "calibration.npz"
    path.write_bytes(data)
    with pytest.raises(CalibrationError, match=f"damaged, or no calibration result .*{words}"):
        tvmq.CalibrationResult.load(path)
    with pytest.raises(DataError, match=f"{words}"):
        read_arrays(path, ["document"])


def test_an_element_type_that_there_is_not():
    model = model_of(helper.make_node("Relu", ["x"], ["y"]), x=(2, 3), constants={})
    model.graph.input[0].type.tensor_type.elem_type = 127
    with pytest.raises(ModelError, match="'x' of 'model' has the unknown element type 127; export it again"):
        tvmq.from_onnx(model)


def test_names_that_are_no_text():
    data = fuzz_model(0).SerializeToString() + b"\x3a\x04\x12\x02\xd0\x28"  # merged: the graph is named b"\xd0\x28"
    with pytest.raises(ModelError, match="contains a name that is not valid UTF-8; copy or export it again"):
        tvmq.from_onnx(data)


@pytest.mark.slow
def test_models_are_reproducible_and_varied():
    assert fuzz_model(7).SerializeToString(deterministic=True) == fuzz_model(7).SerializeToString(deterministic=True)
    models = [fuzz_model(seed) for seed in range(100)]
    assert len({node.op_type for model in models for node in model.graph.node}) > 45
    assert any(0 in [d.dim_value for d in i.type.tensor_type.shape.dim] for m in models for i in m.graph.input)
    assert any(node.name == "" for model in models for node in model.graph.node)
    valid = sum(onnxruntime_results(m, fuzz_feeds(m, 0, 1)) is not None for m in models[:40])
    assert valid >= 28


def model_of(
    *nodes: onnx.NodeProto, x: tuple[int, ...], constants: dict[str, np.ndarray], out: int = 1
) -> onnx.ModelProto:
    """A model of one input "x" whose result is "y"."""
    graph = helper.make_graph(
        nodes,
        "case",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", out, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def road(model: onnx.ModelProto) -> str:
    found = run_case(model, fuzz_feeds(model, 1, 2))
    return found.kind if found.kind == "exact" else f"{found.kind} ({found.stage}): {found.text}"


@pytest.mark.slow
def test_a_constant_of_one_element_in_a_table_may_have_any_rank():
    nodes = [helper.make_node("Add", ["x", "c"], ["s"]), helper.make_node("Sigmoid", ["s"], ["y"])]
    assert road(model_of(*nodes, x=(2, 3), constants={"c": np.ones((1, 1), np.float32)})) == "exact"


@pytest.mark.slow
def test_tables_of_64_bit_integers():
    """A cast to int32 goes by way of int64; the table of the first part must not be narrowed."""
    weight = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32) * 9
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Cast", ["m"], ["y"], to=TensorProto.INT32),
    ]
    assert road(model_of(*nodes, x=(2, 3), constants={"w": weight}, out=TensorProto.INT32)) == "exact"


@pytest.mark.slow_cases("nothing to sum", "no channels")
@pytest.mark.parametrize(
    "nodes, x",
    [
        ([helper.make_node("MatMul", ["x", "w"], ["y"])], (2, 0)),
        ([helper.make_node("Relu", ["x"], ["y"])], (1, 0, 5)),
        ([helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), helper.make_node("MatMul", ["t", "x"], ["y"])],
         (1, 3, 0)),
        ([helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]), helper.make_node("Relu", ["t"], ["y"])],
         (1, 0, 3, 4)),
    ],
    ids=["nothing to sum", "no values", "no products", "no channels"],
)  # fmt: skip
def test_empty_tensors(nodes, x):
    constants = {"w": np.zeros((0, 3), np.float32)} if nodes[0].op_type == "MatMul" else {}
    assert road(model_of(*nodes, x=x, constants=constants)) == "exact"


@pytest.mark.slow_cases("(3, 0)-0", "(3, 0)-2", "(0, 3)-1", "(3, 0)-1", "(0, 3)-0", "(0, 3)--1", "(2, 0, 3)-1")
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 0, 3)], ids=str)
def test_flatten_of_nothing(shape, axis):
    node = helper.make_node("Flatten", ["x"], ["y"], axis=axis)
    assert road(model_of(node, x=shape, constants={})) == "exact"


@pytest.mark.slow_cases("backwards")
@pytest.mark.parametrize(
    "bounds",
    [([-1], [1], [0], [1]), ([2], [-2], [0], [1]), ([0], [2], [1], [-1]), ([5], [9], [0], [2]), ([0, 3], [2, 1]),
     ([2, -1], [1, -9], [1, 0], [1, -1])],
    ids=["backwards", "from the end", "against the step", "outside", "without axes", "of rows in reverse"],
)  # fmt: skip
def test_slices_that_hold_nothing(bounds):
    constants = {f"c{i}": np.array(values, np.int64) for i, values in enumerate(bounds)}
    node = helper.make_node("Slice", ["x", *constants], ["y"])
    model = model_of(node, x=(3, 4), constants=constants)
    assert onnxruntime_results(model, fuzz_feeds(model, 0, 1))[0][0].size == 0
    assert road(model) == "exact"


@pytest.mark.slow_cases("Celu", "Elu", "Selu", "Relu", "Sigmoid", "Sign", "Clip")
@pytest.mark.parametrize("operator", ["Celu", "Elu", "Selu", "Relu", "Clip", "Sigmoid", "Neg", "Sign", "Identity"])
def test_single_numbers(operator):
    """Inputs and results of rank 0 keep it."""
    model = model_of(helper.make_node(operator, ["x"], ["y"]), x=(), constants={})
    assert road(model) == "exact"
    assert tvmq.build(*tvmq.from_onnx(model)[:1]).run({"x": np.float32(-0.5)})[0].shape == ()


@pytest.mark.slow
def test_a_single_number_beside_a_picture():
    nodes = [helper.make_node("Mul", ["x", "rate"], ["m"]), helper.make_node("Conv", ["m", "w"], ["y"])]
    weight = np.random.default_rng(0).normal(size=(4, 3, 3, 3)).astype(np.float32)
    model = model_of(*nodes, x=(1, 3, 6, 6), constants={"w": weight})
    model.graph.input.append(helper.make_tensor_value_info("rate", TensorProto.FLOAT, ()))
    assert road(model) == "exact"
    feed = {"x": np.random.default_rng(1).normal(size=(7, 3, 6, 6)).astype(np.float32), "rate": np.float32(0.5)}
    mod, params = tvmq.from_onnx(model)
    qmod = tvmq.quantize(mod, params, feed)
    assert tvmq.verify(tvmq.build(qmod), feed).samples == 7
    assert tvmq.compare((mod, params), qmod, feed).samples == 7


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("x", [(1, 4, 12), (1, 4, 6, 7, 7)], ids=["line", "volume"])
def test_averages_behind_convolutions(x):
    """Averages whose inputs have other ranks than pictures."""
    weight = np.random.default_rng(0).normal(size=(6, 4, *[3] * (len(x) - 2))).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("AveragePool", ["c"], ["a"], kernel_shape=[2] * (len(x) - 2)),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["y"]),
    ]
    constants = {"w": weight, "v": weight[:, :1].repeat(6, axis=1)[..., :1]}
    assert road(model_of(*nodes, x=x, constants=constants)) == "exact"


@pytest.mark.slow
@pytest.mark.parametrize("x, groups", [((1, 1, 1, 1), 1), ((2, 6, 4, 5), 3), ((2, 4, 5), 4)], ids=str)
def test_group_norms_keep_their_factors(x, groups):
    """Imported without them, product and sum behind."""
    constants = {"g": np.linspace(-2, 1, x[1], dtype=np.float32), "b": np.linspace(0.5, 3, x[1], dtype=np.float32)}
    node = helper.make_node("GroupNormalization", ["x", "g", "b"], ["y"], num_groups=groups)
    model = model_of(node, x=x, constants=constants)
    model.opset_import[0].version = 21
    assert road(model) == "exact"


@pytest.mark.slow
def test_constants_that_vary_inside_of_volumes():
    weight = np.random.default_rng(0).normal(size=(2, 3, 2, 1, 1)).astype(np.float32)
    constants = {"c": np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5), "w": weight}
    nodes = [helper.make_node("Mul", ["c", "x"], ["m"]), helper.make_node("Conv", ["m", "w"], ["y"])]
    assert road(model_of(*nodes, x=(1, 3, 3, 4, 5), constants=constants)) == "exact"


def test_constants_without_values():
    """Folded: codes of the sigmoid of nothing. The virtual machine saves them, but does not load them."""
    constants = {"n": np.zeros((2, 0), np.float32), "s": np.float32(0.02), "z": np.int8(2)}
    nodes = [helper.make_node("Sigmoid", ["n"], ["m"]), helper.make_node("QuantizeLinear", ["m", "s", "z"], ["y"])]
    assert road(model_of(*nodes, x=(1, 3), constants=constants, out=TensorProto.INT8)) == "exact"
    joined = helper.make_node("Concat", ["x", "n"], ["y"], axis=1)
    assert road(model_of(joined, x=(2, 3), constants={"n": constants["n"]})) == "exact"


@pytest.mark.slow
@pytest.mark.parametrize("x", [(1, 6, 11), (1, 6, 3, 2, 11)], ids=["line", "volume"])
def test_choices_by_constants_behind_convolutions(x):
    """A prelu of a constant chooses by its signs; they vary along all axes."""
    random = np.random.default_rng(0)
    weight = random.normal(size=(4, 6, *[1] * (len(x) - 3), 2)).astype(np.float32)
    shape = (1, 4, *x[2:-1], x[-1] - 1)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("PRelu", ["k", "c"], ["y"])]
    constants = {"w": weight, "k": random.normal(size=shape).astype(np.float32)}
    assert road(model_of(*nodes, x=x, constants=constants)) == "exact"


@pytest.mark.slow
def test_a_leaky_relu_at_the_end():
    """Part of the product, computed on its numbers: nothing reads codes."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("LeakyRelu", ["m"], ["y"])]
    assert (
        road(model_of(*nodes, x=(3, 9), constants={"w": np.linspace(-1, 1, 9, dtype=np.float32)[:, None]})) == "exact"
    )


def hardly_varying() -> onnx.ModelProto:
    """A norm of rows that are 0.6 but for the 4th digit: it makes 316 times as much of a rounding."""
    constants = {"w": np.full((3, 9), 1e-4, np.float32) * np.arange(9, dtype=np.float32) % 3e-4,
                 "b": np.float32([0.6]), "g": np.ones(9, np.float32)}  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["a"]),
        helper.make_node("LayerNormalization", ["a", "g"], ["y"]),
    ]
    return model_of(*nodes, x=(4, 3), constants=constants)


@pytest.mark.slow
def test_room_for_roundings_between_operators():
    model = hardly_varying()
    (feed,) = fuzz_feeds(model, 1, 1)
    (wanted,) = onnxruntime_results(model, [feed])[0]
    room = rounding_room(model, feed, "y", wanted)
    assert 2e-5 < room.max() < 3e-4
    x, w, b = feed["x"].astype(float), *(numpy_helper.to_array(c).astype(float) for c in model.graph.initializer[:2])
    rows = x @ w + b
    exact = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    assert 1e-6 < abs(wanted - exact).max() < room.max()  # onnxruntime itself needs it
    assert road(model) == "exact"


def test_no_room_for_what_is_exact():
    """Whole numbers stay as they are: a comparison of them has no room to tip over."""
    nodes = [helper.make_node("Floor", ["x"], ["f"]), helper.make_node("Sign", ["f"], ["y"])]
    model = model_of(*nodes, x=(4, 3), constants={})
    (feed,) = fuzz_feeds(model, 1, 1)
    (wanted,) = onnxruntime_results(model, [feed])[0]
    np.testing.assert_array_equal(rounding_room(model, feed, "y", wanted), np.zeros((4, 3)))


@pytest.mark.slow
def test_convolutions_of_another_batch_than_the_samples():
    """A squeezed batch of one: what was the channels is the batch."""
    weight = np.random.default_rng(0).normal(size=(6, 4, 1)).astype(np.float32)
    nodes = [helper.make_node("Squeeze", ["x", "a"], ["s"]), helper.make_node("Conv", ["s", "w"], ["y"])]
    assert road(model_of(*nodes, x=(1, 2, 4, 6), constants={"w": weight, "a": np.int64([0])})) == "exact"


@pytest.mark.slow
def test_maxima_of_nan():
    """Defined as compiled, though in no other way."""
    nodes = [
        helper.make_node("Sqrt", ["x"], ["s"]),
        helper.make_node("MaxPool", ["s"], ["y"], kernel_shape=[3, 3], pads=[2, 0, 2, 0], strides=[2, 2]),
    ]
    model = model_of(*nodes, x=(1, 1, 4, 9), constants={})
    mod, _ = tvmq.from_onnx(model)
    qmod = tvmq.quantize(mod, None, config=tvmq.QConfig(calibrate_mode="global_scale"))
    feed = fuzz_feeds(model, 1, 1)[0]
    (found,), (defined,) = tvmq.build(qmod).run(feed), tvmq.reference.run(qmod, feed)
    assert np.isnan(found).any() and not np.isnan(found).all()
    np.testing.assert_array_equal(found, defined)


def test_gathered_elements_at_computed_places():
    nodes = [
        helper.make_node("TopK", ["x", "k"], ["v", "i"], axis=1),
        helper.make_node("Neg", ["i"], ["n"]),
        helper.make_node("GatherElements", ["x", "n"], ["y"], axis=1),
    ]
    assert road(model_of(*nodes, x=(3, 5), constants={"k": np.int64([2])})) == "exact"


@pytest.mark.slow
def test_the_mean_of_nothing():
    """onnxruntime keeps an axis that is gone; what the value is nobody says."""
    constants = {name: np.array(values, np.int64) for name, values in (("two", [2]), ("one", [1]), ("axes", [-2, 1]))}
    nodes = [
        helper.make_node("Slice", ["x", "two", "one", "one"], ["s"]),
        helper.make_node("ReduceMean", ["s", "axes"], ["y"], keepdims=0),
    ]
    assert road(model_of(*nodes, x=(3, 7), constants=constants)) == "exact"


@pytest.mark.parametrize("operator, leaves_open", [("MaxPool", True), ("AveragePool", False), ("Hardmax", True)])
def test_what_becomes_of_nan(operator, leaves_open):
    """Pools of maxima and choices of one may do with it what they like; a mean may not."""
    attributes = {"kernel_shape": [2, 2]} if operator.endswith("Pool") else {"axis": 3}
    nodes = [helper.make_node("Sqrt", ["x"], ["s"]), helper.make_node(operator, ["s"], ["y"], **attributes)]
    model = model_of(*nodes, x=(1, 1, 4, 4), constants={})
    assert undefined(model, fuzz_feeds(model, 1, 1)[0]) == ({"y"} if leaves_open else set())


def test_what_transposed_convolutions_make_of_infinity():
    """Places that no tap reaches may be zero times it."""
    weight = {"w": np.ones((2, 3, 1), np.float32)}
    nodes = [
        helper.make_node("Reciprocal", ["x"], ["r"]),
        helper.make_node("ConvTranspose", ["r", "w"], ["y"], strides=[3]),
    ]
    model = model_of(*nodes, x=(1, 2, 4), constants=weight)
    assert undefined(model, {"x": np.zeros((1, 2, 4), np.float32)}) == {"y"}
    assert undefined(model, {"x": np.ones((1, 2, 4), np.float32)}) == set()


@pytest.mark.slow
def test_products_of_a_vector():
    """A vector is a single row; its length is no number of samples, even where it is equal to it."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Reshape", ["r", "s"], ["v"]),
        helper.make_node("MatMul", ["v", "w"], ["y"]),
    ]
    constants = {"s": np.int64([-1]), "w": np.linspace(-1, 1, 12, dtype=np.float32).reshape(6, 2)}
    assert road(model_of(*nodes, x=(1, 2, 3), constants=constants)) == "exact"


@pytest.mark.slow
def test_a_failure_is_found_and_made_small(monkeypatch):
    """A wrong result and a crash, planted behind the first of three nodes."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Abs", ["b"], ["y"]),
    ]
    model = model_of(*nodes, x=(2, 3), constants={})
    real = tvmq.from_onnx

    def sigmoid(given: onnx.ModelProto) -> object:
        changed = onnx.ModelProto()
        changed.CopyFrom(given)
        changed.graph.node[0].op_type = "Sigmoid"
        return real(changed)

    monkeypatch.setitem(vars(tvmq), "from_onnx", sigmoid)
    feeds = fuzz_feeds(model, 0, 1)
    assert run_case(model, feeds).kind == "wrong"
    part = smaller(model, lambda m: run_case(m, feeds).kind == "wrong")
    assert [node.op_type for node in part.graph.node] == ["Relu"]

    monkeypatch.setitem(vars(tvmq), "from_onnx", lambda given: 1 / 0)
    found = run_case(model, feeds)
    assert found.failed and found.kind == "crash" and "ZeroDivisionError" in found.text


@pytest.mark.slow
def test_a_silent_float_operator_is_found():
    weight = np.ones((3, 4), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Trilu", ["m"], ["y"])]
    qmod = tvmq.quantize(
        *tvmq.from_onnx(model_of(*nodes, x=(2, 3), constants={"w": weight})), np.ones((2, 3), np.float32)
    )
    check_ledger(qmod)
    ledger = get_ledger(qmod)
    ledger.layers = {key: entry for key, entry in ledger.layers.items() if entry["precision"] != "float"}
    with pytest.raises(Exception, match="computes in float, not in the ledger"):
        check_ledger(with_ledger(qmod, ledger))


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    worker = importlib.import_module("fuzz").Worker(builds=True, task="damage")
    worker._process.kill()
    assert worker.run(0)[:3] == ("died", "", "the process died with -9")
    assert worker.run(1)[0] in ("refused", "exact")
    worker.close()
