"""Compile time by the depth of a network: chains of cheap operators, and a GRU of many steps.

    python benchmarks/depth.py [--kinds add,relu,sine,functions,slices,residual,gru] [--counts 1000,5000,20000]

Chains    rounds of the operators of KINDS on four numbers; gru: one operator of so many steps, which are written out
Columns   CPU seconds of each step in a fresh process without a cache of kernels; "> n" where a row had used n (--limit)
--quick   30 operators of each kind: a look, not a result
Bounds    none; exit code 1 where a step fails.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import onnx
from harness.command import Command, argument
from harness.model import onnx_model
from harness.report import columns
from onnx import helper

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
    """A chain of so many operators; the last round may be cut."""
    names, nodes, start = ["x"], [], "x"
    for number in range(count):
        place = number % len(KINDS[kind])
        start = start if place else names[-1]
        operator, inputs, attributes = KINDS[kind][place]
        given = [start if name == START else name if isinstance(name, str) else names[name] for name in inputs]
        names.append(f"t{number}" if number < count - 1 else "y")
        nodes.append(helper.make_node(operator, given, [names[-1]], **attributes))
    used = {name for node in nodes for name in node.input}
    constants = {name: array for name, array in CONSTANTS.items() if name in used}
    return onnx_model(nodes, {"x": (1, 4)}, constants, ir_version=9)


def gru(count: int) -> onnx.ModelProto:
    """A GRU of so many steps."""
    random = np.random.default_rng(0)
    shapes = {"w": (1, 3 * HIDDEN, FEATURES), "r": (1, 3 * HIDDEN, HIDDEN)}
    weights = {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    node = helper.make_node("GRU", ["x", "w", "r"], ["y"], hidden_size=HIDDEN)
    return onnx_model([node], {"x": (count, 1, FEATURES)}, weights, ir_version=9)


def walk(kind: str, count: int, told: Callable[[str, float], None]) -> None:
    """Run all steps in this process; `told` is called with each and its CPU seconds."""
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


def child(options: Namespace) -> dict[str, float]:
    """Measure in this process, which ends when it has used `--limit` CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit + 5))
    walk(options.child, counts_of(options)[0], lambda name, s: print(json.dumps({name: s}), flush=True))
    return {}


def measure(kind: str, count: int, limit: int) -> dict[str, Any]:
    """A row: {step: CPU seconds}, less the steps that it did not reach; "failed": status of a process that died."""
    command = [sys.executable, __file__, "--child", kind, "--counts", str(count), "--limit", str(limit)]
    environment = dict(os.environ, TVMQ_CACHE="")
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    seconds: dict[str, float] = {}
    for line in result.stdout.splitlines():
        seconds |= json.loads(line)
    over = result.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return {
        "kind": kind, "count": count, "seconds": seconds, "failed": 0 if over else result.returncode, "limit": limit
    }  # fmt: skip


def step_text(row: Mapping[str, Any], step: str) -> str:
    """Seconds of a step; why there are none, at the first that is missing."""
    reached = [name for name in STEPS if name in row["seconds"]]
    if step in reached:
        return f"{row['seconds'][step]:.1f}"
    return ("failed" if row["failed"] else f"> {row['limit']}") if step == STEPS[len(reached)] else "-"


COLUMNS = (
    *columns("chain {kind} | operators {count:,}"), *((name, partial(step_text, step=name)) for name in STEPS)
)  # fmt: skip


def counts_of(options: Namespace) -> list[int]:
    """Numbers of operators, fewer in a quick run."""
    return [QUICK] if options.quick else [int(count) for count in options.counts.split(",")]


main = Command(
    __doc__, COLUMNS,
    lambda o: (measure(kind, count, o.limit) for kind in o.kinds.split(",") for count in counts_of(o)),
    lambda rows, _: [f"{r['kind']} {r['count']}: the process ended with {r['failed']}" for r in rows if r["failed"]],
    tasks=None, child=child,
    arguments=[
        argument("--kinds", default=",".join([*KINDS, GRU]), help="names, separated by commas"),
        argument("--counts", default="1000,5000,20000", help="numbers of operators, or of steps of the GRU"),
        argument("--limit", type=int, default=180, help="CPU seconds of a row"),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
