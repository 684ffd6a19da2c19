"""Purposes of the inputs and outputs of a decoder: tokens, positions, a mask, caches, logits.

Exporters differ in names; what a tensor is for is read from its name, its type and its axes:

    tokens      the integers [batch, sequence] that are neither of the next two
    positions   integers with "position" in the name, [batch, sequence] or [sequence]
    mask        a tensor with "mask" in the name, [batch, past + sequence]; all positions are kept
    caches      an input and an output whose names differ in "past" and "present" alone, and whose shapes in one axis
    logits      the output that is no cache, [batch, sequence, words]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tvmq.errors import ConfigError
from tvmq.runtime.inputs import TensorInfo

# Words of a name that say whether a cache is read or given
BEFORE, AFTER = ("past", "in", "input", "old"), ("present", "out", "output", "new")
BOTH = re.compile(r"key[._]?values?\b|key_values_")  # what some exporters call the caches of both kinds


@dataclass(frozen=True)
class Cache:
    """Rows of positions that a call appends to.

    input, output  names
    place          of the output among all outputs
    axis           of positions
    """

    input: str
    output: str
    place: int
    axis: int
    shape: tuple[int | str, ...]
    dtype: str

    def sizes(self, batch: int) -> tuple[int, ...]:
        """Shape of the cache of no positions."""
        return tuple(
            0 if axis == self.axis else batch if isinstance(size, str) else size for axis, size in enumerate(self.shape)
        )


@dataclass(frozen=True)
class DecoderInterface:
    """Names of a decoder's inputs, and where its results stand.

    logits  place of the logits among the outputs
    words   size of the vocabulary
    length  tokens that a call takes; None: any number
    batch   texts that a call takes; None: any number
    """

    tokens: TensorInfo
    positions: TensorInfo | None
    mask: TensorInfo | None
    caches: tuple[Cache, ...]
    logits: int
    words: int
    length: int | None
    batch: int | None


def read_interface(inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> DecoderInterface:
    """The interface of a decoder.

    raises  ConfigError naming the input or output that has no place in it
    """
    caches = _pair_caches(inputs, outputs)
    rest = [info for info in inputs if info.name not in {cache.input for cache in caches}]
    masks = [info for info in rest if "mask" in info.name.lower()]
    positions = [info for info in rest if "position" in info.name.lower() and info not in masks]
    tokens = [info for info in rest if info not in (*masks, *positions)]
    if len(tokens) != 1 or len(masks) > 1 or len(positions) > 1:
        raise ConfigError(
            "generate: a decoder takes tokens, and may take one mask, positions and caches (past.* beside present.*). "
            f"This model's other inputs are {', '.join(map(str, rest)) or 'none'}"
        )
    (ids,) = tokens
    if not ids.dtype.startswith("int") or len(ids.shape) != 2:
        raise ConfigError(f"generate: tokens are integers [batch, sequence]. The model takes {ids} instead")
    places = {cache.place for cache in caches}
    left = [(place, info) for place, info in enumerate(outputs) if place not in places]
    named = [pair for pair in left if "logits" in pair[1].name.lower()] or left
    if len(named) != 1 or len(named[0][1].shape) != 3 or not isinstance(named[0][1].shape[2], int):
        raise ConfigError(
            "generate: the model must have one output of logits [batch, sequence, words] beside its caches. "
            f"It has {', '.join(str(info) for _, info in left) or 'none'}"
        )
    batch, length = (size if isinstance(size, int) else None for size in ids.shape)
    if length is not None and length != 1:
        raise ConfigError(
            f"generate: the model takes {length} tokens in each call; export it for any number of tokens, or for 1"
        )
    if length is not None and not caches:
        raise ConfigError("generate: a model of one token in each call needs caches, which this one has not")
    place, logits = named[0]
    return DecoderInterface(
        ids, next(iter(positions), None), next(iter(masks), None), caches, place, int(logits.shape[2]), length, batch
    )


def _pair_caches(inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> tuple[Cache, ...]:
    """Caches in the order of the inputs."""
    by_words = {_words(info.name, AFTER): (place, info) for place, info in enumerate(outputs)}
    caches = []
    for info in inputs:
        place, output = by_words.get(_words(info.name, BEFORE), (0, None))
        axis = None if output is None or _words(info.name) == _words(output.name) else _appended_axis(info, output)
        if output is not None and axis is not None:
            caches.append(Cache(info.name, output.name, place, axis, info.shape, info.dtype))
    return tuple(caches)


def _words(name: str, without: Sequence[str] = ()) -> tuple[str, ...]:
    words = re.split(r"[^0-9a-z]+", BOTH.sub("", name.lower()))
    return tuple(word for word in words if word and word not in without)


def _appended_axis(before: TensorInfo, after: TensorInfo) -> int | None:
    """The only axis, of any size, in which shapes differ; None for tensors that are no cache."""
    if before.dtype != after.dtype or len(before.shape) != len(after.shape):
        return None
    axes = [axis for axis, (a, b) in enumerate(zip(before.shape, after.shape, strict=True)) if a != b]
    return axes[0] if len(axes) == 1 and isinstance(before.shape[axes[0]], str) else None
