"""Sounds and a tokenizer that tests make themselves."""

from __future__ import annotations

import wave
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

RATE = 8000


def write_wav(path, codes, *, width=2, channels=1, rate=RATE):
    """Write codes (frames, channels) of so many bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = {1: np.uint8, 2: "<i2", 4: "<i4"}.get(width)
    data = np.asarray(codes, kind).tobytes() if kind else b"".join(int(c).to_bytes(3, "little", signed=True) for c in codes)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)
    return path


@dataclass
class LetterTokenizer:
    """A word for each letter; with what `tokenizers` has to cut and to fill up."""

    length: int | None = None
    padding: dict | None = None

    def enable_truncation(self, length):
        self.length = length

    def enable_padding(self, length, pad_id):
        self.padding = {"length": length, "pad_id": pad_id}

    def no_truncation(self):
        self.length = None

    def no_padding(self):
        self.padding = None

    def token_to_id(self, name):
        return {"[PAD]": 7}.get(name)

    def encode_batch(self, texts):
        return [self._encode([ord(letter) for letter in text][: self.length]) for text in texts]

    def _encode(self, ids):
        fill = 0 if self.padding is None else self.padding["length"] - len(ids)
        pad = [] if self.padding is None else [self.padding["pad_id"]] * fill
        return SimpleNamespace(ids=ids + pad, attention_mask=[1] * len(ids) + [0] * fill, type_ids=[0] * (len(ids) + fill))
