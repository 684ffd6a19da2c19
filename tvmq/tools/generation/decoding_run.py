"""`DecodingRun`: texts on their way through a decoder, whose caches it carries from call to call.

Tests: tests/tools/generation/test_generate.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.errors import DataError
from tvmq.tools.generation.decoder_interface import DecoderInterface

Run = Callable[[Mapping[str, np.ndarray]], list[np.ndarray]]


class DecodingRun:
    """Texts of equal length in one batch.

    interface  of the model
    run        {input: array} -> outputs: an executable's `run`, or the definition's
    batch      number of texts
    chunk      tokens of a text that go through the model in one call, at most
    length     tokens that went through so far
    """

    def __init__(self, interface: DecoderInterface, run: Run, batch: int, chunk: int) -> None:
        self._interface, self._run = interface, run
        self._batch, self._chunk = batch, interface.length or chunk
        self._caches = {cache.input: np.zeros(cache.sizes(batch), np.dtype(cache.dtype)) for cache in interface.caches}
        self._seen = np.zeros((batch, 0), np.int64)
        self.length = 0

    def feed(self, tokens: np.ndarray, *, watch: Callable[[np.ndarray], None] | None = None) -> np.ndarray:
        """Logits behind the last of these tokens, float32 [batch, words].

        tokens  int [batch, count], count at least 1
        watch   gets the logits of each chunk, [batch, tokens of the chunk, words]
        """
        logits = np.zeros((self._batch, 0, self._interface.words), np.float32)
        for begin in range(0, tokens.shape[1], self._chunk):
            logits = self._call(tokens[:, begin : begin + self._chunk])
            if watch is not None:
                watch(logits)
        return logits[:, -1]

    def _call(self, tokens: np.ndarray) -> np.ndarray:
        interface, count = self._interface, tokens.shape[1]
        if not interface.caches:  # the whole text goes through again
            self._seen = np.concatenate([self._seen, tokens], axis=1)
            tokens = self._seen
        begin, end = self.length + count - tokens.shape[1], self.length + count
        feed = {interface.tokens.name: tokens.astype(interface.tokens.dtype), **self._caches}
        if interface.positions is not None:
            places = np.arange(begin, end, dtype=interface.positions.dtype)
            feed[interface.positions.name] = np.broadcast_to(
                places, (self._batch, len(places)) if len(interface.positions.shape) == 2 else places.shape
            )
        if interface.mask is not None:
            feed[interface.mask.name] = np.ones((self._batch, end), interface.mask.dtype)
        results = self._run(feed)
        for cache in interface.caches:
            self._caches[cache.input] = results[cache.place]
        self.length = end
        return results[interface.logits][:, -count:]

    def state_digests(self, begin: int) -> list[list[str]]:
        """For each text the hashes of what its caches hold for positions from `begin` on; none without caches."""
        rows = [(np.moveaxis(self._caches[cache.input], cache.axis, 1), cache.axis) for cache in self._interface.caches]
        if not rows:
            return [[] for _ in range(self._batch)]
        return [
            [hash_arrays([array[text, place] for array, _ in rows]) for place in range(begin, self.length)]
            for text in range(self._batch)
        ]


def hash_arrays(arrays: Sequence[np.ndarray]) -> str:
    """The sha256 of the bytes of arrays, little-endian, one after the other.

    >>> hash_arrays([np.float32([1])]) == hash_arrays([np.array([1], ">f4")])
    True
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def check_tokens(tokens: Any, words: int, caller: str) -> list[np.ndarray]:
    """Texts as arrays of int64; one text, or several.

    raises   DataError for what are no tokens, for a text of none, and for tokens that the vocabulary lacks
    """
    is_list = isinstance(tokens, Sequence | np.ndarray) and not isinstance(tokens, str)
    texts: list[Any] = [tokens] if is_text(tokens) else list(tokens) if is_list else []
    if not texts:
        raise DataError(f"{caller}: tokens must be integers, of one text or of several. Got {tokens!r:.60} instead")
    arrays = []
    for number, text in enumerate(texts):
        array = np.asarray(text) if not isinstance(text, str) else np.asarray([])
        where = f"{caller}: text {number}" if len(texts) > 1 else f"{caller}: the text"
        if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
            raise DataError(f"{where} must be a list of at least one token, as integers. Got {text!r:.60} instead")
        wrong = (array < 0) | (array >= words)
        if wrong.any():
            raise DataError(f"{where} holds token {int(array[wrong][0])}; the model has tokens 0 to {words - 1}")
        arrays.append(array.astype(np.int64))
    return arrays


def is_text(tokens: Any) -> bool:
    """True for the tokens of one text."""
    if isinstance(tokens, np.ndarray):
        return tokens.ndim == 1
    return isinstance(tokens, Sequence) and not isinstance(tokens, str) and all(np.ndim(one) == 0 for one in tokens)
