"""Layer names as provenance: every variable of a function knows the source names (ONNX node, torch module) it came
from.

Variable names are unique inside a function. The function attribute "tvmq.names" holds JSON {variable name: [source
names]}; it prints, parses back and survives saving. Whoever reads names gets them as they can be printed, see text.py.
An operator made of several layers carries all of their names.

Tests: tests/runtime/artifact/test_module_bytes.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

from tvm import relax

from tvmq.base.text import printable_name
from tvmq.errors import ModelError

ATTRIBUTE = "tvmq.names"
INPUTS, OUTPUTS = "tvmq.inputs", "tvmq.outputs"
FLOAT_LAYERS = "tvmq.float_layers"  # outside of the borders that a model has for its codes
WEIGHTS = "tvmq.weights"  # of an imported module alone: `prepare` makes constants of its weights


def get_names(func: relax.Function) -> dict[str, tuple[str, ...]]:
    """{variable name: source names}; variables without known source are absent."""
    text = read_attribute(func, ATTRIBUTE)
    with attribute_errors(ATTRIBUTE):
        table = json.loads(text) if text else {}
        return {variable: tuple(map(printable_name, sources)) for variable, sources in table.items()}


def input_names(func: relax.Function) -> dict[str, str]:
    """{parameter: name of the input in the source}; where none is known, the parameter's own."""
    names = _read_names(func, INPUTS)
    parameters = [param.name for param in func.params]
    names = names if len(names) <= len(parameters) else []
    return dict(zip(parameters, [*names, *parameters[len(names) :]], strict=True))


def rename_inputs(func: relax.Function, names: Iterable[str]) -> relax.Function:
    """The function whose inputs have these names in the source, in the order of its parameters.

    >>> x = relax.Var("x", relax.TensorType((2,), "float32"))
    >>> input_names(rename_inputs(relax.Function([x], x, is_pure=True), ["image"]))
    {'x': 'image'}
    """
    return func.with_attr(INPUTS, json.dumps(list(names)))


def weight_names(func: relax.Function) -> dict[str, str]:
    """{parameter: name of the weight in the source}, as the source spells it; of others the parameter's own name."""
    with attribute_errors(WEIGHTS):
        names = ["".join(name) for name in json.loads(read_attribute(func, WEIGHTS) or "[]")]
    parameters = [param.name for param in func.params]
    weights = parameters[len(parameters) - len(names) :] if len(names) <= len(parameters) else []
    return {name: name for name in parameters} | dict(zip(weights, names, strict=False))


def output_names(func: relax.Function, count: int) -> list[str]:
    """Names of `count` outputs in the source; output_0, output_1, ... where they are unknown."""
    names = _read_names(func, OUTPUTS)
    return names if len(names) == count else [f"output_{i}" for i in range(count)]


def float_layers(func: relax.Function) -> frozenset[str]:
    """Names of the layers that the source keeps in float, outside of its QuantStub and DeQuantStub."""
    return frozenset(_read_names(func, FLOAT_LAYERS))


def with_names(func: relax.Function, names: Mapping[str, Iterable[str]]) -> relax.Function:
    """The function with its name attribute replaced; variables without sources are left out."""
    table = {variable: list(sources) for variable, sources in names.items() if sources}
    return func.with_attr(ATTRIBUTE, json.dumps(table))


def _read_names(func: relax.Function, key: str) -> list[str]:
    """A list of source names, as they can be printed."""
    with attribute_errors(key):
        return [printable_name(name) for name in json.loads(read_attribute(func, key) or "[]")]


def read_attribute(func: relax.Function, key: str) -> str | None:
    """A text attribute of a function, None where it is absent."""
    return str(func.attrs[key]) if func.attrs and key in func.attrs else None


@contextmanager
def attribute_errors(key: str) -> Iterator[None]:
    """ModelError for what goes wrong where the JSON of an attribute is of another form than the one that is written."""
    try:
        yield
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise ModelError(
            f"module: its attribute '{key}' is damaged, or was written by something else; make the module again, or "
            "leave the attribute out"
        ) from error


def identifier(source: str) -> str:
    """A source name as a variable name that prints and parses: other characters become "_".

    >>> identifier("/block1/conv.0")
    'block1_conv_0'
    """
    text = re.sub(r"\W", "_", source).strip("_")
    return text if text and not text[0].isdigit() else f"v_{text}"


def merge(*groups: Iterable[str]) -> tuple[str, ...]:
    """Source names of several operators in order, each once.

    >>> merge(("conv",), ("relu", "conv"))
    ('conv', 'relu')
    """
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


class UniqueNames:
    """Hands out variable names that were not used before in this function.

    >>> unique = UniqueNames()
    >>> unique("relu"), unique("relu"), unique("relu")
    ('relu', 'relu_1', 'relu_2')
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._taken = set(names)

    def __call__(self, wanted: str) -> str:
        name, count = wanted, 0
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name
