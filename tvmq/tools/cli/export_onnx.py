"""`tvmq export-onnx`: a saved model as ONNX with QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import tvmq
from tvmq.tools.cli.arguments import Json, OutputPath, Quiet
from tvmq.tools.cli.console import notice, print_json, print_rows, size_text, step
from tvmq.tools.cli.files import check_output
from tvmq.tools.cli.trust import load_without_code


def export_onnx(
    model: Path, *, output: OutputPath, dialect: str = "onnxruntime", opset: int | None = None,
    sha256: str | None = None, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write a saved model as an ONNX file that onnxruntime, OpenVINO or TensorRT reads.

    With --dialect tensorrt, what TensorRT would refuse is an error, and what keeps layers out of int8 is listed.

    Example: tvmq export-onnx resnet18.tvmq -o resnet18.onnx --dialect tensorrt

    model    A model saved by `tvmq quantize`.
    output   ONNX file to write.
    dialect  onnxruntime (also for OpenVINO), or tensorrt (symmetric int8, float biases).
    opset    ONNX opset: 17 or 21. Default: 17, or 21 for codes of 4 or 16 bits.
    """
    check_output(output)
    module = load_without_code(model, sha256).module
    with step("export", quiet=quiet):
        tvmq.to_onnx(module, output, dialect=dialect, opset=opset)
    slower = _obstacles_to_int8(output) if dialect == "tensorrt" else []
    if as_json:
        print_json({"output": str(output), "bytes": output.stat().st_size, "dialect": dialect, "slower": slower})
        return
    print_rows([["written", str(output)], ["size", size_text(output.stat().st_size)], ["dialect", dialect]])
    if slower and not quiet:
        notice("these layers could run in int8 but do not:\n" + "\n".join(slower))


def _obstacles_to_int8(path: Path) -> list[str]:
    """Reasons that keep layers out of int8, a line for each rule with the first of its places."""
    from tvmq.formats.onnx.exporter.tensorrt_rules import check_tensorrt

    findings = check_tensorrt(path)
    count = Counter(finding.rule for finding in findings)
    first = {finding.rule: finding for finding in reversed(findings)}
    return [f"{rule}, {count[rule]} times; '{first[rule].node}': {first[rule].text}" for rule in count]
