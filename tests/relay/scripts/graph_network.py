"""A network of graph convolutions, written operator by operator; NumPy gives the same."""

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm import runtime  # was: from tvm import runtime
from tvmq.relay.tvm.contrib import graph_executor  # was: from tvm.contrib import graph_executor

nodes, infeat_dim, num_hidden, num_classes = 12, 20, 8, 3
random = np.random.RandomState(0)
adjacency = (random.uniform(size=(nodes, nodes)) < 0.3).astype("float32")
degrees = np.maximum(adjacency.sum(axis=1, keepdims=True), 1) ** -0.5
features = random.uniform(-1, 1, (nodes, infeat_dim)).astype("float32")


def graph_conv(layer_name, input_dim, output_dim, adj, input, norm=None, bias=True, activation=None):
    if norm is not None:
        input = relay.multiply(input, norm)
    weight = relay.var(layer_name + ".weight", shape=(input_dim, output_dim))
    dense = relay.nn.dense(relay.transpose(weight), input)
    output = relay.transpose(relay.nn.dense(dense, adj))
    if norm is not None:
        output = relay.multiply(output, norm)
    if bias:
        output = relay.nn.bias_add(output, relay.var(layer_name + ".bias", shape=(output_dim,)), -1)
    return activation(output) if activation is not None else output


params = {
    "layers.0.weight": random.uniform(-1, 1, (infeat_dim, num_hidden)).astype("float32"),
    "layers.0.bias": random.uniform(-1, 1, num_hidden).astype("float32"),
    "layers.1.weight": random.uniform(-1, 1, (num_hidden, num_classes)).astype("float32"),
    "layers.1.bias": random.uniform(-1, 1, num_classes).astype("float32"),
}

infeats = relay.var("infeats", shape=features.shape)
norm = relay.Constant(tvm.nd.array(degrees.astype("float32")))
adj = relay.const(adjacency)
hidden = graph_conv("layers.0", infeat_dim, num_hidden, adj, infeats, norm, activation=relay.nn.relu)
output = graph_conv("layers.1", num_hidden, num_classes, adj, hidden, norm)

func = relay.Function(relay.analysis.free_vars(output), output)
mod = tvm.IRModule()
mod["main"] = func
with tvm.transform.PassContext(opt_level=0):
    lib = relay.build(mod, "llvm", params={name: runtime.ndarray.array(value) for name, value in params.items()})

m = graph_executor.GraphModule(lib["default"](tvm.device("llvm", 0)))
m.set_input("infeats", features)
m.run()
logits = m.get_output(0).numpy()


def numpy_layer(layer_name, x):
    return adjacency @ ((x * degrees) @ params[f"{layer_name}.weight"]) * degrees + params[f"{layer_name}.bias"]


expected = numpy_layer("layers.1", np.maximum(numpy_layer("layers.0", features), 0))
tvm.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-4)
print("classes:", logits.argmax(axis=1))
