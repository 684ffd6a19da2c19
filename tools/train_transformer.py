"""Train the small transformer of `tutorials/data/` on scikit-learn's handwritten digits.

    pip install torch scikit-learn onnx onnxruntime
    python tools/train_transformer.py [--out FOLDER] [--epochs 300]

Reads     sklearn.datasets.load_digits, distorted and split as by train_demo.py: what tests the demo tests this, too
Writes    FOLDER/transformer.onnx: columns of a picture, 1 to 16 of them, to the scores of ten digits
Prints    the accuracy in onnxruntime, which `tutorials/data/README.md` states
Outliers  large transformers have a few channels that are far larger than the others. One of this size has none, so
          three are made: the gain of single channels of a LayerNorm is multiplied, the weights that read them are
          divided by the same power of two. The network computes the same function, to the last bit of its products.
Seeded: the same machine and versions of the packages give the same file. One thread, a few minutes.
"""

from __future__ import annotations

import argparse
import io
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from torch import nn
from torch.nn import functional
from train_demo import CALIBRATION, SEED, SIZE, TEST, Add, distort, pictures, rename, to_input

WIDTH, HEADS, HIDDEN = 48, 4, 128
SHORTEST = 6  # columns that a training picture has at least
OUTLIERS = {("block1", "attention_norm"): {5: 64.0}, ("block2", "mlp_norm"): {17: 32.0, 30: 64.0}}  # channel: factor
OUT = Path(__file__).parents[1] / "tutorials" / "data"


class MatMul(nn.Module):
    """Product of two tensors, as a module so that the node has a name."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """a @ b."""
        return a @ b


class Reshape(torch.autograd.Function):
    """x.reshape(batch, length, *sizes); in ONNX [0, -1, *sizes]: a dynamic batch and a dynamic length."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, *sizes: int) -> torch.Tensor:
        """The tensor reshaped."""
        ctx.shape, ctx.sizes = x.shape, sizes
        return x.reshape(*x.shape[:2], *sizes)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradient in the shape that x had."""
        return gradient.reshape(ctx.shape), *(None for _ in ctx.sizes)

    @staticmethod
    def symbolic(graph: Any, x: Any, *sizes: int) -> Any:
        """The ONNX node."""
        return graph.op("Reshape", x, graph.op("Constant", value_t=torch.tensor([0, -1, *sizes])))


class Heads(nn.Module):
    """(batch, length, WIDTH) to (batch, HEADS, length, WIDTH / HEADS)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Each head gets its part of the channels."""
        return Reshape.apply(x, HEADS, WIDTH // HEADS).transpose(1, 2)


class Join(nn.Module):
    """The inverse of Heads."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The parts of all heads side by side."""
        return Reshape.apply(x.transpose(1, 2), WIDTH)


class Mean(nn.Module):
    """Mean over the columns, however many there are."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, length, WIDTH) to (batch, WIDTH)."""
        return x.mean(dim=1)


class Attention(nn.Module):
    """Each column asks all others what they know: softmax(Q K^T / sqrt(d)) V, for several heads."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.heads, self.join = nn.ModuleList(Heads() for _ in range(3)), Join()
        self.scores, self.mix = MatMul(), MatMul()
        self.softmax = nn.Softmax(dim=-1)
        self.project = nn.Linear(WIDTH, WIDTH)
        with torch.no_grad():  # 1 / sqrt(d) is part of the weights
            self.query.weight /= math.sqrt(WIDTH // HEADS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, columns, WIDTH), same shape as x."""
        parts = zip((self.query, self.key, self.value), self.heads, strict=True)
        query, key, value = (heads(part(x)) for part, heads in parts)
        scores = self.scores(query, key.transpose(2, 3))
        return self.project(self.join(self.mix(self.softmax(scores), value)))


class Block(nn.Module):
    """Attention and a perceptron, each behind a norm and added to what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.attention, self.attention_add = nn.LayerNorm(WIDTH), Attention(), Add()
        self.mlp_norm, self.expand, self.gelu = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, HIDDEN), nn.GELU()
        self.shrink, self.mlp_add = nn.Linear(HIDDEN, WIDTH), Add()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Same shape as x."""
        x = self.attention_add(x, self.attention(self.attention_norm(x)))
        return self.mlp_add(x, self.shrink(self.gelu(self.expand(self.mlp_norm(x)))))


class Transformer(nn.Module):
    """Columns of grey pixels (batch, 1 to 16, 16) to ten scores."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(SIZE, WIDTH)
        self.positions = nn.Parameter(0.02 * torch.randn(SIZE, WIDTH))
        self.place = Add()
        self.block1, self.block2 = Block(), Block()
        self.norm, self.pool = nn.LayerNorm(WIDTH), Mean()
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        """Scores of the ten digits."""
        x = self.place(self.embed(columns), self.positions[: columns.shape[1]])
        x = self.block2(self.block1(x))
        return self.head(self.pool(self.norm(x)))


def columns_of(images: torch.Tensor) -> torch.Tensor:
    """(n, 1, 16, 16) pictures as (n, 16 columns from left to right, 16 pixels)."""
    return images[:, 0].transpose(1, 2)


def train(images: np.ndarray, labels: np.ndarray, epochs: int) -> nn.Module:
    """The network after `epochs` passes over freshly distorted pictures, half of them cut off at the right."""
    torch.manual_seed(SEED)
    generator = np.random.default_rng(SEED + 1)
    model, target = Transformer(), torch.from_numpy(labels.astype(np.int64))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=epochs * (len(images) // 64))
    for epoch in range(epochs):
        data, order, total = columns_of(to_input(distort(images, generator))), generator.permutation(len(images)), 0.0
        for start in range(0, len(order) - 63, 64):
            pick = torch.from_numpy(order[start : start + 64])
            length = int(generator.integers(SHORTEST, SIZE + 1)) if generator.random() < 0.5 else SIZE
            loss = functional.cross_entropy(model(data[pick, :length]), target[pick], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1:3d} of {epochs}: loss {total / (len(order) // 64):.4f}", flush=True)
    return model.eval()


def make_outliers(model: nn.Module) -> None:
    """Multiply some gains of norms by a power of two and divide the weights that read them: the same function."""
    with torch.no_grad():
        for (block, name), channels in OUTLIERS.items():
            layer = getattr(model, block)
            norm = getattr(layer, name)
            attention = layer.attention
            readers = [layer.expand] if name == "mlp_norm" else [attention.query, attention.key, attention.value]
            for channel, factor in channels.items():
                norm.weight[channel] *= factor
                norm.bias[channel] *= factor
                for reader in readers:
                    reader.weight[:, channel] /= factor


def export(model: nn.Module) -> onnx.ModelProto:
    """ONNX model, opset 17, input `columns` (batch, length, 16), output `scores` (batch, 10)."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is the old one
        torch.onnx.export(
            model, (torch.zeros(2, SIZE, SIZE),), buffer, dynamo=False, opset_version=17,
            input_names=["columns"], output_names=["scores"],
            dynamic_axes={"columns": {0: "batch", 1: "length"}, "scores": {0: "batch"}},
        )  # fmt: skip
    exported = onnx.load_from_string(buffer.getvalue())
    rename(exported)
    onnx.checker.check_model(exported, full_check=True)
    return exported


def accuracy(model: onnx.ModelProto, images: np.ndarray, labels: np.ndarray, length: int) -> tuple[int, int]:
    """Pictures that onnxruntime classifies rightly by their first `length` columns, and all of them."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"columns": columns_of(to_input(images))[:, :length].contiguous().numpy()})
    return int((np.argmax(scores, 1) == labels).sum()), len(labels)


def main() -> None:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="Train the transformer of tvmq's tutorials on handwritten digits.")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of transformer.onnx")
    parser.add_argument("--epochs", type=int, default=300, help="passes over the training pictures")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    images, labels = pictures()
    test = distort(images[:TEST], np.random.default_rng(SEED + 2))
    model = train(images[TEST + CALIBRATION :], labels[TEST + CALIBRATION :], options.epochs)
    make_outliers(model)
    exported = export(model)
    options.out.mkdir(parents=True, exist_ok=True)
    onnx.save(exported, options.out / "transformer.onnx")
    for length in (16, 12, 8):
        right, count = accuracy(exported, test, labels[:TEST], length)
        print(f"Accuracy in float32, {length} columns: {100 * right / count:.2f} % ({right} of {count} test pictures)")


if __name__ == "__main__":
    main()
