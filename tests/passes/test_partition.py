"""partition: which operators belong together, which stay float and why."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tvm

import tvmq
from tests.passes.stages import partitioned
from tests.support.models.networks import Net, assert_same, at_stage, block
from tvmq.errors import ConfigError, StageError
from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule
from tvmq.passes.families.base import WeightFacts
from tvmq.passes.partition import integer_groups, partition
from tvmq.passes.prepare import prepare

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'
W = 'w: R.Tensor((2, 2, 3, 3), "float32")'
B = 'b: R.Tensor((1, 2, 1, 1), "float32")'
WEIGHT = np.ones((2, 2, 3, 3), np.float32)
BIAS = np.ones((1, 2, 1, 1), np.float32)
CONV = "c = R.nn.conv2d(x, w, padding=1)"


def conv_and(body: str, result: str | None = None, **constants: np.ndarray) -> tvm.IRModule:
    """A convolution `c` of `x`, then the body."""
    return block(f"{X}, {W}, {B}", f"{CONV}\n{body}", result, w=WEIGHT, b=BIAS, **constants)


def ledger_of(mod: tvm.IRModule, **options: object) -> Ledger:
    return get_ledger(partitioned(mod, **options))


def decisions(mod: tvm.IRModule, **options: object) -> dict[str, str]:
    """{variable: family, or the reason for float}."""
    layers = ledger_of(mod, **options).layers
    return {name: e["family"] if e["precision"] == "int8" else e["why"] for name, e in layers.items()}


def test_bindings_stay() -> None:
    before = conv_and("a = R.add(c, b)\nr = R.nn.relu(a)")
    assert_same(partitioned(before), before)


def test_convolution_absorbs_bias_and_relu() -> None:
    ledger = ledger_of(conv_and("a = R.add(c, b)\nr = R.nn.relu(a)"))
    assert ledger.stage == "partitioned" and ledger.config == QConfig().to_dict()
    (group,) = integer_groups(ledger.layers)
    assert (group.family, group.root, group.members, group.inputs) == ("conv2d", "c", ["c", "a", "r"], ["x"])
    assert group.facts == WeightFacts(0.0, bias=True)
    assert group.macs == 2 * 4 * 4 * 2 * 9
    assert ledger.layers["r"]["why"] == "default"


@pytest.mark.parametrize(
    "body, members",
    [
        ("r = R.clip(c, 0, 6)", ["c", "r"]),
        ("r = R.nn.relu6(c)", ["c", "r"]),
        ("r = R.clip(c, R.prim_value(T.float32(0.5)), 6)", ["c"]),  # 0 has no code between 0.5 and 6: a table
        ("r = R.clip(c, -6, R.prim_value(T.float32(-0.5)))", ["c"]),
        ("r = R.nn.relu(c)\ns = R.add(c, r)", ["c"]),  # c is read twice
        ("a = R.add(b, c)", ["c"]),  # prepare puts constants second; elsewhere this is no bias
        ("a = R.add(c, R.const(1.0, 'float32'))", ["c", "a"]),
    ],
)
def test_what_a_convolution_absorbs(body: str, members: list[str]) -> None:
    groups = integer_groups(ledger_of(conv_and(body)).layers)
    assert next(group.members for group in groups if group.root == "c") == members


def test_bounds_survive_the_ledger() -> None:
    """JSON has no infinity: a missing bound is null there."""
    ledger = ledger_of(conv_and("r = R.clip(c, -0.5, R.prim_value(T.float32('inf')))"))
    assert ledger.layers["r"]["facts"] == {"low": -0.5, "high": None, "bias": False}
    assert integer_groups(ledger.layers)[0].facts == WeightFacts(-0.5)


FLOAT_CASES = {
    "operator": ("y = R.tril(c)", "y", "limit: tril has no integer form"),
    "constant dividend": ("y = R.divide(p, c)", "y", "limit: a constant that varies over the tensor, divided by it"),
    "constant part": ("y = R.concat((c, p), axis=1)", "y", "limit: a constant part"),
    "padding value": (
        "y = R.nn.pad(c, (0, 0, 0, 0, 1, 1, 1, 1), pad_value=-1e9)",
        "y",
        "limit: padding with -1e+09 would take all codes",
    ),
    "pool layout": ('y = R.nn.avg_pool2d(c, layout="NHWC", pool_size=(2, 2))', "y", "limit: layout NHWC"),
    "pool dilation": (
        "y = R.nn.avg_pool2d(c, pool_size=(2, 2), dilation=(2, 2))",
        "y",
        "limit: dilated average pooling",
    ),
    "empty window": (
        "y = R.nn.avg_pool2d(c, pool_size=(1, 1), strides=(1, 1), padding=(1, 1, 1, 1))",
        "y",
        "limit: a window lies wholly in the padding",
    ),
    "resize": (
        'y = R.image.resize2d(c, (8, 8), method="linear")',
        "y",
        "limit: linear resize computes new values",
    ),
    "resize rule": (
        'y = R.image.resize2d(c, (8, 8), method="nearest_neighbor", coordinate_transformation_mode="align_corners")',
        "y",
        "limit: a nearest resize that does not just repeat pixels",
    ),
    "resize factor": (
        'y = R.image.resize2d(c, (6, 6), method="nearest_neighbor")',
        "y",
        "limit: a nearest resize that",
    ),
    "unknown padding": (
        'y = R.nn.pad(c, (0, 0, 0, 0, 1, 1, 1, 1), pad_mode="edge")',
        "y",
        "limit: this form of nn.pad has no definition on codes",
    ),
    "tuple": (
        "d = (c, c)\ny = R.concat(d, axis=1)",
        "y",
        "limit: a constant part, or parts that are not written out",
    ),
    "alone": (
        "s = R.nn.softmax(c)\ny = R.nn.relu(s)",
        "y",
        "default: an operator between float operators stays float",
    ),
    "integers": (
        'i = R.astype(c, "int32")\ny = R.reshape(i, R.shape([32]))',
        "y",
        "limit: the input is int32, not float32",
    ),
}


@pytest.mark.parametrize("name", FLOAT_CASES)
def test_reasons_for_float(name: str) -> None:
    body, variable, reason = FLOAT_CASES[name]
    picture = np.ones((1, 2, 4, 4), np.float32)
    signature = f'{X}, {W}, p: R.Tensor((1, 2, 4, 4), "float32")'
    found = decisions(block(signature, f"{CONV}\n{body}", RESULTS.get(name), w=WEIGHT, p=picture))
    assert found["c"] == "conv2d"
    assert found[variable].startswith(reason), found


RESULTS = {
    "constant part": '(1, 4, 4, 4), "float32"',
    "tuple": '(1, 4, 4, 4), "float32"',
    "padding value": '(1, 2, 6, 6), "float32"',
    "pool layout": '(1, 1, 3, 4), "float32"',
    "pool dilation": '(1, 2, 2, 2), "float32"',
    "empty window": '(1, 2, 6, 6), "float32"',
    "resize": '(1, 2, 8, 8), "float32"',
    "resize factor": '(1, 2, 6, 6), "float32"',
    "unknown padding": '(1, 2, 6, 6), "float32"',
    "resize rule": '(1, 2, 8, 8), "float32"',
    "integers": '(32,), "int32"',
}


@pytest.mark.parametrize(
    "signature, body, result, reason",
    [
        (f"{X}, y{W[1:]}", "c = R.nn.conv2d(x, y, padding=1)", None, "limit: the weight is computed in the graph"),
        (f'x: R.Tensor((1, 4, 4, 2), "float32"), {W}', 'c = R.nn.conv2d(x, w, padding=1, data_layout="NHWC")', None, "limit: layout NHWC"),
        ('x: R.Tensor((1, 2, 3), "float32"), y: R.Tensor((3,), "float32")', "m = R.matmul(x, y)", '(1, 2), "float32"', "limit: a product of a vector has no integer form"),
        ('x: R.Tensor((1, 2, 3), "float32"), w: R.Tensor((3,), "float32")', "m = R.matmul(x, w)", '(1, 2), "float32"', "limit: the constant has rank 1, not 2"),
        (f"{X}, {W}", "c = R.nn.conv2d(w, w)", '(2, 2, 1, 1), "float32"', "limit: the input is a constant"),
    ],
)  # fmt: skip
def test_products_that_stay_float(signature: str, body: str, result: str | None, reason: str) -> None:
    weight = np.ones(3, np.float32) if "matmul" in body else WEIGHT
    constants = {"w": weight} if "w: " in signature else {}
    (found,) = decisions(block(signature, body, result, **constants)).values()
    assert found.startswith(reason)


def test_functions_of_one_tensor_become_one_table() -> None:
    ledger = ledger_of(
        conv_and("s = R.sigmoid(c)\nm = R.multiply(c, s)\nd = R.nn.conv2d(m, w)", '(1, 2, 2, 2), "float32"')
    )
    table = integer_groups(ledger.layers)[1]
    assert (table.family, table.members, table.facts.chain, table.inputs) == (
        "table",
        ["s", "m"],
        ["s", "m"],
        ["c"],
    )


def test_a_link_that_others_read_is_a_table_too() -> None:
    ledger = ledger_of(
        conv_and("s = R.sigmoid(c)\nm = R.multiply(c, s)\nd = R.concat((m, s), axis=1)", '(1, 4, 4, 4), "float32"')
    )
    tables = [(g.members, g.facts.chain) for g in integer_groups(ledger.layers) if g.family == "table"]
    assert tables == [(["s"], ["s"]), (["m"], ["s", "m"])]


def test_a_function_that_enlarges_its_tensor_is_no_table() -> None:
    mod = block(
        'x: R.Tensor((3, 2), "float32"), w: R.Tensor((2, 2), "float32"), b: R.Tensor((1, 1, 1), "float32")',
        "m = R.matmul(x, w)\ny = R.multiply(m, b)",
        '(1, 3, 2), "float32"',
        w=np.ones((2, 2), np.float32),
        b=np.ones((1, 1, 1), np.float32),
    )
    assert decisions(mod)["y"] == "scale_shift"


def test_a_link_that_a_float_operator_reads_is_computed_there() -> None:
    """By rule one of two readers of sigmoid is float; the other still has its table."""
    body = "s = R.sigmoid(c)\nm = R.multiply(c, s)\na = R.add(c, s)\nd = R.concat((m, a), axis=1)"
    found = decisions(conv_and(body, '(1, 4, 4, 4), "float32"'), rules=[Rule("m", None)])
    assert (found["m"], found["a"], found["s"]) == ("rule 'm'", "table", "default: a float operator reads it")


@pytest.mark.parametrize(
    "size, body, result, reason",
    [
        (
            "(1, 2, 4096, 2100)",
            "y = R.mean(c, axis=[2, 3])",
            "(1, 2)",
            "limit: the sum of 8601600 codes could leave int32",
        ),
        (
            "(1, 2, 80, 1)",
            "y = R.nn.avg_pool2d(c, pool_size=(71, 1), padding=(35, 0, 35, 0), count_include_pad=False)",
            "(1, 2, 80, 1)",
            "limit: the common multiple of the windows' counts leaves int32",
        ),
    ],
)
def test_averages_that_int32_cannot_hold(size: str, body: str, result: str, reason: str) -> None:
    signature = f'x: R.Tensor({size}, "float32"), w: R.Tensor((2, 2, 1, 1), "float32")'
    weight = np.ones((2, 2, 1, 1), np.float32)
    mod = block(signature, f"c = R.nn.conv2d(x, w)\n{body}", f'{result}, "float32"', w=weight)
    assert decisions(mod)["y"] == reason


def test_moving_operators_follow_their_neighbours() -> None:
    """Between float operators they stay float; between a float tensor and a convolution they move codes."""
    body = "t = R.permute_dims(x, axes=[0, 1, 3, 2])\nc = R.nn.conv2d(t, w, padding=1)\nu = R.permute_dims(x, axes=[0, 1, 3, 2])\ny = R.tril(u)\nz = R.add(c, y)"
    found = decisions(block(f"{X}, {W}", body, w=WEIGHT))
    assert (found["t"], found["u"]) == ("shape", "default: an operator between float operators stays float")


def test_split_reaches_through_its_tuple() -> None:
    body = "s = R.split(c, 2, axis=1)\na = s[0]\nb2 = s[1]\ne = R.concat((b2, a), axis=1)\ny = R.nn.max_pool2d(e)"
    found = decisions(conv_and(body))
    assert found.pop("y") == "max_pool"
    assert found == {"c": "conv2d", "s": "shape", "a": "shape", "b2": "shape", "e": "concat"}


def test_options() -> None:
    body = "r = R.nn.relu(c)\nd = R.nn.conv2d(r, w, padding=1)\ny = R.nn.max_pool2d(d)"
    assert decisions(conv_and(body), skip_conv_layers=[1])["d"] == "option skip_conv_layers: 1"
    assert decisions(conv_and(body), debug_enabled_ops=["nn.conv2d"])["y"] == "option debug_enabled_ops"
    assert decisions(conv_and(body), dtype_input="int16", nbit_input=16)["d"] == "conv2d"


def test_indices_count_convolutions_that_stay_float() -> None:
    """skip_conv_layers speaks of the order of execution, whatever has an integer form."""
    body = "e = R.nn.conv2d(x, x)\nc = R.nn.conv2d(x, w, padding=1)\ny = R.add(c, e)"
    mod = block(f'x: R.Tensor((2, 2, 3, 3), "float32"), {W}', body, w=WEIGHT)
    assert decisions(mod, skip_conv_layers=[1])["c"] == "option skip_conv_layers: 1"


def test_rules_are_heard() -> None:
    spec = QuantSpec("int8", 4, symmetric=True, per_channel=True)
    ledger = ledger_of(conv_and("a = R.add(c, b)"), rules=[Rule("op:nn.conv2d", weights=spec)])
    entry = ledger.layers["a"]
    assert entry["why"] == "rule 'op:nn.conv2d'" and QuantSpec.from_dict(entry["specs"]["weights"]) == spec


def test_rules_know_layers_that_are_float_anyway() -> None:
    assert decisions(conv_and("y = R.tril(c)"), rules=[Rule("y", None)])["y"] == "limit: tril has no integer form"


def test_a_rule_may_ask_for_shape_and_work() -> None:
    rule = Rule(lambda layer: layer.macs > 100 and layer.weight_shape == (2, 2, 3, 3), None)
    assert decisions(conv_and("y = R.nn.relu(c)"), rules=[rule])["c"].startswith("rule")


def test_a_rule_without_a_layer_is_refused() -> None:
    with pytest.raises(ConfigError, match="matches none of 2 layers"):
        partitioned(conv_and("y = R.tril(c)"), rules=[Rule("nothing", None)])


def test_a_float_group_keeps_all_its_names() -> None:
    net = Net((1, 3, 6, 6))
    prepared = prepare(*tvmq.from_onnx(net.model(net.op("Relu", net.conv("x", 3, 4)))))
    ledger = get_ledger(partition(prepared, QConfig(rules=[Rule("/conv_0", None)])))
    assert [entry["layers"] for entry in ledger.layers.values()] == [["/conv_0", "/relu_1"]]


@pytest.mark.parametrize("stage", ["imported", "partitioned", "annotated", "realized"])
def test_other_stages_are_refused(stage: str) -> None:
    message = f"partition: the module is '{stage}', this pass needs 'prepared'; the order is imported -> prepared"
    with pytest.raises(StageError, match=message):
        partition(at_stage(conv_and("y = R.tril(c)"), stage))


def test_dynamic_dimensions_count_as_one() -> None:
    mod = block(f'x: R.Tensor(("n", 2, 4, 4), "float32"), {W}', "c = R.nn.conv2d(x, w, padding=1)", w=WEIGHT)
    one = block(f'x: R.Tensor((1, 2, 4, 4), "float32"), {W}', "c = R.nn.conv2d(x, w, padding=1)", w=WEIGHT)
    (dynamic,), (fixed,) = (get_ledger(partitioned(m)).layers.values() for m in (mod, one))
    assert dynamic["macs"] == fixed["macs"] > 0 and dynamic["precision"] == "int8"


@pytest.mark.parametrize(
    "operator, dynamic",
    [("R.mean(c, axis=[2, 3])", r"the number of values is dynamic \(h, 4\)"),
     ("R.nn.avg_pool2d(c, [2, 2])", r"windows of a picture whose size is dynamic \(h\)")],
)  # fmt: skip
def test_counts_that_are_dynamic_stay_float(operator: str, dynamic: str) -> None:
    given = f'x: R.Tensor((1, 2, "h", 4), "float32"), {W}'
    mod = block(given, f"c = R.nn.conv2d(x, w, padding=1)\nm = {operator}", w=WEIGHT)
    entries = get_ledger(partitioned(mod)).layers.values()
    assert any(re.search(f"limit: {dynamic}", entry["why"]) for entry in entries), list(entries)
