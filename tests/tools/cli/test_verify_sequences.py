"""`tvmq verify` of a model that hands a state to its next call: sequences in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tests.support.models.stateful_models import gru_cell, steps_of


def test_sequences_of_a_file(cli: Any, tmp_path: Path) -> None:
    mod, params = tvmq.from_onnx(gru_cell())
    sequences = steps_of((1, 8), 3, 0, (1,) * 4)
    tvmq.build(tvmq.quantize(mod, params, sequences, guard=None)).save(tmp_path / "m.tvmq")
    np.savez(tmp_path / "s.npz", x=np.stack([[call["x"] for call in calls] for calls in sequences]))
    files = tmp_path / "m.tvmq", "--data", tmp_path / "s.npz", "--quiet"
    exact, invariant = cli("verify", *files), cli("verify", *files, "--invariance")
    assert exact.code == 0 and "exact: yes" in exact.out
    assert invariant.code == 0 and "invariant: yes (3 samples)" in invariant.out and "sessions: yes" in invariant.out


def test_samples_of_a_file_are_sequences_of_one_call(cli: Any, tmp_path: Path) -> None:
    """The file that `tvmq quantize` took: the command that its summary names is run on it."""
    mod, params = tvmq.from_onnx(gru_cell())
    sequences = steps_of((1, 8), 5, 0, (1,))
    tvmq.build(tvmq.quantize(mod, params, sequences, guard=None)).save(tmp_path / "m.tvmq")
    np.savez(tmp_path / "s.npz", x=np.concatenate([calls[0]["x"] for calls in sequences]))
    files = tmp_path / "m.tvmq", "--data", tmp_path / "s.npz", "--quiet"
    exact, invariant = cli("verify", *files), cli("verify", *files, "--invariance", "--samples", 4)
    assert exact.code == 0 and "exact: yes" in exact.out, exact.err
    assert invariant.code == 0 and "invariant: yes (4 samples)" in invariant.out, invariant.err
