"""The exactness benchmark on a model that onnxruntime quantized: fresh processes of one and of two threads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.random.graphs import random_inputs, random_model
from tvmq.codegen.target.nvcc import find_nvcc
from tvmq.runtime.artifact.native_library import runs_linux_x86


@pytest.mark.slow
def test_an_imported_model_is_exact(script: Any, zoo: Path, tmp_path: Path) -> None:
    """Every instruction set of this CPU; one wrong value in the expectations is found."""
    common, exactness, cases = script("harness.zoo"), script("exactness"), script("exact.cases")
    task = common.load_zoo(zoo, "dscnn_digits")["dscnn_digits"]
    runnable, builds = exactness.runnable_targets(), tmp_path / "builds"
    targets = {name: runnable[name] for name in ("avx2", "avx512bw", "avxvnni") if name in runnable}
    builds.mkdir()
    (case,) = cases.imported_cases(task, ["qdq"], common.Feeds(task, 8), 1, tmp_path)
    facts = exactness.write_case(case, builds, targets)
    found = [record for threads in exactness.THREADS for record in exactness.check(builds, threads)]
    (row,) = exactness.summary([facts], found)
    assert row["name"] == "dscnn_digits-qdq" and row["values"] == 10 * 2 * len(targets)
    assert not exactness.missed([row], 2 * len(targets))
    (module, simulated) = cases.integer_and_simulated(case)
    assert simulated is None
    wrong = cases.defined_results(module, next(iter(targets.values())), case.inputs)
    wrong["0 000"].flat[3] += 1
    given = {f"in 0 {name}": array for name, array in case.inputs[0].items()}
    import tvmq

    expected = {f"out avx2 {key}": array for key, array in wrong.items()}
    assert cases.compare(tvmq.build(module), {**given, **expected}, "avx2") == (10, 1)


@pytest.mark.slow
def test_modules_of_gpus_are_executed_and_compared(script: Any) -> None:
    """The emulator or a GPU executes them; a comparison that finds differences is a failure."""
    benchmark, cases = script("exact.cuda"), script("exact.cases")
    if benchmark.where() == benchmark.NOWHERE:
        pytest.skip("neither a GPU nor g++ to run kernels with")
    model = random_model(4)
    case = cases.Case("random_4", model, {}, random_inputs(model, 0, 8), random_inputs(model, 1, 1))
    rows, failures = benchmark.measure([case], ["sm_80"], cases.differing)
    assert not failures and rows[0]["differing"] == 0 and rows[0]["values"] > 0
    assert bool(rows[0]["code"]) == bool(find_nvcc())
    _, failures = benchmark.measure([case], ["sm_80"], lambda a, _b: a.size)
    assert failures == [f"random_4: {rows[0]['values']} of {rows[0]['values']} values differ"]
    (row,) = benchmark.shown([rows[0], {**rows[0], "differing": 3}])
    assert row["name"] == "2 random graphs" and row["differing"] == 3
    assert len(script("harness.report").cells_of(benchmark.columns_of(["sm_80"]), row)) == 7


@pytest.mark.slow
@pytest.mark.skipif(not runs_linux_x86() or shutil.which("gcc") is None, reason="no C program can open a library here")
def test_libraries_are_run_from_c_and_compared(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One wrong value in the expectations is a failure, and so is a model that no library takes."""
    exactness, benchmark, cases = script("exactness"), script("exact.library"), script("exact.cases")
    runnable = exactness.runnable_targets()
    targets = {name: runnable[name] for name in ("avx2", "generic") if name in runnable}
    model = random_model(4)
    case = cases.Case("random_4", model, {}, random_inputs(model, 0, 8), random_inputs(model, 1, 2))
    (row,) = benchmark.measure([case], targets)
    assert row["differing"] == 0 and row["values"] > 0 and row["builds"] == row["wanted"] == 2 * len(targets)
    assert not exactness.missed([row], row["wanted"])
    defined = benchmark.defined_results

    def wrong_results(*arguments: Any) -> dict[str, Any]:
        results = {name: array.copy() for name, array in defined(*arguments).items()}
        results["1 000"].view("uint8").flat[0] ^= 1
        return results

    monkeypatch.setattr(benchmark, "defined_results", wrong_results)
    broken = cases.Case("broken", b"", {}, [], [])
    row, failure = benchmark.measure([case, broken], targets)
    assert row["differing"] == 2 * 2 * 2 * len(targets)  # places of buffers, runs in one workspace, threads
    assert exactness.missed([row], row["wanted"]) == [f"random_4: {row['differing']} of {row['values']} values differ"]
    assert failure.startswith("broken: ")
    (shown,) = exactness.table_of([row, row])
    assert shown["name"] == "2 random graphs" and shown["differing"] == 2 * row["differing"]


def test_files_on_emulated_arm_are_summed_and_what_is_missing_fails(script: Any) -> None:
    """Each build on the CPU that runs it."""
    arm = script("exactness_arm")
    places = [(cpu, build) for cpu, builds in arm.CPUS.items() for build in builds]
    assert sorted(build for _, build in places) == sorted(arm.TARGETS)
    records = [
        {"name": name, "cpu": cpu, "build": build, "values": 10, "differing": 0, "minutes": 1.5}
        for name in ("a", "b") for cpu, build in places
    ]  # fmt: skip
    table = list(arm.rows(records))
    assert table[0] == {"cpu": "cortex-a72", "build": "neon", "files": 2, "values": 20, "differing": 0, "minutes": 1.5}
    assert not arm.missed(table, 2)
    del records[1]
    records[-1]["differing"] = 3
    assert arm.missed(list(arm.rows(records)), 2) == [
        f"{build} on {cpu}: {wrong} of {values} values differ, {files} of 2 files gave a result"
        for (cpu, build), wrong, values, files in ((places[1], 0, 10, 1), (places[-1], 3, 20, 2))
    ]
