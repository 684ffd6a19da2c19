"""Every kernel of the table: the bits of the definition, and no write outside of its output."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.cases import Case, check
from tests.codegen.kernels.harness import GuardedOutput
from tests.codegen.kernels.table import TABLE

CASES = [
    pytest.param(case, level.values[0], marks=level.marks, id=f"{case.name}-{level.values[0]}")
    for entry in TABLE.values()
    for case in entry.cases()
    for level in entry.levels
]


@pytest.mark.slow_cases(
    "multiply (1, 7*", "multiply (1, 40, 200) by (200,)-avx2", "max pool floats 7 30 (3, 2) int8-avx2",
    "to_nhwc (2, 16, 4, 4) uint8-generic", "quantize_to_nhwc (2, 16, 4, 4)-generic", "quantize_to_nhwc (1, 33, 3, 7)-avx2",
    "concat with tables [[](1*", "Conv2d*", "depthwise*", "batch_matmul*", "attention*",
)  # fmt: skip
@pytest.mark.thinned(6)
@pytest.mark.parametrize("case, level", CASES)
def test_equals_the_definition(case: Case, level: str) -> None:
    check(case, level)


@pytest.mark.parametrize("place, name", [(-1, "before"), (5, "behind")])
def test_guard_bytes_notice_what_is_written_beyond(place: int, name: str) -> None:
    output = GuardedOutput((5,), "uint8")
    assert output.array.ctypes.data % 64 == 0 and output.result().tolist() == [77] * 5
    memory = output.array.base
    assert isinstance(memory, np.ndarray)
    memory[output.array.ctypes.data - memory.ctypes.data + place] = 0
    with pytest.raises(AssertionError, match=f"{name} the output were written"):
        output.result()
