"""Roles of inputs and outputs by their names, types and axes, as exporters spell them."""

from __future__ import annotations

import pytest

from tvmq.runtime.inputs import TensorInfo
from tvmq.tools.generation.decoder_interface import read_interface

NAMES = [
    ("past_key_values.0.key", "present.0.key"),
    ("past_key_values.0.key", "present_key_values.0.key"),
    ("past_key_0", "present_key_0"),
    ("key_cache_in", "key_cache_out"),
    ("k0_in", "k0_out"),
]


@pytest.mark.parametrize(("before", "after"), NAMES)
def test_caches_by_name(before: str, after: str) -> None:
    inputs = [TensorInfo("tokens", ("b", "s"), "int32"), TensorInfo(before, ("b", 2, "p", 8), "float32")]
    outputs = [TensorInfo(after, ("b", 2, "p + s", 8), "float32"), TensorInfo("logits", ("b", "s", 50), "float32")]
    found = read_interface(inputs, outputs)
    (cache,) = found.caches
    assert (cache.input, cache.output, cache.place, cache.axis) == (before, after, 0, 2)
    assert (found.logits, found.words, found.length, found.batch) == (1, 50, None, None)
    assert cache.sizes(3) == (3, 2, 0, 8)


def test_rows_along_another_axis_and_one_position_each() -> None:
    inputs = [
        TensorInfo("input_ids", (1, 1), "int64"), TensorInfo("cache_position", ("s",), "int64"),
        TensorInfo("past_0_value", (1, 8, "p"), "uint8"), TensorInfo("past_0_key", (1, 8, "p"), "uint8"),
    ]  # fmt: skip
    outputs = [
        TensorInfo("logits", (1, 1, 50), "float32"), TensorInfo("hidden", (1, 1, 8), "float32"),
        TensorInfo("present_0_key", (1, 8, "p + 1"), "uint8"), TensorInfo("present_0_value", (1, 8, "p + 1"), "uint8"),
    ]  # fmt: skip
    found = read_interface(inputs, outputs)
    assert [(cache.input, cache.place, cache.axis) for cache in found.caches] == [
        ("past_0_value", 3, 2), ("past_0_key", 2, 2)
    ]  # fmt: skip
    assert found.positions is not None and found.mask is None and (found.length, found.batch) == (1, 1)
