"""torch models as Relax modules: `from_torch`, and the export to a decomposed program in evaluation mode before it.

The stages, in order:

    export      torch.export, then decompose all operators but those that TVM imports better whole
    convert     convert node by node with our repairs or TVM's converters, grouped by torch module (signature)
    assemble    one named, straight-line function (formats/importing)

Tests: tests/formats/torch/importer/test_from_torch.py
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm

from tvmq.base.foreign_errors import explain_exceptions, needs_extra
from tvmq.base.memory import ROOM, bytes_text, check_max_bytes, usable_memory
from tvmq.base.text import printable
from tvmq.errors import MemoryLimitError, ModelError, TvmqError, UnsupportedOpError
from tvmq.formats.importing.assemble import assemble
from tvmq.formats.torch.importer.signature import module_path, next_name, written_buffers
from tvmq.graph.state_pairs import with_state
from tvmq.state.pair import StatePair

if TYPE_CHECKING:
    import torch

LONGEST_CAUSE = 600  # characters of torch's own text that are quoted

# Decompositions that lose what the later stages look for: products of three dimensions become batches of copied
# weights, functions become comparisons, nearest resizing becomes indexing.
NOT_DECOMPOSED = (
    "linear.default", "matmul.default", "silu.default", "hardswish.default", "hardsigmoid.default",
    "leaky_relu.default", "elu.default", "selu.default", "celu.default", "softplus.default", "mish.default",
    "prelu.default", "_prelu_kernel.default", "softmax.int", "scaled_dot_product_attention.default",
    "layer_norm.default", "instance_norm.default",
    "rms_norm.default", "conv_transpose1d.default", "conv_transpose2d.input", "upsample_nearest2d.vec",
    "upsample_bilinear2d.vec", "upsample_bicubic2d.vec", "adaptive_avg_pool1d.default",
    "adaptive_avg_pool2d.default", "avg_pool1d.default", "hardtanh.default", "relu6.default",
    "lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input",
)  # fmt: skip
# aten operator -> position of the argument that says it runs as in training
TRAINING = {"dropout": 2, "alpha_dropout": 2, "feature_dropout": 2, "native_dropout": 2, "batch_norm": 5}


def export_program(
    model: Any,
    example_inputs: Any,
    kwargs: Mapping[str, Any] | None,
    dynamic_batch: bool,
    dynamic_shapes: Any,
    *,
    trust: bool = False,
) -> torch.export.ExportedProgram:
    """A decomposed program; arguments as in `from_torch`.

    raises ModelError for anything but a torch model, and for models that torch.export refuses, with its own words.
    """
    import torch

    if isinstance(model, str | Path):
        model = _load(Path(model), trust=trust)
    if isinstance(model, torch.export.ExportedProgram):
        if example_inputs is not None or kwargs or dynamic_batch or dynamic_shapes is not None:
            raise ModelError(
                "from_torch: an ExportedProgram already has inputs and shapes; pass it alone, or pass the nn.Module"
            )
        program = model
    elif isinstance(model, torch.nn.Module):
        program = _export(model, example_inputs, dict(kwargs or {}), dynamic_batch, dynamic_shapes)
    else:
        raise ModelError(
            f"from_torch: a model must be an nn.Module, an ExportedProgram or the path of a .pt2 file, got "
            f"{type(model).__name__}; pass one of these"
        )
    _refuse_training(program)
    return program.run_decompositions(_decompositions())


def _load(path: Path, *, trust: bool) -> Any:
    import torch

    if not path.is_file():
        raise ModelError(f"from_torch: there is no file '{path}'; check the path")
    if not trust:
        raise ModelError(
            f"from_torch: reading '{path}' can run code of whoever wrote it, as torch.export.load unpickles and "
            "evaluates parts of it; if you trust it, pass trust=True, or tvmq --trust on the command line, otherwise "
            "ask for ONNX"
        )
    _check_archive(path)
    try:
        return torch.export.load(str(path))
    except Exception as error:  # zipfile's, pickle's and torch's own
        raise ModelError(
            f"from_torch: '{path}' was not written by torch.export.save ({first_line(error)}); "
            "save it with torch.export.save(torch.export.export(model, inputs), path)"
        ) from error


def _check_archive(path: Path) -> None:
    """Raise MemoryLimitError for an archive larger than the memory when unpacked; torch refuses other files."""
    if not zipfile.is_zipfile(path):
        return
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        size, most = sum(member.file_size for member in archive.infolist()), usable_memory()
        if size > most:
            raise MemoryLimitError(
                f"from_torch: '{path}' would unpack to {bytes_text(size)}, this machine has {bytes_text(most)}; {ROOM}"
            )


def _export(
    model: torch.nn.Module, example: Any, kwargs: dict[str, Any], dynamic_batch: bool, dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    import torch

    from tvmq.formats.torch.importer.quantized.borders import traced_stubs
    from tvmq.formats.torch.importer.quantized.tracing import trace_model

    args, kwargs = _arguments(example, kwargs)
    if any(getattr(value, "is_quantized", False) for value in (*args, *kwargs.values())):
        raise ModelError(
            "from_torch: an example input is a quantized tensor; pass floats, and quantize them in `forward` or "
            "with a QuantStub"
        )
    if dynamic_batch and dynamic_shapes is not None:
        raise ModelError("from_torch: dynamic_batch and dynamic_shapes exclude each other; pass one of them")
    if dynamic_batch:
        args, kwargs, dynamic_shapes = _with_dynamic_batch(model, args, kwargs)
    try:
        with evaluation(model), torch.no_grad(), traced_stubs(model):
            return trace_model(model, lambda: torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes))
    except TvmqError:
        raise
    except Exception as error:  # torch.export raises dozens of types
        raise ModelError(
            f"from_torch: torch.export refuses {type(model).__name__}: {_cause(error)}; make "
            "torch.export.export(model, inputs) work first, usually by removing branches that depend on values"
        ) from error


def _arguments(example: Any, kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword inputs."""
    if example is None and not kwargs:
        raise ModelError(
            "from_torch: an nn.Module is exported by running it; pass example_inputs, for example "
            "(torch.randn(1, 3, 224, 224),)"
        )
    if isinstance(example, Mapping):
        return (), {**example, **kwargs}
    if example is None:
        return (), kwargs
    return (tuple(example) if isinstance(example, tuple | list) else (example,)), kwargs


def _with_dynamic_batch(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Example inputs of two samples or more (torch.export takes a size of 1 for a constant), and the dynamic shapes."""
    import torch
    from torch.utils import _pytree

    sizes = [x.shape[0] for x in _pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor) and x.ndim]
    if not sizes:
        raise ModelError("from_torch: dynamic_batch needs an input with a first dimension; pass one")
    batch = torch.export.Dim("batch")

    def has_batch(x: Any) -> bool:
        return isinstance(x, torch.Tensor) and x.ndim > 0 and x.shape[0] == sizes[0]

    shapes = _pytree.tree_map(lambda x: {0: batch} if has_batch(x) else None, (args, kwargs))
    if sizes[0] == 1:
        args, kwargs = _pytree.tree_map(lambda x: torch.cat([x, x]) if has_batch(x) else x, (args, kwargs))
    # torch.export asks for them by the parameters of `forward`, *args and **kwargs as one each
    return args, kwargs, dict(inspect.signature(model.forward).bind(*shapes[0], **shapes[1]).arguments)


@contextmanager
def evaluation(model: torch.nn.Module) -> Iterator[None]:
    """Put every submodule into evaluation mode, and back afterwards.

    Modules that torch.export made have one mode for good.
    """
    modes = [(module, module.training) for module in model.modules()]
    try:
        with contextlib.suppress(NotImplementedError):
            model.eval()
        yield
    finally:
        for module, training in modes:
            module.training = training


def _refuse_training(program: torch.export.ExportedProgram) -> None:
    for node in program.graph.nodes:
        position = TRAINING.get(getattr(node.target, "__name__", "").partition(".")[0])
        if position is None or len(node.args) <= position or node.args[position] is not True:
            continue
        if "batch_norm" in node.name and node.args[3] is None:  # statistics of the input, in evaluation too
            continue
        raise UnsupportedOpError(
            f"from_torch, layer '{module_path(node)}': {node.target.__name__.partition('.')[0]} runs in "
            "training mode; call model.eval() before torch.export.export, and pass training=self.training to functions"
        )


def _decompositions() -> Any:
    """torch's table without the operators that are imported whole."""
    import torch

    table = torch.export.default_decompositions()
    for name in NOT_DECOMPOSED:
        packet, _, overload = name.partition(".")
        table.pop(getattr(getattr(torch.ops.aten, packet), overload), None)
    return table


def _cause(error: Exception) -> str:
    """The first line of torch's text and the listed causes after it, such as constraints on sizes.

    >>> _cause(ValueError("Constraints violated (t)! For more information, see\\n  - Not valid because t < 9."))
    'Constraints violated (t)!: Not valid because t < 9'
    """
    text, _, behind = str(error).partition("Suggested fixes:")
    listed = [line.strip()[2:].rstrip(".;") for line in text.splitlines() if line.strip().startswith("- ")]
    if not listed:
        return first_line(error)
    start = first_line(error).partition(" For more information")[0]
    fixes = ", ".join(line.strip() for line in behind.split("\n\n")[0].splitlines() if line.strip())
    cause = printable(f"{start}: {'; '.join(listed)}"[:LONGEST_CAUSE])
    return f"{cause}; torch suggests {printable(fixes[:LONGEST_CAUSE])}" if fixes else cause


def first_line(error: Exception) -> str:
    """The first line of an exception's text, its type where it has none."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".;")


@explain_exceptions("from_torch")
def from_torch(
    model: torch.nn.Module | torch.export.ExportedProgram | str | Path,
    example_inputs: Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_batch: bool = False,
    dynamic_shapes: Any = None,
    max_bytes: int | None = None,
    trust: bool = False,
    backend_config: Any = None,
    custom_modules: Mapping[type, Any] | None = None,
    state: Mapping[str, str] | str | None = "auto",
) -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
    """Import a torch model through `torch.export`.

    model           an nn.Module (exported here), a torch.export.ExportedProgram, or the path of one saved as .pt2
    example_inputs  for an nn.Module: a tensor, a tuple of positional inputs, or a dictionary of keyword inputs; they
                    fix the shapes and element types. None for a program, which has them
    kwargs          keyword inputs besides a tuple
    dynamic_batch   make the first dimension dynamic: of all inputs that begin with the size of the first input
    dynamic_shapes  as torch.export.export takes it, for other dynamic dimensions
    max_bytes       refuse a model in which one tensor takes more bytes than this, see `from_onnx`; None: the memory of
                    this machine
    trust           read a .pt2 although code of whoever wrote it may run: torch unpickles and evaluates parts of it
    backend_config  that prepare_fx was given, for a model that it prepared
    custom_modules  {class of modules: a function that gives the module to import in place of one, or a class with
                    from_float(module)}, as convert_custom_config of torch's FX tools
    state           {input: output} of what each call hands to the next one, see `from_onnx`; buffers that the model
                    writes are states as well. "auto": also inputs and outputs whose names tell. None: there is none,
                    and written buffers are refused
    returns         module and weights in the form of `from_onnx`. Inputs are called as in `forward`, outputs by the
                    keys of a dictionary, else output_0, output_1, ...; the items of nested tuples and dictionaries
                    are joined by dots. Layers are called by the fully-qualified name of their torch module; a function
                    called in a module is <module>.<function>, from its second call <module>.<function>_1, ...
    raises          ModelError          torch is missing, the model or its inputs cannot be exported
                    UnsupportedOpError  an operator cannot be imported, or computes as in training
                    MemoryLimitError    a tensor is larger than max_bytes
    order           export, decomposition of operators, conversion in turn

    A model that torch's own tools quantized (torch.ao, torchao) comes with its scales, which `tvmq.quantize` adopts;
    one that is only prepared is converted by its tool first, on a copy; where that leaves most of its layers in float,
    a warning says so.
    Where a float model has a QuantStub, layers that read nothing behind one, or only behind a DeQuantStub, stay float.
    A module in training mode is exported as in evaluation and put back afterwards; the model itself, weights
    included, is not changed. Weights that several layers share are one parameter. Values are compared with eager
    torch in float tolerance, since both sum in their own order.
    """
    with needs_extra("from_torch", "torch", "torch", ModelError):
        import torch  # noqa: F401
    bound = check_max_bytes(max_bytes, "from_torch")
    from tvmq.formats.torch.importer.convert import convert
    from tvmq.formats.torch.importer.quantized.custom_modules import replaced_modules
    from tvmq.formats.torch.importer.quantized.prepared_models import convert_prepared

    model = convert_prepared(model, backend_config)
    with warnings.catch_warnings(), replaced_modules(model, custom_modules) as model:
        warnings.simplefilter("ignore")  # of torch and TVM about what they deprecate and we do not use
        program = export_program(model, example_inputs, kwargs, dynamic_batch, dynamic_shapes, trust=trust)
        written = {} if state is None else written_buffers(program)
        mod, params = assemble(convert(program, written), bound)
        pairs = [StatePair(name, next_name(name), initial=number) for name, number in written.items()]
        return with_state(mod, state, "from_torch", pairs), params
