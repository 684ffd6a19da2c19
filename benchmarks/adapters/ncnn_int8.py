"""ncnn's files (.param, .bin) in int8: what its program ncnn2int8 makes of a table of ranges.

    0=filters 5=bias 6=weights 7=groups 8=int8, which is 1 or 2, and 101 or 102 where the layer gives codes
A layer's weights: a word that names their type, the weights, padded to four bytes, the bias; in int8 then the scales
of the weights, of the input, and of the output where that is codes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

FLOAT, INT8 = 0, 0x000D4B38  # types of weights
CONVOLUTION, DEPTHWISE, DENSE = "Convolution", "ConvolutionDepthWise", "InnerProduct"
WEIGHTS_KEY = {CONVOLUTION: 6, DEPTHWISE: 6, DENSE: 2}
BIAS_KEY = {CONVOLUTION: 5, DEPTHWISE: 5, DENSE: 1}
BARE = {
    "Input", "Split", "BinaryOp", "Pooling", "Reshape", "ReLU", "Clip", "Flatten", "Softmax", "Reduction", "Concat",
    "Interp", "Sigmoid", "HardSwish", "Swish", "Permute", "UnaryOp",
}  # fmt: skip
LIMIT = 127
TERM, CODES_OUT = 8, 100


@dataclass(frozen=True)
class Layer:
    """A line of a .param, and its weights where it has them."""

    kind: str
    name: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    options: dict[int, str]
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    bias: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    scales: tuple[np.ndarray, ...] = ()

    @property
    def bottom(self) -> str:
        """The first input."""
        return self.bottoms[0]

    def number(self, key: int, default: int = 0) -> int:
        """An option."""
        return int(self.options.get(key, default))

    def text(self) -> str:
        """The line."""
        names = " ".join((*self.bottoms, *self.tops))
        options = " ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.kind} {self.name} {len(self.bottoms)} {len(self.tops)} {names} {options}"

    def data(self) -> bytes:
        """Part of the .bin that belongs to the layer."""
        if not self.weights.size:
            return b""
        tag = np.uint32(INT8 if self.weights.dtype == np.int8 else FLOAT).tobytes()
        raw = self.weights.tobytes()
        parts = (self.bias, *self.scales)
        return tag + raw + bytes(-len(raw) % 4) + b"".join(part.astype(np.float32).tobytes() for part in parts)


@dataclass(frozen=True)
class Network:
    """The layers in their order."""

    layers: list[Layer]

    @classmethod
    def read(cls, stem: Path) -> Network:
        """From STEM.param and STEM.bin; NotImplementedError names a layer whose weights are not known here."""
        lines = Path(f"{stem}.param").read_text().splitlines()[2:]
        data, place, layers = Path(f"{stem}.bin").read_bytes(), 0, []
        for layer in map(_parsed, lines):
            if layer.kind in WEIGHTS_KEY:
                sizes = layer.number(WEIGHTS_KEY[layer.kind]), layer.number(0) * layer.number(BIAS_KEY[layer.kind])
                weights = np.frombuffer(data, np.float32, sizes[0], place + 4)
                bias = np.frombuffer(data, np.float32, sizes[1], place + 4 + 4 * sizes[0])
                place += 4 + 4 * sum(sizes)
                layer = replace(layer, weights=weights, bias=bias)
            elif layer.kind not in BARE:
                raise NotImplementedError(f"ncnn_int8 has no {layer.kind}")
            layers.append(layer)
        assert place == len(data), "weights are left over"
        return cls(layers)

    def int8_layers(self) -> list[Layer]:
        """Those that can have int8."""
        return [layer for layer in self.layers if layer.kind in WEIGHTS_KEY]

    def write(self, stem: Path) -> None:
        """STEM.param and STEM.bin."""
        tensors = sum(len(layer.tops) for layer in self.layers)
        lines = ["7767517", f"{len(self.layers)} {tensors}", *(layer.text() for layer in self.layers)]
        Path(f"{stem}.param").write_text("\n".join(lines) + "\n")
        Path(f"{stem}.bin").write_bytes(b"".join(layer.data() for layer in self.layers))


def _parsed(line: str) -> Layer:
    kind, name, bottoms, tops, *rest = line.split()
    ends = int(bottoms), int(bottoms) + int(tops)
    options = dict(text.split("=", 1) for text in rest[ends[1] :])
    numbers = {int(key): value for key, value in options.items()}
    return Layer(kind, name, tuple(rest[: ends[0]]), tuple(rest[ends[0] : ends[1]]), numbers)


def quantize(network: Network, largest: dict[str, float]) -> Network:
    """All that can be in int8; `largest`: the largest magnitude of each input of such a layer."""
    scale = {name: np.array([LIMIT / value if value else 1.0]) for name, value in largest.items()}
    return Network([_int8(layer, network, scale) if layer.kind in WEIGHTS_KEY else layer for layer in network.layers])


def _int8(layer: Layer, network: Network, scale: dict[str, np.ndarray]) -> Layer:
    rows = layer.weights.reshape(layer.number(7) if layer.kind == DEPTHWISE else layer.number(0), -1)
    most = np.abs(rows).max(1)
    scales = np.where(most > 0, LIMIT / np.where(most > 0, most, 1), 1).astype(np.float32)
    codes = np.clip(np.rint(rows * scales[:, None]), -LIMIT, LIMIT).astype(np.int8)
    after = scales, scale[layer.bottom]
    term = 1 if layer.kind == DEPTHWISE else 2
    output = _codes_wanted(layer, network)
    if layer.kind != DENSE and output:
        term, after = term + CODES_OUT, (*after, scale[output])
    return replace(layer, options=layer.options | {TERM: str(term)}, weights=codes, scales=after)


def _codes_wanted(layer: Layer, network: Network) -> str:
    """The input of the one convolution that takes the output; "" where others take it too."""
    users = [user for user in network.layers if layer.tops[0] in user.bottoms]
    alone = len(users) == 1 and users[0].kind in (CONVOLUTION, DEPTHWISE)
    return users[0].bottom if alone else ""
