"""Stages of long work reach the log and the user's function, in order; an exception of the function ends the work."""

from __future__ import annotations

import logging

import pytest

import tvmq
from tests.support.models.linear_digits import linear_digits
from tvmq.base.stage_progress import StageProgress, observed_stage, observed_work
from tvmq.demo import load_demo


@pytest.fixture(scope="module")
def network():
    example = load_demo()
    return *tvmq.from_onnx(linear_digits(example), shape={"image": (1, 1, 16, 16)}), example.calibration[:4]


def test_quantize_reports_its_stages(network, caplog):
    seen: list[StageProgress] = []
    with caplog.at_level(logging.DEBUG, "tvmq"), tvmq.qconfig(calibrate_mode="minmax"):
        tvmq.quantize(*network, callback=seen.append)
    stages = [progress.stage for progress in seen]
    assert {progress.work for progress in seen} == {"quantize"} and "statistics of the data" in stages
    assert stages.index("annotate") < stages.index("realize")
    assert all(0 <= one.seconds <= one.elapsed for one in seen)
    assert [one.elapsed for one in seen] == sorted(one.elapsed for one in seen)
    assert [record.getMessage() for record in caplog.records if record.name == "tvmq"] == [str(one) for one in seen]


def test_an_exception_ends_the_work(network):
    def stop(progress: StageProgress) -> None:
        if progress.stage == "annotate":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tvmq.quantize(*network, callback=stop)


def test_work_inside_of_work_is_a_part_of_it():
    seen: list[str] = []
    with observed_work("search", lambda progress: seen.append(f"{progress.work}: {progress.stage}")):
        with observed_work("quantize", None), observed_stage("realize"):
            pass
        with pytest.raises(ValueError), observed_stage("broken"):
            raise ValueError
    assert seen == ["search: realize"]


def test_outside_of_work_there_is_only_the_log(caplog):
    with caplog.at_level(logging.DEBUG, "tvmq"), observed_stage("realize"):
        pass
    assert caplog.messages[0].startswith("tvmq, realize: 0.0")
