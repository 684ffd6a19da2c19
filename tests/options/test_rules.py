"""Rules: the layers that they match, their order of precedence, refusals."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmq
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.options.rules import Decision, LayerFacts, Rule, did_you_mean, resolve, short_names

W4 = QuantSpec("int8", 4, symmetric=True)
A16 = QuantSpec("int16", 16, symmetric=True)
STEM = LayerFacts("lv0", ("/stem/Conv", "/stem/BatchNorm"), "nn.conv2d", macs=1000, weight_shape=(8, 3, 3, 3))
BODY = LayerFacts("lv1", ("/body/0/Conv",), "nn.conv2d", macs=50, index=1)
HEAD = LayerFacts("lv2", ("/classifier/Gemm",), "matmul", macs=10)
LAYERS = [STEM, BODY, HEAD]


def matched(*rules: Rule) -> set[str]:
    return {key for key, decision in resolve(LAYERS, rules).items() if decision.rule is not None}


@pytest.mark.parametrize("rule, keys", [
    (Rule("/stem/Conv", None), {"lv0"}),
    (Rule("/stem/BatchNorm", None), {"lv0"}),  # any name of a fused layer
    (Rule("*/Conv", None), {"lv0", "lv1"}),  # * crosses "/"
    (Rule("/body/?/Conv", None), {"lv1"}),
    (Rule("/[sb]*", None), {"lv0", "lv1"}),
    (Rule("lv2", None), {"lv2"}),  # the module's own name works too
    (Rule("*", None), {"lv0", "lv1", "lv2"}),
    (Rule(re.compile(r"body/\d"), None), {"lv1"}),
    (Rule(re.compile("CONV", re.IGNORECASE), None), {"lv0", "lv1"}),
    (Rule("op:nn.conv2d", None), {"lv0", "lv1"}),
    (Rule("op:relax.nn.conv2d", None), {"lv0", "lv1"}),
    (Rule("op:nn.*", None), {"lv0", "lv1"}),
    (Rule(op="matmul", weights=W4), {"lv2"}),
    (Rule(op="op:matmul", weights=W4), {"lv2"}),
    (Rule(lambda layer: layer.macs < 100, None), {"lv1", "lv2"}),
    (Rule(lambda layer: layer.index == 0 and layer.op == "nn.conv2d", None), {"lv0"}),
])  # fmt: skip
def test_matching(rule, keys):
    assert matched(rule) == keys


BRACKETS = [
    LayerFacts("lv0", ("/blocks/[0]/conv",)), LayerFacts("lv1", ("/blocks/0/conv",)),
    LayerFacts("lv2", ("/a/linear1/MatMul", "/a/linear1/Add", "/a/Relu")), LayerFacts("lv3", ("conv", "pool")),
]  # fmt: skip


@pytest.mark.parametrize("text, keys", [
    ("/blocks/[0]/conv", {"lv0"}),  # a name first of all, though as a glob it is the other
    ("/blocks/[0-1]/conv", {"lv1"}),
    ("/a/{linear1/MatMul, linear1/Add, Relu}", {"lv2"}),
    ("/a/{linear1/MatMul, linear1/...", {"lv2"}),  # as a narrow table cuts it
    ("conv, pool", {"lv3"}),
    ("/a/Relu", {"lv2"}),
])  # fmt: skip
def test_printed_names_are_rules(text, keys):
    assert {key for key, one in resolve(BRACKETS, [Rule(text, None)]).items() if one.is_float} == keys


def test_short_names():
    assert short_names(["/a/b/conv", "/a/b/norm"]) == "/a/b/{conv, norm}"
    assert short_names(["model.conv", "model.act"]) == "model.{conv, act}"
    assert short_names(["conv", "convolution"]) == "conv, convolution"


def test_names_are_case_sensitive():
    with pytest.raises(ConfigError, match="did you mean '/stem/Conv'"):
        resolve(LAYERS, [Rule("/stem/conv", None)])


def test_the_last_matching_rule_wins_whole():
    rules = [Rule("*", activations=A16), Rule("op:nn.conv2d", weights=W4), Rule("/stem/*", None)]
    decisions = resolve(LAYERS, rules)
    assert decisions["lv0"] == Decision(decisions["lv0"].rule, is_float=True)
    assert (decisions["lv1"].activations, decisions["lv1"].weights) == (None, W4)
    assert (decisions["lv2"].activations, decisions["lv2"].weights) == (A16, None)
    assert [decisions[key].why for key in ("lv0", "lv1", "lv2")] == [
        "rule '/stem/*'", "rule 'op:nn.conv2d'", "rule '*'",
    ]  # fmt: skip


def test_without_rules_every_layer_has_the_default():
    assert resolve(LAYERS, []) == {key: Decision() for key in ("lv0", "lv1", "lv2")}
    assert Decision().why == "default"


def test_one_spec_serves_both_operands():
    rule = Rule("*", QuantSpec("int8", 6, symmetric=True, per_channel=True))
    assert rule.activations == QuantSpec("int8", 6, symmetric=True)
    assert rule.weights == QuantSpec("int8", 6, symmetric=True, per_channel=True)


@pytest.mark.parametrize("rule, message", [
    (Rule("*/clasifier/*", None), r"Rule\('\*/clasifier/\*', None\): matches none of 3 .*'/classifier/Gemm'"),
    (Rule("op:nn.conv3d", None), "did you mean 'nn.conv2d'"),
    (Rule(re.compile("classifer"), None), "did you mean '/classifier/Gemm'"),
    (Rule("zzz", None), "layers: /stem/Conv, /stem/BatchNorm, /body/0/Conv"),
    (Rule(lambda layer: False, None), "the function returned False for each"),
])  # fmt: skip
def test_a_rule_that_matches_nothing_is_an_error(rule, message):
    with pytest.raises(ConfigError, match=message):
        resolve(LAYERS, [Rule("*", None), rule])


@pytest.mark.parametrize("make, message", [
    (lambda: Rule(), "give one of match"),
    (lambda: Rule("*", None, op="matmul"), "give one of match"),
    (lambda: Rule("*"), r"Rule '\*': says nothing"),
    (lambda: Rule(7, None), "match must be a glob, a compiled regex, 'op:...' or a function. Got 7"),
    (lambda: Rule("*", "float"), "spec must be a QuantSpec, or None for float. Got 'float'"),
    (lambda: Rule("*", None, weights=W4), "None means float; leave out"),
    (lambda: Rule("*", W4, weights=W4), "give one QuantSpec for both"),
    (lambda: Rule("*", QuantSpec("uint8")), "one QuantSpec for both must be symmetric"),
    (lambda: Rule("*", weights=QuantSpec("uint8")), "weights must be symmetric.*use QuantSpec"),
    (lambda: Rule("*", weights=4), "weights must be a QuantSpec. Got 4"),
    (lambda: Rule("*", activations=QuantSpec("uint8", per_channel=True)), "one scale for the tensor"),
])  # fmt: skip
def test_impossible_rules_are_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_rule_is_frozen():
    with pytest.raises(AttributeError):
        Rule("*", None).match = "x"


@pytest.mark.parametrize("rule", [
    Rule("*/head/*", None), Rule("op:nn.*", weights=W4), Rule("x", W4),
    Rule(re.compile("a.b", re.I), activations=A16, weights=W4),
])  # fmt: skip
def test_json_round_trip(rule):
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize("fields, text", [
    ({"regex": "("}, "'regex' must be a regular expression of Python"), ({"regex": 5}, "'regex' must be"), ({"regex": "a", "flags": "x"}, "'regex' must be"),
    ({"match": "x", "weights": 5}, "QuantSpec: must be a dictionary of fields. Got 5"), ({"match": "x", "activations": []}, "QuantSpec: must be"),
])  # fmt: skip
def test_json_of_other_types_is_refused(fields, text):
    with pytest.raises(ConfigError, match=text):
        Rule.from_dict(fields)


@pytest.mark.parametrize("rules", [5, 1.5, None, True, "x", {"match": "x"}, [5], [None], [[]]])
def test_rules_that_are_no_list_of_rules(rules):
    with pytest.raises(ConfigError, match="'rules' must be a list of rules|'match' or 'regex' is missing") as caught:
        tvmq.QConfig.from_dict({"rules": rules})
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("fields", [{}, {"float": True}, {"function": "f"}, None, 5, 1.5, "match", [], [["match"]], "9" * 3000])
def test_json_without_a_match_is_refused(fields):
    with pytest.raises(ConfigError, match="'match' or 'regex' is missing"):
        Rule.from_dict(fields)


@pytest.mark.parametrize("rule, text", [
    (Rule("*", None), "Rule('*', None)"),
    (Rule(re.compile("a+"), None), "Rule(re.compile('a+'), None)"),
    (Rule(op="matmul", weights=W4), f"Rule('op:matmul', weights={W4})"),
    (Rule(test_a_rule_is_frozen, None), "Rule(test_a_rule_is_frozen, None)"),
])  # fmt: skip
def test_repr(rule, text):
    assert repr(rule) == text


def test_near_misses_without_anything_known():
    assert did_you_mean("x", [], "layers") == "; there are no layers"
    assert did_you_mean("zz", [f"layer{i}" for i in range(20)], "layers").endswith("layer7, ...")


@pytest.mark.slow
@given(st.lists(st.sampled_from(["/stem/*", "*", "op:nn.conv2d", "lv2"]), max_size=6))
def test_the_winner_is_the_last_match(patterns):
    rules = [Rule(pattern, None) for pattern in patterns]
    for layer in LAYERS:
        expected = [rule for rule in rules if rule.matches(layer)]
        assert resolve(LAYERS, rules)[layer.key].rule is (expected[-1] if expected else None)
