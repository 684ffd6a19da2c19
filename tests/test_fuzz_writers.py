"""Random graphs through every writer and training; `python benchmarks/fuzz.py --writers` runs hundreds."""

from __future__ import annotations

import pytest

from tests.fuzz_writers import run_writers

# pooled 16-bit tables, resized codes, recurrent states given and not, codes of two widths, an integral core
SEEDS = (4, 32, 34, 36, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_each_writer_gives_the_values_of_the_definition_or_refuses_in_a_sentence(seed: int) -> None:
    outcomes = list(run_writers(seed))
    assert outcomes
    assert not [f"{one.writer} {one.kind}: {one.text}" for one in outcomes if one.failed]
