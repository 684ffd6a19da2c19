"""Random small integral networks: exported, compiled, run and compared with the definition."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.formats.c.random_cores import written
from tests.support.devices.c_harness import SANITIZED, Native, run_program

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
FEW, MANY = (0, 3, 11), 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", FEW)
def test_a_few(seed: int, tmp_path: Path) -> None:
    found = written(seed, tmp_path)
    assert found is not None, "this seed has no integral form any more; take another"
    export, codes, wanted = found
    for one, other in zip(Native(export, flags=("-O1",))(codes, wanted), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_many_with_sanitizers(tmp_path: Path) -> None:
    """Graphs among the MANY that have an integral form; `benchmarks/c_export.py` compares 100."""
    compared = 0
    for seed in range(MANY):
        found = written(seed, tmp_path / str(seed))
        if found is None:
            continue
        export, codes, wanted = found
        values, differing = run_program(export, [(codes, wanted)], "gcc", ("-O0", *SANITIZED))
        assert values > 0 and differing == 0, f"seed {seed}: {differing} of {values} values differ"
        compared += 1
    assert compared >= 18
