# %% [markdown]
# # 12. A chip of your own: from its description to a verified model
#
# Tutorial 05 described a chip. This one also brings its code. Suppose that the chip has two units:
#
# - one computes a convolution, adds the bias, rounds, adds the codes of another tensor if you want, and clips: *one*
#   instruction, where a network has four operators;
# - one computes a sigmoid in two cycles: the high half of a code chooses a line, the low half goes along it.
#
# We describe the chip in a file, quantize for it, say in NumPy what its sigmoid gives, bring the code of both units,
# and have every value compared. The code here is written in TVM's tensor expressions and runs on your CPU; a symbol of
# the chip's simulator, or a code generator, would take its place (`docs/lowering.md`).
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/12_chip.py`. It needs
# matplotlib.

# %%
import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from tvm import te, tirx

import tvmq
from tvmq.demo import load_demo
from tvmq.extension import Codes, Group, make_const, operator

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
calibration = {"image": demo.calibration[:48]}


def scores_of(exe):
    """Scores of the first 200 test pictures."""
    return np.concatenate([exe.run({"image": picture[None]})[0] for picture in demo.test[:200]])


def accuracy(exe):
    """Share of digits that are read right."""
    return (scores_of(exe).argmax(1) == demo.labels[:200]).mean()


# %% [markdown]
# ## The description
#
# What the chip computes is data. 8-bit codes without sign, a zero point; sums of 32 bits become codes by a product
# with a 32-bit integer and a shift, halves rounded upward. The last line names the code for its units in `build`;
# we write that object below.

# %%
folder = Path(tempfile.mkdtemp())
description = folder / "two_units.json"
description.write_text(
    json.dumps(
        {
            "tvmq_backend": 1,
            "name": "two_units",
            "activations": ["uint8"],
            "weights": ["int8"],
            "requantize": ["fixed_point"],
            "roundings": ["UPWARD"],
            "lowerings": ["__main__:CONV_UNIT"],
        },
        indent=2,
    )
)
print(description.read_text())

# %% [markdown]
# A field that tvmq does not know is refused when the file is read, with its position:

# %%
try:
    tvmq.Backend.from_json('{"name": "two_units", "activations": ["uint9"]}', "two_units.json")
except tvmq.errors.ConfigError as error:
    message = str(error)
    print(message)
assert "uint9" in message and "activations" in message

# %% [markdown]
# ## The sigmoid: an operator of your own
#
# By itself tvmq makes a table of 256 codes of a sigmoid. The unit has 16 lines instead, so it gives other codes here
# and there. The integer module must contain that, or the module would not say what the chip computes: we make an
# operator. It has a *definition* in NumPy, which is the law, and a *kernel*, which has to obey it.


# %%
def lines_defined(codes, lines):
    """First cycle: the line of the high half. Second cycle: along it by the low half."""
    codes = codes.astype(np.int32)
    base, rise = lines[codes >> 4, 0], lines[codes >> 4, 1]
    return np.clip(base + ((rise * (codes & 15)) >> 4), 0, 255).astype(np.uint8)


def lines_kernel(codes, lines):
    """The same in TVM's tensor expressions; te.compute says what stands at each index."""

    def value(*at):
        code = tirx.Cast("int32", codes(*at))
        along = lines[code >> 4, 0] + ((lines[code >> 4, 1] * (code & 15)) >> 4)
        return tirx.Cast("uint8", tirx.min(tirx.max(along, 0), 255))

    return te.compute(codes.shape, value, name="two_cycles")


TWO_CYCLES = operator("two_units.sigmoid", definition=lines_defined, kernel=lines_kernel, inputs=("codes", "lines"))

# %% [markdown]
# A *family* says when it is used (tutorial 08): for every sigmoid. The lines come from the scales that calibration has
# found: a code `q` is the real number `(q - zero_point) * scale`.


# %%
class TwoCycleSigmoid:
    """A sigmoid of codes by 16 lines.

    Before                                            After
        y = sigmoid(sq(x))                                y = two_units.sigmoid(x codes, lines)
    """

    name = "two_cycle_sigmoid"
    operators = ("sigmoid",)

    def group(self, view, variable, value):
        """One operator; its result always gets codes."""
        facts = {"needs_output_codes": True}
        return Group(self.name, variable.name, [variable.name], [value.args[0].name], facts=facts)

    def realize(self, realizer, group):
        """Lines through the true values at every sixteenth code."""
        x, y = realizer.codes(group.inputs[0]), realizer.output_qparams(group)
        ends = (np.arange(17) * 16 - x.zero_point) * float(x.scale)
        codes = np.rint(1 / (1 + np.exp(-ends)) / float(y.scale)) + int(y.zero_point)
        lines = np.stack([codes[:-1], np.diff(codes)], axis=1).astype(np.int32)
        return Codes(realizer.emit(TWO_CYCLES(x.var, make_const(lines)), group.output), y)


SIGMOID_FAMILY = TwoCycleSigmoid()

with tvmq.qconfig(operators=["__main__:SIGMOID_FAMILY"]):
    quantized = tvmq.quantize(mod, params, calibration, target=str(description), guard=None)
explanation = tvmq.explain(quantized)
print(explanation.summary())
assert any(entry["op"] == "two_cycle_sigmoid" for entry in explanation.ledger.layers.values())

# %% [markdown]
# How far are 16 lines from a sigmoid? Here is the unit compared with the exact function, for a scale of 1/16:

# %%
codes = np.arange(256, dtype=np.uint8)
real = (codes.astype(float) - 128) / 16
ends = np.rint(255 / (1 + np.exp(-(np.arange(17) * 16 - 128) / 16)))
shown = lines_defined(codes, np.stack([ends[:-1], np.diff(ends)], axis=1).astype(np.int32)) / 255
plt.plot(real, 1 / (1 + np.exp(-real)), label="sigmoid")
plt.plot(real, shown, label="16 lines")
plt.legend()
largest = abs(shown - 1 / (1 + np.exp(-real))).max()
print(f"at most {largest:.3f} apart, {largest * 255:.1f} codes")
assert largest * 255 < 5

# %% [markdown]
# ## The module is the reference
#
# Before any code of ours: tvmq compiles the module with its own kernels, and compares with the definitions.

# %%
plain = tvmq.build(quantized)
print(tvmq.verify(plain, {"image": demo.test[:10]}))
print(f"float {accuracy(tvmq.build(mod, params=params)):.1%}, for the chip {accuracy(plain):.1%}")
assert tvmq.verify(plain, {"image": demo.test[:10]}).exact and accuracy(plain) > 0.9

# %% [markdown]
# ## The convolution: a lowering
#
# The other unit computes what the module says already, only at once. So there is no operator to define, but a
# *pattern* to take: `nn.conv2d`, the bias, `tvmq.requantize`, and a `tvmq.add` of another tensor where there is one.
# tvmq finds the places; our function gets each as a `Match` and gives code for it. A text in place of code says why
# the unit cannot do this one.


# %%
def conv_unit(match):
    """Convolution, bias, rounding, [sum], clip as one function."""
    conv, rule = match.attrs("nn.conv2d"), match.attrs("tvmq.requantize")
    x, *others = match.placeholders()
    other = others.pop(0) if "tvmq.add" in match.operators else None
    weight, bias, multiplier, shift = others
    if (match.constants[-1] > 0).any():
        return "the unit has no factors above 1"
    window = [te.reduce_axis((0, int(size))) for size in weight.shape[1:]]
    (top, left, _, _), (down, right) = conv.padding, conv.strides
    shape = match.result.ty.shape

    def product(n, f, row, column):
        y, z = row * down + window[1] - top, column * right + window[2] - left
        inside = tirx.all(y >= 0, y < x.shape[2], z >= 0, z < x.shape[3])
        code = tirx.if_then_else(inside, tirx.Cast("int32", x[n, window[0], y, z]), 0)
        return te.sum(code * tirx.Cast("int32", weight[f, window[0], window[1], window[2]]), axis=window)

    sums = te.compute(shape, product, name="sums")

    def clipped(value, attrs):
        return tirx.min(tirx.max(value + attrs.zero_point, attrs.qmin), attrs.qmax)

    def code(n, f, row, column):
        wide = tirx.Cast("int64", sums[n, f, row, column] + bias[0, f, 0, 0]) * tirx.Cast("int64", multiplier[f])
        right = tirx.Cast("int64", 31 - shift[f])
        rounded = (wide + (tirx.const(1, "int64") << (right - 1))) >> right
        own = clipped(tirx.Cast("int32", rounded), rule)
        if other is None:
            return tirx.Cast(rule.dtype, own)
        attrs, call = match.attrs("tvmq.add"), match.call("tvmq.add")
        pair = [own, tirx.Cast("int32", other[n, f, row, column])]
        a, b = pair if call.args[0].name in match.calls else pair[::-1]
        total = (a * attrs.a_multiplier + b * attrs.b_multiplier + attrs.offset) >> attrs.shift
        return tirx.Cast(attrs.dtype, clipped(total, attrs))

    return te.compute(shape, code, name="codes")


PATTERN = "nn.conv2d[groups=1] -> add -> tvmq.requantize[mode=fixed_point] -> tvmq.add?"
CONV_UNIT = tvmq.Lowering(PATTERN, conv_unit, name="conv_unit")

# %% [markdown]
# The description names `CONV_UNIT`, so the description is enough to build with it:

# %%
exe = tvmq.build(quantized, backend=str(description))
for line in tvmq.explain(exe).summary().splitlines():
    if "lowering" in line:
        print(line.strip())
taken, missed = exe.lowerings["taken"], exe.lowerings["missed"]
assert any("tvmq.add" in entry["operators"] for entry in taken)
assert all("groups" in entry["why"] for entry in missed)

# %% [markdown]
# It says which layers the unit takes and why it leaves others: those are depthwise, which the pattern leaves out.
#
# ## Value by value
#
# `verify` compares twice: the whole model with the definition, and each lowered layer alone, on what the definition
# gives the layer before it. So a unit that is wrong is named, whatever else is wrong.

# %%
verification = tvmq.verify(exe, {"image": demo.test[:10]})
print(verification)
assert verification.exact and verification.lowerings[0].values > 0
assert np.array_equal(scores_of(exe), scores_of(plain))

# %% [markdown]
# A check is worth something if it can fail. Suppose that the chip counted one code too low:


# %%
def hasty(match):
    """The unit without its last step: all codes are one too low."""
    made = conv_unit(match)
    return made if isinstance(made, str) else te.compute(made.shape, lambda *at: made(*at) - tirx.const(1, "uint8"))


wrong = tvmq.verify(tvmq.build(quantized, lowerings=[tvmq.Lowering(PATTERN, hasty, name="hasty")]), calibration)
print(wrong.lowerings[0])
assert not wrong.exact and wrong.lowerings[0].differing > 0

# %% [markdown]
# ## The unit's documented definition
#
# The documentation of a chip may define in NumPy what it computes. `definition=` takes that definition, and `verify`
# says whether the documentation is right as well:


# %%
def conv_defined(match, x, *rest):
    """What the unit computes without its sum, from the codes on."""
    weight, bias, multiplier, shift = rest
    conv, rule = match.attrs("nn.conv2d"), match.attrs("tvmq.requantize")
    top, left, bottom, right = (int(size) for size in conv.padding)
    padded = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(2, 3))
    windows = windows[:, :, :: int(conv.strides[0]), :: int(conv.strides[1])]
    wide = (np.einsum("ncyzij,fcij->nfyz", windows, weight.astype(np.int64)) + bias) * multiplier[:, None, None]
    places = 31 - shift[:, None, None].astype(np.int64)
    rounded = (wide + (np.int64(1) << (places - 1))) >> places
    return np.clip(rounded + rule.zero_point, rule.qmin, rule.qmax).astype(rule.dtype)


ALONE = tvmq.Lowering(PATTERN.removesuffix(" -> tvmq.add?"), conv_unit, name="conv_alone", definition=conv_defined)
checked = tvmq.verify(tvmq.build(quantized, lowerings=[ALONE]), {"image": demo.test[:5]})
print(checked.lowerings[0])
assert checked.exact and checked.lowerings[0].misdefined == 0

# %% [markdown]
# ## The file that goes to the device
#
# What is saved has the code of the units inside, and says what it holds. It runs without this notebook:

# %%
exe.save(folder / "digits.tvmq")
loaded = tvmq.load(folder / "digits.tvmq")
assert np.array_equal(scores_of(loaded), scores_of(plain))
print(loaded.lowerings["names"], "libraries:", loaded.lowerings["libraries"])

# %% [markdown]
# ## Exercise
#
# The unit could do depthwise convolutions as well: take `[groups=1]` out of the pattern, and see what `verify` says.
# Then teach `conv_unit` to read the right channels.
#
# *Hint:* `conv.groups` is the number of groups, and filter `f` reads the channels from `f // (filters // groups) *
# weight.shape[1]` on. As long as the function does not know groups, let it return a text for them.
