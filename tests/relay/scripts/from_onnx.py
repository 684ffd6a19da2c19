"""Compile an ONNX model and run it once; the argument is its file."""

import sys

import numpy as np
import onnx

import tvmq.relay as relay  # was: import tvm.relay as relay
from tvmq.relay import tvm  # was: import tvm

onnx_model = onnx.load(sys.argv[1])
graph_input = onnx_model.graph.input[0]
input_name = graph_input.name
shape = [1, *(dim.dim_value for dim in graph_input.type.tensor_type.shape.dim[1:])]
x = np.random.RandomState(0).uniform(size=shape)

target = "llvm"
mod, params = relay.frontend.from_onnx(onnx_model, {input_name: shape})
with tvm.transform.PassContext(opt_level=1):
    executor = relay.build_module.create_executor("graph", mod, tvm.cpu(0), target, params).evaluate()

dtype = "float32"
tvm_output = executor(tvm.nd.array(x.astype(dtype))).numpy()
print("best class:", tvm_output[0].argmax())
assert tvm_output.ndim == 2 and np.isfinite(tvm_output).all()
