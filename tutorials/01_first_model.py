# %% [markdown]
# # 01. Quantize your first model
#
# A trained network computes with 32-bit floating point numbers. A quantized network computes with 8-bit integers
# instead, which takes a quarter of the memory and allows several times as many products in the same time. The price is
# precision, and the question is always how much.
#
# This tutorial quantizes a small network from beginning to end and looks at that price. You need no knowledge of
# quantization, and no GPU.
#
# Run it in the folder of the sources: `pip install '.[tutorials]'`, then `python tutorials/01_first_model.py`. It needs
# matplotlib.

# %%
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tvmq
from tvmq.demo import load_demo

# %% [markdown]
# ## A model and its data
#
# tvmq comes with a small convolutional network that reads handwritten digits. `demo.model` is an ONNX file, as
# PyTorch and others write it. There are two sets of pictures: `calibration`, without labels, and `test`, which we only
# use to judge the result.

# %%
demo = load_demo()
print(f"{len(demo.model):,} bytes of ONNX")
print("calibration", demo.calibration.shape, demo.calibration.dtype)
print("test       ", demo.test.shape, "labels", demo.labels.shape)

fig, axes = plt.subplots(1, 10, figsize=(8, 1.2))
for ax, picture, label in zip(axes, demo.test, demo.labels):
    ax.imshow(picture[0], cmap="gray")
    ax.set(title=label, xticks=[], yticks=[])
fig.tight_layout()

# %% [markdown]
# `from_onnx` reads the model and returns a TVM module (the program) and a dictionary of arrays (the weights).

# %%
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
print(f"{len(params)} arrays, {sum(array.size for array in params.values()):,} numbers")

# %% [markdown]
# ## Float first
#
# Whatever we do later is judged against the float model, so we build that one first and count how many digits it reads.

# %%
float_exe = tvmq.build(mod, params=params)


def digits_of(exe):
    """The digit that a model sees in each test picture."""
    return np.array([exe.run({"image": picture[None]})[0].argmax() for picture in demo.test])


float_digits = digits_of(float_exe)
float_accuracy = (float_digits == demo.labels).mean()
print(f"float: {float_accuracy:.1%} of {len(demo.labels)} pictures")
assert float_accuracy > 0.95

# %% [markdown]
# ## One call
#
# `quantize` takes the model and one or two hundred samples of what it will see later. They need no labels: they only
# show how large the numbers inside the network become ([tutorial 02](02_calibration.ipynb) looks into that).

# %%
qmod = tvmq.quantize(mod, params, demo.calibration)
exe = tvmq.build(qmod)
exe

# %% [markdown]
# ## What did it cost?

# %%
int8_digits = digits_of(exe)
int8_accuracy = (int8_digits == demo.labels).mean()
print(f"accuracy: float {float_accuracy:.1%}, int8 {int8_accuracy:.1%}")
print(f"the same digit on {(int8_digits == float_digits).mean():.1%} of the pictures")
assert abs(int8_accuracy - float_accuracy) < 0.02

# %% [markdown]
# ## What did it gain?
#
# Smaller files. Both contain machine code besides the weights, which counts in a model as small as this:

# %%
folder = Path(tempfile.mkdtemp())
float_exe.save(folder / "float.tvmq")
sha256 = exe.save(folder / "int8.tvmq")
sizes = {name: (folder / f"{name}.tvmq").stat().st_size for name in ("float", "int8")}
print({name: f"{size:,} bytes" for name, size in sizes.items()})
assert sizes["int8"] < sizes["float"]

# %% [markdown]
# And time. We measure both alternately, because other programs disturb the measurement
# ([tutorial 06](06_speed.ipynb) says more about speed):

# %%
picture = {"image": demo.test[:1]}
rounds = [[model.benchmark(picture, repeat=50, threads=1).median for model in (float_exe, exe)] for _ in range(5)]
float_time, int8_time = np.median(rounds, axis=0)
print(f"one picture: float {float_time * 1e6:.1f} us, int8 {int8_time * 1e6:.1f} us")
print(f"{float_time / int8_time:.1f} times as fast")

# %% [markdown]
# ## What is a code?
#
# Each tensor of the int8 model holds *codes*, whole numbers in 0..255. Two constants say what they mean:
#
#     real number = (code - zero_point) * scale
#
# `explain` lists them for each layer:

# %%
LAYER = "/block1/project/norm"
codes = tvmq.explain(qmod, LAYER).output
scale, zero_point = codes["scale"], codes["zero_point"]
print(codes)
print(f"code 0 is {(0 - zero_point) * scale:.2f}, code {zero_point} is 0, code 255 is {(255 - zero_point) * scale:.2f}")

# %% [markdown]
# `activations` returns what a layer of any model computes. Here are the same few numbers in float, as codes, and what
# the codes stand for:

# %%
values = tvmq.activations((mod, params), demo.test[:50], [LAYER])[LAYER]


def to_codes(x):
    return np.clip(np.round(x / scale) + zero_point, 0, 255)


for value in values[0, 0, 8, :6]:
    code = to_codes(value)
    print(f"{value:8.4f}  ->  code {code:3.0f}  ->  {(code - zero_point) * scale:8.4f}")

inside = (values > (0 - zero_point) * scale) & (values < (255 - zero_point) * scale)
error = np.abs((to_codes(values) - zero_point) * scale - values)
assert inside.mean() > 0.99  # nearly all values lie between the first code and the last
assert error[inside].max() <= scale / 2 * 1.001  # and none of these is moved by more than half a step

# %%
x = np.linspace(-0.3, 0.3, 500)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
left.plot(x, x, "lightgray")
left.plot(x, (to_codes(x) - zero_point) * scale)
left.set(title="the steps of the codes", xlabel="real number", ylabel="what its code stands for")
right.hist(to_codes(values).ravel(), bins=64, range=(0, 256))
right.set(title=f"codes of {LAYER}", xlabel="code")
fig.tight_layout()

# %% [markdown]
# In the int8 model itself this tensor is a little different again, because the layers before it computed with codes
# too. But it holds nothing except such steps:

# %%
quantized = tvmq.activations(qmod, demo.test[:50], [LAYER])[LAYER]
steps = quantized / scale
assert np.allclose(steps, np.round(steps), atol=1e-3)
print(
    f"largest difference to float: {np.abs(quantized - values).max():.2f}, mean {np.abs(quantized - values).mean():.3f}"
)

# %% [markdown]
# ## Exactly
#
# Floating point results differ in the last digits from one CPU to another. Integers need not. What each integer
# operator of tvmq computes is defined in NumPy, and compiled code equals it bit for bit, on every CPU and with any
# number of threads. `verify` checks that on your own model and data:

# %%
verification = tvmq.verify(exe, demo.test[:32])
print(verification)
assert verification.exact

# %% [markdown]
# ## Load it where it is used
#
# A saved model needs tvmq, TVM's wheel and NumPy, but no compiler. The file contains machine code, so load only files
# that you trust, or give the checksum that `save` returned.

# %%
loaded = tvmq.load(folder / "int8.tvmq", sha256=sha256)
assert np.array_equal(loaded.run(picture)[0], exe.run(picture)[0])
print(loaded)

# %% [markdown]
# ## The same on the command line
#
#     tvmq quantize digits.onnx --data calibration.npz
#
# does all of this. Here it is started from Python; the data are an array for each input of the model in an `.npz`.
# `--held-out 0` takes all of them for calibration, as we did.

# %%
(folder / "digits.onnx").write_bytes(demo.model)
np.savez(folder / "calibration.npz", image=demo.calibration)
command = "quantize digits.onnx --data calibration.npz --held-out 0"
done = subprocess.run([sys.executable, "-m", "tvmq", *command.split()], cwd=folder, capture_output=True, text=True)
print(done.stdout)
assert done.returncode == 0, done.stderr

# %% [markdown]
# What comes out is the same file, to the last byte:

# %%
assert hashlib.sha256((folder / "digits.tvmq").read_bytes()).hexdigest() == sha256

# %% [markdown]
# ## Exercise
#
# How few bits can this network bear? Quantize it with `config=tvmq.qconfig(nbit_weight=bits)` for 8 down to 2 bits of
# its weights and draw the accuracy. Then do the same with `nbit_input`, the bits of what layers read. Which of the two
# hurts first?
#
# *Hint:* a loop over `bits` around the cells "One call" and "What did it cost?" is all it takes.
#
# Next: [02. What calibration does](02_calibration.ipynb)
