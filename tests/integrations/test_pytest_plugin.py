"""The plugin of pytest: a changed bit and a worse figure fail, an update records, nothing recorded is no success."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from tvmq.integrations.pytest_plugin import RecordedResults

pytest_plugins = ["pytester"]
X = np.float32([[1, 2], [3, 4]])
USE = """
def test_figure(tvmq_record):
    tvmq_record.check_figure("top1", {figure}, drop=0.01)
"""


def model(factor: float = 2.0, names: tuple[str, ...] = ("y",)) -> SimpleNamespace:
    """A stand-in for a loaded model."""
    outputs = [SimpleNamespace(name=name) for name in names]
    return SimpleNamespace(output_info=outputs, run_many=lambda arrays: [factor * arrays["x"] for _ in names])


@pytest.fixture
def file(tmp_path):
    """A file with the record of one test."""
    record = RecordedResults(tmp_path / "test_net.tvmq.json", "test_it", update=True)
    record.check_results(model(), {"x": X})
    record.check_figure("top1", 0.75)
    record.save()
    return record.file


def test_what_is_the_same_passes(file):
    record = RecordedResults(file, "test_it", update=False)
    (y,) = record.check_results(model(), {"x": X})
    np.testing.assert_array_equal(y, 2 * X)
    record.check_figure("top1", 0.75)
    record.check_figure("top1", 0.9)
    record.check_figure("top1", 0.745, drop=0.01)
    before = file.read_bytes()
    record.save()
    assert file.read_bytes() == before


@pytest.mark.parametrize(("change", "message"), [
    (lambda r: r.check_results(model(np.nextafter(np.float32(2), np.float32(3))), {"x": X}), "test_it, results: 'y' changed"),
    (lambda r: r.check_results(model(names=("y", "z")), {"x": X}), "results: 'z' changed"),
    (lambda r: r.check_results(model(), {"x": X[:1]}), "the inputs are others than those of the record"),
    (lambda r: r.check_results(model(), {"x": X}, name="other"), "nothing is recorded in 'test_net.tvmq.json'"),
    (lambda r: r.check_figure("top1", 0.739, drop=0.01), "top1 is 0.739, recorded is 0.75, and 0.01 less is allowed"),
    (lambda r: r.check_figure("top1", float("nan")), "top1 is nan"),
])  # fmt: skip
def test_what_changed_fails(file, change, message):
    with pytest.raises(pytest.fail.Exception) as failure:
        change(RecordedResults(file, "test_it", update=False))
    assert message in str(failure.value)


def test_an_output_that_is_gone_fails(tmp_path):
    record = RecordedResults(tmp_path / "r.json", "t", update=True)
    record.check_results(model(names=("y", "z")), {"x": X})
    record.save()
    with pytest.raises(pytest.fail.Exception, match="the list of outputs changed"):
        RecordedResults(record.file, "t", update=False).check_results(model(), {"x": X})


def test_records_of_other_tests_stay(file):
    record = RecordedResults(file, "test_other", update=True)
    record.check_figure("top1", 0.5)
    record.save()
    assert set(json.loads(file.read_text())) == {"test_it", "test_other"}


@pytest.mark.slow
def test_as_a_plugin(pytester):
    plugin = ("-p", "tvmq.integrations.pytest_plugin", "-q", "-p", "no:cacheprovider")
    pytester.makepyfile(test_net=USE.format(figure=0.75))
    assert pytester.runpytest_subprocess(*plugin).ret == 1
    assert pytester.runpytest_subprocess(*plugin, "--tvmq-update").ret == 0
    assert pytester.runpytest_subprocess(*plugin).ret == 0
    assert (pytester.path / "test_net.tvmq.json").exists()
    pytester.makepyfile(test_net=USE.format(figure=0.7))
    result = pytester.runpytest_subprocess(*plugin)
    assert result.ret == 1 and "top1 is 0.7, recorded is 0.75" in result.stdout.str()
