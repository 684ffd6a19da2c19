# %% [markdown]
# # 07. From relay.quantize
#
# Relay was removed in TVM 0.20, and scripts that called `relay.quantize` stopped working. This tutorial takes
# such a script, changes its import lines, runs it, and then walks from its options to tvmq's own, one step at a time.
# Each step prints what it did to accuracy.
#
# The script did what the old tutorials did: read a model, quantize it with one scale for all or by data, run it.
#
# ```python
# import numpy as np
# import tvm
# from tvm import relay
# from tvm.contrib import graph_executor
# ```
#
# These are its import lines now. Everything below them stays.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/07_from_relay_quantize.py`.
# It needs matplotlib.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

# %% [markdown]
# ## The old script
#
# The model is the small network of handwritten digits that comes with tvmq. `from_onnx` returns a module and its
# weights, as it always did; the weights are frozen into the module, so `params` is empty.
# %%
import tvmq
from tvmq import relay
from tvmq.demo import load_demo
from tvmq.relay import tvm
from tvmq.relay.tvm.contrib import graph_executor

demo = load_demo()
mod, params = relay.frontend.from_onnx(demo.model, {"image": (1, 1, 16, 16)})
print(relay.analysis.list_op_freqs(mod["main"]))
assert params == {}


def calibrate_dataset():
    """Sixty-four pictures without labels."""
    for picture in demo.calibration[:64]:
        yield {"image": picture[None]}


# %% [markdown]
# Build, create an executor, set the input, run, read the output:

# %%
libraries = {}


def scores(name, mod):
    """What a module gives for each test picture; the library is kept by its name."""
    with tvm.transform.PassContext(opt_level=3):
        libraries[name] = relay.build(mod, target="llvm", params=params)
    module = graph_executor.GraphModule(libraries[name]["default"](tvm.cpu(0)))
    found = []
    for picture in demo.test:
        module.set_input("image", tvm.nd.array(picture[None]))
        module.run()
        found.append(module.get_output(0).numpy()[0])
    return np.array(found)


float_scores = scores("float", mod)
float_digits = float_scores.argmax(1)
errors = {}


def report(name, mod):
    """Accuracy, agreement with the float model, and the squared error of the scores."""
    found = scores(name, mod)
    right, same = ((found.argmax(1) == digits).mean() for digits in (demo.labels, float_digits))
    errors[name] = float(np.square(found - float_scores).mean())
    print(f"{name:22} accuracy {right:6.1%}   same digit as float {same:6.1%}   squared error {errors[name]:.5f}")
    return right


float_accuracy = (float_digits == demo.labels).mean()
print(f"float accuracy {float_accuracy:.1%}")
assert float_accuracy > 0.95

# %% [markdown]
# Now the two sets of options that the old tutorials had. The search of `kl_divergence` takes a third of a second for
# each tensor, so only the last six convolutions get codes by it here.

# %%
with relay.quantize.qconfig(calibrate_mode="global_scale", global_scale=8.0):
    global_scale = relay.quantize.quantize(mod, params)

earlier = list(range(9))
with relay.quantize.qconfig(calibrate_mode="kl_divergence", weight_scale="max", skip_conv_layers=earlier):
    kl_divergence = relay.quantize.quantize(mod, params, dataset=calibrate_dataset())

accuracy = report("relay, global_scale", global_scale)
kl_accuracy = report("relay, kl_divergence", kl_divergence)
assert accuracy > 0.95
assert kl_accuracy < 0.5

# %% [markdown]
# The script runs. Its thresholds and scales are Relay's to the last bit, and so is what is wrong with them: one of the
# two modes reads hardly any digit. In the old days that was the moment to try another `global_scale`. Here we can
# look.
#
# ## Asking what happened
#
# `tvmq.explain` reads the module that Relay's names gave. Of each layer it knows the scale of its codes.

# %%
gate = "/block3/squeeze_excite/gate"
values = tvmq.activations(mod, demo.calibration[:64], [gate])[gate].ravel()


threshold = tvmq.explain(kl_divergence, gate).output["scale"] * 128  # Relay's: 128 codes
print(f"threshold {threshold:.3f}, smallest value {values.min():.3f}, largest {values.max():.3f}")
assert threshold < 0.2 * values.max()

figure, axes = plt.subplots(figsize=(7, 2.6))
axes.hist(values, bins=80, color="lightgrey")
axes.axvline(threshold, color="crimson", label="threshold of kl_divergence")
axes.set(title=f"what {gate} gives", xlabel="value", ylabel="how often")
axes.legend()
plt.show()

# %% [markdown]
# The layer gives sigmoids: few values, none near zero. Relay's search cuts a histogram of 8001 bins at every threshold,
# piles up what was cut off in the last bin, and compares that with its quantized copy. Where the cut meets the first
# filled bin, all values are one spike, and so is the copy: a perfect match, and the search takes it. Every network with
# squeeze-and-excite has such layers. `kl_divergence` in `relay.quantize` means Relay's formula, so it stays as it was.
#
# ## What stayed float
#
# Relay skipped the first convolution (`skip_conv_layers=[0]`) and all dense layers unless it was told otherwise, and
# said nothing. `explain` says it:

# %%
print(tvmq.explain(global_scale))

# %% [markdown]
# ## The same with tvmq's functions
#
# `tvmq.quantize` takes the same module. Under `tvmq.qconfig.relay()` its options have Relay's defaults, and it gives
# the same bits.

# %%
calibration = demo.calibration[:64]
same = tvmq.quantize(mod, None, calibration, config=tvmq.qconfig.relay())
picture = {"image": demo.test[:1]}
assert np.array_equal(tvmq.build(same).run(picture)[0], tvmq.build(global_scale).run(picture)[0])
print("equal to relay.quantize, bit for bit")

# %% [markdown]
# ## One option after the other
#
# From here options are changed for tvmq's defaults, step by step, and stay changed:
#
# * no layer is skipped, and ranges come from the data, by the error that they cause, instead of one `global_scale`;
# * each output channel of a weight has a scale of its own, not rounded up to a power of two, and activations that are
#   never negative use all 256 codes;
# * biases have 32 bits, as the sums that they are added to, and sums become codes by float factors.

# %%
steps = {
    "ranges from data": {"skip_conv_layers": None, "skip_dense_layer": False, "calibrate_mode": "auto"},
    "channels, unsigned": {
        "weight_scale": "max", "per_channel": True, "scheme": "asymmetric", "dtype_input": "uint8",
    },
    "biases, factors": {"nbit_bias": 32, "requantize": "float", "factors": "float64"},
}  # fmt: skip
options = {}
for name, changed in steps.items():
    options.update(changed)
    report(name, tvmq.quantize(mod, None, calibration, config=tvmq.qconfig.relay(**options)))

# %% [markdown]
# And tvmq with its default options. In addition to the above, it rounds weights according to the data where that helps,
# and corrects biases for the mean error of rounding.

# %%
qmod = tvmq.quantize(mod, None, calibration)
best_accuracy = report("tvmq", qmod)

figure, axes = plt.subplots(figsize=(7, 3))
shown = {name: error for name, error in errors.items() if name != "relay, kl_divergence"}
axes.barh(list(shown), list(shown.values()), color="steelblue")
axes.set(xscale="log", xlabel="squared error of the scores", title="less is better")
axes.invert_yaxis()
figure.tight_layout()
plt.show()

assert best_accuracy >= accuracy
assert errors["tvmq"] < errors["relay, global_scale"] / 4

# %% [markdown]
# ## What else is better
#
# **Exactness.** What each integer operator computes is defined in NumPy, and the compiled code equals it bit for bit;
# that holds for the modules of `relay.quantize` as well.

# %%
for name in ("relay, global_scale", "tvmq"):
    verification = tvmq.verify(libraries[name].executable, demo.test[:32])
    print(name, verification, sep="\n  ")
    assert verification.exact

# %% [markdown]
# **Coverage.** Everything of this network is integers: squeeze-and-excite, its sigmoids, the sums of branches.

# %%
print(str(tvmq.explain(qmod)).splitlines()[-1])
assert "100.0%" in str(tvmq.explain(qmod))

# %% [markdown]
# **Speed.** Relay turned sums into codes by integer multiplication and shifts. tvmq keeps these, and they are exact,
# but float factors are faster. So the last two lines are the fast ones, and a script for which speed matters should
# take that step.

# %%
for name, library in libraries.items():
    module = graph_executor.GraphModule(library["default"](tvm.cpu(0)))
    result = module.benchmark(tvm.cpu(0), repeat=10, number=20, image=demo.test[:1])
    print(f"{name:22} {result.median * 1e6:7.1f} us")

# %% [markdown]
# ## What differs
#
# Scales, multipliers and shifts are Relay's; what lies between them is defined anew, so results have other bits than
# Relay's had: ties of rounding, averages that round instead of truncating, sums that never overflow. A misspelt option
# is ignored, as it was, but it warns:

# %%
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    relay.quantize.qconfig(skip_dense_layers=False)
print(caught[0].message)
assert "skip_dense_layers" in str(caught[0].message)

# %% [markdown]
# Names without a counterpart fail with a message that says what to do instead:

# %%
try:
    tvm.auto_scheduler.extract_tasks(mod["main"], params, "llvm")
except AttributeError as error:
    print(error)
    advice = str(error)
assert "tvmq.build(qmod, tune=seconds)" in advice

# %% [markdown]
# `MIGRATING.md` has a line for every option and name of `relay.quantize`, and for every import line. As the next step,
# replace `relay` by `mod, params = tvmq.from_onnx("model.onnx")`, `tvmq.quantize` and `tvmq.build`
# ([01](01_first_model.ipynb)).
