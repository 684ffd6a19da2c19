"""Receipts: what a model computed for a text, as hashes by position; written by `generate`, checked by `replay`.

    {"format": "tvmq receipt 1", "model": sha256, "stop": [2], "max_new_tokens": 32, "texts": [
        {"prompt": [12, 7], "tokens": [9, 4], "temperature": 0.0, "top_k": null, "seed": 0,
         "logits": [sha256 of position 0, 1, ...], "states": [the same of the rows of the caches]}]}

Position t is that of token t of prompt and result together. Its logits choose the token behind it; those of the last
token were never computed. Logits are float32, little-endian.

Tests: tests/tools/generation/test_replay_receipt.py
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tvm

from tvmq.errors import DataError, OutputError
from tvmq.graph.module_functions import plain_module
from tvmq.runtime.artifact.code_bytes import CONSTANTS, MODULE
from tvmq.runtime.artifact.module_bytes import module_to_bytes

FORMAT = "tvmq receipt 1"
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_BYTES = 2**28


@dataclass(frozen=True)
class TextReceipt:
    """Receipt of a text: tokens, options of the choice, and hashes of positions 0, 1, ..."""

    prompt: list[int]
    tokens: list[int]
    temperature: float
    top_k: int | None
    seed: int
    logits: list[str]
    states: list[str]

    @property
    def context(self) -> list[int]:
        """Tokens that went through the model: all but the last one."""
        return [*self.prompt, *self.tokens][:-1]


@dataclass(frozen=True)
class Receipt:
    """A receipt that was read.

    model  sha256 of the module and its constants, see `hash_model`
    """

    model: str
    stop: list[int]
    max_new_tokens: int
    texts: list[TextReceipt]


def hash_model(mod: tvm.IRModule) -> str:
    """The sha256 of an integer module, its constants included: equal for all CPUs that it is compiled for."""
    blobs = module_to_bytes(plain_module(mod))
    return hashlib.sha256(blobs[MODULE] + blobs[CONSTANTS]).hexdigest()


def write_receipt(
    path: Path, model: str, stop: Sequence[int], max_new_tokens: int, texts: Sequence[TextReceipt]
) -> None:
    """Write a receipt; raises OutputError where that is impossible."""
    content: dict[str, Any] = {"format": FORMAT, "model": model, "stop": list(stop), "max_new_tokens": max_new_tokens}
    content["texts"] = [asdict(text) for text in texts]
    try:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"generate: cannot write the receipt '{path}': {error.strerror or error}") from error


def read_receipt(path: Path) -> Receipt:
    """Read a receipt.

    raises   DataError for a file that is none, naming what is wrong in it
    """
    where = f"replay: '{path}'"
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{where} has more than {MOST_BYTES >> 20} MB; receipts are small")
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{where} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is no JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{where} is no receipt of this version: its 'format' must be '{FORMAT}'")
    texts = content.get("texts")
    if not isinstance(content.get("model"), str) or not SHA256.fullmatch(content["model"]):
        raise DataError(f"{where}: 'model' must be a sha256")
    if not _are_tokens(content.get("stop")) or not _is_whole(content.get("max_new_tokens")):
        raise DataError(f"{where}: 'stop' must be a list of tokens, 'max_new_tokens' a whole number")
    if not isinstance(texts, list) or not texts:
        raise DataError(f"{where}: 'texts' must be a list of at least one text")
    read = [_read_text(f"{where}: text {number}", text) for number, text in enumerate(texts)]
    for number, text in enumerate(read):
        ends = [place for place, token in enumerate(text.tokens, 1) if token in content["stop"]]
        if len(text.tokens) != (ends or [content["max_new_tokens"]])[0]:
            raise DataError(f"{where}: text {number} ends neither at a token of 'stop' nor after 'max_new_tokens'")
    return Receipt(content["model"], content["stop"], content["max_new_tokens"], read)


def _read_text(where: str, text: Any) -> TextReceipt:
    names = TextReceipt.__dataclass_fields__
    if not isinstance(text, Mapping) or set(text) != set(names):
        raise DataError(f"{where} must have {', '.join(names)}")
    entry = TextReceipt(**text)
    if not _are_tokens(entry.prompt) or not _are_tokens(entry.tokens) or not entry.prompt or not entry.tokens:
        raise DataError(f"{where}: 'prompt' and 'tokens' must be lists of at least one token")
    if isinstance(entry.temperature, bool) or not isinstance(entry.temperature, int | float):
        raise DataError(f"{where}: 'temperature' must be a number")
    if not _is_whole(entry.seed) or not (entry.top_k is None or _is_whole(entry.top_k)):
        raise DataError(f"{where}: 'seed' and 'top_k' must be whole numbers")
    for name, needed in (("logits", True), ("states", False)):
        hashes = getattr(entry, name)
        fits = isinstance(hashes, list) and (len(hashes) == len(entry.context) or not (needed or hashes))
        if not fits or not all(isinstance(one, str) and SHA256.fullmatch(one) for one in hashes):
            raise DataError(f"{where}: '{name}' must be {len(entry.context)} hashes, one for each token but the last")
    return entry


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_tokens(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_whole, value))
