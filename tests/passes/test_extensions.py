"""Passes, operator families and observers that stand in another package: here, in this file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.models.networks import block
from tvmq import extension
from tvmq.errors import ConfigError, StageError
from tvmq.extension import Codes, Group, View, make_const, op_name, rewrite
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.passes.annotate import annotate
from tvmq.passes.calibrate import calibrate
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.pack_weights import pack_weights
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare
from tvmq.passes.realize import realize
from tvmq.passes.round_biases import round_biases
from tvmq.passes.unify_scales import unify_scales

SIGNATURE = 'x: R.Tensor((1, 2, 6, 6), "float32"), w: R.Tensor((3, 2, 3, 3), "float32")'
BODY = """c = R.nn.conv2d(x, w, padding=[1, 1])
r = R.nn.relu(c)
s = R.cumsum(r, axis=3)
d = R.nn.conv2d(s, v)"""
DATA = np.random.default_rng(3).normal(size=(6, 2, 6, 6)).astype(np.float32)


class CumSum:
    """Running sums of codes, counted in int32."""

    name = "cumsum"
    operators = ("cumsum",)

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        if value.attrs.exclusive:
            return "limit: exclusive sums are not written yet"
        return Group(self.name, var.name, [var.name], [value.args[0].name])

    def realize(self, realizer: object, group: Group) -> Codes | relax.Expr:
        x, axis = realizer.codes(group.inputs[0]), realizer.view.value[group.root].attrs.axis
        centred = relax.op.subtract(relax.op.astype(x.var, "int32"), relax.const(np.int32(x.zero_point)))
        sums = realizer.emit(relax.op.cumsum(centred, axis=axis, dtype="int32"), f"{group.root}_sums")
        return realizer.requantize(sums, np.float64([x.scale]), group)


class Defined(CumSum):
    """The operator with its definition."""

    definitions = {"cumsum": lambda call, x: np.cumsum(x, int(call.attrs.axis), dtype=np.int32)}


class Widest:
    """Twice the range that was seen."""

    needs = ("ranges",)

    def thresholds(self, statistics: object, spec: object) -> tuple[float, float]:
        return 2 * statistics.ranges.low, 2 * statistics.ranges.high


def halve(mod: tvm.IRModule) -> tvm.IRModule:
    """Relu becomes half of it."""

    def visit(rewriter: object, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if op_name(value) != "nn.relu":
            return None
        return relax.op.multiply(rewriter.emit(value, f"{var.name}_whole"), make_const(np.float32(0.5)))

    return rewrite(mod, visit)


def forget(mod: tvm.IRModule) -> tvm.IRModule:
    return tvm.IRModule({"main": mod["main"].without_attr("tvmq.ledger")})


def nothing(mod: tvm.IRModule) -> None:
    return None


def one_more_result(mod: tvm.IRModule) -> tvm.IRModule:
    other = block('x: R.Tensor((1, 2, 6, 6), "float32")', "y = R.nn.relu(x)\nz = (y, y)")
    return with_ledger(other, get_ledger(mod))


CUMSUM, DEFINED, INCOMPLETE = CumSum(), Defined(), object()
TAKEN = type("Taken", (CumSum,), {"name": "conv2d"})()
UNKNOWN = type("Unknown", (CumSum,), {"operators": ("cumsom",)})()


def here(name: str) -> str:
    return f"{__name__}:{name}"


def network() -> tvm.IRModule:
    random = np.random.default_rng(4)
    shapes = {"w": (3, 2, 3, 3), "v": (2, 3, 3, 3)}
    weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return block(f'{SIGNATURE}, v: R.Tensor((2, 3, 3, 3), "float32")', BODY, '(1, 2, 4, 4), "float32"', **weights)


def quantized(**options: object) -> tvm.IRModule:
    return tvmq.quantize(network(), None, {"x": DATA}, config=tvmq.qconfig(**options), guard=None)


def entry(mod: tvm.IRModule, name: str) -> Mapping[str, object]:
    return get_ledger(mod).layers[name]


@pytest.mark.slow
def test_an_operator_is_float_until_a_family_treats_it() -> None:
    assert entry(quantized(), "s")["precision"] == "float"
    mod = quantized(operators=[here("CUMSUM")])
    assert entry(mod, "s")["precision"] == "int8" and entry(mod, "s")["op"] == "cumsum"
    assert get_ledger(mod).config["operators"] == [here("CUMSUM")]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize(("family", "compared"), [("CUMSUM", False), ("DEFINED", True)])
def test_its_definition_is_what_verify_compares_with(family: str, compared: bool) -> None:
    exe = tvmq.build(quantized(operators=[here(family)]))
    assert tvmq.verify(exe, {"x": DATA}).exact
    assert bool(tvmq.explain(exe).undefined) is not compared
    assert (tvmq.reference.Reference(exe.module).islands == []) is compared


@pytest.mark.slow
def test_a_wrong_definition_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = tvmq.build(quantized(operators=[here("DEFINED")]))
    monkeypatch.setattr(Defined, "definitions", {"cumsum": lambda call, x: np.cumsum(x, 2, dtype=np.int32)})
    assert not tvmq.verify(exe, {"x": DATA}).exact


def test_a_family_may_refuse() -> None:
    mod = block('x: R.Tensor((2, 6), "float32")', "s = R.cumsum(x, axis=1, exclusive=True)")
    found = tvmq.quantize(mod, None, {"x": DATA[:, 0, 0]}, config=tvmq.qconfig(operators=[here("CUMSUM")]), guard=None)
    assert entry(found, "s")["why"] == "limit: exclusive sums are not written yet"


@pytest.mark.slow
def test_an_integral_core_takes_own_operators() -> None:
    options = {"requantize": "fixed_point", "partition_conversions": "fully_integral"}
    exe = tvmq.build(quantized(operators=[here("DEFINED")], **options))
    assert tvmq.verify(exe, {"x": DATA}).exact


@pytest.mark.slow
def test_a_pass_runs_behind_prepare() -> None:
    plain, halved = quantized(), quantized(passes=[here("halve")])
    a, b = (tvmq.build(mod).run({"x": DATA[:1]})[0] for mod in (plain, halved))
    np.testing.assert_allclose(b, a / 2, atol=0.03 * np.abs(a).max())


@pytest.mark.slow
def test_a_calibration_brings_its_passes() -> None:
    config = tvmq.qconfig(passes=[here("halve")])
    calibration = tvmq.run_calibration(network(), None, {"x": DATA}, config=config)
    again = tvmq.quantize(network(), None, calibration=calibration)
    assert get_ledger(again).config["passes"] == [here("halve")]
    with pytest.raises(tvmq.errors.CalibrationError, match="another model or other options"):
        tvmq.quantize(network(), None, calibration=calibration, config=tvmq.qconfig(passes=[]))


@pytest.mark.slow
def test_an_observer_chooses_ranges() -> None:
    mod = quantized(calibrate_mode=here("Widest"))
    wide, usual = (get_ledger(m).codes["x_q"][0] for m in (mod, quantized(calibrate_mode="minmax")))
    assert wide == pytest.approx(2 * usual)


def test_options_are_data(tmp_path: Path) -> None:
    config = tvmq.qconfig(passes=[here("halve")], operators=[here("CUMSUM")], calibrate_mode=here("Widest"))
    assert tvmq.QConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"passes": ["halve"]}, ConfigError, "'passes' must be a list of \"module:object\", each naming a pass"),
    ({"operators": [CUMSUM]}, ConfigError, "'operators' must be a list of"),
    ({"calibrate_mode": "widest"}, ConfigError, 'or the "module:object" of an observer'),
    ({"passes": [here("absent")]}, ConfigError, "quantize: no pass at .*absent"),
    ({"passes": [here("CUMSUM")]}, ConfigError, "is a CumSum, not a pass"),
    ({"passes": [here("nothing")]}, StageError, "it gave a NoneType; return the IRModule"),
    ({"passes": [here("forget")]}, StageError, "it gave a module that is 'imported', not 'prepared'"),
    ({"passes": [here("one_more_result")]}, StageError, "inputs and results were .* keep them"),
    ({"operators": ["no_such_package:CUMSUM"]}, ConfigError, "no operator family at 'no_such_package:CUMSUM'"),
    ({"operators": [here("INCOMPLETE")]}, ConfigError, "lacks name, operators, group, realize"),
    ({"operators": [here("TAKEN")]}, ConfigError, "is named 'conv2d', as another family is"),
    ({"operators": [here("UNKNOWN")]}, ConfigError, "lists 'cumsom', but TVM has no relax.cumsom"),
    ({"calibrate_mode": here("CUMSUM")}, ConfigError, r"has no method thresholds\(statistics, spec\)"),
])  # fmt: skip
def test_refusals(options: dict[str, object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        quantized(**options)


@pytest.mark.slow
def test_ranges_chosen_between_the_passes():
    """The road of docs/by-hand.md with ranges of one's own, read from intermediates: here those of minmax."""
    mod = block(SIGNATURE, "c = R.nn.conv2d(x, w, padding=[1, 1])\nr = R.nn.relu(c)")
    params = {"w": np.random.default_rng(5).normal(size=(3, 2, 3, 3)).astype(np.float32)}
    options = dict.fromkeys(("bias_correction", "outlier_channels"), False)
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest", weight_scale="lanes", **options):
        expected = tvmq.quantize(mod, params, [{"x": DATA[i : i + 1]} for i in range(6)], guard=None)
        floats = fold_constants(prepare(*tvmq.from_relax(mod, params)))
        annotated = unify_scales(annotate(partition(floats)))
        assert [extension.stage_of(one) for one in (mod, floats, annotated)] == ["imported", "prepared", "annotated"]
        watched = extension.watched_tensors(View(annotated))
        names = [tensor.source for tensor in watched]
        run = extension.evaluator(extension.drop_uncalibrated(extension.return_intermediates(annotated, names)))
        values = [np.concatenate(parts) for parts in zip(*(run({"x": DATA[i : i + 1]}) for i in range(6)), strict=True)]
        ranges = {
            tensor.key: extension.usable_range(float(value.min()), float(value.max()), tensor.spec)
            for tensor, value in zip(watched, values, strict=True)
        }
        integers = pack_weights(fold_constants(realize(calibrate(round_biases(annotated), ranges))))
    tvm.ir.assert_structural_equal(integers["main"].body, expected["main"].body, map_free_vars=True)
