"""The pattern language: the notation with arguments, what it matches, why it misses, and rules that rewrite."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tvm import relax

from tests.support.models.networks import block
from tvmq.errors import ConfigError
from tvmq.graph.patterns.matching import Matcher, find_matches
from tvmq.graph.patterns.pattern import format_pattern, operators, read_pattern
from tvmq.graph.patterns.rules import RewriteRule, RewriteRules
from tvmq.graph.rewrite import rewrite
from tvmq.graph.view import View, op_name

BODY = """a = R.nn.conv2d(x, w)
b = R.add(a, s)
p = R.split(b, 2, axis=1)
q = p[0]
r = R.concat((q, q), axis=1)
y = R.exp(r)"""
SIGNATURE = 'x: R.Tensor((1, 4, 3, 3), "float32"), w: R.Tensor((4, 4, 1, 1), "float32"), s: R.Tensor((), "float32")'
VIEW = View(block(SIGNATURE, BODY, '(1, 4, 3, 3), "float32"', w=np.ones((4, 4, 1, 1), np.float32), s=np.float32(2)))


@pytest.mark.parametrize(
    ("pattern", "members"),
    [
        ("exp(concat((u, u)))", ["r", "y"]),
        (
            "exp(concat((u := split(add(nn.conv2d(x, const(w), groups=1), const()))[0], u), axis=1))",
            ["a", "b", "p", "r", "y"],
        ),
        ("(log | exp)(_)", ["y"]),
        ("relax.exp(u | concat((u, u)))", ["y"]),
    ],
)
def test_the_notation_with_arguments(pattern: str, members: list[str]) -> None:
    parts, matched = next(find_matches(VIEW, read_pattern(pattern, "test"), VIEW.var["y"]))
    assert matched == members
    assert all(VIEW.var.get(getattr(part, "name", ""), part) is not None for part in parts.values())


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("exp(concat((u, u, u)))", "an expression is no tuple of 3, as the pattern asks"),
        ("exp(concat((split()[1], _)))", "'q' is no item 1 of a tuple, as the pattern asks"),
        ("exp(concat((split(add(const(), const()))[0], _)))", "is computed, the pattern asks for a constant"),
        ("exp(concat(axis=0))", "'r' has axis=1, the pattern asks for 0"),
        ("exp(concat((split(u)[0], u)))", "'q' stands where 'b' stood before"),
        ("exp(split())", "'r' is concat, the pattern asks for split"),
    ],
)
def test_a_miss_is_one_sentence(pattern: str, why: str) -> None:
    miss = Matcher(VIEW.producer, VIEW.sources).miss(read_pattern(pattern, "test"), VIEW.var["y"])
    assert miss is not None and why in miss


@pytest.mark.parametrize("pattern", ["add(x", "add(x, 3)", "add(x)(y)", "add(*x)", "add(x[y])", "add(x, groups=f(1))"])
def test_what_is_no_expression_of_operators_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match=re.escape("is no expression of operators; write it as in add(nn.conv2d(")):
        read_pattern(pattern, "Lowering 'n'")


def test_the_notations_give_one_tree() -> None:
    expression, chain = (
        read_pattern(p, "test") for p in ("add(nn.conv2d(groups=1), const())", "nn.conv2d[groups=1] -> add")
    )
    assert format_pattern(expression) == format_pattern(chain) == "nn.conv2d -> add"
    assert [call.attributes for call in operators(expression)] == [call.attributes for call in operators(chain)]


TWICE = RewriteRules(
    RewriteRule("negative(n := negative(x))", lambda x: x), RewriteRule("exp(negative(x))", relax.op.log)
)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("a = R.negative(x)\nb = R.negative(a)\ny = R.nn.relu(b)", ["nn.relu"]),
        ("a = R.negative(x)\ny = R.exp(a)", ["log"]),
        ("a = R.negative(x)\nb = R.exp(a)\ny = R.add(b, a)", ["negative", "exp", "add"]),
    ],
)
def test_a_result_that_computes_anew_needs_its_operators_for_itself(body: str, left: list[str]) -> None:
    after = rewrite(block('x: R.Tensor((3,), "float32")', body), TWICE.visit)
    assert [op_name(value) for _, value in View(after).bindings] == left


def test_rows_are_for_element_types() -> None:
    mod = block('x: R.Tensor((3,), "int8")', "y = R.negative(x)")
    for dtype, left in (("", "abs"), ("int8", "abs"), ("float32", "negative")):
        rules = RewriteRules(RewriteRule("negative(x)", relax.op.abs, dtype=dtype))
        assert [op_name(value) for _, value in View(rewrite(mod, rules.visit)).bindings] == [left]
