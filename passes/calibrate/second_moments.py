"""Run the calibration data through the integer module and sum up what its convolutions and products read.

The sums are integers of integers, so that they are the same on every CPU and for every number of threads and batch
size. Layers are treated in turns whose sums fit MOST_BYTES together; each turn reads the data once. Of layers that use
the same weight one sum stays, in real values.

Tests: tests/passes/test_round_weights.py
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, dtype_of, op_name, shape_of, sizes_of
from tvmq.numerics.moments import (
    MOST_TAPS,
    Joint,
    Moments,
    picture_rows,
    places_in_sample,
    product_rows,
    window_places,
    window_rows,
)
from tvmq.passes.calibrate.collect import has_batch
from tvmq.passes.calibrate.observed_model import Evaluator, Feed, return_intermediates
from tvmq.passes.families.base import family_named
from tvmq.passes.families.shared_weights import layers_by_weight
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.realize import realize


class MomentSums(Protocol):
    """Sums over what the taps of each channel of pictures read: `compile.window_sums.WindowSums`."""

    def add(self, codes: np.ndarray, places: np.ndarray, zero_point: int) -> None:
        """Add pictures that end with their channels; places: see numerics.moments.window_places."""

    def totals(self) -> list[np.ndarray]:
        """As `Moments.totals`."""


# (channels, taps, type of the codes) -> sums; None for what it does not take
Summing = Callable[[int, int, str], MomentSums | None]
# Bits of weights beyond which rounding costs nothing.
MOST_BITS = 8
MOST_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class CodeReader:
    """Integer convolution or product: its call, the variable of codes it reads, their scale and zero point; bits of
    its weight, and how many layers use that."""

    root: str
    call: relax.Call
    codes: str
    scale: float
    zero_point: int
    bits: int
    uses: int = 1

    def rows(self, codes: np.ndarray, samples: int, *, channels_last: bool = False) -> np.ndarray:
        """Integers that its taps read, where there are so many samples in all: (groups, rows, taps).

        channels_last  codes are pictures that end with their channels
        """
        places = places_in_sample(samples * self.uses, self.taps, self.groups, self.bits)
        if op_name(self.call) == "matmul":
            return product_rows(codes, self.zero_point, places)
        if channels_last and self.groups == 1:
            return picture_rows(codes, self.zero_point, places=places, **self._window)
        first = codes.transpose(0, 3, 1, 2) if channels_last else codes
        return window_rows(first, self.zero_point, places=places, groups=self.groups, **self._window)

    def places(self, codes: np.ndarray, samples: int) -> np.ndarray:
        """Where its taps read in pictures that end with their channels; see `window_places`."""
        wanted = places_in_sample(samples * self.uses, self.taps, self.groups, self.bits)
        return window_places(codes.shape[1:3], places=wanted, **self._window)

    @cached_property
    def is_depthwise(self) -> bool:
        """True where each channel of pictures is read by itself."""
        return op_name(self.call) == "nn.conv2d" and self.groups > 1 and shape_of(self.call.args[1])[1] == 1

    @cached_property
    def _window(self) -> dict[str, Any]:
        """Arguments of `window_rows` for a convolution, but for its groups."""
        attrs = self.call.attrs
        options = {name: tuple(int(v) for v in getattr(attrs, name)) for name in ("strides", "padding", "dilation")}
        return {**options, "kernel": shape_of(self.call.args[1])[2:]}

    @cached_property
    def taps(self) -> int:
        """Codes that one result is made of."""
        shape = shape_of(self.call.args[1])
        return shape[0] if op_name(self.call) == "matmul" else int(np.prod(shape[1:]))

    @cached_property
    def groups(self) -> int:
        """Parts of the layer that read codes of their own."""
        return 1 if op_name(self.call) == "matmul" else int(self.call.attrs.groups)

    def bytes(self) -> int:
        """Size of its sums of products."""
        return 8 * self.groups * self.taps * min(self.taps, MOST_TAPS)


def second_moments(
    mod: tvm.IRModule,
    batches: Callable[[], Iterable[tuple[Feed, int]]],
    evaluator: Evaluator,
    samples: int,
    summing: Summing | None = None,
    without: Container[str] = (),
) -> dict[str, Moments]:
    """{root: moments} of the layers of a calibrated module whose weights can be rounded by them.

    batches    gives the data anew at each call: (feed, count), the first `count` samples of a batch are real
    evaluator  its results are looked at before the next run only
    samples    how many these are: of many, fewer places of each count
    summing    makes compiled code that sums up what a depthwise convolution reads; None: NumPy does
    without    roots that are left out; nothing is run if these are all
    """
    if all(root in without for root in roots_to_round(mod)):
        return {}
    integer = fold_constants(realize(mod, at_run_time=False))  # float is near enough to codes made at run time
    layers = {layer.root: layer for layer in readers(mod, integer) if layer.root not in without}
    shared: dict[str, Joint] = {}
    for roots in layers_by_weight(View(mod), layers):
        shared |= dict.fromkeys(roots, Joint()) if len(roots) > 1 else {}
        layers |= {root: replace(layers[root], uses=len(roots)) for root in roots}
    by_root: dict[str, Moments] = {}
    for turn in _split_by_memory(list(layers.values())):
        new = _sum_moments(integer, turn, batches(), evaluator, samples, summing)
        by_root |= {root: moments for root, moments in new.items() if moments.rows}
        for root in (root for root in new if root in by_root and root in shared):  # in their order
            shared[root].take(by_root[root])
    return by_root


def roots_to_round(mod: tvm.IRModule) -> list[str]:
    """Roots of the integer layers of a module whose weights can be rounded by moments, in the order of the ledger."""
    layers = get_ledger(mod).layers.values()
    return [e["root"] for e in layers if e["precision"] == "int8" and family_named(e["family"]).rounds_weights]


def readers(mod: tvm.IRModule, integer: tvm.IRModule) -> list[CodeReader]:
    """Convolutions and products with constant weights of at most MOST_BITS, in the order of the ledger."""
    view, realized = View(mod), View(integer)
    scales = get_ledger(integer).codes
    layers = []
    for entry in get_ledger(mod).layers.values():
        if entry["precision"] != "int8" or entry["root"] not in realized.value:
            continue
        if not family_named(entry["family"]).rounds_weights:
            continue
        call = view.value[entry["root"]]
        codes = _codes_of(realized, entry["root"])
        bits = int(view.value[call.args[1].name].attrs.bits)
        if codes in scales and bits <= MOST_BITS:
            layers.append(CodeReader(entry["root"], call, codes, *scales[codes], bits))
    return layers


def _codes_of(realized: View, root: str) -> str:
    """The variable of codes that an integer layer reads, before its border is put around it."""
    x = realized.value[root].args[0]
    producer = realized.value.get(x.name)
    if producer is not None and op_name(producer) == "nn.pad" and x.name.startswith(f"{root}_pad"):
        return producer.args[0].name
    return x.name


def _split_by_memory(layers: list[CodeReader]) -> Iterator[list[CodeReader]]:
    """Layers whose sums fit MOST_BYTES together, one at least."""
    turn: list[CodeReader] = []
    size = 0
    for layer in layers:
        size += layer.bytes()
        if turn and size > MOST_BYTES:
            yield turn
            turn, size = [], layer.bytes()
        turn.append(layer)
    if turn:
        yield turn


class _Sum:
    """Moments of one layer, summed up batch by batch."""

    def __init__(self, layer: CodeReader, dtype: str, summing: Summing | None, *, channels_last: bool) -> None:
        self._layer, self._channels_last = layer, channels_last
        self._moments = Moments(layer.scale)
        is_compiled = summing is not None and channels_last and layer.is_depthwise
        self._compiled = summing(layer.groups, layer.taps, dtype) if summing is not None and is_compiled else None
        self._rows = 0

    def add(self, codes: np.ndarray, samples: int) -> None:
        """Add what the layer reads of a batch; samples: how many there are in all."""
        if self._compiled is None:
            self._moments.add(self._layer.rows(codes, samples, channels_last=self._channels_last))
            return
        places = self._layer.places(codes, samples)
        self._rows += len(codes) * len(places)
        self._compiled.add(codes, places, self._layer.zero_point)

    def moments(self) -> Moments:
        """Moments of all that was added."""
        if self._compiled is not None and self._rows:
            self._moments.add_totals(self._rows, self._compiled.totals())
            self._rows = 0
        return self._moments


def _sum_moments(
    integer: tvm.IRModule,
    layers: list[CodeReader],
    batches: Iterable[tuple[Feed, int]],
    evaluator: Evaluator,
    samples: int,
    summing: Summing | None,
) -> dict[str, Moments]:
    view, names = View(integer), list(dict.fromkeys(layer.codes for layer in layers))
    pictures = {layer.codes for layer in layers if op_name(layer.call) == "nn.conv2d"}
    pictures -= {layer.codes for layer in layers if op_name(layer.call) != "nn.conv2d"}
    run = evaluator(return_intermediates(integer, names, pictures))
    sums = {
        layer.root: _Sum(layer, dtype_of(view.var[layer.codes]), summing, channels_last=layer.codes in pictures)
        for layer in layers
    }
    # a vector that a product reads is one row, whatever its length
    batched = {name for name in names if has_batch(view, name) and len(sizes_of(view.var[name])) > 1}
    for feed, count in batches:
        values = dict(zip(names, map(np.asarray, run(feed)), strict=True))
        for layer in layers:
            codes = values[layer.codes]
            sums[layer.root].add(codes[:count] if layer.codes in batched else codes, samples)
    return {root: one.moments() for root, one in sums.items()}
