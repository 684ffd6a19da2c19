"""How compile time grows with the depth of a network: chains of cheap operators, and a GRU of many steps.

    python benchmarks/depth.py [--kinds add,relu,sine,functions,slices,residual,gru] [--counts 1000,5000,20000]

Chains    rounds of the operators of KINDS on four numbers; gru: one operator of so many steps, which are written out
Columns   CPU seconds of each step in a fresh process without a cache of kernels; "> n" where a row had used n (--limit)
--quick   30 operators of each kind: a look, not a result
Bounds    none; exit code 1 where a step fails.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from common import finish, machine, print_table, write_json
from onnx import TensorProto, helper, numpy_helper

START = "start"  # the tensor that a round begins with; numbers stand for the results of the steps before
Step = tuple[str, list[str | int], dict[str, Any]]
KINDS: dict[str, list[Step]] = {
    "add": [("Add", [START, "small"], {})],
    "relu": [("Relu", [START], {})],
    "sine": [("Sin", [START], {})],
    "functions": [("Sigmoid", [START], {}), ("Relu", [-1], {}), ("Tanh", [-1], {})],
    "slices": [
        ("Slice", [START, "first", "middle", "second"], {}),
        ("Slice", [START, "middle", "end", "second"], {}),
        ("Concat", [-1, -2], {"axis": 1}),
    ],
    "residual": [("Relu", [START], {}), ("Mul", [-1, "half"], {}), ("Add", [-1, START], {})],
}
GRU = "gru"
CONSTANTS: dict[str, Any] = {
    **{"small": np.float32(0.001), "half": np.float32(0.5)},
    **{name: np.array([place]) for place, name in enumerate(("first", "second", "middle", "", "end")) if name},
}
HIDDEN, FEATURES = 8, 3
STEPS = ("import", "float build", "quantize", "build")
QUICK = 30


def chain(kind: str, count: int) -> onnx.ModelProto:
    """So many operators in a row; the last round may be cut."""
    names, nodes, start = ["x"], [], "x"
    for number in range(count):
        place = number % len(KINDS[kind])
        start = start if place else names[-1]
        operator, inputs, attributes = KINDS[kind][place]
        given = [start if name == START else name if isinstance(name, str) else names[name] for name in inputs]
        names.append(f"t{number}" if number < count - 1 else "y")
        nodes.append(helper.make_node(operator, given, [names[-1]], **attributes))
    used = {name for node in nodes for name in node.input}
    return _model(nodes, (1, 4), {name: array for name, array in CONSTANTS.items() if name in used})


def gru(count: int) -> onnx.ModelProto:
    """A GRU of so many steps."""
    random = np.random.default_rng(0)
    shapes = {"w": (1, 3 * HIDDEN, FEATURES), "r": (1, 3 * HIDDEN, HIDDEN)}
    weights = {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    return _model([helper.make_node("GRU", ["x", "w", "r"], ["y"], hidden_size=HIDDEN)], (count, 1, FEATURES), weights)


def _model(nodes: list[Any], shape: tuple[int, ...], constants: dict[str, Any]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "depth",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def walk(kind: str, count: int, told: Callable[[str, float], None]) -> None:
    """All steps in this very process; `told` hears of each and its CPU seconds."""
    import tvmq

    model = gru(count) if kind == GRU else chain(kind, count)
    shape = [size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = [{"x": np.random.default_rng(seed).normal(size=shape).astype(np.float32)} for seed in range(2)]
    tvmq.build(*tvmq.from_onnx(chain("add", 2))[:1])  # what is imported on first use is not counted

    def step(name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        begin = time.process_time()
        result = function(*args, **options)
        told(name, time.process_time() - begin)
        return result

    module, params = step("import", tvmq.from_onnx, model)
    step("float build", tvmq.build, module, params=params)
    quantized = step("quantize", tvmq.quantize, module, params, feeds)
    step("build", tvmq.build, quantized)


def measure(kind: str, count: int, limit: int) -> dict[str, Any]:
    """A row: {step: CPU seconds}, less the steps that it did not reach; "failed": status of a process that died."""
    command = [sys.executable, __file__, "--child", kind, "--counts", str(count), "--limit", str(limit)]
    environment = dict(os.environ, TVMQ_CACHE="")
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    seconds: dict[str, float] = {}
    for line in result.stdout.splitlines():
        seconds |= json.loads(line)
    over = result.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return {"kind": kind, "count": count, "seconds": seconds, "failed": 0 if over else result.returncode}


def cells(row: dict[str, Any], limit: int) -> list[str]:
    """A line of the table."""
    seconds = [f"{row['seconds'][name]:.1f}" for name in STEPS if name in row["seconds"]]
    missing = ["failed" if row["failed"] else f"> {limit}", *["-"] * len(STEPS)]
    return [row["kind"], f"{row['count']:,}", *(seconds + missing)[: len(STEPS)]]


def child(kind: str, count: int, limit: int) -> None:
    """Measure in this process, which ends when it has used `limit` CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    walk(kind, count, lambda name, seconds: print(json.dumps({name: seconds}), flush=True))


def main() -> None:
    """Command line; see the head of this file."""
    commands = argparse.ArgumentParser(description="Compile time of deep networks.")
    commands.add_argument("--kinds", default=",".join([*KINDS, GRU]), help="names, separated by commas")
    commands.add_argument("--counts", default="1000,5000,20000", help="numbers of operators, or of steps of the GRU")
    commands.add_argument("--limit", type=int, default=180, help="CPU seconds of a row")
    commands.add_argument("--json", type=Path, help="also write the figures to this file")
    commands.add_argument("--quick", action="store_true", help="few operators: a look, not a result")
    commands.add_argument("--child", help="a kind, measured in this very process")
    options = commands.parse_args()
    counts = [QUICK] if options.quick else [int(count) for count in options.counts.split(",")]
    if options.child:
        child(options.child, counts[0], options.limit)
        return
    print(machine(), flush=True)
    rows = [measure(kind, count, options.limit) for kind in options.kinds.split(",") for count in counts]
    print_table(["chain", "operators", *STEPS], [cells(row, options.limit) for row in rows])
    write_json(options.json, {"rows": rows})
    finish([f"{row['kind']} {row['count']}: the process ended with {row['failed']}" for row in rows if row["failed"]])


if __name__ == "__main__":
    main()
