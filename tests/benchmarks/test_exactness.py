"""The exactness benchmark on a model that onnxruntime quantized: fresh processes of one and of two threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.test_benchmarks import script as script  # the fixture


def test_an_imported_model_is_exact(script: Any, zoo: Path, tmp_path: Path) -> None:
    """Every instruction set of this CPU; one wrong value in the expectations is found."""
    common, exactness = script("common"), script("exactness")
    task = common.load_zoo(zoo, "dscnn_digits")["dscnn_digits"]
    targets, builds = exactness.runnable_targets(), tmp_path / "builds"
    builds.mkdir()
    (case,) = exactness.imported_cases(task, ["qdq"], common.Feeds(task, 8), 1, tmp_path)
    facts = exactness.write_case(case, builds, targets)
    found = [record for threads in exactness.THREADS for record in exactness.check(builds, threads)]
    (row,) = exactness.summary([facts], found)
    assert row["name"] == "dscnn_digits-qdq" and row["values"] == 10 * 2 * len(targets)
    assert not exactness.missed([row], 2 * len(targets))
    (module, simulated) = exactness.integer_and_simulated(case)
    assert simulated is None
    wrong = exactness.defined_results(module, next(iter(targets.values())), case.inputs)
    wrong["0 000"].flat[3] += 1
    given = {f"in 0 {name}": array for name, array in case.inputs[0].items()}
    import tvmq

    expected = {f"out avx2 {key}": array for key, array in wrong.items()}
    assert exactness.compare(tvmq.build(module), {**given, **expected}, "avx2") == (10, 1)
