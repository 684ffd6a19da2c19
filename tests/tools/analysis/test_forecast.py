"""`tvmq.inspect`: the operators that become integers, their cost, and the sentence on whether quantizing helps."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.errors import StageError, TargetError
from tvmq.tools.analysis.forecast import inspect

ZEN4 = {"target": "llvm -mcpu=znver4", "clock": 3.7e9}


def network() -> tuple:
    """A convolution, a float island between convolutions, a classifier."""
    n = Net((1, 16, 32, 32))
    y = n.op("Relu", n.conv("x", 16, 64))
    y = n.conv(n.op("Trilu", n.conv(y, 64, 64)), 64, 16, 1)
    return tvmq.from_onnx(n.model(n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), 16, 10)))


@pytest.fixture(scope="module")
def forecast():
    """Forecast for a server CPU, on whichever CPU the tests run."""
    mod, params = network()
    return inspect(mod, params=params, **ZEN4)


def test_it_says_what_quantize_decides(forecast):
    mod, params = network()
    with tvmq.qconfig(calibrate_mode="global_scale"):
        decided = tvmq.explain(tvmq.quantize(mod, params)).ledger.layers
    said = {row.layers: row.precision for row in forecast.rows if row.key}
    known = {tuple(entry["layers"]): entry["precision"] for entry in decided.values()}
    assert said.items() <= known.items()
    assert {names for names, precision in known.items() if precision == "float"} <= said.keys()


@pytest.mark.slow
def test_kernels_are_those_of_build(forecast):
    mod, params = network()
    with tvmq.qconfig(calibrate_mode="global_scale"):
        built = tvmq.build(tvmq.quantize(mod, params), "llvm -mcpu=znver4")
    said = {row.kernel for row in forecast.rows if row.kernel not in ("", "generic schedule")}
    assert said and said <= set(built.kernels.values())


def test_times_add_up(forecast):
    rows = forecast.rows
    assert sum(row.int8_seconds for row in rows) <= forecast.int8_seconds
    assert sum(row.float_seconds for row in rows) <= forecast.float_seconds
    assert forecast.int8_seconds - sum(row.int8_seconds for row in rows) < 1e-4
    assert 0 < forecast.island_seconds and 0 < forecast.conversion_seconds < forecast.int8_seconds
    heavy = max(rows, key=lambda row: row.macs)
    assert heavy.bottleneck == "compute" and heavy.speed_up > 2 and heavy.precision == "int8"


def test_table_dictionary_and_verdict(forecast):
    text = str(forecast)
    assert "/trilu_3" in text and "no: limit:" in text and "conv2d_avx512" in text and "times as fast" in text
    assert "weights: 8 bits, for every CPU; CPUs without VNNI make " in text
    data = json.loads(json.dumps(forecast.to_dict()))
    assert data["weights"] == forecast.weights
    assert data["target"] == "znver4" and data["clock"] == 3.7e9 and len(data["layers"]) == len(forecast.rows)
    assert data["speed_up"] == pytest.approx(data["float_seconds"] / data["int8_seconds"])


def test_why_a_tiny_network_is_not_faster():
    mod, params = tvmq.from_onnx((net := Net((1, 4))).model(net.dense("x", 4, 3)))
    found = inspect(mod, params=params, **ZEN4)
    assert found.verdict.startswith("int8 will not help") and "so small" in found.verdict


@pytest.mark.slow
def test_why_islands_are_not_faster():
    n = Net((1, 8, 64, 64))
    y = n.conv("x", 8, 8, 1)
    for _ in range(16):
        y = n.op("Trilu", n.op("Cos", y))
    mod, params = tvmq.from_onnx(n.model(n.conv(y, 8, 8, 1)))
    found = inspect(mod, params=params, **ZEN4)
    assert found.verdict.startswith("int8 will not help") and "stay float" in found.verdict


def test_why_nothing_becomes_int8():
    mod, params = network()
    with tvmq.qconfig(rules=[tvmq.Rule("*", None)]):
        found = inspect(mod, params=params, **ZEN4)
    assert "no layer that multiplies matrices becomes int8 (rule" in found.verdict


@pytest.mark.slow
def test_other_cpus_are_slower():
    mod, params = network()
    times = [inspect(mod, params, f"llvm -mcpu={cpu}", clock=3e9) for cpu in ("znver5", "znver4", "haswell")]
    assert times[0].int8_seconds < times[1].int8_seconds < times[2].int8_seconds
    assert times[2].isa == "avx2" and times[2].speed_up < times[0].speed_up


@pytest.mark.slow
def test_dynamic_sizes():
    n = Net((1, 3, 32, 32))
    model = n.model(n.conv("x", 3, 8))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    mod, params = tvmq.from_onnx(model)
    one, many = (inspect(mod, params=params, sizes=sizes, **ZEN4) for sizes in (None, {"batch": 16}))
    assert 4 < many.int8_seconds / one.int8_seconds < 17


def test_refusals():
    n = Net((1, 4))
    model = n.model(n.dense("x", 4, 3))
    mod, params = tvmq.from_onnx(model)
    with pytest.raises(StageError, match="inspect: the model is 'realized'.*tvmq.explain"):
        inspect(tvmq.quantize(mod, params, feeds_of(model), guard=None))
    with pytest.raises(TargetError, match="is no CPU"):
        inspect(mod, params, "cuda")


@pytest.mark.slow
def test_params_stand_where_quantize_takes_them():
    """A target in their place, as it was once, is taken as the target: by inspect and by build."""
    n = Net((1, 4))
    model = n.model(n.dense("x", 4, 3))
    mod, params = tvmq.from_onnx(model)
    znver4 = {"clock": 3e9, "target": "llvm -mcpu=znver4"}
    told = [str(inspect(mod, params, **znver4)), str(inspect(mod, znver4["target"], params, clock=3e9))]
    told += [str(inspect(mod, znver4["target"], params=params, clock=3e9))]
    assert len(set(told)) == 1
    built = [tvmq.build(mod, params), tvmq.build(mod, "llvm", params), tvmq.build(mod, {"kind": "llvm"}, params=params)]
    results = [exe.run(feeds_of(model)[0])[0] for exe in built]
    assert all(np.array_equal(results[0], one) for one in results)
    with pytest.raises(TypeError, match="multiple values"):
        inspect(mod, "llvm", params, target="llvm")


@pytest.mark.slow
def test_it_leaves_the_module_alone():
    mod, params = network()
    before = mod.script()
    copies = {name: np.array(value) for name, value in params.items()}
    inspect(mod, params=params, **ZEN4)
    assert mod.script() == before
    assert all(np.array_equal(copies[name], params[name]) for name in params)
