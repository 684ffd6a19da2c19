# %% [markdown]
# # 03. Rules and mixed precision
#
# Not every layer tolerates 8 bits equally well. This tutorial finds the layers that suffer most, makes exceptions for
# them, and looks at what an exception costs.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/03_mixed_precision.py`. It
# needs matplotlib.

# %%
import matplotlib.pyplot as plt
import numpy as np

import tvmq
from tvmq.demo import load_demo

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
float_exe = tvmq.build(mod, params=params)


def scores_of(exe):
    return np.concatenate([exe.run({"image": picture[None]})[0] for picture in demo.test])


float_scores = scores_of(float_exe)


def judged(qmod):
    """(accuracy, signal to noise of the scores beside the float model in dB)."""
    scores = scores_of(tvmq.build(qmod))
    noise = ((scores - float_scores) ** 2).sum()
    return (scores.argmax(axis=1) == demo.labels).mean(), 10 * np.log10((float_scores**2).sum() / noise)


# %% [markdown]
# ## What was decided
#
# `explain` lists all layers with their precision and what decided it. Its summary is short here, because nothing had to
# stay float:

# %%
qmod = tvmq.quantize(mod, params, demo.calibration)
explanation = tvmq.explain(qmod)
print(explanation.summary())
assert explanation.int8_share() == 1.0

# %% [markdown]
# The names in the left column are those of your model, here of the ONNX nodes. Operators that were fused into one
# integer layer are written together. The details of a single layer:

# %%
print(tvmq.explain(qmod, "/block3/depthwise/conv"))

# %% [markdown]
# ## Where accuracy is lost
#
# `compare` runs the float model and the quantized one side by side and measures every layer twice:
#
# - *local*: the layer of the float model gets the input of the quantized one, so any difference is made by this layer;
# - *accumulated*: both compute from the picture. This is the error of everything up to this layer.

# %%
comparison = tvmq.compare((mod, params), qmod, demo.test[:64])
worst = comparison.worst(3, by="local")
for layer in worst:
    print(f"{layer.names[0]:32} {layer.local.sqnr:.1f} dB by itself, {layer.accumulated.sqnr:.1f} dB accumulated")

assert worst[0].local.sqnr == min(layer.local.sqnr for layer in comparison.layers)

# %%
layers = [layer for layer in comparison.layers if np.isfinite(layer.local.sqnr) and layer.operator != "input"]
fig, ax = plt.subplots(figsize=(9, 4))
ax.bar(range(len(layers)), [layer.local.sqnr for layer in layers], color="lightsteelblue", label="local")
ax.plot([layer.accumulated.sqnr for layer in layers], "k.-", label="accumulated")
ax.set(title="signal to noise of every layer", ylabel="dB (higher is better)", xlim=(-1, len(layers)))
ax.set_xticks(range(len(layers)), [layer.names[0] for layer in layers])
ax.tick_params(axis="x", rotation=90, labelsize=7)
ax.legend()
fig.tight_layout()

# %% [markdown]
# `/block3/depthwise` sticks out. (Its range is clipped on purpose, because the function behind it flattens what is cut
# off; [tutorial 02](02_calibration.ipynb) shows why. After that function, at `/block3/depthwise/act`, the error is
# smaller again.)
#
# ## A rule
#
# A `Rule` says which layers it applies to, and how they are quantized. `None` means that they stay float.

# %%
rule = tvmq.Rule("/block3/depthwise/*", None)
with tvmq.qconfig(rules=[rule]):
    with_rule = tvmq.quantize(mod, params, demo.calibration)
print(tvmq.explain(with_rule).summary())

before, after = judged(qmod), judged(with_rule)
print(f"\nall int8:   accuracy {before[0]:.1%}, {before[1]:.1f} dB")
print(f"with rule:  accuracy {after[0]:.1%}, {after[1]:.1f} dB")
assert after[1] > before[1]

# %% [markdown]
# A little better, and not for free. `inspect` estimates the time of a run without data and without compiling:

# %%
plain = tvmq.inspect(mod, params)
exception = tvmq.inspect(mod, params, config=tvmq.qconfig(rules=[rule]))
print(f"all int8:   {plain.int8_seconds * 1e6:.1f} us")
print(
    f"with rule:  {exception.int8_seconds * 1e6:.1f} us, of which float layers {exception.island_seconds * 1e6:.1f} us"
)
assert exception.int8_seconds > plain.int8_seconds

# %% [markdown]
# Codes must be converted to floats before such a layer, and back to codes after it. This rule is not worth half a
# decibel that nobody will notice in the accuracy. Measure before you keep a rule.
#
# ## Ways to name layers
#
# | rule | layers |
# | --- | --- |
# | `Rule("/block3/*", None)` | names, with `*` and `?` |
# | `Rule(re.compile("squeeze_excite.*reduce"), None)` | a regular expression, found anywhere in a name |
# | `Rule("op:nn.dense", None)` | a type of operator |
# | `Rule(lambda layer: layer.macs < 1000, None)` | any function of the layer's facts |
#
# The last rule that matches a layer wins. As `inspect` needs no data, it is a quick way to see what rules would do:

# %%
rules = [tvmq.Rule("/block3/*", None), tvmq.Rule("op:nn.conv2d", tvmq.QuantSpec("int8", symmetric=True))]
forecast = tvmq.inspect(mod, params, config=tvmq.qconfig(rules=rules))
floats = [row.layers[0] for row in forecast.rows if row.precision == "float"]
print("float:", *floats, sep="\n  ")
assert floats and all(name.startswith("/block3/") for name in floats)
assert "/block3/expand/conv" not in floats  # the second rule took it back

# %% [markdown]
# A rule that matches nothing is nearly always a typing mistake, so it is an error:

# %%
try:
    tvmq.quantize(mod, params, demo.calibration, config=tvmq.qconfig(rules=[tvmq.Rule("/block3/depthwize/*", None)]))
except tvmq.errors.ConfigError as error:
    print(error)
else:
    raise AssertionError("a rule without a layer was accepted")

# %% [markdown]
# ## Other bits
#
# Exceptions can go the other way as well: few bits for most layers, more for some. To have something to repair we break
# the network, with weights of 2 bits: every weight is -1, 0 or 1 times a scale.

# %%
two = tvmq.quantize(mod, params, demo.calibration, config=tvmq.qconfig(nbit_weight=2))


def bits_of(qmod):
    """Bits of a weight on average."""
    entries = tvmq.explain(qmod).to_dict()["layers"].values()
    sizes = [(np.prod(e["weight"]["shape"]), e.get("weight_bits", 8)) for e in entries if "weight" in e]
    return sum(size * bits for size, bits in sizes) / sum(size for size, _ in sizes)


broken = judged(two)
print(f"{bits_of(two):.2f} bits: accuracy {broken[0]:.1%}, {broken[1]:.1f} dB")
assert broken[0] < 0.8

# %% [markdown]
# Which layers need their 8 bits back? We ask `compare` for those that have weights, the worst first, and give the first
# four of the list 8 bits. For comparison, the last eight of the list together cost about as many bits.

# %%
EIGHT = tvmq.QuantSpec("int8", 8, symmetric=True, per_channel=True)
comparison = tvmq.compare((mod, params), two, demo.test[:64])
weighted = [layer for layer in comparison.worst(99) if layer.weight is not None]


def repaired(layers):
    """2 bits, and 8 for these layers."""
    rules = [tvmq.Rule(layer.names[0], weights=EIGHT) for layer in layers]
    return tvmq.quantize(mod, params, demo.calibration, config=tvmq.qconfig(nbit_weight=2, rules=rules))


choices = {
    "2 bits": two,
    "worst 4 with 8": repaired(weighted[:4]),
    "best 8 with 8": repaired(weighted[-8:]),
    "3 bits": tvmq.quantize(mod, params, demo.calibration, config=tvmq.qconfig(nbit_weight=3)),
    "8 bits": qmod,
}
table = {name: (bits_of(model), *judged(model)) for name, model in choices.items()}
for name, (bits, accuracy, decibels) in table.items():
    print(f"{name:15} {bits:.2f} bits   accuracy {accuracy:.1%}   {decibels:5.1f} dB")

assert table["worst 4 with 8"][1] > table["2 bits"][1] + 0.2
assert table["worst 4 with 8"][1] > table["best 8 with 8"][1] + 0.1
assert table["3 bits"][1] > 0.95

# %%
fig, ax = plt.subplots(figsize=(8, 3.5))
for name, (bits, accuracy, _) in table.items():
    ax.plot(bits, accuracy, "o", color="tab:orange" if "with" in name else "tab:blue")
    ax.annotate(name, (bits, accuracy), textcoords="offset points", xytext=(6, -10), fontsize=8)
ax.set(title="budget and accuracy", xlabel="bits of a weight, on average", ylabel="accuracy")
ax.set(xlim=(1.5, 9.5), ylim=(0.3, 1.05))
fig.tight_layout()

# %% [markdown]
# Two lessons:
#
# - it matters *which* layers get the bits: four of the worst repair most of the network, eight of the best nothing;
# - the plain choice is hard to beat: 3 bits for all layers are smaller than both mixtures and better than both. Try the
#   same bits for all layers first. Mixtures pay where a few small layers are much worse than the rest, or where the
#   hardware has two widths and nothing in between.
#
# What few bits save is memory. On a CPU they do not save time: the products are those of 8 bits.
#
# ## Exercise
#
# Order the layers by what they win for each bit they cost: noise by number of weights. Which layer is large and robust,
# and should keep its 2 bits for longest? Draw the curve of accuracy over bits for 0 .. 17 layers in this order.
#
# *Hint:* noise of a layer is `10 ** (-layer.local.sqnr / 10)`; the number of its weights is `layer.weight.values`.
#
# Next: [04. A transformer](04_transformer.ipynb)
