"""Models that other tools trained or calibrated, imported with their scales: our integers beside those of the tool.

    python benchmarks/torch_flows.py [--flows fx,eager,...] [--quick] [--json figures.json]

Flows     flows/models.py: FX, eager and PT2E of torch, after calibration and after training; torchao's weights;
          brevitas and NNCF by Q/DQ in ONNX. Each is trained or calibrated for some steps by its own tool
Columns   values: of the results on the test pictures; differing: those not on the same step as the tool's, LSB: the
          largest difference in steps. A result in floats is put on the grid of 255 steps over its range; float: the
          largest difference of such results, as a share of the largest value
          operators: values of single layers that differ where each gets the tool's own codes, LSB the largest;
          bias: those that still differ where biases are whole multiples of the sums' step (torch keeps biases in
          float, tvmq rounds them to int32), ties: of these, where the exact value lies on the middle of two codes,
          or less than 0.001 from it
          definition: compiled values that differ from the NumPy definition
Bounds    0 values that differ from the definition; operators: one LSB, and with biases on the grid only near ties.
          Exit code 1 where one is missed.
"""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from flows.models import FLOWS, Data, Made
from flows.operators import compare_operators
from harness.command import Command, argument
from harness.onnxruntime_peer import be_quiet
from harness.report import columns

QUICK_SAMPLES, QUICK_STEPS = 10, 3


def imported(made: Made, example: Any) -> Any:
    """The integer module."""
    import tvmq

    if isinstance(made.imported, Path):
        return tvmq.quantize(*tvmq.from_onnx(made.imported))
    return tvmq.quantize(*tvmq.from_torch(made.imported, (example,)))


def measure(name: str, made: Made, data: Data) -> dict[str, Any]:
    """The row of one flow."""
    import tvmq

    module = imported(made, data.test)
    executable = tvmq.build(module)
    (name_of_input,) = json.loads(module["main"].attrs["tvmq.inputs"])
    feed = {name_of_input: data.test.numpy()}
    ours, theirs = executable.run(feed)[0], made.run(data.test)
    (defined,) = tvmq.reference.run(module, feed)
    steps = np.rint(ours / step(made, theirs)) - np.rint(theirs / step(made, theirs))
    return {
        "name": name, "values": ours.size, "differing": int((steps != 0).sum()), "largest": int(np.abs(steps).max()),
        "float": None if made.scale else float(np.abs(ours - theirs).max() / np.abs(theirs).max()),
        "definition": int((ours != defined).sum()),
        "operators": None if made.converted is None else compare_operators(made.converted, data.test),
    }  # fmt: skip


def step(made: Made, result: np.ndarray) -> float:
    """Step of the result."""
    return made.scale or float(np.ptp(result)) / 255


def failures(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The bounds that were missed."""
    missed = []
    for r in rows:
        single = r["operators"]
        if r["definition"]:
            missed.append(f"{r['name']}: {r['definition']} values differ from the definition")
        if single and single["largest"] > 1:
            missed.append(f"{r['name']}: '{single['worst']}' differs by {single['largest']} LSB")
        if single and single["on_grid"] > single["ties"]:
            missed.append(f"{r['name']}: {single['on_grid'] - single['ties']} values differ away from ties")
    return missed


COLUMNS = columns(
    "flow {name} | values {values} | differing {differing} | LSB {largest} | float {float:.1e}",
    "operators {operators[differing]} of {operators[values]} | LSB {operators[largest]} | bias {operators[on_grid]}",
    "ties {operators[ties]} | definition {definition}",
)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of all flows whose packages are there."""
    be_quiet()
    data = Data.of_demo(QUICK_SAMPLES, QUICK_STEPS) if options.quick else Data.of_demo()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.flows.split(","):
            try:
                made = FLOWS[name](data, Path(folder))
            except ImportError as error:
                print(f"{name}: left out, {error}")
                continue
            yield measure(name, made, data)


main = Command(
    __doc__, COLUMNS, measure_all, lambda rows, _: failures(rows), tasks=None,
    arguments=[argument("--flows", default=",".join(FLOWS), help="names, separated by commas")],
)  # fmt: skip

if __name__ == "__main__":
    main()
