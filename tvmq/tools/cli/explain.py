"""`tvmq explain`: which layers compute in integers, which do not, and why.

Tests: tests/tools/cli/test_commands.py
"""

from __future__ import annotations

from pathlib import Path

import tvmq
from tvmq.tools.cli.arguments import Json
from tvmq.tools.cli.console import print_result
from tvmq.tools.cli.trust import load_without_code


def explain(model: Path, layer: str | None = None, *, sha256: str | None = None, as_json: Json = False) -> None:
    """Show the ledger of a saved model: precision of each layer and the rule, default or limit that chose it.

    Example: tvmq explain resnet18.tvmq

    layer  Layer of the trained model to explain in detail.
    """
    exe = load_without_code(model, sha256)  # before TVM is imported
    explanation = tvmq.explain(exe)
    shown = explanation if layer is None else explanation.layer(layer)
    print_result(shown, as_json=as_json)
