"""The quick start: a network of relay.testing, compiled, saved, loaded and run again."""

# ruff: noqa: I001

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import testing  # was: from tvm.relay import testing
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm.contrib import graph_executor, utils  # was: from tvm.contrib import graph_executor, utils

batch_size, num_class, image_shape = 1, 10, (3, 28, 28)
data_shape, out_shape = (batch_size, *image_shape), (batch_size, num_class)

mod, params = relay.testing.resnet.get_workload(
    num_layers=8, batch_size=batch_size, num_classes=num_class, image_shape=image_shape
)
print(mod.astext(show_meta_data=False)[:300])
assert sum(testing.count_ops(mod["main"]).values()) > 20

target = tvm.target.Target("llvm")
dev = tvm.cpu(0)
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(mod, target, params=params)

data = np.random.RandomState(0).uniform(-1, 1, size=data_shape).astype("float32")
module = graph_executor.GraphModule(lib["default"](dev))
module.set_input("data", data)
module.run()
out = module.get_output(0, tvm.nd.empty(out_shape)).numpy()
print(out.flatten()[:10])
assert abs(out.sum() - 1) < 1e-5

temp = utils.tempdir()
path_lib = temp.relpath("deploy_lib.tar")
lib.export_library(path_lib)
print(temp.listdir())

loaded_lib = tvm.runtime.load_module(path_lib)
module = graph_executor.GraphModule(loaded_lib["default"](dev))
module.run(data=tvm.nd.array(data))
out_deploy = module.get_output(0).numpy()
tvm.testing.assert_allclose(out_deploy, out, atol=1e-5)
