"""Train the small network of `tvmq/demo/` on scikit-learn's handwritten digits and write its two data files.

    pip install torch scikit-learn onnx onnxruntime
    python tools/train_demo.py [--out FOLDER] [--epochs 40]

Reads     sklearn.datasets.load_digits: 1797 grey pictures of 8 x 8 pixels, values 0..16
Writes    FOLDER/digits.onnx (batch norm unfolded, as trained) and FOLDER/digits.npz (uint8 pictures)
Prints    the accuracy in onnxruntime, which `tvmq/demo/README.md` states
Seeded: the same machine and versions of the packages give the same files. One thread, half a minute.
"""

from __future__ import annotations

import argparse
import collections
import io
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import numpy as np
    import onnx
    import onnxruntime
    import torch
    from sklearn.datasets import load_digits
    from torch import nn
    from torch.nn import functional
except ImportError as error:
    raise SystemExit(f"train_demo: {error.name} is missing; pip install torch scikit-learn onnx onnxruntime") from error

SEED = 7
SIZE = 16  # pixels a side: twice the source, so that pooling leaves something to convolve
TEST, CALIBRATION = 500, 192  # pictures set aside; training gets the rest
OUT = Path(__file__).parents[1] / "tvmq" / "demo"


def pictures() -> tuple[np.ndarray, np.ndarray]:
    """All digits, float32 (1797, 1, 16, 16) in 0..1, and their labels, shuffled with a fixed seed."""
    digits = load_digits()
    small = torch.tensor(digits.images[:, None] / 16.0, dtype=torch.float32)
    large = functional.interpolate(small, size=(SIZE, SIZE), mode="bilinear", align_corners=False)
    order = np.random.default_rng(SEED).permutation(len(large))
    return large.numpy()[order], digits.target[order].astype(np.uint8)


def distort(images: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Uint8 pictures, each shifted by up to 2 pixels, dimmed by up to half and with noise added.

    images      float32 (n, 1, 16, 16) in 0..1
    returns     uint8, same shape: what a camera would give
    """
    out = np.empty_like(images)
    for index, image in enumerate(np.pad(images, ((0, 0), (0, 0), (2, 2), (2, 2)))):
        row, column = generator.integers(0, 5, 2)
        out[index] = image[:, row : row + SIZE, column : column + SIZE] * generator.uniform(0.5, 1.0)
    out += generator.normal(0.0, 0.12, out.shape).astype(np.float32)
    return np.rint(np.clip(out, 0.0, 1.0) * 255.0).astype(np.uint8)


def to_input(images: np.ndarray) -> torch.Tensor:
    """Network input of uint8 pictures; `tvmq.demo.load_demo` does the same."""
    return torch.from_numpy(images.astype(np.float32) / np.float32(255.0))


class Normed(nn.Sequential):
    """Convolution, batch norm and an activation; named parts give named ONNX nodes."""

    def __init__(self, channels: int, filters: int, kernel: int, act: nn.Module | None, groups: int = 1) -> None:
        parts: dict[str, nn.Module] = {
            "conv": nn.Conv2d(channels, filters, kernel, padding=kernel // 2, groups=groups, bias=False),
            "norm": nn.BatchNorm2d(filters),
        }
        if act is not None:
            parts["act"] = act
        super().__init__(collections.OrderedDict(parts))


class Add(nn.Module):
    """Sum of two tensors, as a module so that the node has a name."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """a + b."""
        return a + b


class Multiply(nn.Module):
    """Product of two tensors."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """a * b, broadcasting."""
        return a * b


class Concat(nn.Module):
    """Two tensors side by side along the channels."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Channels of a, then of b."""
        return torch.cat([a, b], 1)


class SqueezeExcite(nn.Module):
    """Scale every channel by a gate computed from the means of all channels."""

    def __init__(self, channels: int, gate: nn.Module) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, channels // 4, 1)
        self.relu = nn.ReLU()
        self.expand = nn.Conv2d(channels // 4, channels, 1)
        self.gate = gate
        self.scale = Multiply()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x scaled, same shape."""
        return self.scale(x, self.gate(self.expand(self.relu(self.reduce(self.pool(x))))))


class Inverted(nn.Module):
    """Inverted residual: widen, depthwise convolution, squeeze-excite, narrow, add the input."""

    def __init__(self, channels: int, hidden: int, act: nn.Module, gate: nn.Module) -> None:
        super().__init__()
        self.expand = Normed(channels, hidden, 1, act)
        self.depthwise = Normed(hidden, hidden, 3, act, groups=hidden)
        self.squeeze_excite = SqueezeExcite(hidden, gate)
        self.project = Normed(hidden, channels, 1, None)
        self.residual = Add()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Same shape as x."""
        return self.residual(x, self.project(self.squeeze_excite(self.depthwise(self.expand(x)))))


class Branches(nn.Module):
    """A 1x1 and a 3x3 convolution of the same tensor, side by side."""

    def __init__(self, channels: int, filters: int) -> None:
        super().__init__()
        self.reduce = Normed(channels, filters // 2, 1, nn.ReLU())
        self.narrow = Normed(filters // 2, filters // 2, 1, nn.ReLU())
        self.wide = Normed(filters // 2, filters // 2, 3, nn.ReLU())
        self.concat = Concat()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`filters` channels, picture size of x."""
        x = self.reduce(x)
        return self.concat(self.narrow(x), self.wide(x))


def network() -> nn.Module:
    """16 x 16 grey picture to 10 scores."""
    head = nn.Sequential(
        collections.OrderedDict(
            pool=nn.AdaptiveAvgPool2d(1), flatten=nn.Flatten(), hidden=nn.Linear(64, 32), relu=nn.ReLU(),
            dense=nn.Linear(32, 10),
        )
    )  # fmt: skip
    return nn.Sequential(
        collections.OrderedDict(
            stem=Normed(1, 16, 3, nn.ReLU()),
            block1=Inverted(16, 48, nn.ReLU6(), nn.Hardsigmoid()),
            pool1=nn.MaxPool2d(2),
            block2=Branches(16, 32),
            pool2=nn.MaxPool2d(2),
            block3=Inverted(32, 96, nn.SiLU(), nn.Sigmoid()),
            last=Normed(32, 64, 3, nn.ReLU()),
            head=head,
        )
    )


def train(images: np.ndarray, labels: np.ndarray, epochs: int) -> nn.Module:
    """The network after `epochs` passes over freshly distorted pictures, in evaluation mode."""
    torch.manual_seed(SEED)
    generator = np.random.default_rng(SEED + 1)
    model, target = network(), torch.from_numpy(labels.astype(np.int64))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
    steps = epochs * (len(images) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=steps)
    for epoch in range(epochs):
        data, order, total = to_input(distort(images, generator)), generator.permutation(len(images)), 0.0
        for start in range(0, len(order) - 63, 64):
            pick = torch.from_numpy(order[start : start + 64])
            loss = functional.cross_entropy(model(data[pick]), target[pick], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1:3d} of {epochs}: loss {total / (len(order) // 64):.4f}", flush=True)
    return model.eval()


def rename(model: onnx.ModelProto) -> None:
    """Give each node the path of its module: `/stem/conv/Conv` becomes `/stem/conv`.

    A module of several nodes keeps the operator, in lower case: `/block3/expand/act/sigmoid`, and a number where it
    has several of these. Constant nodes become initializers; initializers keep the names of their torch parameters.
    """
    constants = [node for node in model.graph.node if node.op_type == "Constant"]
    for node in constants:
        value = node.attribute[0].t
        value.name = node.output[0]
        model.graph.initializer.append(value)
        model.graph.node.remove(node)
    paths = collections.Counter(node.name.rpartition("/")[0] for node in model.graph.node)
    seen: collections.Counter[str] = collections.Counter()
    for node in model.graph.node:
        path, _, operator = node.name.rpartition("/")
        name = path if paths[path] == 1 else f"{path}/{operator.split('_')[0].lower()}"
        seen[name] += 1
        node.name = name if seen[name] == 1 else f"{name}_{seen[name]}"


def export(network: nn.Module) -> onnx.ModelProto:
    """ONNX model, opset 17, input `image` (batch, 1, 16, 16), output `scores` (batch, 10)."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is the old one
        torch.onnx.export(
            network, (torch.zeros(1, 1, SIZE, SIZE),), buffer, dynamo=False, opset_version=17,
            input_names=["image"], output_names=["scores"],
            dynamic_axes={"image": {0: "batch"}, "scores": {0: "batch"}},
            training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,  # keeps batch norm
        )  # fmt: skip
    model = onnx.load_from_string(buffer.getvalue())
    rename(model)
    onnx.checker.check_model(model, full_check=True)
    return model


def accuracy(model: onnx.ModelProto, images: np.ndarray, labels: np.ndarray) -> tuple[int, int]:
    """Pictures that onnxruntime classifies rightly, and all of them."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"image": to_input(images).numpy()})
    return int((np.argmax(scores, 1) == labels).sum()), len(labels)


def main() -> None:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="Train the demo network of tvmq on handwritten digits.")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of digits.onnx and digits.npz")
    parser.add_argument("--epochs", type=int, default=40, help="passes over the training pictures")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    images, labels = pictures()
    generator = np.random.default_rng(SEED + 2)
    test = distort(images[:TEST], generator)
    calibration = distort(images[TEST : TEST + CALIBRATION], generator)
    model = export(train(images[TEST + CALIBRATION :], labels[TEST + CALIBRATION :], options.epochs))
    options.out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, options.out / "digits.onnx")
    np.savez_compressed(options.out / "digits.npz", calibration=calibration, test=test, labels=labels[:TEST])
    right, count = accuracy(model, test, labels[:TEST])
    print(f"Accuracy in float32: {100 * right / count:.2f} % ({right} of {count} test pictures)")


if __name__ == "__main__":
    main()
