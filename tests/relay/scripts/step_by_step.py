"""The quantizer's passes one by one, as scripts that look between them do."""

# ruff: noqa: E501, I001
# fmt: off

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import quantize as qtz  # was: from tvm.relay import quantize as qtz
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.quantize import kl_divergence  # was: from tvm.relay.quantize import kl_divergence
from tvmq.relay.quantize.quantize import prerequisite_optimize  # was: from tvm.relay.quantize.quantize import prerequisite_optimize

mod, params = relay.testing.synthetic.get_workload()
shape = mod["main"].params[0].checked_type.concrete_shape
dataset = [{"data": np.random.RandomState(i).uniform(size=shape)} for i in range(3)]

with tvm.transform.PassContext(opt_level=3):
    mod = prerequisite_optimize(mod, params)

with qtz.qconfig(
    calibrate_mode="percentile", calibrate_chunk_by=8, skip_conv_layers=[0], skip_dense_layer=False, nbit_input=8
):
    print(relay.quantize.current_qconfig())
    with qtz.quantize_context():
        steps = tvm.transform.Sequential([qtz.partition(), qtz.annotate()])
        annotated = steps(mod)
        calibrate = tvm.transform.module_pass(qtz.calibrate(dataset), opt_level=1, name="QuantizeCalibrate")
        simulated = relay.transform.InferType()(calibrate(annotated))
        quantized = tvm.transform.Sequential([qtz.realize(), relay.transform.FoldConstant()])(simulated)
    at_once = qtz.quantize(mod, params, dataset)

samples = np.random.RandomState(3).randn(10000).astype("float32")
print("KL threshold:", kl_divergence._find_scale_by_kl(samples))

results = [
    relay.create_executor("graph", each, tvm.cpu(0), "llvm").evaluate()(dataset[0]["data"])
    for each in (quantized, at_once)
]
tvm.testing.assert_allclose(results[0].asnumpy(), results[1].asnumpy(), rtol=0, atol=0)
assert 2.5 < kl_divergence._find_scale_by_kl(samples) < 4.5
