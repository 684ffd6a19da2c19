"""Table kernels against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cases import Case, check, table_cases
from tests.kernels.harness import levels
from tvmq.errors import BuildError
from tvmq.kernels.elementwise.table import table
from tvmq.kernels.isa import isa_named

# the lookup is the one thing that avx512vbmi does in its own way
LEVELS = levels("generic", "avx2", "avx512bw", "avx512vbmi")
CASES = list(table_cases([(1,), (63,), (2, 32), (5, 13), (2, 3, 5, 7), (127,), (4, 256), (300,)]))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equals_the_definition(case: Case, level: str) -> None:
    check(case, level)


@pytest.mark.parametrize("level", LEVELS)
def test_every_code(level: str) -> None:
    x, values = np.arange(256, dtype=np.uint8), np.random.default_rng(0).permutation(256).astype(np.uint8)
    check(Case("all", lambda isa: table(x.shape, "uint8", values, isa), (x,), values), level)


def test_tables_are_constants_and_no_part_of_the_key() -> None:
    isa, one, other = isa_named("generic"), np.zeros(256, np.uint8), np.ones(256, np.uint8)
    assert table((4,), "uint8", one, isa).key == table((4,), "uint8", other, isa).key
    assert table((4,), "int8", one, isa).key != table((4,), "uint8", one, isa).key


def test_other_types_are_refused() -> None:
    isa = isa_named("generic")
    with pytest.raises(BuildError, match="Got int16 and 256 of uint8"):
        table((4,), "int16", np.zeros(256, np.uint8), isa)
    with pytest.raises(BuildError, match="Got uint8 and 255 of uint8"):
        table((4,), "uint8", np.zeros(255, np.uint8), isa)
