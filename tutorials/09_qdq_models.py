# %% [markdown]
# # 09. Models that come with Q/DQ
#
# Many models arrive quantized: somebody ran the quantizer of ONNX Runtime, of PyTorch or of a vendor, and the ONNX
# file holds scales, zero points and 8-bit weights. This tutorial makes such files, runs them with tvmq without any
# data, looks at how far the results agree with ONNX Runtime's, and goes the other way: a model of ours as a file for
# others.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/09_qdq_models.py`. It needs
# matplotlib and onnxruntime.

# %%
import collections
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import tvmq
from tvmq.demo import load_demo

demo = load_demo()
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## What Q and DQ are
#
# *QuantizeLinear* turns a real number into a code of 8 bits, *DequantizeLinear* a code into a real number again. tvmq
# computes both exactly as ONNX defines them; in NumPy they are a line each:


# %%
def quantize_linear(x, scale, zero_point):
    return np.clip(np.rint(x / scale) + zero_point, 0, 255).astype(np.uint8)


def dequantize_linear(codes, scale, zero_point):
    return (codes.astype(np.float32) - zero_point) * np.float32(scale)


x = np.float32([-0.3, 0.0, 0.1, 0.26, 9.0])
codes = quantize_linear(x, np.float32(0.02), 10)
print(x, "->", codes, "->", dequantize_linear(codes, 0.02, 10))
assert codes[1] == 10  # 0.0 has a code of its own, the zero point
assert codes[0] == 0 and codes[4] == 255  # what lies outside is clipped

# %% [markdown]
# A *Q/DQ model* is a float model with such pairs between the layers: "here, round to these codes". Whoever runs it may
# compute in float and round where it says so, or see the pairs on both sides of a layer and compute with the codes.
#
# ## Make one
#
# ONNX Runtime's quantizer wants a float file and something that reads calibration data. (`quant_pre_process` folds
# batch norm into the convolutions first.)


# %%
class Pictures(CalibrationDataReader):
    """Gives one calibration picture after the other."""

    def __init__(self):
        self.left = iter(demo.calibration)

    def get_next(self):
        picture = next(self.left, None)
        return None if picture is None else {"image": picture[None]}


def made_by_onnxruntime(name, **options):
    """A quantized file of the embedded network."""
    target = folder / name
    kinds = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8, "per_channel": True}
    quantize_static(folder / "prepared.onnx", target, Pictures(), **kinds | options)
    return target


(folder / "digits.onnx").write_bytes(demo.model)
quant_pre_process(folder / "digits.onnx", folder / "prepared.onnx")
qdq_file = made_by_onnxruntime("digits.qdq.onnx", quant_format=QuantFormat.QDQ)

graph = onnx.load(qdq_file).graph
print(collections.Counter(node.op_type for node in graph.node).most_common(6))
for node in graph.node:
    if "stem" in node.name:
        print(f"{node.op_type:18} {node.name[:60]}")

# %% [markdown]
# ## Run it
#
# `quantize` sees that the model has scales of its own and asks for no data. Its scales, zero points, weights and
# biases are taken over: *adopted*, in the words of the ledger.

# %%
mod, params = tvmq.from_onnx(qdq_file, shape={"image": (1, 1, 16, 16)})
qmod = tvmq.quantize(mod, params)
explanation = tvmq.explain(qmod)
print(explanation)
assert explanation.int8_share() == 1.0

# %% [markdown]
# Each scale is in the file. That of the first layer's result, for example:

# %%
initializers = {item.name: onnx.numpy_helper.to_array(item) for item in graph.initializer}
stem = next(e for e in explanation.ledger.layers.values() if "/stem/conv" in e["layers"])
print("in tvmq:", stem["output"])
found = {name: float(array) for name, array in initializers.items() if name.startswith("/stem") and array.ndim == 0}
print("in the file:", found)
assert stem["output"]["scale"] in found.values()

# %% [markdown]
# ## Exact, and compared with ONNX Runtime
#
# Compiled code equals the NumPy definition in every bit, as always:

# %%
exe = tvmq.build(qmod)
verification = tvmq.verify(exe, {"image": demo.test[:20]})
print(verification)
assert verification.exact

# %% [markdown]
# And ONNX Runtime, on the same file? The scores of this network leave it as codes, so the honest unit of a difference
# is one step of these codes.

# %%
session_options = onnxruntime.SessionOptions()
session_options.intra_op_num_threads = 1
theirs = onnxruntime.InferenceSession(qdq_file, session_options)


def scores_of(model):
    """Scores of the test pictures, one picture a run."""
    return np.concatenate([model.run({"image": picture[None]})[0] for picture in demo.test])


ours_scores = scores_of(exe)
their_scores = theirs.run(None, {"image": demo.test})[0]
step = next(e for e in explanation.ledger.layers.values() if "/head/dense" in e["layers"])["output"]["scale"]
steps = np.rint((ours_scores - their_scores) / step).astype(int)
print(f"one step is {step:.4f}; the scores reach from {ours_scores.min():.1f} to {ours_scores.max():.1f}")
for size in np.unique(abs(steps)):
    print(f"{size} steps apart: {(abs(steps) == size).mean():.1%} of {steps.size} scores")

# %% [markdown]
# On an x86 CPU without VNNI the picture is another one: there ONNX Runtime adds pairs of products in 16 bits, and a
# pair of large products ends at 32767. Whether it does so here, one product of known value tells:

# %%
probe = onnx.helper.make_model(
    onnx.helper.make_graph(
        [onnx.helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "probe",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [1, 8])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT32, [1, 4])],
        [onnx.numpy_helper.from_array(np.full((8, 4), 127, np.int8), "w")],
    ),
    opset_imports=[onnx.helper.make_opsetid("", 17)],
    ir_version=8,
)
product = onnxruntime.InferenceSession(probe.SerializeToString()).run(None, {"x": np.full((1, 8), 255, np.uint8)})[0]
saturates = bool((product != 8 * 255 * 127).any())
print(f"ONNX Runtime here: 8 * 255 * 127 = {product[0, 0]}; its sums {'saturate' if saturates else 'are exact'}")
assert saturates or abs(steps).max() <= 2

same = (ours_scores.argmax(1) == their_scores.argmax(1)).mean()
right = [(scores.argmax(1) == demo.labels).mean() for scores in (ours_scores, their_scores)]
print(f"the same digit: {same:.1%}; right: tvmq {right[0]:.1%}, ONNX Runtime {right[1]:.1%}")
assert saturates or same > 0.98

# %% [markdown]
# Where they differ, a real number lay next to the middle between two codes, and the two rounded it to different sides:
# ONNX Runtime's fused kernels do not compute in the order that the file writes down. Such a step may grow or vanish
# along the network; the decision hardly ever changes.
#
# ## Speed
#
# The same file, the same picture, one thread each, alternately:

# %%
picture = demo.test[:1]


def seconds(run, count=200):
    """Median time of a run."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return np.median(times)


times = {"ONNX Runtime": [], "tvmq": []}
for _ in range(3):
    times["ONNX Runtime"].append(seconds(lambda: theirs.run(None, {"image": picture})))
    times["tvmq"].append(exe.benchmark({"image": picture}, repeat=200, threads=1).median)
best = {name: min(found) * 1e6 for name, found in times.items()}

fig, ax = plt.subplots(figsize=(7, 1.8))
bars = ax.barh(list(best), list(best.values()), color=["tab:gray", "tab:blue"])
ax.bar_label(bars, fmt="%.0f us", padding=3)
ax.set(title="one picture, one thread, on this machine", xlabel="microseconds", xlim=(0, 1.2 * max(best.values())))
fig.tight_layout()
print({name: f"{time:.1f} us" for name, time in best.items()})

# %% [markdown]
# ## The other format
#
# ONNX Runtime also writes *QOperator* files: layers that take codes and their scales as arguments (`QLinearConv`). tvmq
# reads them as a pair of conversions around the float layer, and then treats both in the same way. The integers are
# the same:

# %%
qoperator_file = made_by_onnxruntime("digits.qoperator.onnx", quant_format=QuantFormat.QOperator)
print(collections.Counter(node.op_type for node in onnx.load(qoperator_file).graph.node).most_common(4))
qoperator_exe = tvmq.build(tvmq.quantize(*tvmq.from_onnx(qoperator_file, shape={"image": (1, 1, 16, 16)})))
assert np.array_equal(scores_of(qoperator_exe), ours_scores)

# %% [markdown]
# ## When something is missing
#
# A quantizer may leave out layers. Then tvmq cannot know their scales, and it does not invent any: such a layer stays
# float between the model's own roundings, and `explain` says what is missing.

# %%
partial_file = made_by_onnxruntime(
    "digits.partial.onnx", quant_format=QuantFormat.QDQ, nodes_to_exclude=["/block2/wide/conv"]
)
partial = tvmq.explain(tvmq.quantize(*tvmq.from_onnx(partial_file)))
print(partial.summary())
print(partial.layer("/block2/wide/conv"))
assert partial.int8_share() < 1.0

# %% [markdown]
# ## And out again
#
# `to_onnx` writes an integer module as a Q/DQ file, with the names of the source. Read again it gives the same
# integers, and ONNX Runtime can run it.

# %%
out_file = folder / "digits.out.onnx"
tvmq.to_onnx(qmod, out_file)
again = tvmq.build(tvmq.quantize(*tvmq.from_onnx(out_file)))
assert np.array_equal(scores_of(again), ours_scores)

# %% [markdown]
# That is also a way to use tvmq as a quantizer alone: its choice of ranges and its rounding of weights, somebody else's
# runtime. Here are both quantizers in the same runtime, compared with the float model:

# %%
own_file = folder / "digits.tvmq.onnx"
own = tvmq.quantize(*tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)}), {"image": demo.calibration})
tvmq.to_onnx(own, own_file)
wanted = onnxruntime.InferenceSession(folder / "digits.onnx").run(None, {"image": demo.test})[0]


def decibels(file):
    """Signal-to-noise ratio of a file's scores in ONNX Runtime, beside those of the float model."""
    session = onnxruntime.InferenceSession(file, session_options)
    found = np.concatenate([session.run(None, {"image": picture[None]})[0] for picture in demo.test])
    return 10 * np.log10((wanted**2).sum() / ((found - wanted) ** 2).sum())


for name, file in (("ONNX Runtime's quantizer", qdq_file), ("tvmq's quantizer", own_file)):
    print(f"{name:25} {decibels(file):.1f} dB")
assert saturates or decibels(own_file) > 20

# %% [markdown]
# ## Exercise
#
# TensorRT and many accelerators take *symmetric* int8 activations only: all zero points are 0. Make such a file with
# ONNX Runtime's quantizer, adopt it, and check in the ledger that no zero point is left. How many decibels does it
# cost?
#
# *Hint:* `activation_type=QuantType.QInt8` and `extra_options={"ActivationSymmetric": True}`; entries of
# `explanation.ledger.layers` have an `"output"` with its `"zero_point"`.
#
# For reference, see `docs/`; what each operator computes is defined in `tvmq/numerics/`.
#
# Next: [10. The search](10_search.ipynb)
