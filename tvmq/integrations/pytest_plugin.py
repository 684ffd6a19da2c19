"""A plugin of pytest: results of a saved model must not change, and its figures must not get worse.

    def test_int8(tvmq_record):
        tvmq_record.check_results("model.tvmq", {"x": np.load("x.npy")})
        tvmq_record.check_figure("top1", accuracy, drop=0.002)

`pytest --tvmq-update` writes what is to hold into test_NAME.tvmq.json beside the test file; all other runs compare, and
fail where something is not recorded. docs/continuous-integration.md shows both, and a GitHub workflow.

Tests: tests/integrations/test_pytest_plugin.py
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import numpy as np

UPDATE = "--tvmq-update"


class RecordedResults:
    """Results and figures that a test holds against a file.

    file    JSON: {test: {check: what was recorded}}
    test    name of the test
    update  True: what is found now is what is to hold
    """

    def __init__(self, file: Path, test: str, *, update: bool) -> None:
        self.file, self.test, self.update = file, test, update
        self._new: dict[str, Any] = {}

    def check_results(self, model: Any, inputs: Mapping[str, Any], *, name: str = "results") -> list[np.ndarray]:
        """Run a model, and fail if a bit of its outputs is another than recorded; returns the outputs.

        model   path of a .tvmq file, or a loaded model
        inputs  {input: array}, any number of samples
        name    of the check, where a test has several
        """
        import numpy as np

        from tvmq.runtime.load_model import load

        exe = load(model) if isinstance(model, str | Path) else model
        arrays = {key: np.asarray(value) for key, value in inputs.items()}
        outputs: list[np.ndarray] = exe.run_many(arrays)
        now: dict[str, Any] = {
            "inputs": _hash_of([arrays[key] for key in sorted(arrays)]),
            "outputs": {
                info.name: {"form": f"{y.dtype} {list(y.shape)}", "sha256": _hash_of([y])}
                for info, y in zip(exe.output_info, outputs, strict=True)
            },
        }
        recorded = self._recall(name, now)
        if recorded["inputs"] != now["inputs"]:
            pytest.fail(f"{self.test}, {name}: the inputs are others than those of the record; {UPDATE} takes these")
        changed = [key for key, value in now["outputs"].items() if recorded["outputs"].get(key) != value]
        if changed or recorded["outputs"].keys() != now["outputs"].keys():
            what = ", ".join(f"'{key}'" for key in changed) or "the list of outputs"
            pytest.fail(
                f"{self.test}, {name}: {what} changed; if that is meant, pytest {UPDATE} records it. `tvmq compare OLD "
                "NEW --data ...` shows the layers"
            )
        return outputs

    def check_figure(self, name: str, value: float, *, drop: float = 0.0) -> None:
        """Fail if a figure, of which more is better, is lower than recorded by more than `drop`, in its own units."""
        recorded = float(self._recall(name, float(value)))
        if not value >= recorded - drop:
            pytest.fail(f"{self.test}: {name} is {value:.6g}, recorded is {recorded:.6g}, and {drop:g} less is allowed")

    def _recall(self, name: str, now: Any) -> Any:
        """The record of a check: now's with --tvmq-update. pytest fails where nothing is recorded"""
        if self.update:
            self._new[name] = now
            return now
        known = _read(self.file).get(self.test, {})
        if name not in known:
            pytest.fail(f"{self.test}, {name}: nothing is recorded in '{self.file.name}'; pytest {UPDATE} records it")
        return known[name]

    def save(self) -> None:
        """Write what is to hold from now on, beside what other tests recorded."""
        if self._new:
            whole = {**_read(self.file), self.test: self._new}
            self.file.write_text(json.dumps(dict(sorted(whole.items())), indent=1) + "\n", encoding="utf-8")


def _read(file: Path) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return known


def _hash_of(arrays: Sequence[np.ndarray]) -> str:
    """SHA-256 of types, shapes and bits."""
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(f"{array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return whole.hexdigest()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --tvmq-update."""
    group = parser.getgroup("tvmq")
    group.addoption(UPDATE, action="store_true", help="record what tests of saved models find, as what is to hold")


@pytest.fixture
def tvmq_record(request: pytest.FixtureRequest) -> Iterator[RecordedResults]:
    """Results and figures of this test, held against those in test_NAME.tvmq.json."""
    file = request.path.with_suffix(".tvmq.json")
    record = RecordedResults(file, request.node.name, update=request.config.getoption(UPDATE))
    yield record
    record.save()
