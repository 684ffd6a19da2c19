"""C code of models with a state: the program hands results of a call to the next one, in memory of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.support.models.stateful_models import gru_cell, steps_of

PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "cell.h"

int main(void)
{
    static uint8_t state[CELL_H_IN_SIZE], next[CELL_H_OUT_SIZE], x[CELL_X_SIZE];
    static int32_t y[CELL_Y_SIZE];
    memset(state, CELL_H_IN_ZERO_POINT, sizeof state);
    while (fread(x, 1, sizeof x, stdin) == sizeof x) {
        cell_run(state, x, next, y);
        memcpy(state, next, sizeof state);
        fwrite(y, 1, sizeof y, stdout);
    }
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_a_session_in_c(tmp_path: Path) -> None:
    mod, params = tvmq.from_onnx(gru_cell())
    with tvmq.qconfig(requantize="fixed_point", partition_conversions="fully_integral"):
        qmod = tvmq.quantize(mod, params, steps_of((1, 8), 6, 0, (1,) * 6), guard=None)
    export = tvmq.export_c(qmod, tmp_path, name="cell")
    header = export.header.read_text()
    (tensor,) = tvmq.build(qmod).states.tensors
    assert f"'h_out' of the call before, {tensor.pair.zero_point} in every element of the first one" in header
    assert header.count(f"_SCALE {np.float32(tensor.pair.scale):.9g}f") == 2  # one scale at both ends
    (tmp_path / "main.c").write_text(PROGRAM)
    command = ["gcc", "-std=c99", "-O1", "-Wall", "-Werror", "main.c", "cell.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)

    exe, calls = tvmq.build(qmod), steps_of((1, 8), 1, 1, (1,) * 5)[0]
    codes = [exe["quantize_inputs"].run({"x": call["x"], "h_in": tensor.begin({})}) for call in calls]
    given = b"".join(x.tobytes() for one in codes for x in one if x.shape == (1, 8))
    printed = subprocess.run([tmp_path / "main"], input=given, capture_output=True, check=True).stdout
    state, core = tensor.begin({}), exe["quantized_main"]
    outputs = [info.name for info in core.output_info]
    for call, sums in zip(codes, np.frombuffer(printed, np.int32).reshape(5, 1, 4), strict=True):
        x = next(one for one in call if one.shape == (1, 8))
        results = dict(zip(outputs, core.run({"x": x, "h_in": state}), strict=True))
        assert np.array_equal(results["y"], sums)
        state = results["h_out"]
