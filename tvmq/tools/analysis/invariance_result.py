"""Results of `tvmq.check_invariance`.

Tests: tests/tools/analysis/test_invariance.py
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class InvarianceCheck:
    """Results in one kind of surroundings.

    what       "batch and order", "threads", "masked values", "padding on the right" or "padding on the left"; of a
               model with a state "chunks", "batch", "sessions" or "threads"
    runs       of the model that were compared with samples run alone; 0 if there is nothing to vary
    values     that were compared
    differing  of them have other bits
    note       why there is nothing to vary; where values differ, the first layer that does, and what mends it
    proved     the definition gives the same by the rules of its operators (batch_dimension.py, padding.py); runs
               confirm it
    condition  under which it is proved, and what was measured of it; of what is not proved, which layer has no rule
    """

    what: str
    runs: int
    values: int = 0
    differing: int = 0
    note: str = ""
    proved: bool = False
    condition: str = ""

    def __str__(self) -> str:
        if not self.runs:
            return f"{self.what}: not tried, {self.note}"
        if not self.differing:
            proof = ", proved" if self.proved else ", not proved" if self.condition else ""
            proof += (" where " if self.proved else ": ") + self.condition if self.condition else ""
            return f"{self.what}: yes{proof} ({self.values} values in {self.runs} runs have the same bits)"
        return f"{self.what}: no ({self.differing} of {self.values} values in {self.runs} runs differ; {self.note})"


@dataclass(frozen=True)
class Invariance:
    """Result of `tvmq.check_invariance`; prints a line for each kind of surroundings."""

    samples: int
    checks: tuple[InvarianceCheck, ...]

    @property
    def holds(self) -> bool:
        """True if no value differs."""
        return not any(check.differing for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return {"invariant": self.holds, **asdict(self)}

    def __str__(self) -> str:
        answer = "yes" if self.holds else "no"
        return "\n".join([f"invariant: {answer} ({self.samples} samples)", *(f"  {check}" for check in self.checks)])
