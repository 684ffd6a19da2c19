"""`tvmq export-torch`: a saved model as a program of torch.export.

Tests: tests/tools/cli/test_export_onnx.py
"""

from __future__ import annotations

from pathlib import Path

from tvmq.base.foreign_errors import needs_extra
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Json, OutputPath, Quiet
from tvmq.tools.cli.console import print_json, print_rows, size_text, step
from tvmq.tools.cli.files import check_output
from tvmq.tools.cli.trust import load_without_code


def export_torch(
    model: Path, *, output: OutputPath, form: str = "decomposed", sha256: str | None = None, as_json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write a saved model as a .pt2 program: for ExecuTorch and other readers of PT2E, or the integers, bit for bit.

    Run `import torch.ao.quantization.fx._decomposed` before torch.export.load reads the decomposed form.

    Example: tvmq export-torch resnet18.tvmq -o resnet18.pt2

    model   A model saved by `tvmq quantize`.
    output  The .pt2 file to write.
    form    decomposed: torch.ops.quantized_decomposed around float operators; exact: integer operators.
    """
    check_output(output)
    exe = load_without_code(model, sha256)
    dynamic = [info.name for info in exe.input_info if not all(isinstance(size, int) for size in info.shape)]
    if dynamic:
        raise ConfigError(
            f"export-torch: input '{dynamic[0]}' has dynamic sizes; fix them with `tvmq quantize --shape`, or call "
            "tvmq.to_torch and torch.export.export with dynamic_shapes"
        )
    from tvmq.formats.torch.exporter.to_torch import save_program  # imports TVM

    with step("export", quiet=quiet), needs_extra("export-torch", "torch", "torch"):
        save_program(exe.module, [(info.shape, info.dtype) for info in exe.input_info], output, form=form)
    if as_json:
        print_json({"output": str(output), "bytes": output.stat().st_size})
        return
    print_rows([["written", str(output)], ["size", size_text(output.stat().st_size)]])
