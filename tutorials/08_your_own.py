# %% [markdown]
# # 08. Your own pass, your own operator
#
# A compiler never knows everything that you know about your model. Three things can be added to tvmq from outside,
# without touching its files: a *pass*, which rewrites the model before it is quantized; an *operator family*, which
# says how an operator becomes integers; and an *observer*, which chooses ranges. Each lives in a module of your own,
# and an option names it as `"module:object"`. This tutorial writes one of each.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/08_your_own.py`. It needs
# matplotlib and scikit-learn.

# %%
import matplotlib.pyplot as plt
import numpy as np
import onnx
import tvm
from onnx import helper, numpy_helper
from sklearn.datasets import load_digits
from tvm import relax

import tvmq
from tvmq.extension import Group, const_value, is_const, make_const, op_name, rewrite, shape_of, usable_range

# %% [markdown]
# ## A network with two peculiarities
#
# scikit-learn's digits have 8 x 8 pixels with values from 0 to 16, and the network scales them itself. And after a
# convolution it has *running sums* along each row, as the "integral images" of classical computer vision: position 5
# holds the sum of the values 0 to 5. The filters are random; only the last layer is trained, by solving a linear
# system.

# %%
digits = load_digits()
pictures = digits.images[:, None].astype(np.float32)
train, test = np.split(pictures, [1400])
train_labels, test_labels = np.split(digits.target, [1400])
FILTERS = np.random.default_rng(1).normal(size=(16, 1, 3, 3)).astype(np.float32)


def network(dense, bias):
    """An ONNX model: scale, convolution, relu, running sums, ten scores."""
    nodes = [
        helper.make_node("Mul", ["image", "by"], ["scaled"], name="/scale"),
        helper.make_node("Conv", ["scaled", "filters"], ["conv"], name="/conv", pads=[1] * 4),
        helper.make_node("Relu", ["conv"], ["relu"], name="/relu"),
        helper.make_node("CumSum", ["relu", "axis"], ["sums"], name="/running_sums"),
        helper.make_node("Flatten", ["sums"], ["flat"], name="/flatten"),
        helper.make_node("Gemm", ["flat", "dense", "bias"], ["scores"], name="/dense"),
    ]
    arrays = {"by": np.float32(1 / 16), "filters": FILTERS, "axis": np.int64(3), "dense": dense, "bias": bias}
    constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    image = helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, [1, 1, 8, 8])
    scores = helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "running_sums", [image], [scores], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


untrained = tvmq.from_onnx(network(np.zeros((1024, 10), np.float32), np.zeros(10, np.float32)))
features = tvmq.activations(untrained, train, ["/flatten"])["/flatten"].reshape(len(train), -1).astype(np.float64)
features = np.hstack([features, np.ones((len(train), 1))])  # the last column is for the bias
goal = np.eye(10)[train_labels]
solution = np.linalg.solve(features.T @ features + 100 * np.eye(1025), features.T @ goal).astype(np.float32)
mod, params = tvmq.from_onnx(network(solution[:-1], solution[-1]))


def scores_of(exe):
    """Scores of the test pictures."""
    return np.concatenate([exe.run({"image": picture[None]})[0] for picture in test])


wanted = scores_of(tvmq.build(mod, params=params))
print(f"float: {(wanted.argmax(1) == test_labels).mean():.1%} of {len(test)} pictures")
assert (wanted.argmax(1) == test_labels).mean() > 0.8


def decibels(exe):
    """Signal-to-noise ratio of the scores, beside those of the float model."""
    return 10 * np.log10((wanted**2).sum() / ((scores_of(exe) - wanted) ** 2).sum())


# %%
shown = tvmq.activations((mod, params), test[:1], ["/relu", "/running_sums"])
fig, axes = plt.subplots(1, 3, figsize=(8, 2.6))
for ax, (title, values) in zip(axes, [("image", test[:1]), *shown.items()], strict=True):
    ax.imshow(values[0, 0], cmap="gray")
    ax.set(title=title, xticks=[], yticks=[], xlabel=f"{values[0, 0].min():.1f} to {values[0, 0].max():.1f}")
fig.tight_layout()

# %%
calibration = train[:200]
plain = tvmq.quantize(mod, params, calibration)
print(tvmq.explain(plain))

# %% [markdown]
# Two things to improve: the scaling is an operator of its own, and the running sums stay float, "no integer form".
# Let us do both.
#
# ## A pass
#
# A pass takes a module and returns a module. The scaling could be part of the weights of the convolution: `conv(image *
# c, w)` equals `conv(image, c * w)`. In this project the head of a pass says in five lines what it does, so that nobody
# has to read its code to know whether to use it:


# %%
def fold_scale(module: tvm.IRModule) -> tvm.IRModule:
    """Multiply a number in front of a convolution into its weight.

    Before                                            After
        s = multiply(x, 0.5)                              y = conv2d(x, 0.5 * w)
        y = conv2d(s, w)

    Needs     weights that are constants: it runs behind prepare.
    Leaves    the product, where something else reads it as well.
    Numerics  exact for powers of two; else each weight is rounded once more to float32.
    """
    return rewrite(module, _fold)


def _fold(rewriter, variable, value):
    """What a binding becomes; None where it stays as it is."""
    if op_name(value) != "nn.conv2d" or not is_const(value.args[1]):
        return None
    source = rewriter.value_of(value.args[0])
    if (
        source is None
        or op_name(source) != "multiply"
        or not is_const(source.args[1])
        or shape_of(source.args[1]) != ()
    ):
        return None
    weight = make_const(const_value(value.args[1]) * const_value(source.args[1]))
    return relax.Call(value.op, [source.args[0], weight], value.attrs)


# %% [markdown]
# `rewrite` calls `_fold` for each binding of the program, from first to last. A binding is a variable and its value;
# here the value is a call of an operator. `rewriter.value_of` tells what a variable was bound to, so that one can
# look back.
#
# To use it, name it in an option. `__main__` is what a script or a notebook itself is called in Python; in a package
# of yours it would be `"my_package.passes:fold_scale"`. Passes run in the order given, and a pass may also just look:


# %%
def show(module):
    """Print the program without its attributes, and change nothing."""
    lines = module["main"].script().splitlines()
    print("\n".join(f"{line.strip()[:110]}" for line in lines if ": R.Tensor" in line and "def main" not in line), "\n")
    return module


with tvmq.qconfig(passes=["__main__:show", "__main__:fold_scale", "__main__:show"]):
    folded = tvmq.quantize(mod, params, calibration)

# %% [markdown]
# The operator is gone, and with it an island of floats in front of the network. Since 1/16 is a power of two, the codes
# are the same as before:

# %%
assert "/scale" in str(tvmq.explain(plain)) and "/scale" not in str(tvmq.explain(folded))
plain_exe, folded_exe = tvmq.build(plain), tvmq.build(folded)
assert np.array_equal(scores_of(plain_exe), scores_of(folded_exe))
print(f"plain {decibels(plain_exe):.1f} dB, folded {decibels(folded_exe):.1f} dB")

# %% [markdown]
# ## Its test
#
# A pass promises more than that it worked once: it leaves its input as it was, running it twice changes nothing more,
# and it keeps away from what it must not touch. A pass that looks can also remember, so that a test has a prepared
# module:

# %%
seen = []


def remember(module):
    """Keep the module."""
    seen.append(module)
    return module


def prepared(*model):
    """The float module that passes see."""
    with tvmq.qconfig(passes=["__main__:remember"]):
        tvmq.quantize(*model, calibration)
    return seen.pop()


def test_fold_scale():
    before = prepared(mod, params)
    text = before.script(show_meta=True)
    once = fold_scale(before)
    assert before.script(show_meta=True) == text  # its input is untouched
    tvm.ir.assert_structural_equal(fold_scale(once), once)  # twice is once
    picture = {"image": test[:1]}
    assert np.array_equal(tvmq.build(once).run(picture)[0], tvmq.build(before).run(picture)[0])


test_fold_scale()

# %% [markdown]
# What if a pass is wrong? tvmq checks its result before the next pass:


# %%
def forgets(module):
    """Does its work and does not return it."""
    fold_scale(module)


try:
    with tvmq.qconfig(passes=["__main__:forgets"]):
        tvmq.quantize(mod, params, calibration)
except tvmq.errors.StageError as error:
    message = str(error)
    print(message)
assert "return the IRModule" in message

# %% [markdown]
# ## An operator
#
# Running sums of codes are easy in integers. With `x = (q - z) * s`, where `q` is a code, `s` the scale and `z` the
# zero point, a sum of x is `s` times a sum of `q - z`. So: subtract the zero point, add in 32 bits, and let the usual
# machinery make 8-bit codes of the sums. That is what we write down, in an object with two methods:
#
# - `group` says which variables belong together (here one), and what must arrive as codes, or why it stays float;
# - `realize` emits the integer form. `realizer.codes` gives the codes of an input, `realizer.requantize` makes codes
#   of 32-bit sums of a known scale, in whatever way the options ask for.


# %%
class RunningSums:
    """Running sums along an axis, in integers.

    Before                                            After
        y = cumsum(sq(x))                                 a = cumsum(int32(x) - zero point)
                                                          y = requantize(a, s_x / s_y)
    """

    name = "running_sums"
    operators = ("cumsum",)

    def group(self, view, variable, value):
        """One operator that reads one activation."""
        if value.attrs.exclusive:
            return "limit: exclusive sums have no integer form yet"
        return Group(self.name, variable.name, [variable.name], [value.args[0].name])

    def realize(self, realizer, group):
        """Emit the sums and what makes codes of them."""
        x = realizer.codes(group.inputs[0])
        axis = realizer.view.value[group.root].attrs.axis
        centred = relax.op.subtract(relax.op.astype(x.var, "int32"), relax.const(np.int32(x.zero_point)))
        sums = realizer.emit(relax.op.cumsum(centred, axis=axis, dtype="int32"), f"{group.root}_sums")
        return realizer.requantize(sums, np.float64([x.scale]), group)


RUNNING_SUMS = RunningSums()

with tvmq.qconfig(passes=["__main__:fold_scale"], operators=["__main__:RUNNING_SUMS"]):
    quantized = tvmq.quantize(mod, params, calibration)
explanation = tvmq.explain(quantized)
print(explanation)
assert all(entry["precision"] == "int8" for entry in explanation.ledger.layers.values())

# %% [markdown]
# Ranges, rules, the ledger: all as for any other operator. Nothing is float any more:

# %%
exe = tvmq.build(quantized)
accuracy = (scores_of(exe).argmax(1) == test_labels).mean()
print(f"int8: {accuracy:.1%}, {decibels(exe):.1f} dB")
assert accuracy > 0.9

# %% [markdown]
# ## Exact, too
#
# tvmq promises that compiled code equals a definition in NumPy. It has none of `cumsum`, so here it compares around it:
# what the compiled operator gave is taken as it is. An object that brings `definitions` closes the gap.

# %%
print(tvmq.verify(exe, {"image": test[:20]}))
print("not defined:", tvmq.explain(exe).undefined)


class Defined(RunningSums):
    """The same, and what it computes."""

    definitions = {"cumsum": lambda call, x: np.cumsum(x, axis=int(call.attrs.axis), dtype=np.int32)}


DEFINED = Defined()

with tvmq.qconfig(passes=["__main__:fold_scale"], operators=["__main__:DEFINED"]):
    exe = tvmq.build(tvmq.quantize(mod, params, calibration))
verification = tvmq.verify(exe, {"image": test[:20]})
print(verification)
assert verification.exact and not tvmq.explain(exe).undefined

# %% [markdown]
# A check is worth something if it can fail. So let us say something wrong, and see whether it is found:

# %%
Defined.definitions = {"cumsum": lambda call, x: np.cumsum(x, axis=2, dtype=np.int32)}  # columns, not rows
wrong = tvmq.verify(exe, {"image": test[:5]})
print(str(wrong).splitlines()[0])
assert not wrong.exact

# %% [markdown]
# ## An observer
#
# Which range of real numbers shall the codes of a tensor stand for? An observer answers, from statistics that
# calibration collects: extremes, and a histogram. Here is a simple rule that is often proposed, "mean plus and minus
# three standard deviations". The guard, which would keep layers in float until the scores are right, is off here, so
# that we see what the rule alone does:


# %%
class ThreeSigma:
    """Three standard deviations around the mean, no further than what was seen."""

    needs = ("ranges", "histogram")

    def thresholds(self, statistics, spec):
        """Ends of the range, as `usable_range` makes them valid: 0 is inside."""
        histogram = statistics.histogram
        middle, counts = (histogram.edges[:-1] + histogram.edges[1:]) / 2, histogram.counts
        mean = np.average(middle, weights=counts)
        sigma = np.sqrt(np.average((middle - mean) ** 2, weights=counts))
        low, high = max(mean - 3 * sigma, histogram.low), min(mean + 3 * sigma, histogram.high)
        return usable_range(float(low), float(high), spec)


found = {}
for mode in ("minmax", "__main__:ThreeSigma", "auto"):
    with tvmq.qconfig(calibrate_mode=mode, passes=["__main__:fold_scale"], operators=["__main__:RUNNING_SUMS"]):
        found[mode] = decibels(tvmq.build(tvmq.quantize(mod, params, calibration, guard=None)))
        print(f"{mode:20} {found[mode]:.1f} dB")
assert found["__main__:ThreeSigma"] < found["auto"]

# %% [markdown]
# It is much worse. Why? What a relu gives has many zeros and a long tail, and so have its sums: no bell curve.

# %%
values = tvmq.activations((mod, params), calibration, ["/running_sums"])["/running_sums"]
end = values.mean() + 3 * values.std()
print(f"the range ends at {end:.1f}, the largest value is {values.max():.1f}: {(values > end).mean():.1%} are clipped")
assert (values > end).mean() > 0.01  # a bell curve has 0.13 % there

# %% [markdown]
# ## In a package
#
# What we named `__main__:...` belongs in a module, for example `my_package/extras.py`. Then the command line can use
# it, too:
#
# ```text
# tvmq quantize model.onnx --data calibration.npz --passes my_package.extras:fold_scale
#                          --operators my_package.extras:DEFINED --output model.tvmq
# ```
#
# Who runs the saved model does not need `my_package`; who verifies it does. `docs/extending.md` says what there is no
# public way for, kernels of your own for example. If your operator is of use to others, bring it along:
# `CONTRIBUTING.md` says which files an operator of tvmq itself touches.
#
# ## Exercise
#
# ONNX's CumSum can also be *exclusive*: position 5 then holds the sum of the values 0 to 4. Teach it to `RunningSums`.
#
# *Hint:* an exclusive sum is the sum minus the value itself. In `realize`, look at `value.attrs.exclusive`, and emit
# one `relax.op.subtract` more; in the definition do the same.
#
# Next: [09. Models that come with Q/DQ](09_qdq_models.ipynb)
