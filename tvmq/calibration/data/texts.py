"""Lines of text as samples: words by the model's tokenizer, with the mask of its padding.

    texts.txt       a text in each line
    texts.csv       a column "text", and "label" if there are labels
    tokenizer.json  as the package `tokenizers` reads it, and Hugging Face's models bring it

Tests: tests/calibration/data/test_texts.py
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.regular_file import check_regular
from tvmq.errors import ArtifactError, DataError

KEY = "text"  # of the ledger's entry
SUFFIXES = (".txt", ".csv")
IDS, MASK, TYPES = "ids", "mask", "types"
LONGEST = 512  # words of a text, of models that take any number
MOST_LENGTH = 2**20


@dataclass(frozen=True)
class TextPreprocessing:
    """Function from texts to the inputs of a model, as the model was calibrated with them.

    inputs     {input: "ids", "mask" or "types"}
    length     words of a text, those of padding included
    tokenizer  SHA-256 of the tokenizer's file, which the model does not hold
    words      the tokenizer, once `with_tokenizer` has read it

        prepare = exe.preprocessing.with_tokenizer("tokenizer.json")
        y, = exe.run(prepare(["how are you"]))
    """

    inputs: Mapping[str, str]
    length: int
    tokenizer: str = ""
    words: Any = None

    def with_tokenizer(self, path: str | Path) -> TextPreprocessing:
        """This function with its words, able to be called.

        raises  DataError for no tokenizer, and for another than the model's
        """
        digest, words = read_tokenizer(Path(path))
        if self.tokenizer and digest != self.tokenizer:
            raise DataError(f"preprocessing: '{path}' is another tokenizer than the model was quantized with")
        return replace(self, tokenizer=digest, words=words)

    def __call__(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Inputs {name: int64 (texts, length)}; longer texts are cut. raises DataError without tokenizer"""
        if self.words is None:
            raise DataError("preprocessing: the tokenizer is not there; call with_tokenizer('tokenizer.json')")
        self.words.enable_truncation(self.length)
        self.words.enable_padding(length=self.length, pad_id=pad_id_of(self.words))
        encoded = self.words.encode_batch(list(texts))
        rows = {
            IDS: [one.ids for one in encoded], MASK: [one.attention_mask for one in encoded],
            TYPES: [one.type_ids for one in encoded],
        }  # fmt: skip
        shape = (len(texts), self.length)
        return {name: np.array(rows[role], np.int64).reshape(shape) for name, role in self.inputs.items()}

    def __str__(self) -> str:
        return f"texts of {self.length} words"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON has them; the tokenizer is told by its hash."""
        return {name: value for name, value in asdict(replace(self, words=None)).items() if name != "words"}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> TextPreprocessing:
        """The inverse of `to_json`. raises ArtifactError for fields that are not its own"""
        try:
            inputs = {str(name): role for name, role in fields["inputs"].items()}
            result = cls(inputs, fields["length"], str(fields["tokenizer"]))
            known = set(inputs.values()) <= {IDS, MASK, TYPES}
            is_right = known and type(result.length) is int and 0 < result.length <= MOST_LENGTH
        except (KeyError, TypeError, AttributeError):
            is_right = False
        if not is_right:
            raise ArtifactError("preprocessing: what the model keeps of texts is damaged; quantize the model again")
        return result


def text_inputs_of(
    shapes: Mapping[str, Sequence[int | None] | None], dtypes: Mapping[str, str]
) -> tuple[dict[str, str], int | None]:
    """({input: role}, length) of a model that takes words; None for a dynamic length.

    raises  DataError for a model of other inputs

    >>> text_inputs_of({"input_ids": (1, 16), "mask": (1, None)}, {"input_ids": "int64", "mask": "int64"})
    ({'input_ids': 'ids', 'mask': 'mask'}, 16)
    """
    roles = {name: _role(name) for name in shapes}
    fits = all(
        shape is not None and len(shape) == 2 and dtypes[name].startswith(("int", "uint"))
        for name, shape in shapes.items()
    )
    if not fits or sorted(roles.values()) != sorted(set(roles.values())) or IDS not in roles.values():
        described = ", ".join(f"'{name}' {dtypes[name]} {tuple(s) if s else s}" for name, s in shapes.items())
        raise DataError(
            "data: texts suit a model with inputs of integers of shape (batch, words): words, and perhaps a mask and "
            f"types; this one takes {described}. Give an .npz with its arrays, or a function as file.py:name"
        )
    lengths = {shape[1] for shape in shapes.values() if shape is not None and shape[1] is not None}
    return roles, min(lengths) if lengths else None


def _role(name: str) -> str:
    lower = name.lower()
    return MASK if "mask" in lower else TYPES if "type" in lower or "segment" in lower else IDS


def read_tokenizer(path: Path) -> tuple[str, Any]:
    """(SHA-256, tokenizer) of a file.

    raises  DataError for no tokenizer, and where the package is not installed
    """
    try:
        import tokenizers
    except ImportError as error:
        raise DataError("data: reading texts needs tokenizers; pip install 'tvmq[text]'") from error
    try:
        check_regular(path)
        content = path.read_bytes()
        return hashlib.sha256(content).hexdigest(), tokenizers.Tokenizer.from_buffer(content)
    except Exception as error:  # of the package, an Exception itself
        raise DataError(f"--tokenizer: '{path}' cannot be read as a tokenizer.json ({error})") from error


def pad_id_of(words: Any) -> int:
    """The word of padding: the tokenizer's own, else that of usual names, else 0."""
    known = words.padding
    if known:
        return int(known["pad_id"])
    ids = [words.token_to_id(name) for name in ("[PAD]", "<pad>", "<|endoftext|>")]
    return next((one for one in ids if one is not None), 0)


def read_texts(path: Path) -> tuple[list[str], np.ndarray | None]:
    """(texts, labels or None) of a file.

    raises  DataError for a file that cannot be read, holds no text, or labels that are no numbers
    """
    try:
        check_regular(path)
        if path.suffix.lower() == ".csv":
            return _read_table(path)
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"data: '{path}' cannot be read as texts ({error}); write a text in each line, in UTF-8"
        ) from error
    if not lines:
        raise DataError(f"data: '{path}' holds no text; write one in each line")
    return lines, None


def _read_table(path: Path) -> tuple[list[str], np.ndarray | None]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or "text" not in rows[0]:
        raise DataError(f"data: '{path}' has no column 'text'; its first line names the columns: text,label")
    texts = [row["text"] or "" for row in rows]
    if "label" not in rows[0]:
        return texts, None
    try:
        return texts, np.array([int(row["label"]) for row in rows])
    except (TypeError, ValueError) as error:
        raise DataError(f"data: '{path}' has a label that is no number of a class ({error})") from error


def encode_texts(
    texts: Sequence[str], roles: Mapping[str, str], length: int | None, tokenizer: Path
) -> tuple[dict[str, np.ndarray], TextPreprocessing]:
    """({input: array}, how they were prepared); of a dynamic length that of the longest text, at most LONGEST."""
    digest, words = read_tokenizer(tokenizer)
    if length is None:
        words.no_truncation()
        words.no_padding()
        length = min(LONGEST, max(len(one.ids) for one in words.encode_batch(list(texts))))
    prepare = TextPreprocessing(dict(roles), max(1, length), digest, words)
    return prepare(texts), prepare
