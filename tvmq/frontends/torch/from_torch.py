"""torch models as Relax modules: `from_torch`.

The road: export (torch_export) -> decompose, except what TVM imports better whole (torch_export) -> convert node by
node with our repairs (torch_repairs) or TVM's converters, grouped by the torch module they came from (torch_convert,
torch_names) -> one named, straight-line function (assemble).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm

from tvmq.errors import ModelError
from tvmq.frontends.assemble import assemble
from tvmq.memory import check_max_bytes
from tvmq.reasons import explain_exceptions

if TYPE_CHECKING:
    import torch


@explain_exceptions("from_torch")
def from_torch(
    model: torch.nn.Module | torch.export.ExportedProgram | str | Path,
    example_inputs: Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_batch: bool = False,
    dynamic_shapes: Any = None,
    max_bytes: int | None = None,
) -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
    """Import a torch model through `torch.export`.

    model           an nn.Module (exported here), a torch.export.ExportedProgram, or the path of one saved as .pt2
    example_inputs  for an nn.Module: a tensor, a tuple of positional inputs, or a dictionary of keyword inputs; they
                    fix the shapes and element types. None for a program, which has them
    kwargs          keyword inputs besides a tuple
    dynamic_batch   leave the first size of all inputs free: those that begin with the size of the first input
    dynamic_shapes  as torch.export.export takes it, for other free sizes
    max_bytes       refuse a model in which one tensor takes more bytes than this, see `from_onnx`; None: the memory of
                    this machine
    returns         module and weights in the form of `from_onnx`. Inputs are called as in `forward`, outputs by the
                    keys of a dictionary, else output_0, output_1, ...; the items of nested tuples and dictionaries
                    are joined by dots. Layers are called by the fully-qualified name of their torch module; a function
                    called in a module is <module>.<function>, from its second call <module>.<function>_1, ...
    raises          ModelError          torch is missing, the model or its inputs cannot be exported
                    UnsupportedOpError  an operator cannot be imported, or computes as in training
                    MemoryLimitError    a tensor is larger than max_bytes
    order           export, decomposition of operators, conversion in turn

    A module in training mode is exported as in evaluation and put back afterwards; the model itself, weights
    included, is not changed. Weights that several layers share are one parameter. Values are compared with eager
    torch in float tolerance, since both sum in their own order.
    """
    _require_torch()
    bound = check_max_bytes(max_bytes, "from_torch")
    from tvmq.frontends.torch.convert import convert
    from tvmq.frontends.torch.export import export_program

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch and TVM about what they deprecate and we do not use
        program = export_program(model, example_inputs, kwargs, dynamic_batch, dynamic_shapes)
        return assemble(convert(program), bound)


def _require_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ModelError(
            f'from_torch: torch cannot be imported ({error}); install it with pip install "tvmq[torch]"'
        ) from error
