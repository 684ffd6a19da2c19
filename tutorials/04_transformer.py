# %% [markdown]
# # 04. A transformer
#
# Transformers are quantized like other networks, with three things of their own: sums that run through the whole
# network and stay float, a few channels that are far larger than all others, and inputs of any length. This tutorial
# meets all three in a network small enough to look into.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/04_transformer.py`. It needs
# matplotlib.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tvmq
from tvmq.demo import load_demo

# %% [markdown]
# ## Columns as words
#
# The network reads a handwritten digit the way a language model reads a sentence: each column of the picture, 16 grey
# values, is one "word". It may get all 16 columns or only the first few. We trained it for this tutorial
# (`tools/train_transformer.py`; `tutorials/data/README.md` says more).

# %%
HERE = Path(__file__).parent if "__file__" in globals() else Path.cwd()  # a notebook has no __file__
model = (HERE / "data" / "transformer.onnx").read_bytes()
mod, params = tvmq.from_onnx(model)

demo = load_demo()


def columns(pictures):
    """(n, 1, 16, 16) pictures as (n, 16 columns, 16 pixels)."""
    return np.ascontiguousarray(pictures[:, 0].transpose(0, 2, 1))


test, calibration = columns(demo.test), columns(demo.calibration)
print(f"{len(model)} bytes, {sum(a.size for a in params.values())} numbers; one input:", test[:1].shape)

# %%
fig, axes = plt.subplots(1, 3, figsize=(9, 2.6))
for ax, length in zip(axes, (16, 12, 8), strict=True):
    shown = np.full((16, 16), np.nan)
    shown[:, :length] = test[3, :length].T
    ax.imshow(shown, cmap="gray", vmin=0, vmax=1)
    ax.set(title=f"{length} columns", xticks=[], yticks=[])
fig.tight_layout()

# %% [markdown]
# First the float model, to have something to compare with. We will watch two numbers: the share of digits that
# are read correctly, and how far the scores are from those of the float model, as a *signal-to-noise ratio* in
# decibels. 20 dB means that the error is a tenth of the signal, 40 dB a hundredth.

# %%
float_exe = tvmq.build(mod, params=params)
wanted = float_exe.run({"columns": test})[0]


def accuracy(exe, length=16):
    """Share of the test pictures whose first `length` columns are read rightly."""
    return (exe.run({"columns": test[:, :length]})[0].argmax(axis=1) == demo.labels).mean()


def decibels(exe):
    """Signal-to-noise ratio of the scores, beside those of the float model."""
    error = exe.run({"columns": test})[0] - wanted
    return 10 * np.log10((wanted**2).sum() / (error**2).sum())


print(f"float: {accuracy(float_exe):.1%}")

# %% [markdown]
# ## Quantize it
#
# Nothing special: a model and data. The 192 calibration pictures have no labels.

# %%
qmod = tvmq.quantize(mod, params, {"columns": calibration})
exe = tvmq.build(qmod)
print(f"int8: {accuracy(exe):.1%}, {decibels(exe):.1f} dB")
assert abs(accuracy(exe) - accuracy(float_exe)) < 0.02
assert tvmq.verify(exe, {"columns": test[:20]}).exact  # compiled code computes what the definition says, bit for bit

# %% [markdown]
# ## What stayed float, and why
#
# `explain` prints the *ledger*: a line for every layer, with what decided its precision. All the multiplications of the
# network, also those of attention, where both sides are activations, happen in 8 bits. What is float says why.

# %%
explanation = tvmq.explain(qmod)
print(explanation)
assert explanation.int8_share() == 1.0

# %% [markdown]
# There are three kinds of reasons:
#
# - *layer norm* and *softmax* compute means, square roots and exponentials. They are a few operations for each value,
#   while a product is hundreds, so float costs little here. (For chips without floats there are integer forms, which
#   one has to ask for: `integer_softmax` and `integer_layer_norm`.)
# - The sums `x + attention(x)` and `x + mlp(x)` are the *residual stream*. All later layers read it, so an error made
#   here is never repaired; 8 bits would be too coarse.
# - The mean over the columns divides by their number, which is only known when the model runs.
#
# One layer is special:

# %%
print(explanation.layer("/block1/attention_add"))
float_layers = {entry["op"] for entry in explanation.ledger.layers.values() if entry["precision"] == "float"}
print(sorted(float_layers))
assert {"add", "tvmq.layer_norm", "tvmq.softmax", "mean"} <= float_layers
assert "matmul" not in float_layers and "dense" not in float_layers

# %% [markdown]
# ## Outliers
#
# In large language models a few channels of the activations are 20 to 100 times larger than all others, in each word
# and in many layers. A network as small as ours does not grow them by itself, so we gave it some, honestly: after the
# training we multiplied the gain of one channel of a layer norm by 64 (of two others by 32 and 64) and divided the
# weights that read this channel by the same number. In float the network computes what it did before. In 8 bits it
# does not:

# %%
NORM = "/block2/mlp_norm"
values = tvmq.activations((mod, params), {"columns": test}, [NORM])[NORM]
largest = np.abs(values).max(axis=(0, 1))
fig, ax = plt.subplots(figsize=(9, 2.8))
ax.bar(range(len(largest)), largest, color=["tab:red" if v > 10 else "tab:blue" for v in largest])
ax.set(title=f"largest value of each channel of {NORM}", xlabel="channel", ylabel="value")
fig.tight_layout()

# %% [markdown]
# The tensor has one scale, and its 255 steps have to reach up to the red bars. The blue channels, where nearly all of
# the information is, get what remains:

# %%
step = (values.max() - values.min()) / 255
usual = np.sort(values.std(axis=(0, 1)))[:-2].mean()
print(f"one step is {step:.2f}; a usual channel varies by {usual:.2f}: {2 * usual / step:.1f} codes")
assert 2 * usual / step < 10

# %% [markdown]
# A way out: divide the large channel by a power of two, and multiply the row of the weight that reads it by the same
# number. A power of two only changes the exponent of a float, so that the product does not change in a single bit.

# %%
x, w = values[0], np.random.default_rng(0).normal(size=(48, 8)).astype(np.float32)
factors = np.exp2(np.maximum(0, np.round(np.log2(largest / np.median(largest))))).astype(np.float32)
print("factors:", {int(c): int(factors[c]) for c in np.flatnonzero(factors > 8)})
assert np.array_equal((x / factors) @ (factors[:, None] * w), x @ w)

# %% [markdown]
# `quantize` looks for such channels in the calibration data and does this by itself; the division goes into the gain
# of the norm, so nothing has to be computed for it. (SmoothQuant does the same for all channels.) The ledger has a
# note, and we can switch it off to see what it is worth:

# %%
print("\n".join(explanation.ledger.notes))
with tvmq.qconfig(outlier_channels=False):
    untreated = tvmq.build(tvmq.quantize(mod, params, {"columns": calibration}))

print(f"outliers as they are   {decibels(untreated):5.1f} dB, {accuracy(untreated):.1%}")
print(f"outliers treated       {decibels(exe):5.1f} dB, {accuracy(exe):.1%}")
assert decibels(exe) > decibels(untreated) + 10

# %% [markdown]
# The error is a tenth of what it was. Our digits are read just as well without it, because the task is easy: ten
# classes leave room for errors that a language model's 50 000 words do not.
#
# ## Three ways
#
# What we did is *static* quantization: scales are chosen once, from data. There are two ways without data:
#
# - *dynamic*: weights have 8 bits, activations get their scale while the model runs, one for each word. The products
#   are integers, but finding scales takes time, and outliers are not treated.
# - *weights only*: arithmetic stays float, weights are stored in 8 or 4 bits. This makes a model small, not fast,
#   except where reading the weights is what takes the time, as it is in large language models.

# %%
ways = {"float": float_exe, "static": exe}
for name, options in {
    "dynamic": {"activations": "dynamic"},
    "weights, 8 bits": {"activations": None},
    "weights, 4 bits": {"activations": None, "nbit_weight": 4},
}.items():
    with tvmq.qconfig(**options):
        ways[name] = tvmq.build(tvmq.quantize(mod, params))

print(f"{'':17}{'accuracy':>9}{'dB':>7}{'us':>8}")
for name, way in ways.items():
    quality = "" if name == "float" else f"{decibels(way):.1f}"
    speed = way.benchmark({"columns": test[:1]}, threads=1).median * 1e6
    print(f"{name:17}{accuracy(way):9.1%}{quality:>7}{speed:8.1f}")

assert decibels(exe) > max(decibels(ways["dynamic"]), decibels(ways["weights, 8 bits"]))

# %% [markdown]
# Static is best here, since its outliers are treated: with 8 bits for the weights alone, the weights that read the
# large channels are 64 times smaller than their neighbours, share a scale with them, and keep hardly a bit.
#
# ## Any length
#
# The model was imported without sizes, so its batch and its length are dynamic. One executable reads pictures of any
# number of columns:

# %%
lengths = range(6, 17)
curves = {name: [accuracy(ways[name], n) for n in lengths] for name in ("float", "static")}
fig, ax = plt.subplots(figsize=(8, 3))
ax.plot(lengths, curves["float"], "o-", label="float")
ax.plot(lengths, curves["static"], "s--", label="int8")
ax.set(title="how much of the picture it takes", xlabel="columns", ylabel="accuracy")
ax.legend()
fig.tight_layout()
print(exe.input_info[0])
assert max(abs(a - b) for a, b in zip(*curves.values(), strict=True)) < 0.03

# %% [markdown]
# Dynamic shapes cost time, because code for any length cannot be as good as code for one. If some sizes are common,
# name them: they get code of their own, and all others still work. The results are the same, bit for bit.

# %%
sized = tvmq.build(qmod, sizes={"batch": [1], "length": [16]})
print("code of its own for", sized.sizes)
for length in (16, 11):
    part = {"columns": test[:1, :length]}
    assert np.array_equal(sized.run(part)[0], exe.run(part)[0])
    times = [way.benchmark(part, threads=1).median * 1e6 for way in (exe, sized)]
    print(f"{length} columns: {times[0]:.1f} us dynamic, {times[1]:.1f} us with 16 named")

# %% [markdown]
# ## Exercise
#
# The residual stream can be int16 instead of float: `tvmq.qconfig(residual_streams="int16")`. Quantize the model
# with it. How many operators are float now, and what do you lose in decibels?
#
# *Hint:* `explanation.ledger.layers` has an entry for each layer, with `entry["precision"]`.
#
# Next: [05. Integer-only for an accelerator](05_integer_only.ipynb)
