# %% [markdown]
# # 06. How fast, and why
#
# int8 is faster than float for two reasons: four times as many numbers fit into a register and into the caches, and
# newer CPUs multiply and add four bytes where they would multiply one float. How much of that you gain depends on the
# network, on the CPU and on how it is used. This tutorial measures it, and shows where the time goes.
#
# All figures below are of the machine that ran this tutorial.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/06_speed.py`. It needs
# matplotlib.

# %%
import os
import warnings

import matplotlib.pyplot as plt
import numpy as np
import onnx

import tvmq
from tvmq.demo import load_demo

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model)  # the batch stays dynamic
qmod = tvmq.quantize(mod, params, demo.calibration)
float_exe = tvmq.build(mod, params=params, sizes={"batch": 1})
int8_exe = tvmq.build(qmod, sizes={"batch": 1})
print(float_exe, int8_exe, sep="\n")

# %% [markdown]
# ## Measure alternately
#
# A single measurement says little: other programs run, the clock changes. So measure both models alternately, many
# times, and look at the spread. `benchmark` gives the median, the fastest and the slowest of some runs after a warm-up.

# %%
picture = {"image": demo.test[:1]}
rounds = [[exe.benchmark(picture, repeat=50, threads=1).median for exe in (float_exe, int8_exe)] for _ in range(15)]
float_times, int8_times = np.array(rounds).T
ratios = float_times / int8_times
print("one round of int8:", int8_exe.benchmark(picture, repeat=50, threads=1))
print(f"float {np.median(float_times) * 1e6:.1f} us, int8 {np.median(int8_times) * 1e6:.1f} us")
print(f"int8 is {np.median(ratios):.2f} times as fast; single rounds say {ratios.min():.2f} to {ratios.max():.2f}")

fig, ax = plt.subplots(figsize=(8, 2.5))
ax.plot(float_times * 1e6, "o", label="float")
ax.plot(int8_times * 1e6, "o", label="int8")
ax.set(title="one picture, one thread", xlabel="round", ylabel="us", ylim=(0, None))
ax.legend()
fig.tight_layout()

assert np.median(ratios) > 0.9  # not slower

# %% [markdown]
# ## Where the time goes
#
# `profile` measures every kernel inside of the run:

# %%
profile = int8_exe.profile(picture, threads=1)
for layer in profile.slowest(6):
    print(f"{layer.seconds * 1e6:5.2f} us  {profile.share(layer):5.1%}  {layer.kernels[0]:26} {layer.layers[0]}")
print()
print(profile.summary())

assert profile.sum < profile.run

# %% [markdown]
# Two things are worth noting. First, a whole run takes longer than all kernels together: inputs are checked and copied,
# and functions are called. This network is tiny, a large one would not notice; the section on batches below does
# something about it.
#
# Second, the full table (`print(profile)`) compares each product with the fastest loop that this CPU can run.

# %%
products = [layer for layer in profile.layers if layer.macs]
largest = max(products, key=lambda layer: layer.macs)
print(
    f"{largest.layers[0]}: {largest.macs:,} multiply-accumulates at {largest.rate / 1e9:.0f} thousand million a second"
)
print(f"that is {largest.of_peak:.0%} of what one core reaches at most")

# %% [markdown]
# ## A forecast
#
# How long a kernel should take can be computed from the cycles of its loops, the bytes it moves and a price for each
# call. `inspect` does so for a whole model. It needs no data and compiles nothing, so it can be used before any work
# goes into quantization:

# %%
forecast = tvmq.inspect(mod, params)
print(forecast.summary())
print(f"\nmeasured: float {np.median(float_times) * 1e6:.0f} us, int8 {np.median(int8_times) * 1e6:.0f} us")

# %% [markdown]
# The ratio is what to trust. The times are too careful for a network as small as this one, where the price of calls is
# half of the estimate; for larger ones they are nearer. Layer by layer:

# %%
rows = sorted(forecast.rows, key=lambda row: -row.float_seconds)[:10]
places = np.arange(len(rows))
fig, ax = plt.subplots(figsize=(8, 3.5))
ax.barh(places - 0.2, [row.float_seconds * 1e6 for row in rows], 0.4, label="float")
ax.barh(places + 0.2, [row.int8_seconds * 1e6 for row in rows], 0.4, label="int8")
ax.set_yticks(places, [row.layers[0] for row in rows], fontsize=8)
ax.invert_yaxis()
ax.set(title="forecast of the ten largest layers", xlabel="us")
ax.legend()
fig.tight_layout()

assert forecast.speed_up > 1

# %% [markdown]
# ## Kernels
#
# Each layer is computed by a kernel that is made for its shape and for the instruction set of the CPU. The name says
# what it is; `explain` of an executable shows the details of a layer down to the kernel:

# %%
print(tvmq.explain(int8_exe, "/last/conv"))
names = set(int8_exe.kernels.values())
print(f"\n{len(int8_exe.kernels)} layers, {len(names)} kernels, for {int8_exe.target.name}")

# %% [markdown]
# ### VNNI or not
#
# Since 2019 CPUs have had an instruction that multiplies bytes and adds the products in 32 bits (on x86 it is called
# VNNI, on Arm dot product). Without it the same integers take more steps. A forecast can be made for CPUs that are not
# here:

# %%
targets = ["avx2", "avx-vnni", "avx512", "avx512-vnni", "arm-neon", "arm-dotprod"]
elsewhere = {target: tvmq.inspect(mod, params, target, clock=3e9) for target in targets}
for target, found in elsewhere.items():
    print(f"{target:12} float {found.float_seconds * 1e6:6.1f} us, int8 {found.int8_seconds * 1e6:5.1f} us at 3 GHz")

fig, ax = plt.subplots(figsize=(8, 2.5))
ax.bar(targets, [found.speed_up for found in elsewhere.values()])
ax.axhline(1, color="k", linestyle=":")
ax.set(title="how many times as fast int8 should be", ylabel="float / int8")
fig.tight_layout()

assert elsewhere["arm-dotprod"].speed_up > elsewhere["arm-neon"].speed_up

# %% [markdown]
# The time differs between CPUs, the result does not: every integer is defined, so code for AVX2 gives the same bits as
# code for this CPU.

# %%
try:
    avx2 = tvmq.build(qmod, "avx2", sizes={"batch": 1})
    same = np.array_equal(avx2.run(picture)[0], int8_exe.run(picture)[0])
    print("kernels of AVX2 give the same bits:", same)
    assert same
except tvmq.errors.TargetError as error:
    print(error)  # this CPU is no x86

# %% [markdown]
# ## Batches
#
# The price of calls is paid once a run, so many pictures in one run share it. Code for a fixed batch is the fastest:

# %%
many = {"image": demo.test[:64]}
float_64 = tvmq.build(mod, params=params, sizes={"batch": 64})
int8_64 = tvmq.build(qmod, sizes={"batch": 64})
rounds = [[exe.benchmark(many, repeat=10, threads=1).fastest / 64 for exe in (float_64, int8_64)] for _ in range(7)]
float_each, int8_each = np.min(rounds, axis=0)
print("one picture    alone   in a batch of 64 (the fastest runs)")
print(f"float       {min(float_times) * 1e6:5.1f} us   {float_each * 1e6:5.1f} us")
print(f"int8        {min(int8_times) * 1e6:5.1f} us   {int8_each * 1e6:5.1f} us")

assert np.array_equal(int8_64.run(many)[0][:1], int8_exe.run(picture)[0])  # the batch changes no bit
assert int8_each < min(int8_times)

# %% [markdown]
# ## Threads
#
# A model uses one thread for each core unless you say otherwise (`build(..., num_threads=)`, `load(..., num_threads=)`,
# the variable `TVMQ_NUM_THREADS`). Operators of less than about 20 us run in one thread whatever is allowed: waking
# another one would cost more. So threads help with the batch, and not with a single small picture:

# %%
threads = min(2, os.cpu_count() or 1)
for name, exe, inputs in (("one picture", int8_exe, picture), ("64 pictures", int8_64, many)):
    rounds = [[exe.benchmark(inputs, repeat=20, threads=count).fastest for count in (1, threads)] for _ in range(7)]
    one, more = np.min(rounds, axis=0)
    print(f"{name}: {one * 1e6:6.1f} us in 1 thread, {more * 1e6:6.1f} us in {threads}: {one / more:.2f} times as fast")

before = tvmq.build(qmod, sizes={"batch": 64}, num_threads=1).run(many)[0]
assert np.array_equal(before, tvmq.build(qmod, sizes={"batch": 64}, num_threads=threads).run(many)[0])

# %% [markdown]
# ## When int8 does not help
#
# Some models gain nothing: what takes their time stays float, or they are so small that calling functions is all they
# do. tvmq then says so. Here is a model of one small product and a softmax:

# %%
weight = np.random.default_rng(0).standard_normal((16, 4)).astype(np.float32)
graph = onnx.helper.make_graph(
    [
        onnx.helper.make_node("MatMul", ["x", "w"], ["scores"], name="dense"),
        onnx.helper.make_node("Softmax", ["scores"], ["y"], name="softmax"),
    ],
    "tiny",
    [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 16])],
    [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 4])],
    [onnx.numpy_helper.from_array(weight, "w")],
)
tiny, tiny_params = tvmq.from_onnx(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]))
verdict = tvmq.inspect(tiny, tiny_params).verdict
print(verdict)
assert verdict.startswith("int8 will not help")

# %% [markdown]
# A forecast is an estimate. `quantize(..., tune=seconds)` measures on this machine instead: layers that are faster in
# float, conversions counted, stay float, and if the whole int8 model is slower than the float one, it warns. Either way
# the figures are kept in the model, where `explain` shows them:

# %%
samples = np.random.default_rng(1).standard_normal((64, 16)).astype(np.float32)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    measured = tvmq.quantize(tiny, tiny_params, samples, tune=2)
print(*(warning.message for warning in caught), sep="\n")
print(tvmq.explain(measured).summary())
assert "a run in float" in tvmq.explain(measured).summary()

# %% [markdown]
# ## Exercise
#
# From which batch on does the price of calls no longer matter? Build for batches of 1, 2, 4, 8, 16 and 32 and draw the
# time of one picture over the batch, for float and for int8. Then do the same with a single build for all sizes
# (`tvmq.build(qmod)`): what does the dynamic batch cost?
#
# *Hint:* `tvmq.build(qmod, sizes={"batch": [1, 8, 32]})` is the third way: it takes all batches, and has code of its
# own for these three.
#
# Next: [07. From relay.quantize](07_from_relay_quantize.ipynb)
