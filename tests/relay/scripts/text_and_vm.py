"""Relay's text, parameters as bytes, and the virtual machine."""

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm.runtime.vm import VirtualMachine  # was: from tvm.runtime.vm import VirtualMachine

source = """
#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  nn.relu(%0)
}
"""
mod = tvm.parser.fromtext(source)
assert relay.parse(source)["main"].body.op.name == mod["main"].body.op.name == "nn.relu"

params = {"w": tvm.nd.array(np.random.RandomState(0).uniform(-1, 1, (4, 4, 3, 3)).astype("float32"))}
params = relay.load_param_dict(relay.save_param_dict(params))
exe = relay.vm.compile(mod, target="llvm", params=params)
vm = VirtualMachine(exe, tvm.cpu())
x = np.random.RandomState(1).uniform(size=(1, 4, 8, 8)).astype("float32")
out = vm.invoke("main", x).numpy()

main = relay.build_module.bind_params_by_name(mod["main"], params)
again = relay.create_executor("vm", tvm.IRModule.from_expr(main), tvm.cpu(), "llvm").evaluate()(x)
tvm.testing.assert_allclose(out, again.numpy())
print(out.shape, out.max())
