"""Inputs, outputs, weights and layer names of an ExportedProgram.

A layer is called by the fully-qualified name of the module that its nodes were traced in.

Tests: tests/formats/torch/importer/test_from_torch.py
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from tvm import relax, tirx
from tvm.ir import GenericConst

from tvmq.base.text import printable_name
from tvmq.errors import UnsupportedOpError
from tvmq.formats.importing.assemble import variable_name
from tvmq.graph.names import UniqueNames

if TYPE_CHECKING:
    import torch


class ProgramWeights:
    """Parameters, buffers and lifted constants as Relax constants, each made when it is asked for.

    targets  {placeholder: name in the model}
    names    {constant: name in the model}, filled by `constant`; what shares memory is one constant
    """

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        import torch
        from torch.export.graph_signature import InputKind, TensorArgument

        self.values = {**program.state_dict, **program.constants}
        self.targets = {
            spec.arg.name: spec.target
            for spec in program.graph_signature.input_specs
            if spec.kind is not InputKind.USER_INPUT and isinstance(spec.arg, TensorArgument)
        }
        self.names: dict[GenericConst, str] = {}
        self._constants: dict[Any, GenericConst] = {}
        # shared weights are called by their first name, in the order of the state dictionary
        dense = {name: value for name, value in self.values.items() if getattr(value, "layout", None) is torch.strided}
        self._first_names = {_place(value): name for name, value in reversed(dense.items())}

    def tensor(self, placeholder: str) -> Any:
        """The values of a placeholder as torch has them."""
        return self.values[self.targets[placeholder]].detach()

    def constant(self, placeholder: str) -> GenericConst:
        """The constant of a placeholder."""
        target, tensor = self.targets[placeholder], self.tensor(placeholder)
        element_type(tensor.dtype, f"weight '{target}'")
        if tensor.is_sparse or tensor.is_meta:
            kind = "sparse" if tensor.is_sparse else "without values (on the device 'meta')"
            raise UnsupportedOpError(f"from_torch, weight '{target}': it is {kind}; use dense weights")
        key = _place(tensor)
        if key not in self._constants or not tensor.numel():
            array = tensor.cpu().contiguous().numpy()
            self._constants[key] = relax.const(array, str(array.dtype))
            self.names[self._constants[key]] = self._first_names[key]
        return self._constants[key]


def _place(tensor: Any) -> tuple[Any, ...]:
    """Key that is equal for tensors that share memory."""
    return (tensor.device, tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


def element_type(dtype: Any, what: str) -> str:
    """NumPy's name of a torch element type.

    raises UnsupportedOpError for bfloat16, complex numbers and quantized types.
    """
    name = str(dtype).removeprefix("torch.")
    known = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
    if name not in known:
        raise UnsupportedOpError(f"from_torch, {what}: element type {name} is not supported; use model.float()")
    return name


def input_variables(
    program: torch.export.ExportedProgram, importer: Any, written: Collection[str] = ()
) -> list[tuple[str, str, relax.Var]]:
    """(placeholder, input name, variable) of the inputs that are tensors; equal dynamic sizes are one symbol.

    written  buffers that are inputs too, behind the others
    """
    unique, inputs = UniqueNames(), []
    symbols: dict[str, tirx.Var] = {}
    values = {node.name: node.meta["val"] for node in program.graph.find_nodes(op="placeholder")}
    buffers = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs if spec.target in written}
    for name in (*program.graph_signature.user_inputs, *buffers):
        value = values.get(name) if isinstance(name, str) else None
        if value is None or not hasattr(value, "dtype"):
            continue  # None and numbers: torch.export made constants of them
        dtype = element_type(value.dtype, f"input '{name}'")
        hints = ["batch" if axis == 0 else f"{variable_name(name)}_d{axis}" for axis in range(value.ndim)]
        shape = [_size(size, hint, symbols, importer) for size, hint in zip(value.shape, hints, strict=True)]
        source = buffers.get(name, name)
        inputs.append((name, source, relax.Var(unique(variable_name(source)), relax.TensorType(shape, dtype))))
    return inputs


def _size(size: Any, hint: str, symbols: dict[str, tirx.Var], importer: Any) -> Any:
    """A size as a number, a symbol or an expression of symbols; a new symbol is called `hint` if that is unused."""
    if isinstance(size, int):
        return size
    name, derived = importer._process_derived_symbol(size.node.expr, symbols)
    if derived is not None:
        return derived
    names = {symbol.name for symbol in symbols.values()}
    return symbols.setdefault(name, tirx.Var(name if hint in names else hint, "int64"))


def written_buffers(program: torch.export.ExportedProgram) -> dict[str, float]:
    """{buffer that the model writes at each call: the number that it begins with}.

    raises UnsupportedOpError for a buffer that begins with several numbers
    """
    from torch.export.graph_signature import OutputKind

    specs = program.graph_signature.output_specs
    written = {str(spec.target): 0.0 for spec in specs if spec.kind is OutputKind.BUFFER_MUTATION}
    for name in written:
        values = {**program.state_dict, **program.constants}[name].detach().cpu().numpy()
        if values.size and (values != values.flat[0]).any():
            raise UnsupportedOpError(
                f"from_torch: the buffer '{name}', which the model writes at each call, begins with more than one "
                "number; fill it with one, or make it an input and an output of `forward`"
            )
        written[name] = float(values.flat[0]) if values.size else 0.0
    return written


def next_name(buffer: str) -> str:
    """Name of the output that a buffer is in the next call."""
    return f"{buffer}.next"


def collect_outputs(
    program: torch.export.ExportedProgram, env: dict[Any, Any], states: Collection[str] = ()
) -> list[tuple[str, Any]]:
    """(output name, value) in order; results that are None are left out.

    states  buffers that are written, whose new values are outputs behind the others
    raises  UnsupportedOpError for results that are not tensors, and for models that write to other buffers.
    """
    from torch.export.graph_signature import OutputKind

    (node,) = program.graph.find_nodes(op="output")
    specs = program.graph_signature.output_specs
    written = [spec.target for spec in specs if spec.kind is OutputKind.BUFFER_MUTATION and spec.target not in states]
    if written:
        raise UnsupportedOpError(
            f"from_torch: the model writes its buffer '{written[0]}' at each call, but a module imported with "
            "state=None has none; leave state out, call model.eval() before the export, or make the buffer an input "
            "and an output of `forward`"
        )
    results = [
        value
        for value, spec in zip(node.args[0], specs, strict=True)
        if spec.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
    ]
    names = output_names(program.call_spec.out_spec, len(results))
    named_outputs = []
    for name, value in zip(names, results, strict=True):
        if value is None:
            continue
        result = env.get(value) if hasattr(value, "meta") else None
        if not isinstance(result, relax.Expr) or not isinstance(result.ty, relax.TensorType):
            raise UnsupportedOpError(f"from_torch, output '{name}': it is not a tensor; return tensors only")
        named_outputs.append((name, result))
    news = [(spec.target, value) for value, spec in zip(node.args[0], specs, strict=True) if spec.target in states]
    return named_outputs + [(next_name(name), env[value]) for name, value in news]


def output_names(spec: Any, count: int) -> list[str]:
    """Names of the leaves of a result: keys and positions joined by dots; positions alone as output_<position>."""
    from torch.utils import _pytree

    tree = _pytree.tree_unflatten(list(range(count)), spec)
    if isinstance(tree, int):
        return ["output"]
    paths, _ = _pytree.tree_flatten_with_path(tree)
    texts = [".".join(_key(key) for key in path) for path, _ in paths]
    return [f"output_{text}" if text[:1].isdigit() else text for text in texts]


def _key(key: Any) -> str:
    return str(next((getattr(key, name) for name in ("key", "name", "idx") if hasattr(key, name)), key))


def module_path(node: Any) -> str:
    """Fully-qualified name of the innermost module of a torch.fx node, "" for the model itself.

    Where tracing left none, the owner of a weight that the node reads.
    """
    stack = node.meta.get("nn_module_stack")
    if stack:
        return printable_name(clean_path(list(stack.values())[-1][0]))
    for used in node.all_input_nodes:
        owner = used.meta.get("tvmq.target", "")
        if "." in owner:
            return printable_name(owner.rpartition(".")[0])
    return ""


def clean_path(path: str) -> str:
    """A module path as `named_modules` writes it, whichever way the model was traced.

    >>> clean_path("L['self'].features[0].conv"), clean_path("blocks.1"), clean_path("L['self']._modules['a'].b")
    ('features.0.conv', 'blocks.1', 'a.b')
    """
    path = re.sub(r"^L\['self'\]\.?", "", path)
    path = re.sub(r"\[['\"]?([^'\"\]]+)['\"]?\]", r".\1", path).replace("_modules.", "")
    return path.strip(".")


class LayerNames:
    """Names of the layers of one graph.

    A node of a torch.nn layer is called as the layer; one of a function in a module <module>.<function>, numbered
    from the second. A module that is called twice has the same names both times.
    """

    def __init__(self, nodes: Iterable[Any]) -> None:
        self.modules = {module_path(node) for node in nodes}
        self._names: dict[Any, str] = {}
        self._unique: dict[str, UniqueNames] = {}

    def key(self, node: Any) -> tuple[Any, ...]:
        """Key that is equal for the nodes of one call of a layer or function."""
        stack, called = node.meta.get("nn_module_stack"), node.meta.get("torch_fn")
        function = str(called[0]) if called else node.name
        return (str(list(stack)[-1]) if stack else module_path(node), "" if self._is_layer(node) else function)

    def __call__(self, node: Any) -> str:
        """The layer that a node belongs to."""
        path, key = module_path(node), self.key(node)
        if self._is_layer(node):
            return path
        if key not in self._names:
            unique = self._unique.setdefault(key[0], UniqueNames(self.modules))
            function = function_name(node)
            self._names[key] = unique(f"{path}.{function}" if path else function)
        return self._names[key]

    def _is_layer(self, node: Any) -> bool:
        """True inside a layer of torch.nn, or of any package, that has no layers of its own."""
        stack = node.meta.get("nn_module_stack")
        if not stack or not module_path(node):  # the model itself has no name
            return bool(module_path(node))
        path, kind = list(stack.values())[-1]
        kind = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
        prefix = f"{printable_name(clean_path(path))}."
        is_layer = kind.startswith(("torch.nn.modules.", "torch.ao.nn."))
        return is_layer and not any(name.startswith(prefix) for name in self.modules)


def function_name(node: Any) -> str:
    """Name that the source calls: "flatten" for x.flatten(1), whatever operators it became."""
    called = node.meta.get("torch_fn")
    name = called[1] if called else getattr(node.target, "__name__", str(node.target)).partition(".")[0]
    return str(name).rpartition(".")[2].strip("_") or "function"
