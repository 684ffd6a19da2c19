"""Percentiles for a language model's three inputs, dense layers included."""

import numpy as np

from tvmq import relay  # was: from tvm import relay
from tvmq.relay import tvm  # was: import tvm

random = np.random.RandomState(0)
length, hidden, words = 16, 32, 100
names = ("input_ids", "attention_mask", "token_type_ids")


def table(*shape):
    return relay.const(random.uniform(-1, 1, shape).astype("float32"))


ids, mask, types = (relay.var(name, shape=(1, length), dtype="int64") for name in names)
embedded = relay.take(table(words, hidden), ids, axis=0) + relay.take(table(2, hidden), types, axis=0)
state = relay.tanh(relay.nn.dense(relay.reshape(embedded, (length, hidden)), table(hidden, hidden)))
state = state * relay.reshape(relay.cast(mask, "float32"), (length, 1))
out = relay.nn.softmax(relay.nn.dense(state, table(4, hidden)))
mod = tvm.IRModule.from_expr(relay.Function([ids, mask, types], out))


def sample():
    return {
        "input_ids": random.randint(0, words, (1, length)),
        "attention_mask": np.ones((1, length), "int64"),
        "token_type_ids": np.zeros((1, length), "int64"),
    }


dataset = [sample() for _ in range(8)]
with relay.quantize.qconfig(calibrate_mode="percentile", calibrate_chunk_by=8, skip_dense_layer=False):
    quantized = relay.quantize.quantize(mod, None, dataset)

floats, integers = (relay.create_executor("graph", each).evaluate()(**dataset[0]).numpy() for each in (mod, quantized))
print("largest difference:", abs(floats - integers).max())
assert "int32" in relay.analysis.all_dtypes(quantized["main"])
assert abs(floats - integers).max() < 0.1
