"""The backend "tvmq" of torch.compile: float, or int8 with calibration data.

    fast = torch.compile(model.eval(), backend="tvmq")                                   # compiled in float
    fast = torch.compile(model.eval(), backend="tvmq", options={"data": batches})        # compiled in int8

Dynamo gives the backend a graph whose parameters and buffers are inputs. They become constants again, as the graph is
exported anew for the sizes of each call; the code of the last sizes is kept. Where something cannot be compiled (an
operator that tvmq does not import, a training mode), a warning says so and eager torch computes it.

Tests: tests/integrations/test_torch_compile.py
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.base.deprecation import warn_user
from tvmq.errors import BuildError, ConfigError, ModelError

if TYPE_CHECKING:
    import torch

    from tvmq.options.config import QConfig

MOST_SIZES = 16  # compiled codes that are kept for one graph
WHERE = "torch.compile(backend='tvmq')"


@dataclass(frozen=True)
class CompileOptions:
    """Options of `torch.compile(model, backend="tvmq", options={...})`.

    data    calibration batches, as the model is called: tensors, or {parameter of forward: tensor}; None: float
    config  a tvmq.QConfig; None: the one of the qconfig around
    target  as `tvmq.build` takes it
    guard   as `tvmq.quantize` takes it
    num_threads  as `tvmq.build` takes it
    """

    data: Iterable[Any] | None = None
    config: QConfig | None = None
    target: Any = "llvm"
    guard: Any = "default"
    num_threads: int | None = None


def compile_graph(
    graph: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None, **rest: Any
) -> Callable[..., Any]:
    """Function that computes a graph of dynamo; its arguments are the graph's.

    graph           with parameters and buffers among its inputs
    example_inputs  of these inputs; sizes that dynamo left open are numbers among them
    options         the fields of CompileOptions
    raises          ConfigError for an unknown option, and for data where dynamo cut the model into several graphs
    """
    if rest or (unknown := sorted(set(options or ()) - {field.name for field in fields(CompileOptions)})):
        name = next(iter(rest), None) or unknown[0]
        known = ", ".join(field.name for field in fields(CompileOptions))
        raise ConfigError(f"{WHERE}: there is no option '{name}'; the options are {known}")
    chosen = CompileOptions(**(options or {}))
    _report_graph_break(graph, has_data=chosen.data is not None)
    return _CompiledGraph(graph, example_inputs, chosen)


def _report_graph_break(graph: torch.fx.GraphModule, *, has_data: bool) -> None:
    """Say that a graph is only a part of the model, and why torch ended it there."""
    end = getattr(graph, "compile_subgraph_reason", None)
    if end is None or not end.graph_break:
        return
    lines = [line.strip() for line in str(end.reason).splitlines() if line.strip()] or ["no reason is known"]
    explained = (line.removeprefix("Explanation: ") for line in lines if line.startswith("Explanation: "))
    reason = next(explained, lines[0])
    text = (
        f"{WHERE}: torch cut the model into several graphs ({reason.rstrip('.')}), and values travel between them in "
        "float; torch.compile(..., fullgraph=True) shows the line to change"
    )
    if has_data:
        raise ConfigError(f"{text}. Calibration data are inputs of a whole model: remove the break, or leave data out")
    warn_user(text)


class _CompiledGraph:
    """A graph with an executable for each combination of input sizes that was met.

    is_fixed  of each input of the graph, whether it is a parameter or buffer
    """

    def __init__(self, graph: torch.fx.GraphModule, example_inputs: Sequence[Any], options: CompileOptions) -> None:
        self._graph, self._options = graph, options
        self._is_fixed = [getattr(value, "_dynamo_static_input_type", None) is not None for value in example_inputs]
        self._names = [_argument_name(node) for node in graph.graph.find_nodes(op="placeholder")]
        self._codes: OrderedDict[Any, Callable[..., Any] | None] = OrderedDict()

    def __call__(self, *args: Any) -> Any:
        key = tuple(
            (tuple(arg.shape), arg.dtype) if hasattr(arg, "shape") else arg
            for arg, fixed in zip(args, self._is_fixed, strict=True)
            if not fixed
        )
        if key not in self._codes:
            self._codes[key] = self._compile(args)
            if len(self._codes) > MOST_SIZES:
                self._codes.popitem(last=False)
        self._codes.move_to_end(key)
        code = self._codes[key]
        return self._graph(*args) if code is None else code(*args)

    def _compile(self, args: Sequence[Any]) -> Callable[..., Any] | None:
        """Code for inputs of these sizes; None where eager torch has to compute them."""
        import torch

        from tvmq.codegen.compile.build import build
        from tvmq.formats.torch.importer.export import from_torch
        from tvmq.quantization.pipeline import quantize

        inputs = [
            index
            for index, (arg, fixed) in enumerate(zip(args, self._is_fixed, strict=True))
            if isinstance(arg, torch.Tensor) and not fixed
        ]
        devices = {arg.device.type for arg in args if isinstance(arg, torch.Tensor)}
        if devices - {"cpu"}:
            raise ConfigError(f"{WHERE}: the model is on '{(devices - {'cpu'}).pop()}'; move it to the CPU")
        try:
            bound = _bind_weights(self._graph, args, inputs)
            mod, params = from_torch(bound, tuple(args[index].detach() for index in inputs))
            if self._options.data is not None:
                batches = self._batches([self._names[index] for index in inputs])
                arguments = {} if self._options.guard == "default" else {"guard": self._options.guard}
                mod, params = quantize(mod, params, batches, config=self._options.config, **arguments), {}
            exe = build(mod, params, self._options.target, num_threads=self._options.num_threads)
        except (ModelError, BuildError) as error:
            warn_user(f"{WHERE}: eager torch computes this graph, since {error}")
            return None
        form = _result_form(self._graph)
        return lambda *values: form(_run(exe, [values[index] for index in inputs]))

    def _batches(self, names: Sequence[str]) -> list[tuple[np.ndarray, ...]]:
        """Calibration batches as tuples in the order of the graph's inputs."""
        batches = []
        for batch in self._options.data or ():
            if isinstance(batch, Mapping):
                missing = [name for name in names if name not in batch]
                if missing:
                    raise ConfigError(f"{WHERE}: a batch of data has no '{missing[0]}'; give {', '.join(names)}")
                values = [batch[name] for name in names]
            else:
                values = list(batch) if isinstance(batch, tuple | list) else [batch]
                if len(names) > 1:
                    raise ConfigError(
                        f"{WHERE}: the model has {len(names)} inputs; give batches of data as dictionaries with "
                        f"{', '.join(names)}"
                    )
                values = values[:1]  # behind it: a label
            batches.append(tuple(np.asarray(value) for value in values))
        if not batches:
            raise ConfigError(f"{WHERE}: data has no batch; give some, or leave data out for float")
        return batches


def _argument_name(node: torch.fx.Node) -> str:
    """Parameter of `forward` that a placeholder stands for: L['x'] of dynamo's sources is x."""
    source = getattr(node.meta.get("grapharg"), "source", None)
    return str(getattr(source, "local_name", node.name))


def _bind_weights(graph: torch.fx.GraphModule, args: Sequence[Any], inputs: Sequence[int]) -> torch.nn.Module:
    """Module of the graph whose arguments are the inputs alone; all others are what they are now."""
    import torch

    class BoundGraph(torch.nn.Module):
        """The graph with its weights as parameters."""

        def __init__(self) -> None:
            super().__init__()
            self.graph_module = graph
            self.fixed = {}
            for index, value in enumerate(args):
                if index in inputs:
                    continue
                self.fixed[index] = value
                if isinstance(value, torch.Tensor):
                    self.register_buffer(f"weight_{index}", value.detach(), persistent=True)

        def forward(self, *values: Any) -> Any:
            """Results of the graph."""
            by_index = dict(zip(inputs, values, strict=True))
            arguments = [
                by_index[index] if index in by_index else getattr(self, f"weight_{index}", self.fixed.get(index))
                for index in range(len(args))
            ]
            return self.graph_module(*arguments)

    return BoundGraph().train(graph.training and any(module.training for module in graph.modules()))


def _result_form(graph: torch.fx.GraphModule) -> Callable[[list[Any]], Any]:
    """Function from the list of tensors to what the graph returns: a tuple with None where it returns none."""
    (output,) = graph.graph.find_nodes(op="output")
    (results,) = output.args
    is_tuple = isinstance(results, tuple | list)
    is_tensor = [value is not None for value in (results if is_tuple else [results])]

    def form(tensors: list[Any]) -> Any:
        values = iter(tensors)
        filled = tuple(next(values) if there else None for there in is_tensor)
        return filled if is_tuple else filled[0]

    return form


def _run(exe: Any, values: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Results of an executable as tensors of torch."""
    import torch

    names = [info.name for info in exe.input_info]
    feed = {name: value.detach().numpy() for name, value in zip(names, values, strict=True)}
    return [torch.from_numpy(result) for result in exe.run(feed)]
