# %% [markdown]
# # 10. The search
#
# How small, or how fast, can a model get before it loses more than you allow? `tvmq.search` decides for each layer
# how many bits it has and how its scale is chosen. Every model that it proposes is built as integers and measured.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/10_search.py`. It needs
# scipy, jinja2 and matplotlib.

# %%
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tvmq
from tvmq.demo import load_demo

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})


def accuracy(exe, pictures, labels):
    scores = np.concatenate([exe.run({"image": picture[None]})[0] for picture in pictures])
    return (scores.argmax(axis=1) == labels).mean()


# %% [markdown]
# ## All or nothing
#
# With 4 bits for all weights the model is half as large as with 8, but its outputs are far from those of the float
# model. (Here with one scale a tensor and weights rounded to the nearest code, as small chips want it; the defaults
# lose less.)

# %%
careless = tvmq.qconfig(weight_rounding="nearest", per_channel=False)
for bits in (8, 4):
    options = tvmq.qconfig(weight_rounding="nearest", per_channel=False, nbit_weight=bits)
    module = tvmq.quantize(mod, params, demo.calibration, config=options, guard=None)
    float_exe, exe = tvmq.build(mod, params=params), tvmq.build(module)
    pairs = [(float_exe.run({"image": p[None]})[0], exe.run({"image": p[None]})[0]) for p in demo.test[:100]]
    signal, noise = sum((a**2).sum() for a, _ in pairs), sum(((a - b) ** 2).sum() for a, b in pairs)
    share = accuracy(exe, demo.test, demo.labels)
    print(f"{bits} bits: {share:.1%} right, {10 * np.log10(signal / noise):.1f} dB")

# %% [markdown]
# ## Layer by layer
#
# The search gets calibration data, other samples that judge, and a bound: the outputs keep 25 dB of signal to error. A
# metric with `max_drop=` would do as well. It minimizes the bytes of the constants; `minimize="latency"` is the other
# goal.
#
# First it measures the error of each layer by itself, for each option. Then integer programming proposes the cheapest
# choice whose errors add up to a budget, and the budget moves until the bound is just kept.

# %%
folder = Path(tempfile.mkdtemp()) / "search"
found = tvmq.search(
    mod,
    params,
    demo.calibration,
    data=demo.test[:100],
    sqnr=25.0,
    minimize="size",
    space=tvmq.SearchSpace(options=("int8", "weights4"), networks=({},)),
    config=careless,
    rounds=2,
    output=folder,
)
for point in found.front:
    mark = "  <- best" if point == found.best else "" if point.holds else "  misses the bound"
    print(f"{point.sqnr:5.1f} dB  {point.bytes / 1000:6.1f} kB  {len(point.recipe.layers):3} layers changed{mark}")

assert found.best.holds and found.best.bytes < found.floats["bytes"] / 3

# %% [markdown]
# ## The Pareto front
#
# None of these models is better than another in every respect. `front.svg` in the folder shows the same picture.

# %%
fig, ax = plt.subplots(figsize=(7, 4))
for points, style, label in ((found.points, "o", "tried"), (found.front, "k.-", "front")):
    ax.plot([point.sqnr for point in points], [point.bytes / 1000 for point in points], style, label=label)
ax.axvline(25.0, color="firebrick", linestyle="--", label="bound")
ax.set(xlabel="signal to error, dB", ylabel="constants, kB", title="what accuracy costs")
ax.legend()
fig.tight_layout()

# %% [markdown]
# ## Interrupted and resumed
#
# Each result is kept in `journal.sqlite` as soon as it is known. The same call again measures nothing; a search that
# was killed measures what is missing. Journals of several machines merge: `tvmq search ... --merge
# other/journal.sqlite`.

# %%
again = tvmq.search(
    mod,
    params,
    demo.calibration,
    data=demo.test[:100],
    sqnr=25.0,
    minimize="size",
    space=tvmq.SearchSpace(options=("int8", "weights4"), networks=({},)),
    config=careless,
    rounds=2,
    output=folder,
)
print(again.trials, "results measured,", len(again.points), "models known")
assert again.trials == 0 and again.best == found.best

# %% [markdown]
# ## The recipe in a file
#
# `best.json` holds options and rules, as `tvmq quantize --config` takes them. It makes the model that was found, bit
# for bit.

# %%
options = json.loads((folder / "best.json").read_text())
print(json.dumps(options, indent=1)[:400])

module = tvmq.quantize(mod, params, demo.calibration, config=tvmq.QConfig.from_dict(options), guard=None)
mine, best = tvmq.build(module), tvmq.load(folder / "best.tvmq")
for picture in demo.test[:20]:
    assert np.array_equal(mine.run({"image": picture[None]})[0], best.run({"image": picture[None]})[0])

print(f"{accuracy(best, demo.test[100:], demo.labels[100:]):.1%} right on pictures that the search never saw")

# %% [markdown]
# ## The report
#
# One page for people who look rather than read: the network as a picture with the precision of each layer, its error
# and its time, histograms with their thresholds, and the Pareto front. The same on the command line is `tvmq report
# net.onnx --quantized search/best.tvmq --data samples.npz --search search/front.json`. It needs jinja2.

# %%
(folder / "net.onnx").write_bytes(demo.model)
np.savez(folder / "samples.npz", image=demo.test[100:164])
command = [sys.executable, "-m", "tvmq", "report", str(folder / "net.onnx"), "--quantized", str(folder / "best.tvmq")]
command += ["--data", str(folder / "samples.npz"), "--search", str(folder / "front.json")]
subprocess.run([*command, "-o", str(folder / "report.html"), "--quiet"], check=True)
page = (folder / "report.html").read_text()
assert "<svg" in page and "point-1" in page and "http://" not in page.replace("http://www.w3.org", "")

# %% [markdown]
# The picture alone, which a notebook shows below its cell:

# %%
tvmq.draw(best)
