"""`tvmq explain`: which layers compute in integers, which do not, and why.

Tests: tests/tools/cli/test_commands.py
"""

from __future__ import annotations

from typing import Annotated

import typer

import tvmq
from tvmq.tools.cli.arguments import Json, SavedModel, Sha256
from tvmq.tools.cli.console import print_json
from tvmq.tools.cli.trust import load_without_code


def explain(
    model: SavedModel,
    layer: Annotated[str | None, typer.Argument(help="Layer of the trained model to explain in detail.")] = None,
    sha256: Sha256 = None,
    as_json: Json = False,
) -> None:
    """Show the ledger of a saved model: precision of each layer and the rule, default or limit that chose it.

    Example: tvmq explain resnet18.tvmq
    """
    explanation = tvmq.explain(load_without_code(model, sha256))
    shown = explanation if layer is None else explanation.layer(layer)
    if as_json:
        print_json(shown.to_dict())
    else:
        print(shown)
