"""Indices of ONNX and torch models: constants, inputs, what is computed; float and int8; beside onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import tvmq
from tests.support.models.built_modules import build_module
from tests.support.models.onnx_models import make_model
from tvmq.errors import DataError, UnsupportedOpError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(4, 10)).astype(np.float32)
FEED = {
    "x": X,
    "a": np.zeros((4, 2), np.int64),
    "b": np.zeros((3, 2), np.int64),
    "u": np.ones((4, 2), np.float32),
    "v": np.ones(3, np.float32),
}
OUTSIDE = [10, 11, 10**7, 2**31, 2**40, 2**63 - 1, -11, -(10**7), -(2**40), -(2**63)]


def model(
    nodes: list[onnx.NodeProto], feed: dict[str, np.ndarray], outputs: list[str], **constants: Any
) -> onnx.ModelProto:
    return make_model(nodes, feed, outputs, constants)


def every_operator(prefix: str = "") -> list[onnx.NodeProto]:
    a, b = f"{prefix}a", f"{prefix}b"
    return [
        helper.make_node("Gather", ["x", a], ["gather"], name="gather", axis=1),
        helper.make_node("GatherElements", ["x", a], ["elements"], name="elements", axis=1),
        helper.make_node("GatherND", ["x", b], ["nd"], name="nd"),
        helper.make_node("ScatterElements", ["x", a, "u"], ["scattered"], name="scattered", axis=1),
        helper.make_node("ScatterND", ["x", b, "v"], ["put"], name="put"),
        helper.make_node("MatMul", ["gather2", "w"], ["y"], name="product"),
        helper.make_node("Gather", ["table", a], ["gather2"], name="rows"),
    ]


OUTPUTS = ["gather", "elements", "nd", "scattered", "put", "y"]
CONSTANTS = {
    "table": RANDOM.normal(size=(10, 8)).astype(np.float32),
    "w": RANDOM.normal(size=(8, 4)).astype(np.float32),
}


def sorted_nodes(prefix: str = "") -> list[onnx.NodeProto]:
    nodes = every_operator(prefix)
    return [*nodes[:-2], nodes[-1], nodes[-2]]


@pytest.fixture(scope="module")
def direct() -> tuple[onnx.ModelProto, Any, tvmq.Executable]:
    """Indices are inputs; int8."""
    proto = model(sorted_nodes(), FEED, OUTPUTS, **CONSTANTS)
    mod, params = tvmq.from_onnx(proto)
    quantized = tvmq.quantize(mod, params, [FEED, FEED], guard=None)
    return proto, quantized, tvmq.build(quantized)


@pytest.fixture(scope="module")
def computed() -> tuple[Any, list[Any]]:
    """Indices are computed by the model; int8 and float."""
    nodes = [helper.make_node("Add", [name, "zero"], [f"c{name}"], name=f"c{name}") for name in "ab"]
    proto = model([*nodes, *sorted_nodes("c")], FEED, OUTPUTS, zero=np.int64(0), **CONSTANTS)
    mod, params = tvmq.from_onnx(proto)
    quantized = tvmq.quantize(mod, params, [FEED, FEED], guard=None)
    return quantized, [tvmq.build(quantized), tvmq.build(mod, params=params)]


@pytest.mark.slow
def test_indices_that_onnx_defines(direct: Any, computed: Any) -> None:
    import onnxruntime

    proto, _, exe = direct
    feed = {**FEED, "a": np.array([[0, -1], [9, -10], [3, 4], [-5, 5]]), "b": np.array([[0, -1], [-4, 9], [3, -10]])}
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, feed)
    for run in (exe.run, *(one.run for one in computed[1])):
        for name, result, wanted in zip(OUTPUTS[:-1], run(feed), expected, strict=False):
            np.testing.assert_array_equal(result, wanted, err_msg=name)


@pytest.mark.slow_cases("10", "11", "10000000")
@pytest.mark.parametrize("value", OUTSIDE)
def test_an_input_outside_is_refused_before_the_run(direct: Any, value: int) -> None:
    _, quantized, exe = direct
    feed = {**FEED, "a": np.full((4, 2), value)}
    message = rf"input 'a', read by layer 'gather', take: index {value} lies outside of -10\.\.9; correct the indices"
    with pytest.raises(DataError, match=f"^run: {message}"):
        exe.run(feed)
    with pytest.raises(DataError, match=f"^reference: {message}"):
        tvmq.reference.run(quantized, feed)
    with pytest.raises(DataError, match=rf"input 'b'.*gather_nd: index {value} lies outside of -4\.\.3"):
        exe.run({**FEED, "b": np.full((3, 2), value)})


def test_a_saved_model_refuses_as_well(direct: Any, tmp_path: Path) -> None:
    direct[2].save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq")
    with pytest.raises(DataError, match="index 10 lies outside"):
        loaded.run({**FEED, "a": np.full((4, 2), 10)})
    np.testing.assert_array_equal(loaded.run(FEED)[0], direct[2].run(FEED)[0])


@pytest.mark.slow
@pytest.mark.parametrize("value", OUTSIDE)
def test_computed_indices_wrap_round(computed: Any, value: int) -> None:
    quantized, executables = computed
    feed = {**FEED, "a": np.full((4, 2), value), "b": np.array([[value, 1], [2, value], [value, value]])}
    feed["v"] = np.float32([7, 7, 7])
    at = feed["b"] % [4, 10]
    put = X.copy()
    put[at[:, 0], at[:, 1]] = 7
    for exe in executables:
        results = exe.run(feed)
        np.testing.assert_array_equal(results[0], X[:, feed["a"] % 10])
        np.testing.assert_array_equal(results[1], np.take_along_axis(X, feed["a"] % 10, 1))
        np.testing.assert_array_equal(results[2], X[at[:, 0], at[:, 1]])
        np.testing.assert_array_equal(results[4], put)
    for result, wanted in zip(executables[0].run(feed), tvmq.reference.run(quantized, feed), strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize(("op", "index", "more", "words"), [
    ("Gather", [[10]], [], "outside of 0..3"),
    ("GatherElements", [[-5]], [], r"outside of -4\.\.3"),
    ("GatherND", [[0, 10]], [], r"outside of axes of sizes \[4, 10\]"),
    ("GatherND", [[0, 1, 2]], [], "3 axes do not fit a tensor of 2"),
    ("ScatterElements", [[4]], [np.ones((1, 1), np.float32)], r"index 4 lies outside of -4\.\.3"),
    ("ScatterElements", np.zeros((1, 11), int), [np.ones((1, 11), np.float32)], "larger than .* along axis 1; cut"),
    ("GatherElements", np.zeros((4, 11), int), [], "larger than .* along axis 1; cut"),
    ("ScatterND", [[0, 10**9]], [np.ones(1, np.float32)], "outside of axes of sizes"),
    ("TopK", [11], [], "k is 11, but its axis has size 10; use a k from 1 to 10"),
    ("TopK", [0], [], "k is 0,"),
])  # fmt: skip
def test_a_constant_outside_is_refused_by_name(op: str, index: Any, more: list[Any], words: str) -> None:
    constants = {"i": np.array(index), **{f"c{n}": value for n, value in enumerate(more)}}
    outputs = ["y", "z"] if op == "TopK" else ["y"]
    node = helper.make_node(op, ["x", *constants], outputs, name="layer")
    with pytest.raises(UnsupportedOpError, match=rf"layer 'layer': {op}: .*{words}"):
        tvmq.from_onnx(model([node], {"x": X}, outputs, **constants))


@pytest.mark.parametrize("axis", [-2, 2])
@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_a_cache_is_written_as_onnx_says(axis: int, mode: str) -> None:
    """Steps of a batch of unknown size, from an index of each sample on; without indices they are the first ones."""
    feed = {"x": RANDOM.normal(size=(3, 2, 5, 4)), "u": RANDOM.normal(size=(3, 2, 2, 4))}
    feed = {name: value.astype(np.float32) for name, value in feed.items()}
    feed["i"] = np.array([3, 0, 2]) if mode == "linear" else np.array([4, 9, 12])
    nodes = [
        helper.make_node("TensorScatter", ["x", "u", "i"], ["y"], axis=axis, mode=mode),
        helper.make_node("TensorScatter", ["x", "u"], ["z"], axis=axis, mode=mode),
    ]
    inputs = {name: (str(value.dtype), ["batch", *value.shape[1:]]) for name, value in feed.items()}
    proto = make_model(nodes, inputs, ["y", "z"], opset=24)
    mod, params = tvmq.from_onnx(proto)
    expected = ReferenceEvaluator(proto).run(None, feed)
    for found in (tvmq.build(mod, params=params).run(feed), tvmq.reference.run(mod, feed)):
        for result, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


def test_a_cache_along_its_batch_is_refused_by_name() -> None:
    node = helper.make_node("TensorScatter", ["x", "x"], ["y"], axis=0, name="layer")
    with pytest.raises(UnsupportedOpError, match="layer 'layer': TensorScatter: axis 0 is that of the batch; write"):
        tvmq.from_onnx(make_model([node], {"x": X}, ["y"], opset=24))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "index", "axis"), [((2, 3, 4), (1, 2, 2), 0), ((2, 3, 4), (2, 2, 3), 1), ((2, 3, 4), (2, 2, 2), 2)]
)
def test_a_scatter_of_fewer_indices_than_data(shape: tuple[int, ...], index: tuple[int, ...], axis: int) -> None:
    import onnxruntime

    order = [-1 if i == axis else 1 for i in range(3)]
    at = np.broadcast_to(np.arange(index[axis]).reshape(order), index).copy()
    feed = {"x": np.zeros(shape, np.float32), "i": at, "u": RANDOM.normal(size=index).astype(np.float32)}
    proto = model([helper.make_node("ScatterElements", list(feed), ["y"], axis=axis)], feed, ["y"])
    mod, params = tvmq.from_onnx(proto)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(tvmq.build(mod, params=params).run(feed)[0], session.run(None, feed)[0])


@pytest.mark.slow
def test_torch_indices() -> None:
    torch = pytest.importorskip("torch")

    class Reads(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.linear = torch.nn.Embedding(12, 16), torch.nn.Linear(16, 16)

        def forward(self, x: Any, i: Any) -> Any:
            x = self.linear(x)
            rows = self.table(i)
            return torch.gather(x, 1, i), torch.index_select(x, 1, i[0]), x[:, i[0]], rows

    feed = {"x": RANDOM.normal(size=(2, 16)).astype(np.float32), "i": np.array([[0, 3], [11, 7]])}
    mod, params = tvmq.from_torch(Reads().eval(), tuple(map(torch.from_numpy, feed.values())))
    quantized = tvmq.quantize(mod, params, [feed] * 2, guard=None)
    exe = tvmq.build(quantized)
    for result, wanted in zip(exe.run(feed), tvmq.reference.run(quantized, feed), strict=True):
        np.testing.assert_array_equal(result, wanted)
    for value in (12, 16, 5000, 2**62, -(2**63)):
        with pytest.raises(DataError, match=f"input 'i', read by layer '.*index {value} lies outside of"):
            exe.run({**feed, "i": np.full((2, 2), value)})


@pytest.mark.slow
def test_a_module_that_asks_for_wrapping_gets_it() -> None:
    from tvm import relax

    inputs = {"x": (4,), "i": ((3,), "int64")}
    modes = ("wrap", "clip")
    taken = build_module(inputs, lambda _, x, i: [relax.op.take(x, i, axis=0, mode=mode) for mode in modes])
    mod, _ = tvmq.from_relax(taken)
    feed = {"x": np.float32([1, 2, 3, 4]), "i": np.array([5, -6, 2**62])}
    for results in (tvmq.build(mod).run(feed), tvmq.reference.run(mod, feed)):
        assert [result.tolist() for result in results] == [[2, 3, 1], [4, 1, 4]]
