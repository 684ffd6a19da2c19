"""Checks of operator families: everything is integer, and every instruction set gives equal bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import tvm

import tvmq
from tests.support.models.networks import Feed, Net, Road, drive, feeds_of
from tvmq.codegen.target.cpu import missing_features, resolve_target

TARGETS = ("llvm -mcpu=core-avx2", "llvm -mcpu=skylake-avx512", "llvm -mcpu=cascadelake")
CHANNELS = 6


def start(*shapes: tuple[int, ...], opset: int = 17) -> tuple[Net, str]:
    """A network that begins with a convolution of 6 filters."""
    made = Net(*(shapes or ((2, 3, 9, 8),)), opset=opset)
    return made, made.conv("x", made.shapes[0][1], CHANNELS)


def integer_road(net: Net, *outputs: str, least_snr: float = 25.0, feeds: Iterable[Feed] | None = None) -> Road:
    """The whole road; asserts that no operator stays float, exactness everywhere, and a sane error."""
    model = net.model(*outputs)
    feeds = list(feeds) if feeds is not None else feeds_of(model)
    road = drive(model, least_snr=least_snr, feeds=feeds)
    floats = {name: e["why"] for name, e in road.ledger.layers.items() if e["precision"] == "float"}
    assert not floats, floats
    assert_equal_everywhere(road.quantized, feeds[0])
    return road


def assert_equal_everywhere(quantized: tvm.IRModule, *feeds: Feed) -> None:
    """The executables of all instruction sets that this CPU runs give what the definition says."""
    expected = [tvmq.reference.run(quantized, feed) for feed in feeds]
    for target in TARGETS:
        if missing_features(resolve_target(target).needs):
            continue
        executable = tvmq.build(quantized, target)
        for feed, arrays in zip(feeds, expected, strict=True):
            for found, array in zip(executable.run(feed), arrays, strict=True):
                np.testing.assert_array_equal(found, array, err_msg=target)


def quantize_everywhere(mod: tvm.IRModule, feeds: Sequence[Feed], *checked: Feed, **options: object) -> tvm.IRModule:
    """The integer module of a module without parameters; equal to the definition for every instruction set."""
    quantized = tvmq.quantize(mod, None, feeds, config=tvmq.qconfig(**options), guard=None)
    assert_equal_everywhere(quantized, *checked)
    return quantized
