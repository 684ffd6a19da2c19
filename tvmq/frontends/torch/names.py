"""Layer names of torch nodes: the fully-qualified name of the module that a node was traced in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tvmq.graph.names import UniqueNames
from tvmq.text import printable_name


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
        self._given: dict[Any, str] = {}
        self._unique: dict[str, UniqueNames] = {}

    def key(self, node: Any) -> tuple[Any, ...]:
        """Equal for the nodes of one call of a layer or function."""
        call = _call_of_module(node)
        return (call, "") if self._is_layer(node) else (call, _function_call(node))

    def __call__(self, node: Any) -> str:
        """The layer that a node belongs to."""
        path, key = module_path(node), self.key(node)
        if self._is_layer(node):
            return path
        if key not in self._given:
            unique = self._unique.setdefault(key[0], UniqueNames(self.modules))
            function = function_name(node)
            self._given[key] = unique(f"{path}.{function}" if path else function)
        return self._given[key]

    def _is_layer(self, node: Any) -> bool:
        """True inside a layer of torch.nn, or of any package, that has no layers of its own."""
        stack = node.meta.get("nn_module_stack")
        if not stack or not module_path(node):  # the model itself has no name
            return bool(module_path(node))
        path, kind = list(stack.values())[-1]
        kind = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
        prefix = f"{printable_name(clean_path(path))}."
        return kind.startswith("torch.nn.modules.") and not any(name.startswith(prefix) for name in self.modules)


def _call_of_module(node: Any) -> str:
    stack = node.meta.get("nn_module_stack")
    return str(list(stack)[-1]) if stack else module_path(node)


def _function_call(node: Any) -> str:
    called = node.meta.get("torch_fn")
    return str(called[0]) if called else node.name


def function_name(node: Any) -> str:
    """What the source calls: "flatten" for x.flatten(1), whatever operators it became."""
    called = node.meta.get("torch_fn")
    name = called[1] if called else getattr(node.target, "__name__", str(node.target)).partition(".")[0]
    return str(name).rpartition(".")[2].strip("_") or "function"
