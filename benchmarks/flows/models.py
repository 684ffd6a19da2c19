"""Small networks on the digits of tvmq's demo, trained or calibrated for some steps in the tool of each flow.

A flow is a function of the data that gives the `Made`: what `tvmq.from_torch` or `from_onnx` imports, and what the tool
itself runs. A flow whose package is missing raises ImportError.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.ao.nn.quantized import FloatFunctional
from torch.nn import functional as F

STEPS, BATCH = 20, 64
TRAINED = 400  # of the labelled pictures; the others are compared


@dataclass(frozen=True, eq=False)
class Data:
    """Labelled pictures to train with, others to calibrate with, and those that are compared."""

    pictures: torch.Tensor
    labels: torch.Tensor
    calibration: torch.Tensor
    test: torch.Tensor
    steps: int = STEPS

    @classmethod
    def of_demo(cls, samples: int | None = None, steps: int = STEPS) -> Data:
        """Data of the package's demo."""
        from tvmq.demo import load_demo

        demo = load_demo()
        test = torch.from_numpy(demo.test)
        labels = torch.from_numpy(demo.labels)
        return cls(
            test[:TRAINED], labels[:TRAINED], torch.from_numpy(demo.calibration[:64]), test[TRAINED:][:samples], steps
        )


@dataclass(frozen=True, eq=False)
class Made:
    """A finished model of a flow.

    imported   what tvmq takes: a module of torch, or the path of an ONNX file
    run        the tool's own result, as floats
    scale      step of the result, None where it is in floats
    converted  the tool's integer module of torch, None where there is none whose layers can be run alone
    """

    imported: Any
    run: Callable[[torch.Tensor], np.ndarray]
    scale: float | None = None
    converted: Any = None


class Block(nn.Module):
    """Two convolutions with batch norm around a sum."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1, self.act1 = nn.BatchNorm2d(channels), nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)
        self.sum = FloatFunctional()

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.act1(self.bn1(self.conv1(x)))))
        return self.sum.add_relu(x, y)


class Digits(nn.Module):
    """A residual network with a hard-swish, a depthwise convolution and pools."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.stem, self.stem_bn, self.stem_act = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()
        self.block = Block(16)
        self.pool = nn.MaxPool2d(2)
        self.depth, self.swish = nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Hardswish()
        self.last, self.mean, self.head = nn.Conv2d(16, 32, 1), nn.AdaptiveAvgPool2d(1), nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        x = self.stem_act(self.stem_bn(self.stem(self.quant(x))))
        x = self.swish(self.depth(self.pool(self.block(x))))
        x = self.mean(self.last(x))
        return self.dequant(self.head(torch.flatten(x, 1)))


class Dense(nn.Module):
    """A perceptron, for the flows that quantize products alone."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.Linear(256, 128), nn.Linear(128, 64), nn.Linear(64, 10)

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.first(torch.flatten(x, 1)))
        return self.head(torch.relu(self.second(x)))


def trained(model: nn.Module, data: Data, rate: float = 0.05) -> nn.Module:
    """The model after some steps on the labels."""
    optimizer = torch.optim.SGD(model.parameters(), rate, momentum=0.9)
    generator = torch.Generator().manual_seed(0)
    for _ in range(data.steps):
        chosen = torch.randint(len(data.pictures), (BATCH,), generator=generator)
        scores = model(data.pictures[chosen])
        loss = F.cross_entropy(getattr(scores, "value", scores), data.labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def floats(kind: type[nn.Module], data: Data, *, train: bool) -> nn.Module:
    """A fresh network; trained unless the flow does that itself."""
    torch.manual_seed(0)
    model = kind().train()
    return model if train else trained(model, data).eval()


def runner(model: Any) -> Callable[[torch.Tensor], np.ndarray]:
    """The model as a function of a batch that gives floats."""

    def run(x: torch.Tensor) -> np.ndarray:
        with torch.no_grad():
            y = model(x)
        y = y[0] if isinstance(y, tuple | list) and not hasattr(y, "value") else y
        result: np.ndarray = getattr(y, "value", y).numpy()
        return result

    return run


def calibrated(model: Any, data: Data) -> None:
    """Observers see the calibration data."""
    with torch.no_grad():
        model(data.calibration)


# ---- torch.ao


def fx(data: Data, qat: bool = False, engine: str = "x86") -> Made:
    """prepare_fx or prepare_qat_fx, convert_fx; tvmq gets the prepared model."""
    from torch.ao import quantization
    from torch.ao.quantization import quantize_fx

    torch.backends.quantized.engine = engine
    model = floats(Digits, data, train=qat)
    mapping = getattr(quantization, f"get_default_{'qat_' if qat else ''}qconfig_mapping")(engine)
    prepare = quantize_fx.prepare_qat_fx if qat else quantize_fx.prepare_fx
    prepared = prepare(model, mapping, (data.test[:1],))
    trained(prepared, data, 0.01).eval() if qat else calibrated(prepared, data)
    converted = quantize_fx.convert_fx(copy.deepcopy(prepared))
    return Made(prepared, runner(converted), float(converted.head.scale), converted)


def eager(data: Data, qat: bool = False, engine: str = "x86") -> Made:
    """prepare or prepare_qat, convert; tvmq gets the converted model, packed weights and all."""
    from torch.ao import quantization

    torch.backends.quantized.engine = engine
    model = floats(Digits, data, train=qat)
    names = [["stem", "stem_bn", "stem_act"], ["block.conv1", "block.bn1", "block.act1"], ["block.conv2", "block.bn2"]]
    fuse = quantization.fuse_modules_qat if qat else quantization.fuse_modules
    model = fuse(model, names)
    model.qconfig = getattr(quantization, f"get_default_{'qat_' if qat else ''}qconfig")(engine)
    prepared = (quantization.prepare_qat if qat else quantization.prepare)(model)
    trained(prepared, data, 0.01).eval() if qat else calibrated(prepared, data)
    converted = quantization.convert(prepared)
    return Made(converted, runner(converted), float(converted.head.scale), converted)


def eager_dynamic(data: Data) -> Made:
    """quantize_dynamic of the products."""
    from torch.ao import quantization

    model = quantization.quantize_dynamic(floats(Dense, data, train=False), {nn.Linear}, dtype=torch.qint8)
    return Made(model, runner(model))


# ---- torchao


def pt2e(data: Data, qat: bool = False, dynamic: bool = False) -> Made:
    """prepare_pt2e or prepare_qat_pt2e, convert_pt2e, lowered to oneDNN's integer kernels by torchao itself."""
    import torchao.quantization.pt2e.quantizer.x86_inductor_quantizer as x86
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.lowering import lower_pt2e_quantized_to_x86
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config(is_qat=qat, is_dynamic=dynamic))
    model = floats(Dense if dynamic else Digits, data, train=qat)
    example = data.pictures[:BATCH] if qat else data.test
    exported = torch.export.export(model, (example,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)).module()
    prepared = (prepare_qat_pt2e if qat else prepare_pt2e)(exported, quantizer)
    if qat:
        trained(prepared, data, 0.01)
        move_exported_model_to_eval(prepared)
    else:
        calibrated(prepared, data)
    converted = convert_pt2e(prepared)
    lowered = lower_pt2e_quantized_to_x86(copy.deepcopy(converted), (data.test,))
    return Made(converted, runner(lowered))


def torchao(data: Data, kind: str) -> Made:
    """quantize_ with one of torchao's configurations."""
    from torchao import quantization as q
    from torchao.quantization.granularity import PerAxis, PerGroup

    configs: dict[str, Callable[[], Any]] = {
        "int8": q.Int8WeightOnlyConfig,
        "int4": lambda: q.IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32)),
        "int8 dynamic": q.Int8DynamicActivationInt8WeightConfig,
        "int8 asymmetric": lambda: q.Int8DynamicActivationIntxWeightConfig(
            weight_dtype=torch.int8, weight_granularity=PerAxis(0)
        ),
        "int4 dynamic": lambda: q.Int8DynamicActivationIntxWeightConfig(
            weight_dtype=torch.int4, weight_granularity=PerGroup(32)
        ),
    }
    model = floats(Dense, data, train=False)
    q.quantize_(model, configs[kind]())
    return Made(model, runner(model))


# ---- by ONNX


def brevitas(data: Data, folder: Path) -> Made:
    """Trained with brevitas' layers, written as Q/DQ; the tool's own result is that of its layers."""
    import brevitas.nn as qnn
    from brevitas import quant
    from brevitas.export import export_onnx_qcdq

    torch.manual_seed(0)
    told: dict[str, Any] = {"weight_quant": quant.Int8WeightPerChannelFloat, "bias_quant": quant.Int32Bias}
    act: dict[str, Any] = {"act_quant": quant.Uint8ActPerTensorFloat, "return_quant_tensor": True}
    model = nn.Sequential(
        qnn.QuantIdentity(act_quant=quant.Int8ActPerTensorFloat, return_quant_tensor=True),
        qnn.QuantConv2d(1, 8, 3, padding=1, **told), qnn.QuantReLU(**act),
        qnn.QuantConv2d(8, 16, 3, stride=2, padding=1, **told), qnn.QuantReLU(**act), nn.Flatten(),
        qnn.QuantLinear(1024, 10, bias=True, output_quant=quant.Int8ActPerTensorFloat, **told),
    )  # fmt: skip
    trained(model, data).eval()
    path = folder / "brevitas.onnx"
    export_onnx_qcdq(model, args=data.test, export_path=str(path), opset_version=17, dynamo=False)
    scale = float(model[-1].output_quant.scale())
    return Made(path, runner(model), scale)


class Plain(nn.Module):
    """Layers in a row; NNCF does not take nn.Sequential."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, 2, 1)
        self.head = nn.Linear(1024, 10)

    def forward(self, x: Any) -> Any:
        return self.head(torch.flatten(torch.relu(self.conv2(torch.relu(self.conv1(x)))), 1))


def nncf(data: Data, folder: Path) -> Made:
    """Quantized and trained with NNCF, stripped, written as Q/DQ by torch; the tool's own result is that before."""
    import nncf as tool

    model = floats(Plain, data, train=False)
    batches = tool.Dataset([data.calibration[i : i + 8] for i in range(0, 64, 8)])
    quantized = tool.quantize(model, batches, subset_size=8)
    trained(quantized.train(), data, 0.01).eval()
    stripped = tool.strip(quantized, do_copy=True, example_input=data.test[:1])
    path = folder / "nncf.onnx"
    torch.onnx.export(stripped, (data.test,), str(path), dynamo=False, opset_version=17)
    return Made(path, runner(quantized))


FLOWS: dict[str, Callable[[Data, Path], Made]] = {
    "fx": lambda data, _: fx(data),
    "fx qat": lambda data, _: fx(data, qat=True),
    "fx fbgemm": lambda data, _: fx(data, engine="fbgemm"),
    "fx qnnpack": lambda data, _: fx(data, engine="qnnpack"),
    "eager": lambda data, _: eager(data),
    "eager qat": lambda data, _: eager(data, qat=True),
    "eager dynamic": lambda data, _: eager_dynamic(data),
    "pt2e": lambda data, _: pt2e(data),
    "pt2e qat": lambda data, _: pt2e(data, qat=True),
    "pt2e dynamic": lambda data, _: pt2e(data, dynamic=True),
    **{
        f"torchao {kind}": lambda data, _, kind=kind: torchao(data, kind)
        for kind in ("int8", "int4", "int8 dynamic", "int8 asymmetric", "int4 dynamic")
    },
    "brevitas": brevitas,
    "nncf": nncf,
}
