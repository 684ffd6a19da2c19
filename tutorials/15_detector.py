# %% [markdown]
# # 15. A detector, from training to boxes in int8
#
# Detectors are what 8 bits break most often: boxes up to 640 and scores up to 1 end in one tensor, and people read
# boxes from it, not numbers. Here a small network in the form of a YOLO learns to find squares and discs, is exported
# and quantized, and is judged by its boxes and by its mean average precision.
#
# Run it in the folder of the sources: `pip install '.[torch]'`, `pip install '.[tutorials]'`, then `python
# tutorials/15_detector.py`. It needs torch, and matplotlib for its picture.

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
from torch import nn

import tvmq

SIZE, STRIDE = 64, 8
CELLS = SIZE // STRIDE

# %% [markdown]
# ## Pictures
#
# Squares (class 0) and discs (class 1) of any colour on noise, three a picture, drawn by formula. A label is a row of
# class, x1, y1, x2, y2.


# %%
def draw(count, seed):
    random = np.random.default_rng(seed)
    pictures = random.uniform(0, 0.3, (count, 3, SIZE, SIZE)).astype(np.float32)
    labels = np.zeros((count, 3, 5))
    y, x = np.mgrid[:SIZE, :SIZE]
    for picture, rows in zip(pictures, labels, strict=True):
        for number, row in enumerate(rows):  # each in a part of the picture of its own
            half, kind = random.uniform(5, 9), random.integers(0, 2)
            centre = np.array([number % 2, number // 2]) * 30 + random.uniform(11, 23, 2)
            far = np.stack([x - centre[0], y - centre[1]])
            inside = np.abs(far).max(0) <= half if kind == 0 else np.square(far).sum(0) <= half**2
            picture[:, inside] = random.uniform(0.4, 1, (3, 1))
            row[:] = [kind, *(centre - half), *(centre + half)]
    return pictures, labels


pictures, labels = draw(200, seed=1)  # to judge with; training and calibration draw others

# %% [markdown]
# ## A network in the form of a YOLO
#
# One scale with a stride of 8. Each of 64 places gives the distances from its middle to four sides and the scores of
# two classes; `forward` decodes them to centre, size and scores, [batch, 4 + 2, 64], as YOLOv8 exports it.


# %%
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        widths = (3, 16, 32, 48)
        self.backbone = nn.Sequential(
            *(
                nn.Sequential(nn.Conv2d(a, b, 3, stride=2, padding=1), nn.BatchNorm2d(b), nn.SiLU())
                for a, b in zip(widths, widths[1:], strict=False)
            )
        )
        self.neck = nn.Sequential(nn.Conv2d(48, 48, 3, padding=1), nn.BatchNorm2d(48), nn.SiLU())
        self.boxes, self.scores = nn.Conv2d(48, 4, 1), nn.Conv2d(48, 2, 1)
        y, x = torch.meshgrid(torch.arange(CELLS), torch.arange(CELLS), indexing="ij")
        self.register_buffer("middles", (torch.stack([x, y]).reshape(2, -1) + 0.5) * STRIDE)

    def raw(self, x):
        x = self.neck(self.backbone(x))
        return nn.functional.softplus(self.boxes(x)).flatten(2) * STRIDE, self.scores(x).flatten(2)

    def forward(self, x):
        sides, scores = self.raw(x)
        low, high = self.middles - sides[:, :2], self.middles + sides[:, 2:]
        return torch.cat([(low + high) / 2, high - low, scores.sigmoid()], 1)


# %% [markdown]
# A place learns the object that its middle lies in: cross-entropy of the scores, distances of the sides.


# %%
def targets(labels, middles):
    rows = torch.from_numpy(labels).float()[..., None]  # [batch, 3, 5, 1]
    sides = torch.cat([middles - rows[:, :, 1:3], rows[:, :, 3:5] - middles], 2)  # [batch, 3, 4, places]
    near, which = sides.amin(2).max(1)
    sides = sides.gather(1, which[:, None, None].expand(-1, 1, 4, -1))[:, 0]
    kinds = rows[:, :, 0].expand(-1, -1, middles.shape[1]).gather(1, which[:, None])[:, 0]
    wanted = torch.stack([kinds == 0, kinds == 1], 1) & (near > 0)[:, None]
    return sides, wanted.float(), near > 0


torch.manual_seed(0)
torch.set_num_threads(1)
net = Detector().train()
optimizer = torch.optim.Adam(net.parameters(), 4e-3)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=301)
for step in range(300):
    x, truth = draw(16, seed=1000 + step)
    sides, wanted, inside = targets(truth, net.middles)
    boxes, scores = net.raw(torch.from_numpy(x))
    near = (boxes - sides).abs().mean(1)[inside].mean() / STRIDE
    loss = nn.functional.binary_cross_entropy_with_logits(scores, wanted) + 0.2 * near
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
net.eval()
with torch.no_grad():
    float_outputs = net(torch.from_numpy(pictures)).numpy()
float_precision = tvmq.testing.mean_precision(float_outputs, labels)
print(f"mean average precision of the float model: {float_precision:.3f}")
assert float_precision > 0.8

# %% [markdown]
# ## Quantized
#
# `from_torch` imports the module; `tvmq.from_onnx` would read a file of another's. Calibration pictures are prepared as
# in use, and show objects. By default the guard compares boxes with those of the float model; what decodes them stays
# float, where it costs next to nothing.

# %%
mod, params = tvmq.from_torch(net, torch.zeros(1, 3, SIZE, SIZE))
calibration = [{"x": picture[None]} for picture in draw(64, seed=2)[0]]
qmod = tvmq.quantize(mod, params, calibration)
print(tvmq.explain(qmod))
exe = tvmq.build(qmod)
outputs = np.concatenate([exe.run({"x": picture[None]})[0] for picture in pictures])
precision = tvmq.testing.mean_precision(outputs, labels)
print(f"in int8: {precision:.3f}")
assert abs(precision - float_precision) < 0.02
assert tvmq.explain(qmod).int8_share() > 0.85

# %% [markdown]
# With labels the metric itself can be the bound: not more than half a point below float.

# %%
guard = tvmq.Guard(
    metric="map50", max_drop=0.005, data=[{"x": one[None]} for one in pictures[:50]], labels=labels[:50]
)
guarded = tvmq.quantize(mod, params, calibration, guard=guard)
print(f"{tvmq.explain(guarded).int8_share():.1%} of the multiply-accumulates in int8")

# %% [markdown]
# ## Boxes on a picture
#
# `tvmq.testing.decode_boxes` suppresses doubles; any code that read the float model's outputs does as well.

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3))
for picture, axis in zip(pictures, axes, strict=False):
    boxes, scores, classes = tvmq.testing.decode_boxes(exe.run({"x": picture[None]}))[0]
    axis.imshow(picture.transpose(1, 2, 0))
    axis.axis("off")
    for (x1, y1, x2, y2), score, kind in zip(boxes, scores, classes, strict=True):
        if score > 0.3:
            colour = ("white", "yellow")[kind]
            axis.add_patch(plt.Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, color=colour, linewidth=2))
            axis.text(x1, y1 - 1, f"{('square', 'disc')[kind]} {score:.2f}", color=colour, fontsize=7)
figure.tight_layout()

# %% [markdown]
# `docs/detectors.md` says how outputs are recognized, what the guard does when boxes get lost,
# and which forms of heads are decoded.
