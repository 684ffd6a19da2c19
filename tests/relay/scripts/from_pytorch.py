"""Compile a traced PyTorch network and compare its classes with PyTorch's."""

import numpy as np
import torch

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm.contrib import graph_executor  # was: from tvm.contrib import graph_executor

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(8 * 8 * 8, 10),
).eval()  # fmt: skip
input_shape = [1, 3, 16, 16]
input_data = torch.randn(input_shape)
scripted_model = torch.jit.trace(model, input_data).eval()

input_name = "input0"
mod, params = relay.frontend.from_pytorch(scripted_model, [(input_name, input_shape)])

target = tvm.target.Target("llvm", host="llvm")
dev = tvm.cpu(0)
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(mod, target=target, params=params)

m = graph_executor.GraphModule(lib["default"](dev))
m.set_input(input_name, tvm.nd.array(input_data.numpy().astype("float32")))
m.run()
tvm_output = m.get_output(0)
top1_tvm = np.argmax(tvm_output.numpy()[0])

with torch.no_grad():
    output = model(input_data).numpy()
print(f"Relay top-1: {top1_tvm}, Torch top-1: {np.argmax(output[0])}")
assert top1_tvm == np.argmax(output[0])
tvm.testing.assert_allclose(tvm_output.numpy(), output, rtol=1e-4, atol=1e-5)
