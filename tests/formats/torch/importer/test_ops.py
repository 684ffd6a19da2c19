"""Operators imported from torch against eager torch, many in one model; what cannot be right is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch_networks import Together, check, leaves, run, tensor, trained  # noqa: E402

import tvmq  # noqa: E402
from tvmq.errors import UnsupportedOpError  # noqa: E402

X = tensor(2, 4, 6, 8)
MASK, SQUARE = tensor(6, 6, seed=1), tensor(8, 3, seed=2)
LAST, BOTH = torch.tensor([0, -1]), torch.tensor([[0], [1]])
attend = F.scaled_dot_product_attention


def assigned(x: Any) -> Any:
    """Parts of a tensor written in place."""
    x = x.clone()
    x[:, 0] = 1.0
    x[:, :, 1:3] *= 2
    return x.relu_().add_(1)


class OfWeights(nn.Module):
    """Functions of two parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = (nn.Parameter(tensor(8, 8, seed=seed)) for seed in (3, 4))

    def forward(self, x: Any) -> Any:
        """Products, and the larger and smaller of both."""
        return x @ torch.maximum(self.a @ self.b, torch.mm(self.b, self.a)) + x @ torch.minimum(self.a, self.b)


ACTIVATIONS = {
    name: getattr(F, name)
    for name in (
        "relu relu6 hardtanh hardswish hardsigmoid silu mish gelu elu selu celu leaky_relu softplus softsign "
        "softshrink hardshrink tanhshrink logsigmoid sigmoid tanh"
    ).split()
} | {
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "elu_half": lambda x: F.elu(x, 0.5),
    "leaky": lambda x: F.leaky_relu(x, 0.3), "threshold": lambda x: F.threshold(x, 0.1, 2.0),
    "glu": lambda x: F.glu(x, 1), "prelu": nn.PReLU(4), "clamp": lambda x: x.clamp(-0.5, 0.7),
    "clamp_min": lambda x: x.clamp(min=0.1), "clamp_max": lambda x: x.clamp(max=0.1), "relu_clamp": lambda x: x.clamp(0),
    "crossed_clamp": lambda x: x.clamp(0.7, -0.5),
    "log_softmax": lambda x: F.log_softmax(x, 1), "softmax": lambda x: x.softmax(-1),
}  # fmt: skip
ARITHMETIC = {
    "sum": lambda x: x + tensor_of(x, 3), "alpha": lambda x: torch.sub(x, x * 2, alpha=2.5), "rsub": lambda x: 1 - x,
    "alpha_number": lambda x: torch.sub(x, 2, alpha=3), "floor": lambda x: torch.div(x, 0.3, rounding_mode="floor"),
    "whole": lambda x: (x * 9).to(torch.int64) // 2, "power": lambda x: x.abs() ** 1.5, "remainder": lambda x: x % 0.7,
    "where": lambda x: torch.where(x > 0, x, 0.1 * x), "fill": lambda x: x.masked_fill(x > 0, -1e4),
    "cast": lambda x: x.to(torch.int32).float() + x.double().float(), "in_place": assigned,
    "logic": lambda x: ((x > 0) & (x < 0.5) | ~(x > -1)).float(), "log2": lambda x: torch.log2(x.abs() + 0.1),
    "amax": lambda x: x.amax((2, 3)), "amin": lambda x: x.amin(1, keepdim=True), "all": lambda x: x.amax(),
    "max": lambda x: x.max(1), "min": lambda x: x.min(-1, keepdim=True), "prod": lambda x: x.prod(1),
    "logsumexp": lambda x: torch.logsumexp(x, 1), "mean": lambda x: x.mean((2, 3), keepdim=True),
    "var": lambda x: x.var(1), "var_mean": lambda x: torch.var_mean(x, (1, 2), keepdim=True),
    "std_mean": lambda x: torch.std_mean(x, correction=0), "norm": lambda x: F.normalize(x, dim=1), "argmax": lambda x: x.argmax(1),
    "einsum": lambda x: torch.einsum("bchw,wk->bkhc", x, SQUARE), "matmul": lambda x: x @ x.transpose(-1, -2),
    "weights": OfWeights(), "vector": lambda x: x @ SQUARE[:, 0], "constants": lambda x: x + torch.arange(8) * torch.ones(6, 1).cumsum(0),
}  # fmt: skip
INDEXING = {
    "last": lambda x: x[:, -1], "range": lambda x: x[..., -2:], "step": lambda x: x[:, 1:4:2, ::3],
    "new": lambda x: x[:, None], "list": lambda x: x[:, LAST], "pairs": lambda x: x[LAST, LAST],
    "broadcast": lambda x: x[:, BOTH, LAST], "select": lambda x: torch.index_select(x, 2, BOTH[:, 0]),
    "take": lambda x: torch.take(x, LAST), "windows": lambda x: x.unfold(2, 3, 2), "im2col": lambda x: F.unfold(x, 3),
    "flip": lambda x: x.flip((1,)), "roll": lambda x: torch.roll(x, (1, -2), (2, 3)), "tril": lambda x: x.tril(),
    "split": lambda x: x.split([1, 3], 1), "chunk": lambda x: x.chunk(3, -1)[2], "unbind": lambda x: x.unbind(1)[2],
    "repeat": lambda x: x.repeat(1, 2, 1, 1), "tile": lambda x: x.repeat_interleave(2, 1),
    "expand": lambda x: x[:, :1].expand(-1, 3, -1, -1), "stack": lambda x: torch.stack([x, -x], 1),
    "view": lambda x: x.transpose(1, 2).reshape(2, -1), "shuffle": nn.ChannelShuffle(2), "pixels": nn.PixelShuffle(2),
    "pad": lambda x: F.pad(x, (1, 1), value=2.0), "reflect": lambda x: F.pad(x, (1, 2, 1, 0), "reflect"),
    "crop": lambda x: F.pad(x, (-1, 2)),
}  # fmt: skip
WINDOWS = {
    "groups": nn.Conv2d(4, 8, 3, 1, (1, 0), groups=2), "same": nn.Conv2d(4, 6, (3, 4), padding="same"),
    "circular": nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"), "up": nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, 2),
    "line": lambda x: F.conv1d(x[:, 0], MASK[:4, :, None]), "max": nn.MaxPool2d(3, 2, 1),
    "ceil": nn.MaxPool2d(3, 2, ceil_mode=True), "mean": nn.AvgPool2d(3, 2, 1), "real": nn.AvgPool2d(3, 2, 1, False, False),
    "mean_ceil": nn.AvgPool2d(3, 2, 1, ceil_mode=True), "divisor": nn.AvgPool2d(2, divisor_override=3),
    "one": nn.AdaptiveAvgPool2d(1), "equal": nn.AdaptiveAvgPool2d((3, 4)), "unequal": nn.AdaptiveAvgPool2d((4, 5)),
    "most": nn.AdaptiveMaxPool2d(1), "most_equal": nn.AdaptiveMaxPool2d((3, 4)),
    "nearest": lambda x: F.interpolate(x, scale_factor=2), "uneven": lambda x: F.interpolate(x, size=(9, 13)),
    "down": lambda x: F.interpolate(x, size=(3, 3)), "half": lambda x: F.interpolate(x, scale_factor=1.4),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "corners": lambda x: F.interpolate(x, size=(9, 13), mode="bilinear", align_corners=True),
    "corner": lambda x: F.interpolate(x, size=(9, 1), mode="bilinear", align_corners=True),
    "cubic": lambda x: F.interpolate(x, size=(9, 13), mode="bicubic"),
    "batch_norm": nn.BatchNorm2d(4), "norm_without_affine": nn.BatchNorm2d(4, affine=False), "rms": nn.RMSNorm(8),
    "layer_norm": nn.LayerNorm((6, 8)), "no_shift": nn.LayerNorm(8, bias=False),
    "no_scale": nn.LayerNorm(8, elementwise_affine=False), "group_norm": nn.GroupNorm(2, 4),
    "groups_without_affine": nn.GroupNorm(2, 4, affine=False), "instance": nn.InstanceNorm2d(4), "linear": nn.Linear(8, 5),
}  # fmt: skip
ATTENTION = {
    "plain": lambda x: attend(x, x, x), "causal": lambda x: attend(x, x, x, is_causal=True),
    "scale": lambda x: attend(x, x, x, scale=0.3), "mask": lambda x: attend(x, x, x, attn_mask=MASK),
    "choice": lambda x: attend(x, x, x, attn_mask=MASK > 0), "none": lambda x: attend(x, x, x, attn_mask=MASK > 9),
    "computed": lambda x: attend(x, x, x, attn_mask=x[..., :6] > 0.9),
    "encoder": nn.Sequential(nn.Flatten(1, 2), nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)),
    "lstm": nn.Sequential(nn.Flatten(1, 2), nn.LSTM(8, 5, 2, batch_first=True, bidirectional=True)),
    "gru": nn.Sequential(nn.Flatten(1, 2), nn.GRU(8, 5)), "rnn": nn.Sequential(nn.Flatten(0, 2), nn.RNN(8, 5, bias=False)),
}  # fmt: skip
FAMILIES = {
    "activations": ACTIVATIONS, "arithmetic": ARITHMETIC, "indexing": INDEXING, "windows": WINDOWS, "attention": ATTENTION,
}  # fmt: skip


def tensor_of(x: Any, seed: int) -> Any:
    """A constant that broadcasts over x."""
    return tensor(x.shape[1], 1, x.shape[3], seed=seed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.slow_cases("arithmetic", "indexing", "windows", "attention")
def test_operators_equal_torch(family: str) -> None:
    torch.manual_seed(0)
    check(trained(Together(FAMILIES[family])), X)


class CopiesOfTheBatch(nn.Module):
    """Parameters that are copied for each sample, and instance norms: of a sample, and with statistics of training."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.line = nn.Parameter(tensor(1, 3, 8)), nn.Parameter(tensor(2, 3, 4, seed=1))
        self.norm, self.plain = nn.InstanceNorm1d(3, affine=True), nn.InstanceNorm1d(3)
        self.known = nn.InstanceNorm1d(3, affine=True, track_running_stats=True)
        with torch.no_grad():
            for shift, part in enumerate((self.norm.weight, self.norm.bias, self.known.running_mean, self.known.weight)):
                part.copy_(torch.arange(3) * 0.5 - shift)

    def forward(self, x: Any) -> Any:
        """Copies beside x; all axes, one item and several; and its norms."""
        count = x.shape[0]
        copies = torch.cat([self.token.repeat(count, 1, 1), x], 1), self.line.repeat(count, 1, 2)
        return *copies, self.token.repeat(2, count, 3, 1), self.norm(x), self.plain(x), self.known(x)


def test_copies_and_norms_of_a_dynamic_batch() -> None:
    model = CopiesOfTheBatch().eval()
    exe = tvmq.build(*tvmq.from_torch(model, (tensor(2, 3, 8),), dynamic_batch=True))
    for count in (1, 3):
        x = tensor(count, 3, 8, seed=count)
        with torch.no_grad():
            expected = model(x)
        for ours, theirs in zip(exe.run({"x": x.numpy()}), expected, strict=True):
            assert np.allclose(ours, theirs.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_indices_computed_at_run_time_count_from_the_end() -> None:
    functions = {
        "one": lambda x, i: x[:, i], "first": lambda x, i: x[i % 2], "pairs": lambda x, i: x[torch.arange(2), i],
        "take": lambda x, i: torch.take(x, i),
    }  # fmt: skip
    model = Together(functions)
    check(model, X, torch.tensor([-1, 2]))


@pytest.mark.slow
def test_transposed_convolution_of_three_dimensions() -> None:
    torch.manual_seed(0)
    check(nn.ConvTranspose3d(2, 4, 3, 2, 1, 1, groups=2), tensor(1, 2, 3, 4, 3))


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "positions": (lambda x: F.max_pool2d(x, 2, return_indices=True), "use return_indices=False"),
    "fraction": (lambda x: F.interpolate(x, scale_factor=1.6, mode="bilinear"), "scale_factor 1.6 of 6 gives a fractional"),
    "antialias": (lambda x: F.interpolate(x, size=(3, 5), mode="bilinear", antialias=True), "antialias=False"),
    "random": (lambda x: x + torch.randn_like(x), "its values are random"),
    "values": (lambda x: x[x > 0], "depends on values"),
    "unequal": (lambda x: F.adaptive_max_pool2d(x, (4, 5)), r"\[6, 8\] to \[4, 5\] needs unequal windows"),
    "divisor": (lambda x: F.avg_pool2d(x, 2, ceil_mode=True, divisor_override=3), "leave divisor_override out"),
    "spread": (lambda x: torch.var_mean(x, (0,), correction=2), "correction=2 over .*more values along fixed sizes"),
    "heads": (lambda x: attend(x, x[:, :2], x[:, :2], enable_gqa=True), "repeat the heads"),
    "dropout": (lambda x: attend(x, x, x, dropout_p=0.5), "dropout_p=0.0"),
}


@pytest.mark.slow_cases("positions", "fraction", "random", "values", "dropout")
@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_wrong_is_refused(name: str) -> None:
    function, words = REFUSED[name]
    with pytest.raises(UnsupportedOpError, match=f"from_torch, layer '.*{words}"):
        tvmq.from_torch(Together({name: function}), X)


RESIZED_DYNAMICALLY: dict[str, tuple[Callable[..., Any], str]] = {
    "nearest": (lambda x, like: F.interpolate(x, size=like.shape[2:]), "dynamic sizes is not supported; export with fixed"),
    "bilinear": (lambda x, like: F.interpolate(x, size=like.shape[2:], mode="bilinear"), "dynamic sizes is not supported; export with fixed"),
    "line": (lambda x, like: F.interpolate(like[0], scale_factor=2, mode="linear"), "bounds from dynamic dimensions"),
}


@pytest.mark.slow_cases("nearest")
@pytest.mark.parametrize("name", RESIZED_DYNAMICALLY)
def test_resize_to_dynamic_sizes_is_refused(name: str) -> None:
    function, words = RESIZED_DYNAMICALLY[name]
    dynamic = {3 if name == "line" else 2: torch.export.Dim("n", min=2, max=64)}
    with pytest.raises(UnsupportedOpError, match=f"from_torch, layer '.*{words}"):
        tvmq.from_torch(Together({name: function}), (X, tensor(1, 3, 9, 10)), dynamic_shapes=(({}, dynamic),))


@pytest.mark.slow
def test_dynamic_batch_of_a_transformer() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True).eval()
    mod, params = tvmq.from_torch(layer, tensor(1, 5, 8), dynamic_batch=True)
    x = tensor(3, 5, 8)
    fixed = tvmq_fixed(mod, 3)
    np.testing.assert_allclose(run(fixed, params, [x.numpy()])[0], leaves(layer(x))[0], rtol=1e-4, atol=1e-5)


def tvmq_fixed(mod: Any, batch: int) -> Any:
    """The module with its dynamic batch fixed."""
    from tvm import relax

    return relax.transform.BindSymbolicVars({"batch": batch})(mod)
