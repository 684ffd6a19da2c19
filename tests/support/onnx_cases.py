"""ONNX's own test cases of single operators, and their outcome through import, build and run.

The cases come with the package onnx (`onnx.backend.test`) and are made on request. A verdict is
    passed    the compiled model gives the expected outputs, within the case's own tolerance
    refused   `from_onnx` says in one sentence which node or value it cannot import, and the way out
    wrong     everything else: other numbers, shapes or types, any other exception, a crash, a hang

Cases feed everything as inputs of the graph, also what is a constant in real models: the shape of a Reshape, the
bounds of a Slice. Where a case is refused for that, it runs again with these inputs (PARAMETERS) as constants.
"""

from __future__ import annotations

import faulthandler
import functools
import multiprocessing
import os
import re
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

PASSED, REFUSED, WRONG = "passed", "refused", "wrong"
TIME_LIMIT = 120.0  # seconds for a case; the slowest take a few

# operator: positions of inputs that the models of real exporters hold as constants
PARAMETERS: dict[str, tuple[int, ...]] = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Clip": (1, 2),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "DequantizeLinear": (1, 2),
    "DFT": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "GRU": (1, 2, 3, 4),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "LSTM": (1, 2, 3, 4, 7),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "OneHot": (1, 2),
    "Pad": (1, 2, 3),
    "QuantizeLinear": (1, 2),
    "Range": (0, 1, 2),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "ReduceMax": (1,),
    "ReduceMean": (1,),
    "ReduceMin": (1,),
    "ReduceProd": (1,),
    "ReduceSum": (1,),
    "ReduceSumSquare": (1,),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "RNN": (1, 2, 3, 4),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "STFT": (1, 2, 3),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}


@dataclass(frozen=True, eq=False)
class Case:
    """A model of ONNX's and its data.

    operator   what it tests; an expanded function counts for the function
    data       pairs of input and expected output values
    """

    name: str
    operator: str
    model: onnx.ModelProto
    data: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float

    @property
    def is_float32(self) -> bool:
        """True if it has a float32 tensor and no other floats, texts or types beside tensors."""
        types = [value.type for value in [*self.model.graph.input, *self.model.graph.output]]
        if not all(kind.HasField("tensor_type") for kind in types):
            return False
        found = {kind.tensor_type.elem_type for kind in types}
        others = found - {TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64}
        return TensorProto.FLOAT in found and not others


@dataclass(frozen=True)
class Verdict:
    """Outcome of a case; `detail` is the refusal or what went wrong, "constants" for the second try."""

    name: str
    status: str
    detail: str = ""


@functools.cache
def load_cases() -> dict[str, Case]:
    """All node test cases by name."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = load_model_tests(kind="node")
    operators = {case.name: _operator(case.model) for case in found}
    cases = {}
    for case in sorted(found, key=lambda case: case.name):
        base = re.sub(r"_expanded.*$", "", case.name)
        operator = operators.get(base, operators[case.name])
        data = [([_array(x) for x in given], [_array(y) for y in wanted]) for given, wanted in case.data_sets]
        cases[case.name] = Case(case.name, operator, case.model, data, case.rtol, case.atol)
    return cases


def _array(value: Any) -> Any:
    """Data as NumPy arrays; lists and None (sequences, optional values) stay."""
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def _operator(model: onnx.ModelProto) -> str:
    """The operator a model tests: its only one, or that of the node which gives the result."""
    node = model.graph.node[-1]
    return f"{node.domain}.{node.op_type}".lstrip(".")


def judge(case: Case) -> Verdict:
    """Import, build, run, compare."""
    first = _judge(case, case.model)
    if first.status != REFUSED:
        return first
    bound = with_constants(case)
    if bound is None:
        return first
    second = _judge(case, bound)
    return Verdict(case.name, PASSED, "constants") if second.status == PASSED else second


def _judge(case: Case, model: onnx.ModelProto) -> Verdict:
    from onnx.backend.test.runner import Runner

    import tvmq

    try:
        mod, params = tvmq.from_onnx(model)
    except tvmq.errors.ModelError as error:
        return Verdict(case.name, REFUSED if is_clear(str(error)) else WRONG, str(error))
    except Exception as error:  # noqa: BLE001  (this is what is looked for)
        return Verdict(case.name, WRONG, f"import: {type(error).__name__}: {_line(error)}")
    fed = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in case.model.graph.input]
    try:
        executable = tvmq.build(mod, params=params)
        for inputs, expected in case.data:
            feed = {name: np.asarray(x) for name, x in zip(names, inputs, strict=False) if name not in fed}
            results = executable.run(feed)
            Runner.assert_similar_outputs(expected, results, case.rtol, case.atol)
    except Exception as error:  # noqa: BLE001
        return Verdict(case.name, WRONG, f"{type(error).__name__}: {_line(error)}")
    return Verdict(case.name, PASSED)


def is_clear(message: str) -> bool:
    """True for a message of one line that names a layer, a value or the model, and says what to do.

    >>> is_clear("from_onnx, layer 'a': Loop: control flow is not supported; export the model without it")
    True
    >>> is_clear("no value in Constant")
    False
    """
    names = re.match(r"from_onnx(, (layer|input|output|constant) '|: '|: (input|output|shape|weight) )", message)
    return bool(names) and "; " in message and "\n" not in message


def with_constants(case: Case) -> onnx.ModelProto | None:
    """The model with the inputs named in PARAMETERS as initializers; None if there are none, or several data."""
    original = load_cases().get(re.sub(r"_expanded.*$", "", case.name), case)
    wanted = {
        node.input[position]
        for node in [*case.model.graph.node, *original.model.graph.node]
        for position in PARAMETERS.get(node.op_type, ())
        if position < len(node.input)
    }
    inputs = {value.name: i for i, value in enumerate(case.model.graph.input)}
    names = [name for name in inputs if name in wanted and inputs[name] < len(case.data[0][0])]
    values = {name: case.data[0][0][inputs[name]] for name in names}
    if not names or len(case.data) > 1 or not all(isinstance(x, np.ndarray | np.generic) for x in values.values()):
        return None
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    kept = [value for value in case.model.graph.input if value.name not in values]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(x), name) for name, x in values.items())
    return model


def judge_all(cases: Sequence[Case], advance: Callable[[], None] = lambda: None) -> Iterator[Verdict]:
    """Verdicts in the order of the cases, from forked processes: a crash or a hang costs one case."""
    waiting = list(cases)
    while waiting:
        worker = _Worker(waiting)
        for case in list(waiting):
            verdict = worker.verdict(case)
            waiting.pop(0)
            advance()
            yield verdict
            if worker.ended:
                break
        worker.stop()


class _Worker:
    """A process that judges cases in turn and sends the verdicts."""

    def __init__(self, cases: Sequence[Case]) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, far = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(list(cases), far), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process that has threads
            self.process.start()
        far.close()
        self.ended = False

    def verdict(self, case: Case) -> Verdict:
        """The next verdict; that of a crash or a hang if none comes."""
        try:
            if self.pipe.poll(TIME_LIMIT):
                return self.pipe.recv()
        except EOFError:
            self.process.join()
            self.ended = True
            code = -(self.process.exitcode or 0)
            name = signal.Signals(code).name if code > 0 else f"exit code {-code}"
            return Verdict(case.name, WRONG, f"the process died: {name}")
        self.ended = True
        return Verdict(case.name, WRONG, f"no result after {TIME_LIMIT:g} s")

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _work(cases: Sequence[Case], pipe: Any) -> None:
    """Judge and send; what TVM prints on the way is dropped."""
    faulthandler.disable()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    for case in cases:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            pipe.send(judge(case))
    pipe.close()


def _line(error: Exception) -> str:
    """The lines of an exception's text that say most, joined."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept = lines[-1:] if type(error).__module__.startswith("tvm.") else lines[:4]
    return " ".join(kept)[:400]


def sample(cases: Sequence[Case]) -> list[Case]:
    """A case for each operator: the first of float32, no expanded function; fixed, for tests."""
    found: dict[str, Case] = {}
    for case in sorted(cases, key=lambda case: ("_expanded" in case.name, not case.is_float32, case.name)):
        found.setdefault(case.operator, case)
    return sorted(found.values(), key=lambda case: case.name)


def write_expectation(path: Path, cases: Sequence[Case], verdicts: Sequence[Verdict]) -> None:
    """The refused cases by operator; all others must pass."""
    refused: dict[str, list[str]] = {}
    for case, verdict in zip(cases, verdicts, strict=True):
        if verdict.status == REFUSED:
            refused.setdefault(case.operator, []).append(case.name.removeprefix("test_"))
    lines = [
        "# Written by `python benchmarks/conformance.py --update`: cases that the ONNX importer refuses.",
        f"onnx {onnx.__version__}",
        *(f"{operator}: {' '.join(names)}" for operator, names in sorted(refused.items())),
    ]
    path.write_text("\n".join(lines) + "\n")


def expected_refusals(path: Path) -> set[str] | None:
    """Names of the cases that are refused; None where the installed onnx has other cases than the file knows."""
    version, *lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    if version != f"onnx {onnx.__version__}":
        return None
    return {f"test_{name}" for line in lines for name in line.partition(": ")[2].split()}
