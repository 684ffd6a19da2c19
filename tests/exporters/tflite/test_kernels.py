"""The arithmetic of this exporter against the kernels themselves: single operators, every code."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq import numerics
from tvmq.exporters.tflite import arithmetic
from tvmq.exporters.tflite.flatbuffer import Flatbuffer, Quantization

pytest.importorskip("tflite", reason="pip install 'tvmq[tflite]' writes TFLite files")
pytest.importorskip("ai_edge_litert", reason="pip install ai-edge-litert runs TFLite files")
pytest.importorskip("tflite_micro", reason="pip install tflite-micro runs TFLite files")
import tflite_runtimes as runtimes  # noqa: E402 -- after the skips

CODES = np.arange(-128, 128, dtype=np.int8)


def results(file: Flatbuffer, inputs: dict[str, int], output: int, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    """{tool: what it gives}."""
    data = file.pack(inputs, {"y": output})
    with runtimes.silent():
        micro = runtimes.micro(data)
        return {
            "LiteRT": runtimes.run_litert(runtimes.litert(data), arrays)[0],
            "micro": runtimes.run_micro(micro, arrays)[0],
        }


@pytest.mark.parametrize("scales", [(0.5, 0.25, 0.75), (0.0123, 0.456, 0.03), (0.02, 0.02, 0.0399)])
@pytest.mark.parametrize("code", ["ADD", "SUB"])
def test_sums_of_all_pairs(code: str, scales: tuple[float, float, float]) -> None:
    kinds = [Quantization((s,), z) for s, z in zip(scales, (3, -128, 127), strict=True)]
    file, shape = Flatbuffer(), (1, 256, 256, 1)
    a, b, y = (file.tensor(name, shape, "int8", kind) for name, kind in zip("aby", kinds, strict=True))
    file.operator(code, [a, b], [y], version=2, table=f"{code.title()}Options", fused_activation_function=0)
    left, right = np.meshgrid(CODES, CODES)
    made = numerics.summand_tables(scales[0], 3, scales[1], -128, subtract=code == "SUB")
    factor = made.scale / np.float64(np.float32(scales[2]))
    constants = arithmetic.multiplier_of(np.float64(factor))
    total = numerics.table(left, made.a) + numerics.table(right, made.b)
    wanted = numerics.requantize(total, *constants, zero_point=127, mode="fixed_point", rounding="DOUBLE", dtype="int8")
    arrays = [side.reshape(shape) for side in (left, right)]
    for tool, found in results(file, {"a": a, "b": b}, y, arrays).items():
        np.testing.assert_array_equal(found.reshape(256, 256), wanted, err_msg=tool)


def test_a_table_is_gathered() -> None:
    table = np.random.default_rng(0).integers(-128, 128, 256).astype(np.int8)
    file = Flatbuffer()
    x = file.tensor("x", (1, 16, 4, 4), "int8", Quantization((0.5,), 3))
    wide, place = file.tensor("wide", (1, 16, 4, 4), "int32"), file.tensor("place", (1, 16, 4, 4), "int32")
    y = file.tensor("y", (1, 16, 4, 4), "int8", Quantization((0.25,), 1))
    file.operator("CAST", [x], [wide], table="CastOptions", in_data_type=9, out_data_type=2)
    first = file.constant("first", np.int32([128]))
    file.operator("ADD", [wide, first], [place], table="AddOptions", fused_activation_function=0)
    values = file.constant("table", table, Quantization((0.25,), 1))
    file.operator("GATHER", [values, place], [y], version=2, table="GatherOptions", axis=0)
    for tool, found in results(file, {"x": x}, y, [CODES.reshape(1, 16, 4, 4)]).items():
        np.testing.assert_array_equal(found.ravel(), table, err_msg=tool)
