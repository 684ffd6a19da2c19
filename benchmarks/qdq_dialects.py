"""Our files in other tools, beside our integers: onnxruntime, OpenVINO, torch.

    python benchmarks/qdq_dialects.py --zoo ../shared/zoo [--tasks a,b] [--forms W8A8,tensorrt,...] [--quick]

Forms     W8A8      uint8 activations, int8 weights, opset 17
          tensorrt  int8 around zero, float biases (dialect="tensorrt"); refused: places that its rules refuse, slower:
                    places that keep layers out of int8
          W4A8      weights of 4 bits in INT4 tensors, opset 21
          W8A16     activations of 12 bits in INT16 tensors, opset 21
          W4        weights alone, 4 bits, in groups of 32 where the layer allows: blocks of DequantizeLinear, opset 21
          torch     to_torch of the W8A8 module; exact: in its exact form, which must not differ where the network has
                    no float operators of its own (softmax, layer norm)
Tools     ort-      onnxruntime without optimizations: what the file says
          ort       onnxruntime as it is; OpenVINO in float32
Columns   codes: all tensors of codes of the network on the first samples, compared by name (nothing but the network's
          input is common, so steps add up along it); differing and LSB: how many differ, and by how much at most.
          operators: codes that differ where each operator gets the same codes as onnxruntime's, and by how many steps
          at most (exact/operators.py). outputs: output values, how many differ, and the largest difference in shares of
          the largest output. back: values that differ after the file is imported again. score: of the tool's outputs;
          ours beside it
Bounds    nothing that TensorRT would refuse; 0 values that differ after the way back (in TensorRT's form what saturates
          downwards is -128, here -127: these are counted alone); one step for each operator, unless onnxruntime's sums
          saturate on this CPU (harness/onnxruntime_peer.py). Exit code 1 where one is missed.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from exact.operators import compare_operators
from harness import onnxruntime_peer
from harness.command import Command, argument
from harness.report import columns
from harness.zoo import Feed, batch_one_shape, chosen_tasks, count_unequal, evaluate, first_inputs

FORMS: dict[str, dict[str, Any]] = {
    "W8A8": {},
    "tensorrt": {"scheme": "symmetric", "dtype_input": "int8"},
    "W4A8": {"nbit_weight": 4},
    "W8A16": {"dtype_input": "int16", "nbit_input": 12},
    "W4": {"activations": None, "nbit_weight": 4},
    "torch": {},
    "exact": {},
}
SMALL = ("resnet8_cifar10", "dscnn_digits", "mbconv_se_cifar10", "crepe_tiny", "squeezenet1_1")
SAMPLES = 4  # whose codes are compared
CODES = "_QuantizeLinear_Output"  # suffix of the exporter, behind the name of our variable
Run = Callable[[Feed], Mapping[str, np.ndarray]]


def quantized(task: Any, form: str, calibration: Any) -> Any:
    """The integer module of a form."""
    import tvmq

    mod, params = tvmq.from_onnx(task.model_path, shape=batch_one_shape(task))
    data = None if form == "W4" else calibration
    with tvmq.qconfig(**FORMS[form]):
        return tvmq.quantize(mod, params, data, guard=None)


def watched(path: Path) -> Path:
    """A copy of the file that gives all its activations in codes beside its results."""
    import onnx
    from onnx import helper

    model = onnx.load(path)
    given = {output.name for output in model.graph.output}
    names = [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names if name not in given)
    onnx.save(model, path.with_suffix(".watched.onnx"))
    return path.with_suffix(".watched.onnx")


def onnxruntime_run(path: Path, *, optimized: bool) -> Run:
    """onnxruntime, with its optimizations or without."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda feed: dict(zip(names, session.run(None, dict(feed)), strict=True))


def openvino_run(path: Path) -> Run:
    """OpenVINO, whose float parts are float32."""
    import openvino

    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    compiled = openvino.Core().compile_model(openvino.Core().read_model(path), "CPU", options)
    return lambda feed: {port.any_name: value for port, value in compiled(dict(feed)).items()}


def torch_run(module: Any, outputs: list[str], form: str, *, watches: bool = False) -> Run:
    """The torch module; its tensors of codes, too, where they are watched."""
    import torch

    import tvmq

    net = tvmq.to_torch(module, form="exact" if form == "exact" else "decomposed")

    class Watched(torch.fx.Interpreter):
        def run_node(self, node: torch.fx.Node) -> Any:
            result = super().run_node(node)
            if node.name.endswith(CODES):
                codes[node.name] = result.numpy()
            return result

    def run(feed: Feed) -> Mapping[str, np.ndarray]:
        given = [torch.from_numpy(np.array(value)) for value in feed.values()]
        with torch.no_grad():
            found = Watched(net).run(*given) if watches else net(*given)
        results = found if isinstance(found, tuple) else (found,)
        return codes | {name: value.numpy() for name, value in zip(outputs, results, strict=True)}

    codes: dict[str, np.ndarray] = {}
    return run


def our_codes(module: Any, feed: Feed) -> dict[str, np.ndarray]:
    """{variable: codes} of the definition."""
    import tvmq

    found: dict[str, np.ndarray] = {}

    def watch(name: str, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            found[name] = value

    tvmq.reference.Reference(module).run(feed, watch=watch)
    return found


def compare_codes(module: Any, run: Run, feeds: list[Feed]) -> tuple[int, int, int]:
    """(codes, how many differ, largest difference) of all tensors of codes that a tool gives."""
    codes = differing = largest = 0
    for feed in feeds:
        ours = our_codes(module, feed)
        for name, theirs in run(feed).items():
            mine = ours.get(name.removesuffix(CODES)) if name.endswith(CODES) else None
            if mine is None:
                continue
            steps = np.abs(mine.astype(np.int64) - theirs.reshape(mine.shape).astype(np.int64))
            codes, differing = codes + steps.size, differing + int((steps > 0).sum())
            largest = max(largest, int(steps.max(initial=0)))
    return codes, differing, largest


def measured(task: Any, module: Any, ours: Any, watch: Run | None, run: Run, feeds: list[Feed]) -> dict[str, Any]:
    """The figures of one tool."""
    theirs = evaluate(task, lambda feed: list(run(feed).values()))
    pairs = list(zip(ours.outputs, theirs.outputs, strict=True))
    codes = compare_codes(module, watch, feeds) if watch is not None else None
    return {
        "codes": codes, "values": sum(a.size for a, _ in pairs),
        "differing": count_unequal(ours.outputs, theirs.outputs),
        "share": max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs),
        "score": theirs.score, "ours": ours.score,
    }  # fmt: skip


def float_operators(module: Any) -> int:
    """Number of operators of a module that compute in floats, without conversions and tables."""
    from tvmq.graph.view import View, dtype_of, op_name

    own = ("tvmq.dequantize", "tvmq.table", "reshape")
    return sum(dtype_of(var) == "float32" and op_name(value) not in own for var, value in View(module).bindings)


def back(module: Any, path: Path, feeds: list[Feed]) -> int:
    """Values of the definition that differ after the way out and in again."""
    import tvmq

    again = tvmq.reference.Reference(tvmq.quantize(*tvmq.from_onnx(path)))
    here = tvmq.reference.Reference(module)
    return sum(count_unequal(here.run(feed), again.run(feed)) for feed in feeds)


def rows_of(task: Any, form: str, calibration: Any, folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of one task and form, a tool each."""
    import tvmq

    module = quantized(task, form, calibration)
    executable = tvmq.build(module)
    ours = evaluate(task, executable.run)
    feeds = first_inputs(task, SAMPLES)
    name = {"name": f"{task.name} {form}"}
    if form in ("torch", "exact"):
        names = [info.name for info in executable.output_info]
        view, plain = (torch_run(module, names, form, watches=watches) for watches in (True, False))
        facts = {"tool": "torch", "floats": float_operators(module)}
        yield name | facts | measured(task, module, ours, view, plain, feeds)
        return
    path = folder / f"{task.name}.{form}.onnx"
    tvmq.to_onnx(module, path, dialect="tensorrt" if form == "tensorrt" else "onnxruntime")
    facts = name | {"back": None if form == "W4" else back(module, path, feeds), "bytes": path.stat().st_size}
    facts |= checked(path) if form == "tensorrt" else {}
    if form != "W4":
        facts["operators"] = asdict(compare_operators(path, feeds, folder))
    plain, fused = (onnxruntime_run(path, optimized=optimized) for optimized in (False, True))
    view = onnxruntime_run(watched(path), optimized=False)
    yield facts | {"tool": "ort-"} | measured(task, module, ours, view, plain, feeds)
    yield name | {"tool": "ort"} | measured(task, module, ours, None, fused, feeds)
    view, plain = (openvino_run(given) for given in (watched(path), path))
    yield name | {"tool": "OpenVINO"} | measured(task, module, ours, view, plain, feeds)


def checked(path: Path) -> dict[str, int]:
    """Violations of TensorRT's rules."""
    from tvmq.formats.onnx.exporter.tensorrt_rules import check_tensorrt

    found = check_tensorrt(path)
    return {"refused": sum(f.is_refused for f in found), "slower": sum(not f.is_refused for f in found)}


def failures(rows: list[dict[str, Any]], saturating: bool = False) -> list[str]:
    """The bounds that were missed; those beside onnxruntime hold where its sums do not saturate."""
    missed = []
    for facts in rows:
        if facts["name"].endswith(" exact") and facts["differing"] and not facts["floats"]:
            missed.append(f"{facts['name']}: {facts['differing']} values differ")
        if facts.get("refused"):
            missed.append(f"{facts['name']}: TensorRT would refuse {facts['refused']} places")
        if facts.get("back") and not facts["name"].endswith("tensorrt"):
            missed.append(f"{facts['name']}: {facts['back']} values differ after the way back")
        operators = facts.get("operators")
        if operators and operators["largest"] > 1 and not saturating:
            missed.append(f"{facts['name']}: '{operators['worst']}' differs by {operators['largest']} steps")
    return missed


def note_of(facts: Mapping[str, Any]) -> str:
    """Bytes, float operators, and what TensorRT's rules find, where they are known."""
    notes = [f"{facts['bytes']} bytes"] if "bytes" in facts else []
    notes += [f"{facts['floats']} float operators"] if facts.get("floats") else []
    notes += [f"refused {facts['refused']}, slower {facts['slower']}"] if "refused" in facts else []
    return "; ".join(notes)


COLUMNS = (
    *columns(
        "model {name} | tool {tool} | operators {operators[differing]} of {operators[values]}",
        "LSB {operators[largest]} | codes {codes[0]} | differing {codes[1]} | LSB {codes[2]} | outputs {values}",
        "differing {differing} | share {share:.1e} | back {back} | score {score:.2f} | ours {ours:.2f}",
    ),
    ("notes", note_of),
)


def measure_all(options: Namespace) -> Iterator[dict[str, Any]]:
    """The rows of each task and form."""
    onnxruntime_peer.be_quiet()
    with tempfile.TemporaryDirectory() as folder:
        for task, feeds in chosen_tasks(options, 100):
            for form in options.forms.split(","):
                yield from rows_of(task, form, feeds, Path(folder))


main = Command(
    __doc__, COLUMNS, measure_all, lambda rows, _: failures(rows, onnxruntime_peer.saturates()), SMALL,
    arguments=[argument("--forms", default=",".join(FORMS), help="names, separated by commas")],
    head=lambda _: [onnxruntime_peer.describe_sums(onnxruntime_peer.saturates())],
)  # fmt: skip

if __name__ == "__main__":
    main()
