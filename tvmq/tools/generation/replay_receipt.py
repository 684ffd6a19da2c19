"""`tvmq.replay`: compute again what a receipt says, and name the first position that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.errors import ConfigError, DataError
from tvmq.reference import Reference
from tvmq.runtime.executable import Executable
from tvmq.tools.generation.decoder_interface import read_interface
from tvmq.tools.generation.decoding_run import DecodingRun, Run, check_tokens, hash_arrays
from tvmq.tools.generation.receipt import Receipt, TextReceipt, hash_model, read_receipt
from tvmq.tools.generation.sampling import Sampling

CHUNK = 64  # positions of one call: of the definition too, which holds all of its values


@dataclass(frozen=True)
class ReceiptDifference:
    """First difference: "logits", "states" or "token", the token that the logits of the position choose."""

    text: int
    position: int
    what: str
    received: str
    computed: str

    def __str__(self) -> str:
        subject = {"logits": "the logits", "states": "the caches", "token": "the token behind"}[self.what]
        return (
            f"{subject} of position {self.position} of text {self.text}: receipt {self.received[:16]}, "
            f"computed {self.computed[:16]}"
        )


@dataclass(frozen=True)
class ReceiptCheck:
    """Result of `tvmq.replay`; prints "receipt: holds", or "receipt: does not hold" and where.

    positions  that were compared
    by         "the NumPy definition" or "compiled code"
    """

    positions: int
    by: str
    first: ReceiptDifference | None = None

    @property
    def holds(self) -> bool:
        """True if nothing differs."""
        return self.first is None

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return {"holds": self.holds, **asdict(self)}

    def __str__(self) -> str:
        if self.first is None:
            return f"receipt: holds ({self.positions} positions computed again by {self.by})"
        return f"receipt: does not hold; the first difference is in {self.first}"


def replay(
    receipt: str | Path,
    exe: Executable,
    *,
    positions: Iterable[int] | None = None,
    compiled: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> ReceiptCheck:
    """Compute positions of a receipt again, and compare logits, rows of the caches and chosen tokens.

    receipt    path of a file that `generate` wrote
    exe        the model; one that was loaded without its code will do, unless `compiled`
    positions  to compare, counted from the first token of the prompt; None: all. Those before them are computed as well
    compiled   by compiled code; False: by the NumPy definition
    advance    called after each position
    raises     DataError for a file that is no receipt or one of another model, ConfigError for positions that it
               does not have and a model that is no decoder

        print(tvmq.replay("receipt.json", tvmq.load("model.tvmq"), positions=[17]))
    """
    content = read_receipt(Path(receipt))
    interface = read_interface(exe.input_info, exe.output_info)
    model = hash_model(exe.module)
    if content.model != model:
        raise DataError(
            f"replay: '{receipt}' is of the model {content.model[:16]}, this one is {model[:16]}: other weights, "
            "scales or operators"
        )
    wanted = _wanted_positions(content, positions)
    if compiled:
        run: Run = exe.run
    else:
        reference = Reference(exe.module)
        run = lambda feed: reference.run(feed)  # noqa: E731
    checked = 0
    for number, text in enumerate(content.texts):
        places = wanted if positions is not None else range(len(text.context))
        check_tokens(text.context, interface.words, f"replay: '{receipt}'")
        comparison = _Comparison(number, text, content, {place for place in places if place < len(text.context)})
        first = comparison.run(DecodingRun(interface, run, 1, CHUNK), advance)
        checked += comparison.checked
        if first is not None:
            return ReceiptCheck(checked, _name(compiled), first)
    return ReceiptCheck(checked, _name(compiled))


def _name(compiled: bool) -> str:
    return "compiled code" if compiled else "the NumPy definition"


def _wanted_positions(receipt: Receipt, positions: Iterable[int] | None) -> Sequence[int]:
    wanted = sorted(set(positions or ()))
    most = max(len(text.context) for text in receipt.texts)
    if positions is not None and (not wanted or wanted[0] < 0 or wanted[-1] >= most):
        raise ConfigError(f"replay: positions must be among 0 to {most - 1}. Got {wanted} instead")
    return wanted


class _Comparison:
    """A text of a receipt beside what is computed now."""

    def __init__(self, number: int, text: TextReceipt, receipt: Receipt, places: set[int]) -> None:
        self._number, self._text, self._receipt, self._places = number, text, receipt, places
        self._sampling = Sampling(text.temperature, text.top_k, text.seed).check()
        self.checked = 0

    def run(self, run: DecodingRun, advance: Callable[[], None]) -> ReceiptDifference | None:
        """The first difference, position by position; None where all is as received."""
        computed = np.array([self._text.context], np.int64)[:, : max(self._places, default=-1) + 1]
        for begin in range(0, computed.shape[1], CHUNK):
            kept: list[np.ndarray] = []
            run.feed(computed[:, begin : begin + CHUNK], watch=kept.append)
            rows, states = np.concatenate(kept, axis=1)[0], run.state_digests(begin)[0]
            for place, row in enumerate(rows, begin):
                if place not in self._places:
                    continue
                self.checked += 1
                first = self._compare(place, row, states[place - begin] if states else "")
                if first is not None:
                    return first
                advance()
        return None

    def _compare(self, place: int, row: np.ndarray, state: str) -> ReceiptDifference | None:
        text = self._text
        pairs = [("logits", text.logits[place], hash_arrays([row]))]
        if text.states:
            pairs.insert(0, ("states", text.states[place], state))
        behind = place + 1 - len(text.prompt)
        if behind >= 0:
            pairs.append(("token", str(text.tokens[behind]), str(self._sampling.choose(row, place))))
        return next((ReceiptDifference(self._number, place, *pair) for pair in pairs if pair[1] != pair[2]), None)
