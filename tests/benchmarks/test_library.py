"""benchmarks/library.py: every contestant runs and ours have the definition's values; bounds just held and just missed."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.support.models.networks import Net

OURS, FILE, PEER = "library from C", ".tvmq", "onnxruntime from C"


@pytest.fixture
def library(script: Any) -> Any:
    return script("library")


@pytest.fixture
def options(library: Any, tmp_path: Path) -> argparse.Namespace:
    """Those of a quick run."""
    given = library.main.parser.parse_args(["--quick", "--cache", str(tmp_path / "cache"), "--threads", "1,2"])
    return argparse.Namespace(**vars(given))


@pytest.fixture
def network(script: Any, library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small convolution, in the place of the zoo's networks."""
    net = Net((1, 8, 8, 8))
    onnx.save(net.model(net.op("Relu", net.conv("x", 8, 16, kernel=3))), tmp_path / "m.onnx")
    feeds = [{"x": np.random.default_rng(i).standard_normal((1, 8, 8, 8)).astype(np.float32)} for i in range(4)]
    made = script("harness.networks").Network("m", tmp_path / "m.onnx", feeds)
    monkeypatch.setattr(library, "find", lambda name, _: made)


def rows_of(library: Any, options: argparse.Namespace) -> dict[str, Any]:
    return {row["contestant"]: row for row in library.measure_network("m", options)}


@pytest.mark.slow
@pytest.mark.usefixtures("network", "whole_cpu")
def test_each_contestant_has_its_figures(script: Any, library: Any, options: argparse.Namespace) -> None:
    if script("harness.caller_process").find_compiler() is None:
        pytest.skip("no C compiler")
    rows = rows_of(library, options)
    ours = rows[OURS]
    assert rows.keys() >= {OURS, "library from Python", FILE, PEER, "onnxruntime from Python", "LiteRT from Python"}
    assert ours["undefined"] == ("__tls_get_addr", "memcpy") and 0 < ours["constants"] < 1e6 * ours["file"]
    for row in (row for row in rows.values() if not row["remark"]):
        assert row.get("differing", 0) == 0
        assert min(row[key] for key in ("file", "load_ms", "first_ms", "ms_1")) > 0
        assert 0 <= row["engine"] < row["resident"]
    assert [rows[name]["differing"] for name in (OURS, "library from Python", FILE)] == [0, 0, 0]
    assert ours["ms_2"] > 0 and ours["beside"] == 0 and rows["library from Python"]["ms_2"] > 0
    assert ours["resident"] < rows[PEER]["resident"] and rows[PEER]["beside"] > 1


@pytest.mark.slow
@pytest.mark.usefixtures("network")
def test_without_a_compiler_ctypes_calls_the_library(
    script: Any, library: Any, options: argparse.Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (library, script("harness.library_contestants")):
        monkeypatch.setattr(module, "find_compiler", lambda: None)
    monkeypatch.setattr(script("harness.library_contestants"), "_make_litert", raise_missing)
    rows = rows_of(library, options)
    ours = rows["library by ctypes"]
    assert OURS not in rows and (ours["remark"], ours["differing"]) == ("", 0) and ours["ms_1"] > 0
    assert rows[PEER]["remark"] == "no C compiler" and rows["LiteRT from Python"]["remark"] == "not installed"
    assert "by ctypes" in library.head(options)[0]
    assert not [text for text in library.missed(list(rows.values()), options) if "differ" in text]
    shown = {row["contestant"] for row in library.present(list(rows.values()))}
    assert {"library by ctypes", FILE} < shown and PEER not in shown
    (_, _, symbols), (title, _, absent) = library.more_tables(list(rows.values()), options)
    assert symbols[0][-1] == "__tls_get_addr, memcpy" and title == "not measured"
    assert ["m", PEER, "no C compiler"] in absent


def raise_missing(*_: object) -> None:
    raise ImportError("not installed")


@pytest.mark.slow
@pytest.mark.usefixtures("network")
def test_onnxruntime_gives_the_same_from_c_and_from_python(
    script: Any, library: Any, options: argparse.Namespace, tmp_path: Path
) -> None:
    """The numbers of its functions are those of the library that is installed."""
    parts, processes = script("harness.library_contestants"), script("harness.caller_process")
    contestants = parts.prepare_contestants(library.find("m", options), options, tmp_path).contestants
    if PEER not in contestants:
        pytest.skip("no C compiler, or a wheel of onnxruntime without its C library")
    results = []
    for name in (PEER, "onnxruntime from Python"):
        process = processes.CallerProcess(contestants[name].command(tmp_path / "out", 1), tmp_path / "out", 1)
        assert len(process.seconds(3)) == 3
        process.close()
        results.append(process.results)
    assert results[0] == results[1] and len(results[0]) == 4 * 16 * 8 * 8


def test_a_process_that_fails_says_why(script: Any, tmp_path: Path) -> None:
    module = script("harness.caller_process")
    with pytest.raises(module.CallerError, match="no such model"):
        module.CallerProcess([sys.executable, "-c", "raise SystemExit('no such model')"], tmp_path / "out", 1)


def test_callers_compile_without_warnings(script: Any, tmp_path: Path) -> None:
    module = script("harness.caller_process")
    if (compiler := module.find_compiler()) is None:
        pytest.skip("no C compiler")
    for source in sorted(module.CALLERS.glob("*.c")):
        flags = [
            *module.FLAGS,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unknown-warning-option",
            "-Wno-deprecated-non-prototype",
        ]
        subprocess.run([compiler, *flags, "-c", source, "-o", tmp_path / "out.o"], check=True)


def test_bounds_of_libraries(library: Any, options: argparse.Namespace) -> None:
    ours = {"task": "t", "contestant": OURS, "ms_1": 1.02, "ms_2": 0.6, "load_ms": 0.9, "resident": 10.0, "differing": 0, "spread": 0.0, "remark": ""}  # fmt: skip
    rows = [ours, {"task": "t", "contestant": FILE, "ms_1": 1.0, "ms_2": 0.6, "differing": 0, "remark": ""},
            {"task": "t", "contestant": PEER, "resident": 30.0, "engine": 20.0, "remark": ""}]  # fmt: skip

    def missed(**changed: Any) -> list[str]:
        return library.missed(
            [{**ours, **changed}, *({**row, "task": changed.get("task", "t")} for row in rows[1:])], options
        )

    assert not missed() and not missed(ms_1=1.03, spread=0.011)
    assert missed(ms_1=1.03) == ["t, 1 threads: 1.0300 ms, at most 1.02 of 1.0000"]
    assert missed(ms_2=0.7) == ["t, 2 threads: 0.7000 ms, at most 1.02 of 0.6000"]
    assert missed(task="dscnn_digits") == ["dscnn_digits, 1 threads: 1.0200 ms, at most 1.00 of 1.0000"]
    assert missed(load_ms=1.0) == ["t: loads in 1.000 ms, less than 1.0 asked"]
    assert missed(resident=10.1) == ["t: resident 10.1 MiB, onnxruntime has 30.0, 20.0 of it its engine"]
    assert missed(remark="it crashed") == [f"t: {OURS}: it crashed"]
    assert missed(differing=3) == [f"t: {OURS}: 3 values differ"]


def test_a_network_that_the_zoo_lacks_is_left_out(library: Any, options: argparse.Namespace, capsys: Any) -> None:
    options.tasks = "no_such_network"
    assert not list(library.measure(options))
    assert "no_such_network is left out" in capsys.readouterr().out
