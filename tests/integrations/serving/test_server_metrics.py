"""Counts of several workers, summed, in the format of Prometheus."""

from __future__ import annotations

import os

import numpy as np

from tvmq.integrations.serving.server_metrics import BUCKETS, ServerMetrics


def value(text: str, name: str) -> float:
    (line,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
    return float(line.split()[1])


def test_counts_of_all_workers(tmp_path):
    metrics = ServerMetrics(tmp_path)
    for status, seconds in ((200, 0.0004), (200, 0.001), (400, 0.02), (413, 0.02), (500, 99.0)):
        metrics.count(status, seconds)
    metrics.count_samples(3, 2)
    other = np.fromfile(tmp_path / f"{os.getpid()}.counts", np.float64)
    other.tofile(tmp_path / "7.counts")  # of a second worker, with the same counts
    (tmp_path / "8.counts").write_bytes(b"half")  # of one that is starting
    text = metrics.text()
    counts = {name: value(text, f'tvmq_requests_total{{outcome="{name}"}}') for name in ("ok", "refused", "failed")}
    assert counts == {"ok": 4, "refused": 4, "failed": 2}
    assert value(text, "tvmq_samples_total") == 6 and value(text, "tvmq_runs_total") == 4
    buckets = [value(text, f'tvmq_request_seconds_bucket{{le="{end:g}"}}') for end in BUCKETS]
    assert buckets == sorted(buckets) and buckets[0] == 2 and buckets[1] == 4 and buckets[-1] == 8
    assert value(text, 'tvmq_request_seconds_bucket{le="+Inf"}') == value(text, "tvmq_request_seconds_count") == 10
    assert abs(value(text, "tvmq_request_seconds_sum") - 2 * 99.0414) < 1e-6
    assert value(text, f'tvmq_resident_bytes{{worker="{os.getpid()}"}}') > 1e6
    assert all(line.startswith(("#", "tvmq_")) for line in text.splitlines())


def test_a_process_that_was_forked_counts_in_a_file_of_its_own(tmp_path, monkeypatch):
    metrics = ServerMetrics(tmp_path)
    metrics.count(200, 0.1)
    monkeypatch.setattr("tvmq.integrations.serving.server_metrics.os.getpid", lambda: 12345)
    metrics.count(200, 0.1)
    assert value(metrics.text(), 'tvmq_requests_total{outcome="ok"}') == 2
    assert len(list(tmp_path.glob("*.counts"))) == 2


def test_a_temporary_folder_goes_with_the_process_that_made_it(monkeypatch):
    metrics, forked, kept = ServerMetrics(), ServerMetrics(), ServerMetrics()
    metrics.close()
    monkeypatch.setattr("tvmq.integrations.serving.server_metrics.os.getpid", lambda: 12345)
    forked.close()
    assert not metrics.folder.exists() and forked.folder.is_dir() and kept.folder.is_dir()
    monkeypatch.undo()
    forked.folder.rmdir()
    folder = kept.folder
    del kept
    assert not folder.exists()


def test_the_folder_of_others_stays(tmp_path):
    ServerMetrics(tmp_path).close()
    assert tmp_path.is_dir()
