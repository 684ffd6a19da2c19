# %% [markdown]
# # 05. Integer-only for an accelerator
#
# Suppose you build a chip. It has no floating point at all: it multiplies 8-bit integers, adds in 32 bits, shifts,
# looks numbers up in small tables, and that is it. Which models can it run, and what do they lose? This tutorial
# describes such a chip in ten lines, quantizes for it, and checks every number that it would compute.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/05_integer_only.py`. It
# needs matplotlib.

# %%
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import tvmq
from tvmq.demo import load_demo
from tvmq.extension import const_value

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
data = {"image": demo.calibration[:64]}


def scores_of(exe):
    """Scores of the test pictures."""
    return np.concatenate([exe.run({"image": picture[None]})[0] for picture in demo.test])


wanted = scores_of(tvmq.build(mod, params=params))


def quality(exe):
    """Accuracy, and decibels beside the float model (20: the error is a tenth of the signal, 40: a hundredth)."""
    scores = scores_of(exe)
    decibels = 10 * np.log10((wanted**2).sum() / ((scores - wanted) ** 2).sum())
    return f"{(scores.argmax(1) == demo.labels).mean():.1%}, {decibels:.1f} dB"


print(f"float: {(wanted.argmax(1) == demo.labels).mean():.1%}")

# %% [markdown]
# ## "int8" is not yet "integers only"
#
# A model quantized with the default options is full of 8-bit integers, and still computes with floats: after each
# layer, 32-bit sums become 8-bit codes again by a product with a small float. If we ask for a model without any float,
# we get an error. It lists each float operator that is left, and what to do about it:

# %%
try:
    with tvmq.qconfig(partition_conversions="fully_integral"):
        tvmq.quantize(mod, params, data)
except tvmq.errors.IntegralError as error:
    message = str(error)
    print("\n".join(message.splitlines()[:3]))
assert "use qconfig(requantize='fixed_point')" in message

# %% [markdown]
# It says `requantize='fixed_point'`. That replaces the product with a float by one with a 32-bit integer and a shift to
# the right:

# %%
factor = 0.0123
multiplier = round(factor * 2**37)
print(f"{factor} is about {multiplier} / 2^37")
assert 2**30 <= multiplier < 2**31 and abs(multiplier / 2**37 - factor) < 1e-11

# %% [markdown]
# Let us follow that advice.

# %%
with tvmq.qconfig(partition_conversions="fully_integral", requantize="fixed_point"):
    qmod = tvmq.quantize(mod, params, data)
print(tvmq.explain(qmod).core)

# %% [markdown]
# ## Four functions
#
# The module now has four functions. One turns the picture into codes, and one turns codes into results; the part
# between them computes in integers only, and is what a chip would run.

# %%
exe = tvmq.build(qmod)
core = exe["quantized_main"]
for name in exe.functions:
    ends = [
        ", ".join(f"{i.dtype}{list(i.shape)}" for i in side) for side in (exe[name].input_info, exe[name].output_info)
    ]
    print(f"{name:18} {ends[0]:24} -> {ends[1]}")

picture = demo.test[:1]
(codes,) = exe["quantize_inputs"].run({"image": picture})
(sums,) = core.run({"image": codes})
(scores,) = exe["dequantize_outputs"].run({core.output_info[0].name: sums})
assert codes.dtype == np.uint8 and sums.dtype == np.int32
assert np.array_equal(scores, exe.run({"image": picture})[0])  # the three give what main gives, bit for bit
print("fixed point:", quality(exe))

# %% [markdown]
# ## Describe the chip
#
# Our chip can do less than that. It takes one scale for a whole weight, the zero point is always 0, and it has no
# multiplier for 32-bit numbers: sums become codes by a shift alone, so all scales must be powers of two. A
# `tvmq.Backend` describes this. It is data, and contains no code.

# %%
ABACUS = tvmq.Backend(
    "abacus",
    activations=("int8",),  # how codes are stored
    per_channel=False,  # one scale for a whole weight
    zero_points=False,  # 0.0 is the code 0
    requantize=("power_of_two",),  # sums become codes by a shift
    division=False,
    wide=False,  # no 64-bit integers
    streams=(),  # no 16-bit activations
    floats=False,  # nothing but integers
)

# %% [markdown]
# Options follow from the description, so that you need not know them:

# %%
print(ABACUS.options())
assert ABACUS.options()["partition_conversions"] == "fully_integral"

# %% [markdown]
# The model that we just made does not fit. `check_backend` goes through it and lists what the chip does not have. It
# does not rely on earlier decisions, but looks at the operators themselves.

# %%
found = tvmq.check_backend(qmod, ABACUS)
print("\n".join(str(found).splitlines()[:6]))
assert not found.conforms

# %% [markdown]
# Options that contradict the description are refused before any data are read, all of them at once, each with what to
# use instead:

# %%
try:
    with tvmq.qconfig(requantize="fixed_point", per_channel=True):
        tvmq.quantize(mod, params, data, target=ABACUS)
except tvmq.errors.ConfigError as error:
    message = str(error)
    print(message)
assert "use per_channel=False" in message and "use requantize='power_of_two'" in message

# %% [markdown]
# ## Quantize for it
#
# Only the target is new:

# %%
chip_mod = tvmq.quantize(mod, params, data, target=ABACUS)
found = tvmq.check_backend(chip_mod, ABACUS)
print(found)
assert found.conforms

chip_exe = tvmq.build(chip_mod)
print("abacus:", quality(chip_exe))

# %% [markdown]
# The price is in the decibels: powers of two are a coarse choice of scales, and one scale for a whole weight has to
# suit its largest filter. Against the latter, `options()` above has `equalization`: a filter that is much larger
# than the others of its layer is divided by a power of two, and what reads its result multiplies by the same. The
# float network stays what it was. The filters of this network are of much the same size, so it brings little here:

# %%
with tvmq.qconfig(equalization=False):
    print("without equalization:", quality(tvmq.build(tvmq.quantize(mod, params, data, target=ABACUS))))

# %% [markdown]
# ## Every number, by hand
#
# What does the chip compute? Take the first layer: a 3 x 3 convolution with 16 filters, and relu. These are its
# operators in the core, in TVM's notation:

# %%
core_function = chip_mod["quantized_main"]
operators = {b.var.name: b.value for block in core_function.body.blocks for b in block.bindings}
stem = [name for name in operators if name.startswith("stem")]
for name in stem:
    print(f"{name:16} {operators[name].op.name:22} {operators[name].ty}")

# %% [markdown]
# In NumPy: products and sums of integers, a bias, a shift that rounds, and a clip. No number below is a float.

# %%
weight, bias = const_value(operators["stem_conv"].args[1]), const_value(operators["stem_conv_bias"].args[1])
shift, last = const_value(operators["stem_act"].args[2]), operators["stem_act"].attrs
right = -int(shift)  # a negative shift goes to the right
print(f"weight {weight.dtype}{weight.shape}, bias {bias.dtype}{bias.shape}, shift to the right by {right}")

(codes,) = chip_exe["quantize_inputs"].run({"image": picture})
padded = np.pad(codes[0, 0].astype(np.int32), 1)
sums = np.zeros((16, 16, 16), np.int32)
for row in range(3):
    for column in range(3):
        window = padded[row : row + 16, column : column + 16]
        sums += weight[:, 0, row, column].astype(np.int32)[:, None, None] * window
sums += bias.reshape(16, 1, 1)
by_hand = np.clip((sums + (1 << (right - 1))) >> right, last.qmin, last.qmax)  # half of a step more: rounded, not cut
print(f"sums {sums.min()} to {sums.max()}, codes {by_hand.min()} to {by_hand.max()}")

fig, axes = plt.subplots(1, 5, figsize=(10, 2.3))
for ax, shown, title in zip(axes, [codes[0, 0], *by_hand[:4]], ["input", 0, 1, 2, 3], strict=True):
    ax.imshow(shown, cmap="gray")
    ax.set(title=title if title == "input" else f"filter {title}", xticks=[], yticks=[])
    ax.set_xlabel(f"codes {shown.min()} to {shown.max()}")
fig.tight_layout()

# %% [markdown]
# `tvmq.reference` executes a module by its definition, and lets us watch each value:

# %%
watched = {}
(expected,) = tvmq.reference.run(chip_mod, [codes], function="quantized_main", watch=watched.__setitem__)
assert np.array_equal(watched["stem_act"][0], by_hand)
print("the first layer by hand equals the definition:", by_hand.size, "codes")

types = {str(value.dtype) for value in watched.values() if isinstance(value, np.ndarray)}
print("types of all", len(watched), "values of the core:", sorted(types))
assert types == {"int8", "int32"}

# %% [markdown]
# And compiled code equals the definition, the core as well as the three other functions:

# %%
assert np.array_equal(chip_exe["quantized_main"].run({"image": codes})[0], expected)
verification = tvmq.verify(chip_exe, {"image": demo.test[:20]})
print(verification)
assert verification.exact

# %% [markdown]
# ## When the chip lacks something
#
# What if it had no tables either? The network has sigmoids, which become tables of 256 codes. The error names the
# layers; the answer is then yours: a chip with tables, or a model with other activations.

# %%
try:
    tvmq.quantize(mod, params, data, target=replace(ABACUS, tables=False))
except tvmq.errors.IntegralError as error:
    message = str(error)
    print("\n".join(message.splitlines()[:3]))
assert "has no tables" in message and "a backend that has it" in message

# %% [markdown]
# ## Exercise
#
# Hardware is expensive, and you consider adding in fewer bits than 32. How many does this network need?
#
# *Hint:* `replace(ABACUS, accumulator_bits=16)` is refused, with numbers. Try 17, 18, ... in a loop and catch
# `tvmq.errors.AccumulatorError`. Why are sums of the layers with most inputs not always the largest?
#
# Next: [06. How fast, and why](06_speed.ipynb)
