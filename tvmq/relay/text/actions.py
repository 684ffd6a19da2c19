"""Actions of the rules of the grammar, which build the syntax tree; lark calls them while it reads.

Tests: tests/relay/test_migrating_claims.py
"""

from __future__ import annotations

from typing import Any

from tvmq.relay.text import syntax_tree as tree
from tvmq.relay.text.grammar import read_number

# A function's attributes and parameters arrive in one list; so do a call's arguments and attributes.
Pair = tuple[str, Any]


def actions(lark: Any) -> Any:
    """The transformer; `lark` is handed in since it is imported late."""
    rules = {
        name.rstrip("_") if name != "global_" else name: rule
        for name, rule in vars(Rules).items()
        if not name.startswith("__")
    }
    transformer = type("Actions", (lark.Transformer,), {name: _method(rule) for name, rule in rules.items()})
    return transformer()


def _method(rule: Any) -> Any:
    function = rule.__func__ if isinstance(rule, staticmethod) else rule
    return lambda self, items: function(items)


class Rules:
    """Functions, one a rule, of the list of what was read for its parts; absent options are None."""

    @staticmethod
    def text(items: list[Any]) -> dict[str, tree.Fn]:
        """{name: function}; a name that is defined twice is refused."""
        functions: dict[str, tree.Fn] = {}
        for name, function in items:
            if name in functions:
                raise ValueError(f"@{name} is defined twice; rename one")
            functions[name] = function
        return functions

    @staticmethod
    def def_(items: list[Any]) -> tuple[str, tree.Fn]:
        """`def @name func`."""
        return str(items[0])[1:], items[1]

    @staticmethod
    def func(items: list[Any]) -> tree.Fn:
        """Parameters and attributes, type of the result, body; type parameters carry nothing here."""
        *head, result, body = items
        params = [item for item in head if isinstance(item, tree.Param)]
        pairs: dict[str, Any] = dict(item for item in head if isinstance(item, tuple))
        return tree.Fn(tuple(params), pairs, result, body)

    @staticmethod
    def typed_param(items: list[Any]) -> tree.Param:
        """`%x: type`; what stands in braces tells a device and is not kept."""
        return tree.Param(str(items[0])[1:], items[-1])

    @staticmethod
    def param(items: list[Any]) -> Pair:
        """`key=value` among the parameters: an attribute of the function."""
        pair: Pair = items[0]
        return pair

    @staticmethod
    def block(items: list[Any]) -> Any:
        """Bindings and a value; the value alone where there are none."""
        return tree.Body(tuple(items[:-1]), items[-1]) if len(items) > 1 else items[0]

    @staticmethod
    def bind(items: list[Any]) -> tree.Bind:
        """`%3 = value`."""
        return tree.Bind(str(items[0])[1:], items[1], None, items[0].line)

    @staticmethod
    def let(items: list[Any]) -> tree.Bind:
        """`let %x: type = value`."""
        return tree.Bind(str(items[0])[1:], items[2], items[1], items[0].line)

    @staticmethod
    def free_variable(items: list[Any]) -> tree.Bind:
        """`free_var %x: type`."""
        return tree.Bind(str(items[0])[1:], None, items[1], items[0].line)

    @staticmethod
    def statement(items: list[Any]) -> tree.Bind:
        """`value;`: computed for nothing, since nothing here has effects."""
        return tree.Bind("", items[0])

    @staticmethod
    def operation(items: list[Any]) -> tree.Operation:
        """`a + b`."""
        left, sign, right = items
        return tree.Operation(str(sign), left, right, sign.line)

    @staticmethod
    def apply(items: list[Any]) -> tree.Apply:
        """`callee(args, key=value)`."""
        callee, *arguments = [item for item in items if item is not None]
        attributes: dict[str, Any] = dict(item for item in arguments if isinstance(item, tuple))
        args = tuple(item for item in arguments if not isinstance(item, tuple))
        return tree.Apply(callee, args, attributes, getattr(callee, "line", 0))

    @staticmethod
    def pair(items: list[Any]) -> Pair:
        """`key=value`."""
        return str(items[0]), items[1]

    @staticmethod
    def project(items: list[Any]) -> tree.Project:
        """`value.0`."""
        return tree.Project(items[0], int(str(items[1])[1:]))

    @staticmethod
    def number(items: list[Any]) -> tree.Number:
        """A scalar with its type."""
        return read_number(str(items[0]), items[0].line)

    @staticmethod
    def truth(items: list[Any]) -> tree.Number:
        """`True` or `False` as a value."""
        return tree.Number(str(items[0]) == "True", "bool", items[0].line)

    @staticmethod
    def variable(items: list[Any]) -> tree.Variable:
        """`%x`."""
        return tree.Variable(str(items[0])[1:], items[0].line)

    @staticmethod
    def global_(items: list[Any]) -> tree.Global:
        """`@f`."""
        return tree.Global(str(items[0])[1:], items[0].line)

    @staticmethod
    def operator(items: list[Any]) -> tree.Name:
        """`nn.conv2d`."""
        name: tree.Name = items[0]
        return name

    @staticmethod
    def name(items: list[Any]) -> tree.Name:
        """An operator's name, or a type parameter's."""
        return tree.Name(str(items[0]), items[0].line)

    @staticmethod
    def meta(items: list[Any]) -> tree.Meta:
        """`meta[key][index]`."""
        return tree.Meta(str(items[0]), int(str(items[1])), items[0].line)

    @staticmethod
    def fn(items: list[Any]) -> tree.Fn:
        """A function as a value."""
        function: tree.Fn = items[0]
        return function

    @staticmethod
    def choice(items: list[Any]) -> tree.IfElse:
        """`if (c) { a } else { b }`."""
        token, condition, then, otherwise = items
        return tree.IfElse(condition, then, otherwise, token.line)

    @staticmethod
    def tuple_of(items: list[Any]) -> tree.TupleOf:
        """`(a, b)`."""
        return tree.TupleOf(tuple(item for item in items if item is not None))

    @staticmethod
    def literal(items: list[Any]) -> int | float:
        """A number among the attributes: its value alone."""
        return read_number(str(items[0])).value

    @staticmethod
    def truth_value(items: list[Any]) -> bool:
        """`True` or `False` among the attributes."""
        return str(items[0]) == "True"

    @staticmethod
    def none(items: list[Any]) -> None:
        """`None` or `nullptr`."""

    @staticmethod
    def string(items: list[Any]) -> str:
        """A text without its quotes."""
        return str(items[0])[1:-1]

    @staticmethod
    def word(items: list[Any]) -> str:
        """A bare word among the attributes, as a text."""
        return str(items[0])

    @staticmethod
    def values(items: list[Any]) -> list[Any]:
        """`[1, 2]`."""
        return list(items)

    @staticmethod
    def dim(items: list[Any]) -> int | None:
        """A size; None for `?` and for one that the metadata have as a symbol."""
        item = items[0]
        return None if isinstance(item, tree.Meta) or str(item) == "?" else int(read_number(str(item)).value)

    @staticmethod
    def tensor_note(items: list[Any]) -> tree.TensorNote:
        """`Tensor[(1, 3), float32]`."""
        return tree.TensorNote(tuple(items[:-1]), str(items[-1]))

    @staticmethod
    def scalar_note(items: list[Any]) -> tree.TensorNote | None:
        """`float32`; None for `_`."""
        return None if str(items[0]) == "_" else tree.TensorNote((), str(items[0]))

    @staticmethod
    def tuple_note(items: list[Any]) -> tree.TupleNote:
        """`(int32, int32)`."""
        return tree.TupleNote(tuple(items))

    @staticmethod
    def function_note(items: list[Any]) -> tree.FunctionNote:
        """`fn (int32) -> int32`."""
        return tree.FunctionNote(tuple(items[:-1]), items[-1])
