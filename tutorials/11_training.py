# %% [markdown]
# # 11. Training on the integers
#
# With 2-bit weights, rounding alone costs too much, however well ranges are chosen. Training recovers the accuracy, and
# here it trains what is deployed: the forward pass of the network computes the integers of the definition, so the score
# of the last epoch is the score of the executable.
#
# Run it in the folder of the sources: `pip install '.[torch]'`, `pip install '.[tutorials]'`, then
# `python tutorials/11_training.py`. It needs torch, and matplotlib for its picture.

# %%
import importlib.util
import sys

if importlib.util.find_spec("torch") is None:
    print("This tutorial needs torch: pip install '.[torch]'")
    sys.exit()

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

import tvmq
from tvmq import training
from tvmq.demo import load_demo

demo = load_demo()
mod, params = tvmq.from_onnx(demo.model)
pictures, labels = torch.from_numpy(demo.test), torch.from_numpy(demo.labels)
learned, judged = slice(0, 300), slice(300, 500)  # of the pictures with labels


def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(pictures[judged]).argmax(1) == labels[judged]).float().mean().item()


# %% [markdown]
# ## A torch module
#
# `prepare` quantizes the model with calibration data, as `tvmq.quantize` does, and gives a `torch.nn.Module`. Its
# outputs are those of the integer module, value for value. A torch model is prepared in the same way:
# `training.prepare(model, example_inputs, dataset)`.

# %%
torch.manual_seed(0)
torch.set_num_threads(1)
with tvmq.qconfig(nbit_weight=2):
    net = training.prepare(mod, params, [demo.calibration], batch_norm="live")
    quantized = tvmq.quantize(mod, params, [demo.calibration], guard=None)

some = pictures[judged][:20]
assert np.array_equal(tvmq.build(quantized).run({"image": some.numpy()})[0], net.eval()(some).detach().numpy())
before = accuracy(net)
print(f"8-bit activations and 2-bit weights, rounded: {before:.1%} right")

# %% [markdown]
# Its parameters have the names of the source: here those of the ONNX initializers, of a torch model the keys of its
# state dictionary. What belongs to the quantization is below `quantizers`: the logarithm of each scale, and zero
# points of tensors that are clipped on both sides.

# %%
names = [name for name, _ in net.named_parameters()]
print("\n".join(names[:4] + ["..."] + names[-4:]))
assert "stem.conv.weight" in names and "stem.norm.bias" in names
assert not net.not_in_source  # all weights are known there

# %% [markdown]
# ## Your own training loop
#
# Any loop, loss, optimizer and schedule will do. Rounding has no slope, so gradients pass straight through it; scales
# learn as learned step sizes. The statistics of the batch norms follow the batches, as in training with floats, and
# are frozen for the last epochs.

# %%
EPOCHS, BATCH = 12, 30
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
scores, losses = [before], []
for epoch in range(EPOCHS):
    if epoch == EPOCHS - 3:
        net.freeze_batch_norm()
    net.train()
    for chosen in torch.randperm(300).split(BATCH):
        loss = torch.nn.functional.cross_entropy(net(pictures[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    schedule.step()
    scores.append(accuracy(net))
print(f"after training: {scores[-1]:.1%} right")
assert scores[-1] > before + 0.3

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
left.plot(losses)
left.set(xlabel="step", ylabel="loss")
right.plot(scores)
right.set(xlabel="epoch", ylabel="right, of 200 pictures not learned from")
figure.tight_layout()
plt.show()

# %% [markdown]
# ## Conversion rounds nothing
#
# `convert` writes the parameters into the integer module. The compiled module gives the scores of the last epoch:
# not approximately, but in every bit.

# %%
exe = tvmq.build(training.convert(net))
deployed = exe.run({"image": pictures[judged].numpy()})[0]
with torch.no_grad():
    trained = net(pictures[judged]).numpy()
differing = int((deployed != trained).sum())
score = (deployed.argmax(1) == demo.labels[judged]).mean()
print(f"deployed: {score:.1%} right; {differing} of {deployed.size} values differ from training")
assert differing == 0
assert abs(score - scores[-1]) < 1e-6

# %% [markdown]
# ## Back into the float model
#
# The float model can have what was learned, batch norms unfolded: `load_state_dict` of a torch model takes
# `float_state_dict()` as it is. Here the weights go back into the imported model. They are those that the codes stand
# for, so the float model computes what the integers do, but for the roundings between its layers.

# %%
state = net.float_state_dict()
parameters = {name.replace(".", "_"): value.numpy() for name, value in state.items()}
assert set(parameters) == set(params)
floats = tvmq.build(mod, params=parameters).run({"image": pictures[judged].numpy()})[0]
print(f"float model with the learned weights: {(floats.argmax(1) == demo.labels[judged]).mean():.1%} right")
assert (floats.argmax(1) == demo.labels[judged]).mean() > before + 0.2

# %% [markdown]
# ## Your own rounding
#
# Some layers can make their codes in another way: a module gets the float weight, its scale, the lowest and the highest
# code, and gives the codes, with a gradient. What it gives is deployed. Here the weights of one layer are powers of
# two.


# %%
class PowersOfTwo(torch.nn.Module):
    def forward(self, weight, scale, qmin, qmax):
        steps = (weight / scale).clamp(qmin, qmax)
        powers = torch.sign(steps) * torch.exp2(torch.round(torch.log2(steps.abs().clamp_min(1.0))).clamp(0, 6))
        codes = torch.where(steps.abs() < 0.5, torch.zeros_like(steps), powers)
        return steps + (codes - steps).detach()


net = training.prepare(mod, params, [demo.calibration], quantizers={"/head/dense": PowersOfTwo()})
exe = tvmq.build(training.convert(net))
with torch.no_grad():
    assert np.array_equal(exe.run({"image": some.numpy()})[0], net(some).numpy())
print(f"powers of two in the last layer: {accuracy(net):.1%} right")
assert accuracy(net) > 0.9

# %% [markdown]
# What is learned, what stays, and training without labels: the page on training of the documentation.
