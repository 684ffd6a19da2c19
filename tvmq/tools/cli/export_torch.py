"""`tvmq export-torch`: a saved model as a program of torch.export.

Tests: tests/tools/cli/test_export_onnx.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    with step("export", quiet=quiet):
        _save(exe.module, form, [(info.shape, info.dtype) for info in exe.input_info], output)
    if as_json:
        print_json({"output": str(output), "bytes": output.stat().st_size})
        return
    print_rows([["written", str(output)], ["size", size_text(output.stat().st_size)]])


def _save(module: Any, form: str, inputs: list[tuple[tuple[int | str, ...], str]], path: Path) -> None:
    """Save the program. raises  ConfigError without torch"""
    try:
        from tvmq.formats.torch.exporter.program import save_program
    except ImportError as error:
        raise ConfigError(
            f'export-torch: torch cannot be imported ({error}); install it with pip install "tvmq[torch]"'
        ) from error
    save_program(module, inputs, path, form=form)
