"""Operators between dequantize and quantize, in floats and as integers, and a chain of qnn operators, compiled."""

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm.contrib import graph_executor  # was: from tvm.contrib import graph_executor

rng = np.random.default_rng(0)
data = rng.integers(-128, 128, size=(1, 3, 16, 16)).astype("int8")
kernel = relay.const(rng.integers(-128, 128, size=(8, 3, 5, 5)).astype("int8"))
zero = relay.const(0)
x = relay.var("x", shape=(1, 3, 16, 16), dtype="int8")


def real(codes, scale):
    return relay.qnn.op.dequantize(codes, relay.const(scale), zero)


cases = {
    "conv2d": (relay.nn.conv2d(real(x, 2.0), real(kernel, 0.5)), 300.0),
    "max_pool2d": (relay.nn.max_pool2d(real(x, 2.0), [3, 3]), 2.0),
    "sigmoid": (relay.sigmoid(real(x, 0.02)), 0.01),
    "mean": (relay.mean(real(x, 2.0)), 2.5),
    "add": (real(x, 2.0) + real(x, 1.0), 3.5),
    "concatenate": (relay.concatenate([real(x, 2.0), real(x, 1.0)], axis=1), 2.5),
}
for name, (floats, scale) in cases.items():
    out = relay.qnn.op.quantize(floats, relay.const(scale), zero, out_dtype="int8")
    mod = tvm.IRModule.from_expr(relay.Function([x], out))
    mod = relay.transform.InferType()(mod)
    mod_int = relay.transform.FakeQuantizationToInteger()(mod)
    results = [
        relay.create_executor("graph", mod=m, device=tvm.cpu(), target="llvm").evaluate()(data).numpy()
        for m in (mod, mod_int)
    ]
    difference = abs(results[0].astype(int) - results[1]).max()
    print(f"{name}: {difference} steps between floats and integers")
    assert difference <= 1 and results[0].dtype == results[1].dtype == np.int8

sums = relay.qnn.op.conv2d(x, kernel, zero, zero, relay.const(2.0), relay.const(0.5), (5, 5), 8)
codes = relay.qnn.op.requantize(sums, relay.const(1.0), zero, relay.const(1024.0), zero, out_dtype="int8")
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(tvm.IRModule.from_expr(relay.Function([x], codes)), target="llvm")
runtime = graph_executor.GraphModule(lib["default"](tvm.cpu()))
runtime.set_input("x", data)
runtime.run()
windows = np.lib.stride_tricks.sliding_window_view(data.astype(int), (5, 5), axis=(2, 3))
exact = np.einsum("nchwij,ocij->nohw", windows, kernel.data.numpy().astype(int))
expected = np.clip(np.floor(exact / 1024 + 0.5), -128, 127)
print(f"qnn: {(runtime.get_output(0).numpy() != expected).sum()} of {expected.size} codes differ from NumPy's")
assert np.array_equal(runtime.get_output(0).numpy(), expected)
