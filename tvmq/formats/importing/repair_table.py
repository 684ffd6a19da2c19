"""Tables of repairs: a row for each file, with its functions and the operators that each function is for.

Tests: tests/formats/onnx/importer/test_repairs.py
"""

from __future__ import annotations

from collections.abc import Mapping


def read_table(package: str, rows: Mapping[str, str]) -> dict[str, str]:
    """{operator: "module:function"} of a table.

    >>> read_table("pkg", {"layers": "conv=Conv pool=MaxPool,LpPool"})
    {'Conv': 'pkg.layers:conv', 'MaxPool': 'pkg.layers:pool', 'LpPool': 'pkg.layers:pool'}
    """
    items = [(file, *item.split("=")) for file, row in rows.items() for item in row.split()]
    return {one: f"{package}.{file}:{function}" for file, function, operators in items for one in operators.split(",")}
