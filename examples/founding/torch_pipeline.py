"""A detector with two deconvolutions and three heads from float to int8: the way of a text on torch.fx for TensorRT.

    python examples/founding/torch_pipeline.py

Traced without stubs, quantized by the rules of an accelerator with an observer of one's own, judged layer by layer,
drawn, and written for TensorRT. It needs torch: pip install "tvmq[torch]".
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import tvmq
from tvmq.extension import Interpreter, InterpreterNode, usable_range

torch.manual_seed(0)


def conv_bn(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """Convolution, batch norm, relu."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


class Block(nn.Module):
    """Residual block with one relu for both places, as torchvision writes it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + x)


class CenterNet(nn.Module):
    """A backbone, a neck of deconvolutions, heads for centres, sizes and offsets."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(conv_bn(3, 16, 2), conv_bn(16, 32, 2), Block(32), conv_bn(32, 32, 2), Block(32))
        self.neck = nn.Sequential(
            nn.ConvTranspose2d(32, 24, 4, 2, 1, bias=False), nn.BatchNorm2d(24), nn.ReLU(),
            nn.ConvTranspose2d(24, 16, 4, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        )  # fmt: skip
        heads = {name: nn.Sequential(conv_bn(16, 16), nn.Conv2d(16, 2, 1)) for name in ("hm", "wh", "reg")}
        self.heads = nn.ModuleDict(heads)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Maps of the three heads."""
        y = self.neck(self.backbone(x))
        return {name: head(y) for name, head in self.heads.items()}


class NinetyNine:
    """An observer of one's own: 99 % of the extremes."""

    needs = ("ranges",)

    def thresholds(self, statistics: Any, spec: tvmq.QuantSpec) -> tuple[float, float]:
        """Ends of the range."""
        return usable_range(0.99 * statistics.ranges.low, 0.99 * statistics.ranges.high, spec)


OPTIONS = {
    "scheme": "symmetric",
    "dtype_input": "int8",
    "calibrate_mode": "histogram",
    "rules": [tvmq.Rule(op="nn.conv2d_transpose", observer="__main__:NinetyNine", weight_observer="max")],
}


def quantize(model: Any, data: list[Any]) -> Any:
    """Prepare, feed in a loop of one's own, convert."""
    with tvmq.qconfig(**OPTIONS):
        observation = tvmq.observe(*model)
        for batch in data:
            observation(batch)
        qmod = tvmq.quantize(*model, calibration=observation.result())
    explanation = tvmq.explain(qmod)
    print(explanation.summary().splitlines()[0])
    assert explanation.int8_share() == 1.0
    return qmod


class Record(Interpreter):
    """Keeps the result of every operator; with exact values, feeds them to every layer."""

    def __init__(self, model: Any, exact: dict[str, np.ndarray] | None = None) -> None:
        super().__init__(model)
        self.exact, self.values, self.weights = exact, {}, {}

    def run_node(self, node: InterpreterNode, args: Any) -> Any:
        """The definition's result."""
        self.values[node.name] = result = super().run_node(node, args)
        if node.op != "tvmq.simulated_quantize":
            return result
        if node.call.attrs.kind == "weight":
            self.weights[node.name] = args[0], result
        elif self.exact is not None:
            return node.compute([self.exact.get(node.inputs[0], args[0]), *args[1:]])
        return result


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Similarity of two tensors."""
    a, b = a.astype("f8").ravel(), b.astype("f8").ravel()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def show_similarities(model: Any, data: list[Any]) -> None:
    """Of the weights, of each layer on exact inputs, of everything up to it."""
    with tvmq.qconfig(**OPTIONS, do_simulation=True):
        simulated = tvmq.quantize(*model, data, guard=None)
    feed = {"x": data[0].numpy()}
    floats = Record(model)
    floats.run(feed)
    runs = local, accumulated = Record(simulated, floats.values), Record(simulated)
    for run in runs:
        run.run(feed)
    rows = {name: [cosine(exact, run.values[f"{name}_sq"]) for run in runs]
            for name, exact in floats.values.items() if f"{name}_sq" in local.values}  # fmt: skip
    for name, (alone, together) in sorted(rows.items(), key=lambda row: row[1][0])[:3]:
        print(f"worst alone: {name}: local {alone:.5f}, accumulated {together:.5f}")
    weights = {name: cosine(*pair) for name, pair in accumulated.weights.items()}
    print(f"{len(rows)} activations, {len(weights)} weights, the least similar {min(weights.values()):.5f}")
    assert min(weights.values()) > 0.999 and min(alone for alone, _ in rows.values()) > 0.99


class Gate(nn.Module):
    """A module of one's own, whose deployed form is another one."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x * sigmoid(x)."""
        return x * torch.sigmoid(x)


class DeployedGate(nn.Module):
    """x * relu6(x + 3) / 6, as a chip has it."""

    @classmethod
    def from_float(cls, module: Gate) -> DeployedGate:
        """In the place of a float module."""
        return cls()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        return x * nn.functional.relu6(x + 3) / 6


def replace_modules() -> None:
    """A module of one's own is converted while the model is imported, as convert_custom_config does."""
    model, data = nn.Sequential(conv_bn(3, 8), Gate(), nn.Conv2d(8, 2, 1)).eval(), [torch.randn(2, 3, 8, 8)] * 2
    mod, params = tvmq.from_torch(model, (data[0],), custom_modules={Gate: DeployedGate})
    deployed = nn.Sequential(model[0], DeployedGate(), model[2])(data[0]).detach().numpy()
    difference = abs(tvmq.build(mod, params=params)(data[0].numpy()) - deployed).max()
    verification = tvmq.verify(tvmq.build(tvmq.quantize(mod, params, data, guard=None)), data[:1])
    print(f"custom modules: converted, within {1e-5} of torch; exact: {'yes' if verification.exact else 'no'}")
    assert difference < 1e-5 and verification.exact


def main() -> None:
    """The steps of the text, in its order."""
    data = [torch.randn(2, 3, 32, 32) for _ in range(6)]
    model = tvmq.from_torch(CenterNet().eval(), (data[0],))
    qmod = quantize(model, data)
    show_similarities(model, data)
    worst = tvmq.compare(model, qmod, data).worst(1, by="accumulated")[0]
    print(f"compare: {worst.names[0]} keeps least, {worst.accumulated.sqnr:.1f} dB")
    exe = tvmq.build(qmod)
    verification = tvmq.verify(exe, data[:2])
    print("exact:", "yes" if verification.exact else "no", "outputs:", *(info.name for info in exe.output_info))
    assert verification.exact
    with tempfile.TemporaryDirectory() as folder:
        tvmq.draw(qmod).save(Path(folder) / "net.svg")
        tvmq.to_onnx(qmod, Path(folder) / "net.onnx", dialect="tensorrt")
        print(*(f"{path.name}: {path.stat().st_size // 1000} kB" for path in sorted(Path(folder).iterdir())))
    replace_modules()


if __name__ == "__main__":
    main()
