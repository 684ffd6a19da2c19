# %% [markdown]
# # 02. What calibration does
#
# In [tutorial 01](01_first_model.ipynb) `quantize` asked for a few pictures without labels. This tutorial shows what it
# does with them, and what happens when they are too few or the wrong ones.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/02_calibration.py`. It needs
# matplotlib.

# %%
import matplotlib.pyplot as plt
import numpy as np

import tvmq
from tvmq.demo import load_demo

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})

# %% [markdown]
# ## 256 codes for all numbers
#
# An 8-bit tensor has 256 codes. Calibration decides which real numbers the first and the last of them stand for.
# Between these two *thresholds* the codes are equally spaced, and values outside are clipped to the nearest end.
#
# Here is what one layer of the network computes for the calibration pictures. `activations` gives the values of any
# layer, by its name in the model.

# %%
LAYER = "/block1/project/norm"
values = tvmq.activations((mod, params), demo.calibration, [LAYER])[LAYER].ravel()
print(f"{values.size} values from {values.min():.2f} to {values.max():.2f}")
print(f"half of them within {np.percentile(values, 25):.2f} .. {np.percentile(values, 75):.2f}")

# %%
fig, ax = plt.subplots(figsize=(8, 3))
ax.hist(values, bins=200, log=True, color="tab:blue")
ax.set(title=f"what {LAYER} computes", xlabel="value", ylabel="how often (log)")
fig.tight_layout()

# %% [markdown]
# Note the logarithmic scale: the bars on the far left and right stand for a handful of values. If the codes reach out
# to them, all others get a coarser grid.
#
# ## Two errors that pull in opposite directions
#
# These few lines are all there is to quantization of a tensor:


# %%
def there_and_back(x, low, high):
    """Real numbers -> the nearest of 256 codes -> real numbers."""
    scale = (high - low) / 255
    zero_point = np.round(-low / scale)  # the code of 0.0
    codes = np.clip(np.round(x / scale) + zero_point, 0, 255)
    return (codes - zero_point) * scale


def error(x, low, high):
    """Mean squared error of going there and back."""
    return np.mean((x - there_and_back(x, low, high)) ** 2)


# %% [markdown]
# Let us clip at -t and t and try many t. Values inside are rounded: the error grows with t. Values outside are clipped:
# that error falls with t. Their sum has a minimum.

# %%
limits = np.linspace(3, 7, 60)
squared = [(values - there_and_back(values, -t, t)) ** 2 for t in limits]
inside = [np.abs(values) <= t for t in limits]
rounding = np.array([s[i].sum() / values.size for s, i in zip(squared, inside)])
clipping = np.array([s[~i].sum() / values.size for s, i in zip(squared, inside)])
total = rounding + clipping
best = limits[total.argmin()]

fig, ax = plt.subplots(figsize=(8, 3))
ax.plot(limits, rounding, label="rounding (inside)")
ax.plot(limits, clipping, label="clipping (outside)")
ax.plot(limits, total, "k", label="both")
ax.axvline(best, color="k", linestyle=":")
ax.set(title="where to clip", xlabel="threshold t", ylabel="mean squared error", ylim=(0, 4 * total.min()))
ax.legend()
fig.tight_layout()
print(f"best threshold {best:.2f}, largest magnitude {np.abs(values).max():.2f}")

assert best < np.abs(values).max()  # clipping the rarest values pays
assert rounding[-1] > rounding[0] and clipping[-1] < clipping[0]

# %% [markdown]
# ## Observers
#
# An *observer* is a rule that picks the thresholds. `qconfig(calibrate_mode=...)` names it:
#
# | mode | thresholds |
# | --- | --- |
# | `minmax` | all that was seen |
# | `percentile` | all but the rarest values |
# | `histogram` | the least squared error on the tensor |
# | `kl_divergence` | the least loss of information |
# | `auto` (default) | the best of several for each tensor |
#
# `run_calibration` stops after the thresholds are chosen, so that we can look at them. Weights are rounded in the
# simplest way here, so that nothing but the thresholds differs.

# %%
MODES = ["minmax", "percentile", "kl_divergence", "histogram", "auto"]


def calibrated(pictures, **options):
    """Thresholds of every tensor."""
    config = tvmq.qconfig(weight_rounding="nearest", **options)
    return tvmq.run_calibration(mod, params, pictures, config=config)


results = {mode: calibrated(demo.calibration, calibrate_mode=mode) for mode in MODES}
errors = {}
for mode, result in results.items():
    found = result[LAYER]
    errors[mode] = error(values, found.low, found.high)
    print(f"{mode:14} {found.low:6.2f} .. {found.high:5.2f}   error {errors[mode]:.2e}   by {found.observer}")

assert np.allclose(results["minmax"][LAYER].high, values.max())
assert results["percentile"][LAYER].high < values.max()
assert min(errors, key=errors.get) in ("auto", "histogram")

# %%
fig, ax = plt.subplots(figsize=(8, 3.2))
ax.hist(values, bins=200, log=True, color="lightgray")
for number, mode in enumerate(MODES):
    found = results[mode][LAYER]
    height = 10 ** (1.2 + 0.6 * number)
    ax.plot([found.low, found.high], [height] * 2, "|-", markersize=12, label=mode)
ax.set(title="thresholds of each observer", xlabel="value", ylabel="how often (log)")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
fig.tight_layout()

# %% [markdown]
# `auto` keeps the errors that it compared. For `/block3/depthwise/norm` it found something that none of the simple
# observers can know: that tensor is read by a function that flattens large negative numbers (silu), so there it pays to
# clip more. It measures the error *after the function*.

# %%
for layer in (LAYER, "/block3/depthwise/norm"):
    found = results["auto"][layer]
    print(f"{layer}: seen {found.seen[0]:.2f} .. {found.seen[1]:.2f}, chosen {found.low:.2f} .. {found.high:.2f}")
    for name, value in sorted(found.errors.items(), key=lambda item: item[1]):
        print(f"    {name:20} {value:.2e}{'   <- chosen' if name == found.observer else ''}")

assert results["auto"]["/block3/depthwise/norm"].observer == "behind_function"

# %% [markdown]
# ## What it means for the model
#
# The thresholds can be given to `quantize` instead of data. To judge the result we compare the ten scores of each test
# picture with those of the float model, as signal to noise in decibels: 20 dB is an error of a tenth, 40 dB of a
# hundredth, and 6 dB more always mean half of the error.

# %%
float_exe = tvmq.build(mod, params=params)


def scores_of(exe):
    return np.concatenate([exe.run({"image": picture[None]})[0] for picture in demo.test])


float_scores = scores_of(float_exe)


def judged(result):
    """(signal to noise of the scores in dB, accuracy) of the model with these thresholds."""
    scores = scores_of(tvmq.build(tvmq.quantize(mod, params, calibration=result)))
    noise = ((scores - float_scores) ** 2).sum()
    return 10 * np.log10((float_scores**2).sum() / noise), (scores.argmax(axis=1) == demo.labels).mean()


quality = {mode: judged(result) for mode, result in results.items()}
for mode, (decibels, accuracy) in quality.items():
    print(f"{mode:14} {decibels:5.1f} dB   accuracy {accuracy:.1%}")

assert quality["auto"][0] > 30
assert quality["auto"][0] > quality["kl_divergence"][0]

# %% [markdown]
# All five read the digits well: this is an easy network. The decibels show what accuracy hides, and larger or more
# delicate networks lose accuracy there first.
#
# ## How many samples?

# %%
counts = [1, 8, 64, len(demo.calibration)]
curve = [judged(calibrated(demo.calibration[:count]))[0] for count in counts[:-1]] + [quality["auto"][0]]

fig, ax = plt.subplots(figsize=(8, 3))
ax.plot(counts, curve, "o-")
ax.set(title="more samples", xlabel="calibration pictures", ylabel="signal to noise, dB", xscale="log")
ax.set_xticks(counts, counts)
fig.tight_layout()
print({count: round(float(decibels), 1) for count, decibels in zip(counts, curve)})

assert curve[-1] > curve[0] + 6  # less than half of the error

# %% [markdown]
# One picture is far too few: what others contain and this one does not is clipped. From some point on more samples
# change little; 100 to 500 are enough for most networks.
#
# ## The wrong samples
#
# The most common mistake is not a wrong option. It is calibration data that were prepared in another way than the data
# that come later. This network wants grey values in 0..1. Suppose somebody forgets to divide by 255, or has far darker
# pictures in the calibration set than in use:

# %%
mistakes = {
    "as in use": demo.calibration,
    "0..255 instead of 0..1": demo.calibration * 255,
    "far too dark": demo.calibration / 4,
    "noise instead of digits": np.random.default_rng(0).random(demo.calibration[:64].shape, dtype=np.float32),
}
found = {"as in use": quality["auto"]}
for name, pictures in list(mistakes.items())[1:]:
    found[name] = judged(calibrated(pictures))
for name, (decibels, accuracy) in found.items():
    print(f"{name:24} {decibels:5.1f} dB   accuracy {accuracy:.1%}")

assert found["0..255 instead of 0..1"][1] < 0.5 < found["as in use"][1]
assert found["far too dark"][0] < found["as in use"][0] - 10

# %% [markdown]
# Ranges that are too wide leave few codes for the real values (0..255); ranges that are too narrow clip them (too
# dark). No error message can tell you, because all of these are valid pictures. But comparing the result with the
# float model shows it at once, so always compare.
#
# ## Calibrate once, quantize often
#
# `result.save(path)` and `tvmq.CalibrationResult.load(path)` keep thresholds. A result knows its model and its options,
# and is refused where others are asked for:

# %%
try:
    tvmq.quantize(mod, params, calibration=results["minmax"], config=tvmq.qconfig(per_channel=False))
except tvmq.errors.CalibrationError as refusal:
    print(refusal)
else:
    raise AssertionError("thresholds of other options were taken")

# %% [markdown]
# ## Exercise
#
# `calibrate_mode="percentile"` takes `percentile=99.99` by default. Try 95, 99, 99.9 and 99.999 and draw the decibels
# of the whole model. Which is best, and why does 95 hurt so much although only one value in twenty is clipped?
#
# *Hint:* `judged(calibrated(demo.calibration, calibrate_mode="percentile", percentile=95))`. Large values are rare, and
# they are what a network found.
#
# Next: [03. Rules and mixed precision](03_mixed_precision.ipynb)
