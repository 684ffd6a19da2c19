"""`tvmq.generate`: the loop that writes a text, token by token.

What a model computes for a position does not depend on the chunks, batches and threads that it runs in, nor on the CPU,
and choices are made of whole numbers. So a text is a function of model, prompt and options. A receipt says what was
computed, position by position (receipt.py), and `tvmq.replay` computes it again by the NumPy definition.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.errors import ConfigError
from tvmq.runtime.executable import Executable
from tvmq.tools.generation.decoder_interface import read_interface
from tvmq.tools.generation.decoding_run import DecodingRun, check_tokens, hash_arrays, is_text
from tvmq.tools.generation.receipt import TextReceipt, hash_model, write_receipt
from tvmq.tools.generation.sampling import Sampling

OnToken = Callable[[int, int], None]


def generate(
    exe: Executable,
    tokens: Any,
    *,
    max_new_tokens: int = 64,
    temperature: float = 0.0,
    top_k: int | None = None,
    seed: int = 0,
    stop: int | Collection[int] = (),
    chunk: int = 128,
    receipt: str | Path | None = None,
    on_token: OnToken | None = None,
    progress: bool | None = None,
) -> Any:
    """Tokens that a language model writes behind a text.

    exe             takes tokens [batch, sequence] and gives logits [batch, sequence, words]; it may take positions, a
                    mask and caches, which are outputs of the call before. Without caches the whole text goes through
                    the model for each token
    tokens          integers of one text, or a list of several; texts of one length run together
    max_new_tokens  tokens for each text, at most
    temperature     0: always the token of the highest logit; 1: by the model's probabilities
    top_k           draw from so many tokens alone
    seed            of the drawing; text number n of several has seed + n
    stop            token that ends a text, or several; it is the last one of the result
    chunk           tokens of the prompt that go through the model in one call; no result depends on it
    receipt         path of a JSON file with the hashes of what was computed, for `tvmq.replay`
    on_token        called with the number of the text and each new token
    progress        show a line on stderr; None: on a terminal
    returns         int64 [tokens] for one text, a list of such arrays for several
    raises          ConfigError for options out of range and a model that is no decoder, DataError for tokens that it
                    does not have and what `exe.run` raises, OutputError if the receipt cannot be written

        tokens = tvmq.generate(exe, tokenizer.encode("Once upon a time").ids, max_new_tokens=32)
        print(tokenizer.decode(tokens))
    """
    interface = read_interface(exe.input_info, exe.output_info)
    texts = check_tokens(tokens, interface.words, "generate")
    sampling = Sampling(temperature, top_k, seed).check()
    stops = _check_stops(stop)
    for name, value in (("max_new_tokens", max_new_tokens), ("chunk", chunk)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"generate: {name} must be a whole number of at least 1. Got {value!r} instead")
    written = [_Text(text, replace(sampling, seed=(seed + number) % 2**64)) for number, text in enumerate(texts)]
    with _progress_line(max_new_tokens * len(written), progress) as advance:

        def tell(text: int, token: int) -> None:
            advance()
            if on_token is not None:
                on_token(text, token)

        for numbers in _batches(texts, interface.batch):
            run = DecodingRun(interface, exe.run, len(numbers), chunk)
            loop = _Loop(run, [written[number] for number in numbers], numbers, stops, hashes=receipt is not None)
            loop.write(max_new_tokens, tell)
    if receipt is not None:
        entries = [text.to_receipt() for text in written]
        write_receipt(Path(receipt), hash_model(exe.module), sorted(stops), max_new_tokens, entries)
    results = [np.array(text.new, np.int64) for text in written]
    return results[0] if is_text(tokens) else results


@dataclass
class _Text:
    """A text being written: prompt, new tokens, and the hashes of its positions."""

    prompt: np.ndarray
    sampling: Sampling
    new: list[int] = field(default_factory=list)
    logits: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    is_done: bool = False

    def to_receipt(self) -> TextReceipt:
        s = self.sampling
        prompt = [int(token) for token in self.prompt]
        return TextReceipt(prompt, self.new, s.temperature, s.top_k, s.seed, self.logits, self.states)


class _Loop:
    """Texts of one batch: prompts first, then a token for each in every call."""

    def __init__(
        self, run: DecodingRun, texts: Sequence[_Text], numbers: Sequence[int], stops: Collection[int], *, hashes: bool
    ) -> None:
        self._run, self._texts, self._numbers, self._stops, self._hashes = run, texts, numbers, stops, hashes

    def write(self, count: int, tell: OnToken) -> None:
        """Write so many tokens behind each text, or fewer where one of them ends it."""
        tokens = np.stack([text.prompt for text in self._texts])
        for step in range(count):
            last = self._feed(tokens)
            for number, text, logits in zip(self._numbers, self._texts, last, strict=True):
                if not text.is_done:
                    text.new.append(text.sampling.choose(logits, self._run.length - 1))
                    text.is_done = text.new[-1] in self._stops
                    tell(number, text.new[-1])
            if all(text.is_done for text in self._texts) or step == count - 1:
                return
            # a text that has ended goes on with its last token, for nothing, until the others have ended as well
            tokens = np.array([[text.new[-1]] for text in self._texts], np.int64)

    def _feed(self, tokens: np.ndarray) -> np.ndarray:
        begin = self._run.length
        if not self._hashes:
            return self._run.feed(tokens)

        def hash_logits(logits: np.ndarray) -> None:
            for text, rows in zip(self._texts, logits, strict=True):
                if not text.is_done:
                    text.logits += [hash_arrays([row]) for row in rows]

        last = self._run.feed(tokens, watch=hash_logits)
        for text, states in zip(self._texts, self._run.state_digests(begin), strict=True):
            if not text.is_done:
                text.states += states
        return last


def _batches(texts: Sequence[np.ndarray], most: int | None) -> Iterator[list[int]]:
    """Numbers of texts of one length, as many as the model takes together.

    raises  ConfigError for a model of more texts than there are
    """
    if most is not None and most > 1:
        raise ConfigError(f"generate: the model takes batches of {most} texts alone; export it for any batch, or for 1")
    lengths: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        lengths.setdefault(len(text), []).append(number)
    for numbers in lengths.values():
        yield from ([number] for number in numbers) if most == 1 else [numbers]


def _check_stops(stop: int | Collection[int]) -> frozenset[int]:
    values = [stop] if isinstance(stop, int | np.integer) else list(stop)
    if not all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values):
        raise ConfigError(f"generate: stop must be a token, or several. Got {stop!r} instead")
    return frozenset(int(value) for value in values)


@contextmanager
def _progress_line(total: int, progress: bool | None) -> Iterator[Callable[[], None]]:
    """A function that tells after each token, in one line of stderr, how many there are, and how many a second."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda: None
        return
    count, begin = 0, time.perf_counter()

    def advance() -> None:
        nonlocal count
        count += 1
        rate = count / max(time.perf_counter() - begin, 1e-9)
        text = f"\r\x1b[2Kgenerate: {count} of {total} tokens, {rate:.1f} a second"
        print(text, end="", file=sys.stderr, flush=True)

    yield advance
    print(file=sys.stderr)
