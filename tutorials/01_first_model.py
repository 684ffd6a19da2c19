# %% [markdown]
# # 01. Quantize your first model
#
# A trained network computes with floating point numbers of 32 bits. Quantizing it means to let it compute with whole
# numbers of 8 bits instead: a quarter of the memory, and several times as many products in the same time. The price is
# precision, and the question is always how much of it.
#
# This tutorial takes a small network through the whole road and looks at that price.

# %%
import tempfile
from pathlib import Path

import numpy as np

import tvmq
from tvmq.demo import load_demo

# %% [markdown]
# ## A model and its data
#
# tvmq brings a small convolutional network along that reads handwritten digits. `demo.model` is an ONNX file as any
# framework writes it. There are two sets of pictures: `calibration`, without labels, and `test`, which we only use to
# judge the result.

# %%
demo = load_demo()
print(f"{len(demo.model)} bytes of ONNX")
print("calibration", demo.calibration.shape, demo.calibration.dtype)
print("test       ", demo.test.shape, "labels", demo.labels.shape)

# %% [markdown]
# `from_onnx` reads the model. What it gives is a module of TVM (the program) and a dictionary of arrays (the weights).

# %%
mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
weights = sum(array.size for array in params.values())
print(f"{len(params)} arrays, {weights} numbers")

# %% [markdown]
# ## Float first
#
# Whatever we do later is judged against the float model, so we build that one first and count how many digits it reads.

# %%
float_exe = tvmq.build(mod, params=params)


def predicted(exe):
    """The digit that a model sees in each test picture."""
    return np.array([exe.run({"image": picture[None]})[0].argmax() for picture in demo.test])


float_digits = predicted(float_exe)
float_accuracy = (float_digits == demo.labels).mean()
print(f"float: {float_accuracy:.1%} of {len(demo.labels)} pictures")
assert float_accuracy > 0.95

# %% [markdown]
# ## One call
#
# `quantize` wants the model and a few hundred samples of what it will see later. They need no labels: they only show
# how large the numbers inside of the network become.

# %%
qmod = tvmq.quantize(mod, params, demo.calibration)
exe = tvmq.build(qmod)
exe

# %%
int8_digits = predicted(exe)
int8_accuracy = (int8_digits == demo.labels).mean()
print(f"float {float_accuracy:.1%}, int8 {int8_accuracy:.1%}")
print(f"the same digit on {(int8_digits == float_digits).mean():.1%} of the pictures")
assert abs(int8_accuracy - float_accuracy) < 0.02

# %% [markdown]
# ## Save and load

# %%
folder = Path(tempfile.mkdtemp())
exe.save(folder / "digits.tvmq")
loaded = tvmq.load(folder / "digits.tvmq")
picture = demo.test[:1]
assert np.array_equal(loaded.run({"image": picture})[0], exe.run({"image": picture})[0])
