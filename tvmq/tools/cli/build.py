"""`tvmq build`: compile a saved model again, for other CPUs or for several.

Tests: tests/tools/cli/test_commands.py
"""

from __future__ import annotations

from pathlib import Path

import tvmq
from tvmq.tools.analysis.lowered_layers import lowering_lines
from tvmq.tools.cli.arguments import Json, OutputPath, Quiet, Texts, check_targets, parse_targets
from tvmq.tools.cli.console import print_json, size_text, step
from tvmq.tools.cli.files import check_output
from tvmq.tools.cli.trust import load_without_code


def build(
    model: Path, *, output: OutputPath, target: Texts = None, lowering: list[str] | None = None,
    sha256: str | None = None, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Compile a saved model for other CPUs without quantizing it again; the results are the same on all.

    Example: tvmq build resnet18.tvmq --target x86-64-v3 --target avx512-vnni --output everywhere.tvmq

    output    File to save the executable to. Example: fat.tvmq
    lowering  module:object of a tvmq.Lowering, your own code for operators; repeatable.
    """
    check_output(output)
    check_targets(target)
    module = load_without_code(model, sha256).module
    with step("build", quiet=quiet):
        exe = tvmq.build(module, target=parse_targets(target), lowerings=lowering)
    digest = exe.save(output)
    names = [each_target.name for each_target in exe.targets]
    size = output.stat().st_size
    if as_json:
        print_json({"model": model, "output": output, "output_bytes": size, "targets": names, "sha256": digest})
        return
    for name, text in (("saved", f"{output} ({size_text(size)})"), ("for", ", ".join(names)), ("sha256", digest)):
        print(f"  {name:<6}  {text}")
    for line in lowering_lines(exe.lowerings):
        print(line)
