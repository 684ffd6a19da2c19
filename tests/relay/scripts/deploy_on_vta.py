"""Quantize as the VTA tutorials did, and run on the CPU with the three results of an old relay.build.

The graph is not packed for VTA. The argument is an ONNX file.
"""

import sys
import tempfile

import numpy as np

from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.tvm import autotvm, relay  # was: from tvm import autotvm, relay
from tvmq.relay.tvm.contrib import graph_executor  # was: from tvm.contrib import graph_executor

input_name, shape = sys.argv[2], tuple(int(size) for size in ("1x" + sys.argv[3]).split("x"))
target = tvm.target.Target("llvm")
ctx = tvm.cpu(0)

with autotvm.tophub.context(target):
    mod, params = relay.frontend.from_onnx(sys.argv[1], {input_name: shape})
    with tvm.transform.PassContext(opt_level=3):
        with relay.quantize.qconfig(global_scale=8.0, skip_conv_layers=[0], store_lowbit_output=True):
            mod = relay.quantize.quantize(mod, params=params)
        assert "nn.conv2d" in relay.analysis.list_op_freqs(mod["main"])
    with tvm.transform.PassContext(opt_level=3, disabled_pass={"AlterOpLayout"}):
        graph, lib, params = relay.build(mod, target=tvm.target.Target(target, host="llvm"), params=params)

with tempfile.TemporaryDirectory() as folder:
    lib.export_library(f"{folder}/graphlib.tar")
    lib = tvm.runtime.load_module(f"{folder}/graphlib.tar")

m = graph_executor.create(graph, lib, ctx)
m.set_input(**params)
m.set_input(input_name, np.random.RandomState(0).uniform(size=shape).astype("float32"))
timer = m.module.time_evaluator("run", ctx, number=4, repeat=3)
tcost = timer()
print(f"mean {tcost.mean * 1e3:.3f} ms, std {np.std(tcost.results) * 1e3:.3f} ms")
m.run()
tvm_output = m.get_output(0, tvm.nd.empty((1, int(sys.argv[4])), "float32", tvm.cpu(0)))
top_categories = np.argsort(tvm_output.asnumpy()[0])[-5:]
print("top 5:", top_categories[::-1])
assert tcost.mean > 0 and len(set(top_categories)) == 5
