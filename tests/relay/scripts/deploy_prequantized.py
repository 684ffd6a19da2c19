"""Run a network that a framework quantized, and compare its labels with the framework's.

The arguments are an ONNX file with QuantizeLinear and DequantizeLinear, and a file of inputs.
"""

import sys

import numpy as np
import onnxruntime

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm

inputs = np.load(sys.argv[2])
session = onnxruntime.InferenceSession(sys.argv[1])
input_name = session.get_inputs()[0].name


def run_tvm_model(mod, params, input_name, inp, target="llvm"):
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target=target, params=params)
    runtime = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.device(target, 0)))
    runtime.set_input(input_name, inp)
    runtime.run()
    return runtime.get_output(0).numpy(), runtime


mod, params = relay.frontend.from_onnx(sys.argv[1], {input_name: inputs.shape})
tvm_result, rt_mod = run_tvm_model(mod, params, input_name, inputs)
result = session.run(None, {input_name: inputs})[0]

top3 = np.argsort(result, axis=1)[:, ::-1][:, :3]
tvm_top3 = np.argsort(tvm_result, axis=1)[:, ::-1][:, :3]
same_labels = (top3[:, 0] == tvm_top3[:, 0]).mean()
print(f"same label of {same_labels:.0%}, {np.sum(tvm_result == result)} of {result.size} values identical")
print(rt_mod.benchmark(tvm.cpu(0), number=1, repeat=10))
assert same_labels > 0.95
