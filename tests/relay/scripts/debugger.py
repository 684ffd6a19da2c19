"""Measure the time of each operator with the debug executor."""

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm.contrib.debugger.debug_executor import (  # was: from tvm.contrib.debugger.debug_executor import (
    GraphModuleDebug,
)

mod, params = relay.testing.dqn.get_workload(batch_size=1, image_shape=(4, 36, 36))
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(mod, "llvm", params=params)

dev = tvm.cpu(0)
m = GraphModuleDebug(lib["debug_create"]("default", dev), [dev], lib.graph_json, dump_root="/tmp/tvmdbg")
m.set_input("data", tvm.nd.array(np.random.RandomState(0).uniform(size=(1, 4, 36, 36)).astype("float32")))
m.set_input(**lib.params)
m.run()
tvm_out = m.get_output(0, tvm.nd.empty((1, 18), "float32")).numpy()
report = str(m.profile())
assert "conv2d" in report and np.isfinite(tvm_out).all()
