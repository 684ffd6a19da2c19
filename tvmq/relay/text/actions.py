"""Actions of the rules of the grammar, which build the syntax tree; lark calls them while it reads.

Tests: tests/relay/test_migrating_claims.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmq.relay.text import syntax_tree as tree
from tvmq.relay.text.grammar import read_number


def actions(lark: Any) -> Any:
    """The transformer; `lark` is handed in since it is imported late."""
    return type("Actions", (lark.Transformer,), {name: staticmethod(rule) for name, rule in RULES.items()})()


def _text(items: list[Any]) -> dict[str, tree.Fn]:
    """{name: function}; a name that is defined twice is refused."""
    functions: dict[str, tree.Fn] = {}
    for name, function in items:
        if name in functions:
            raise ValueError(f"@{name} is defined twice; rename one")
        functions[name] = function
    return functions


def _func(items: list[Any]) -> tree.Fn:
    """Parameters and attributes (in one list), type of the result, body; type parameters carry nothing here."""
    *head, result, body = items
    params = [item for item in head if isinstance(item, tree.Param)]
    pairs: dict[str, Any] = dict(item for item in head if isinstance(item, tuple))
    return tree.Fn(tuple(params), pairs, result, body)


def _apply(items: list[Any]) -> tree.Apply:
    """`callee(args, key=value)`; arguments and attributes are in one list."""
    callee, *arguments = [item for item in items if item is not None]
    attributes: dict[str, Any] = dict(item for item in arguments if isinstance(item, tuple))
    args = tuple(item for item in arguments if not isinstance(item, tuple))
    return tree.Apply(callee, args, attributes, getattr(callee, "line", 0))


def _dim(items: list[Any]) -> int | None:
    """A size; None for `?` and for one that the metadata have as a symbol."""
    item = items[0]
    return None if isinstance(item, tree.Meta) or str(item) == "?" else int(read_number(str(item)).value)


def _name(token: Any) -> str:
    """The name behind its sign."""
    return str(token)[1:]


# Rule -> function of the list of what was read for its parts; absent options are None
RULES: dict[str, Callable[[list[Any]], Any]] = {
    "text": _text,
    "def": lambda items: (_name(items[0]), items[1]),
    "func": _func,
    # what stands in braces tells a device and is not kept
    "typed_param": lambda items: tree.Param(_name(items[0]), items[-1]),
    # statements
    "block": lambda items: tree.Body(tuple(items[:-1]), items[-1]) if len(items) > 1 else items[0],
    "bind": lambda items: tree.Bind(_name(items[0]), items[1], None, items[0].line),
    "let": lambda items: tree.Bind(_name(items[0]), items[2], items[1], items[0].line),
    "free_variable": lambda items: tree.Bind(_name(items[0]), None, items[1], items[0].line),
    "statement": lambda items: tree.Bind("", items[0]),  # computed for nothing, since nothing here has effects
    # values
    "operation": lambda items: tree.Operation(str(items[1]), items[0], items[2], items[1].line),
    "apply": _apply,
    "project": lambda items: tree.Project(items[0], int(_name(items[1]))),
    "number": lambda items: read_number(str(items[0]), items[0].line),
    "truth": lambda items: tree.Number(str(items[0]) == "True", "bool", items[0].line),
    "variable": lambda items: tree.Variable(_name(items[0]), items[0].line),
    "global_function": lambda items: tree.Global(_name(items[0]), items[0].line),
    "name": lambda items: tree.Name(str(items[0]), items[0].line),  # of an operator, or of a type parameter
    "meta": lambda items: tree.Meta(str(items[0]), int(str(items[1])), items[0].line),
    "choice": lambda items: tree.IfElse(items[1], items[2], items[3], items[0].line),
    "tuple_of": lambda items: tree.TupleOf(tuple(item for item in items if item is not None)),
    # attributes
    "pair": lambda items: (str(items[0]), items[1]),
    "literal": lambda items: read_number(str(items[0])).value,
    "truth_value": lambda items: str(items[0]) == "True",
    "none": lambda items: None,
    "string": lambda items: str(items[0])[1:-1],
    "word": lambda items: str(items[0]),
    "values": list,
    # types
    "dim": _dim,
    "tensor_note": lambda items: tree.TensorNote(tuple(items[:-1]), str(items[-1])),
    "scalar_note": lambda items: None if str(items[0]) == "_" else tree.TensorNote((), str(items[0])),
    "tuple_note": lambda items: tree.TupleNote(tuple(items)),
    "function_note": lambda items: tree.FunctionNote(tuple(items[:-1]), items[-1]),
}
