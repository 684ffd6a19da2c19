"""Interpreter: its results are the definition's, what `run_node` sees, and what it changes."""

import numpy as np
import pytest

import tvmq
from tests.passes.stages import calibrated
from tests.support.models.networks import block
from tvmq.errors import DataError
from tvmq.extension import Interpreter

X = np.random.default_rng(0).normal(size=(1, 3, 6, 6)).astype(np.float32)
WEIGHT = np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32)
BODY = """c = R.nn.conv2d(x, w, padding=(1, 1))
            b = R.add(c, v)
            r = R.nn.relu(b)
            s = R.split(r, 2, axis=1)
            first = s[0]
            second = s[1]
            t = R.concat((second, first), axis=1)
            y = R.add(t, r)"""


def network():
    bias = np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1)
    return block(f'x: R.Tensor({X.shape}, "float32"), w: R.Tensor({WEIGHT.shape}, "float32"), '
                 f'v: R.Tensor({bias.shape}, "float32")', BODY, w=WEIGHT, v=bias)  # fmt: skip


class Record(Interpreter):
    """Keeps nodes, arguments and results."""

    def __init__(self, model):
        super().__init__(model)
        self.nodes, self.args, self.values = {}, {}, {}

    def run_node(self, node, args):
        self.nodes[node.name], self.args[node.name] = node, args
        self.values[node.name] = super().run_node(node, args)
        return self.values[node.name]


@pytest.fixture(scope="module")
def mod():
    return network()


def test_results_are_those_of_the_definition(mod):
    record = Record(mod)
    np.testing.assert_array_equal(record.run({"x": X})[0], tvmq.reference.run(mod, {"x": X})[0])
    np.testing.assert_array_equal(record.values["y"], record.run([X])[0])


def test_nodes(mod):
    record = Record(mod)
    record.run({"x": X})
    assert {name: (node.op, node.inputs) for name, node in record.nodes.items()} == {
        "r": ("nn.conv2d", ("x",)),  # a float convolution with its bias and relu
        "s": ("split", ("r",)),
        "t": ("concat", ("second", "first")),
        "y": ("add", ("t", "r")),
    }
    assert set(record.nodes["r"].layers) >= {"r"} and list(map(int, record.nodes["r"].call.attrs.padding)) == [1] * 4
    np.testing.assert_array_equal(record.args["r"][0], X)
    assert [part.shape for part in record.args["t"][0]] == [(1, 2, 6, 6)] * 2 and len(record.values["s"]) == 2


def test_arguments_and_results_may_be_changed(mod):
    class Half(Interpreter):
        def run_node(self, node, args):
            if node.op == "nn.conv2d":
                return node.compute([args[0] * np.float32(0.5)])
            return args[0] if node.op == "add" else super().run_node(node, args)

    expected = Record(mod)
    expected.run({"x": X * np.float32(0.5)})
    np.testing.assert_array_equal(Half(mod).run({"x": X})[0], expected.values["t"])


def test_simulated_values_are_those_of_activations():
    sim = calibrated(network())
    record = Record(sim)
    record.run({"x": X})
    simulated = [node for node in record.nodes.values() if node.op == "tvmq.simulated_quantize"]
    assert {node.call.attrs.kind for node in simulated} == {"input", "weight", "activation"}
    results = [part for value in record.values.values() for part in (value if isinstance(value, list | tuple) else [value])]
    for name, values in tvmq.activations(sim, [{"x": X}]).items():
        assert any(np.array_equal(values, result) for result in results), name


def test_inputs_that_do_not_fit(mod):
    with pytest.raises(DataError, match="input 'x' is missing"):
        Interpreter(mod).run({})
