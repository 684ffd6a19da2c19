"""Descriptions as JSON: there and back, and twenty and more kinds of bad ones, each one clear sentence with its path."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.devices.emulated_device import DEVICE
from tvmq.backends import BACKENDS, backend_named
from tvmq.backends import vocabulary as names
from tvmq.backends.consistency import emulation_alone, why_not_compiled
from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.calibration.observers import OBSERVERS, WEIGHT_OBSERVERS
from tvmq.errors import ConfigError
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule
from tvmq.options.config import QConfig
from tvmq.passes import FAMILIES, load

# Three that nobody has built: shifts that floor, with wrapping sums; groups of 4-bit weights; float16 around products.
INVENTED: dict[str, dict[str, Any]] = {
    "shifts": {
        "activations": ["int8"], "zero_points": False, "per_channel": False, "streams": [], "accumulator_bits": 16,
        "overflow": "wrap", "requantize_rule": {"arithmetic": "shift", "roundings": ["floor"]},
    },
    "groups": {
        "activations": ["int8"], "activation_scales": "run_time",
        "operators": [{"pattern": "*", "weights": {"dtype": "int4", "granularity": "per_group", "group_size": 32}}],
    },
    "halves": {
        "float_type": "float16",
        "operators": [
            {"pattern": "*", "computes": "float16"},
            {"pattern": ["conv*", "dense", "matmul"], "inputs": {"dtype": "int8"}, "output": ["int8", "float16"]},
        ],
    },
    "mixed": {
        "requantize": ["fixed_point"],
        "operators": [
            {"pattern": "*", "inputs": {"dtype": "int8"}},
            {"pattern": "conv*", "inputs": {"dtype": "int6", "observer": "minmax", "scheme": "symmetric"},
             "weights": {"dtype": "int5", "granularity": "per_tensor"}, "bias": "int16",
             "requantize": {"arithmetic": "integer", "roundings": ["away"]}},
            {"pattern": "depthwise", "inputs": {"dtype": ["int8", "int4"]}, "weights": {"dtype": "int8"},
             "accumulator_bits": 24},
            {"pattern": "add", "inputs": {"dtype": "int8"}, "same_scales": True},
            {"pattern": "dense", "weights": {"dtype": "int4", "observer": "mse"},
             "limits": {"channels": 64, "alignment": 2, "kernel": 5}},
        ],
    },
}  # fmt: skip


def described(name: str) -> Backend:
    return Backend.from_json(json.dumps({"name": name, **INVENTED[name]}), f"{name}.json")


@pytest.mark.parametrize("name", BACKENDS)
def test_built_in_descriptions_go_through_json(name: str):
    backend = backend_named(name)
    assert backend.name == name and Backend.from_json(backend.to_json()) == backend
    assert backend.refused_options(QConfig().for_backend(backend).to_dict()) == []


@pytest.mark.parametrize("name", INVENTED)
def test_invented_descriptions_go_through_json(name: str):
    backend = described(name)
    assert Backend.from_json(backend.to_json()) == backend
    assert backend.refused_options(QConfig().for_backend(backend).to_dict()) == []


def test_every_field_goes_through_json():
    own = replace(
        DEVICE, families=frozenset({"conv2d"}), weights=("int16",), roundings=("TONEAREST",), largest_kernel=3,
        reduce_range=True, weight_scale="mse", multipliers=False, tables=False, bias="int12", streams=("int16",),
        lowerings=("my_package.chip:CONV",),
    )  # fmt: skip
    assert Backend.from_json(own.to_json()) == own
    assert set(json.loads(own.to_json())) == {"tvmq_backend", *(field.name for field in fields(Backend))}


def test_a_description_of_a_name_alone_is_a_cpu():
    assert Backend.from_json('{"name": "mychip"}') == Backend("mychip")


def test_activations_follow_from_what_entries_read():
    entry = {"pattern": "*", "inputs": {"dtype": ["int4", "int16"]}}
    assert Backend.from_json(json.dumps({"name": "x", "operators": [entry]})).activations == ("int8", "int16")


def test_words_are_those_of_the_quantizer():
    assert set(names.FAMILIES) == set(FAMILIES)
    assert set(names.OBSERVERS) == set(OBSERVERS) and set(names.WEIGHT_OBSERVERS) == set(WEIGHT_OBSERVERS)
    assert {name for name, target in FAMILIES.items() if load(target).anchor} - {"matmul"} == set(names.WEIGHTED)


def entry(**fields: Any) -> dict[str, Any]:
    """A description with one entry, for int8."""
    return {"name": "x", "activations": ["int8"], "operators": [{"pattern": "conv2d", **fields}]}


BAD: list[tuple[str, Any, str]] = [
    ("no object", [], "must be an object with fields of tvmq_backend, name, .* Got \\[\\] instead"),
    ("no name", {}, "name: is missing"),
    ("an unknown field", {"name": "x", "wieghts": ["int8"]}, "wieghts: unknown field; known: .*; did you mean 'weights'"),
    ("another form", {"name": "x", "tvmq_backend": 2}, "tvmq_backend: must be 1, the only form that there is. Got 2"),
    ("a type", {"name": "x", "activations": ["int9"]}, "activations\\[0\\]: 'int9' .* allowed: int8, uint8, int16"),
    ("no list", {"name": "x", "activations": "int8"}, "activations: must be a list. Got 'int8'"),
    ("an empty list", {"name": "x", "weights": []}, "weights: must be a list of at least one of int8"),
    ("unsigned weights", {"name": "x", "weights": ["uint8"]}, "weights are symmetric, their codes are signed"),
    ("a word for a switch", {"name": "x", "tables": "yes"}, "tables: must be true or false. Got 'yes'"),
    ("too many bits", {"name": "x", "accumulator_bits": 48}, "accumulator_bits: must be a whole number in 8..32. Got 48"),
    ("a fraction", {"name": "x", "largest_kernel": 2.5}, "largest_kernel: must be a whole number .* Got 2.5"),
    ("an operator", {"name": "x", "families": ["conv2"]}, "families\\[0\\]: 'conv2' .*; did you mean 'conv2d'"),
    ("an overflow", {"name": "x", "overflow": "clamp"}, "overflow: 'clamp' .* allowed: proved, wrap, saturate"),
    ("no floats", {"name": "x", "floats": False}, "requantize 'float' needs floats"),
    ("zero points", {"name": "x", "activations": ["uint8"], "zero_points": False}, "activations must be signed"),
    ("a rule", {"name": "x", "requantize_rule": {"arithmetic": "integer", "roundings": ["upwards"]}},
     "requantize_rule.roundings\\[0\\]: 'upwards' .* allowed: upward, away, .*; did you mean 'upward'"),
    ("a rule and modes", {"name": "x", "requantize": ["float"], "requantize_rule": KNOWN_RULES["tflite"].to_dict()},
     "requantize: follows from requantize_rule, which asks for 'fixed_point'; leave it out"),
    ("accumulators in a rule", {"name": "x", "requantize_rule": {**RequantizeRule().to_dict(), "accumulator_bits": 16}},
     "requantize_rule.accumulator_bits: stands beside the rule, as accumulator_bits"),
    ("float biases of integers", {"name": "x", "bias": "float32", "requantize": ["fixed_point"]},
     "bias: 'float32' goes with sums that become floats"),
    ("narrow biases and zero points", {"name": "x", "bias": "int16"}, "bias: 'int16' needs symmetric codes, as zero points"),
    ("entries that are no list", {"name": "x", "operators": {}}, "operators: must be a list. Got {}"),
    ("an entry without a pattern", {"name": "x", "operators": [{"weights": {}}]}, "operators\\[0\\].pattern: is missing"),
    ("a pattern", {"name": "x", "operators": [{"pattern": "conv2s"}]},
     "operators\\[0\\].pattern: 'conv2s' matches no operators; allowed: .*; did you mean 'conv2d'"),
    ("an entry that says nothing", entry(), "operators\\[0\\]: says nothing; add computes, or one of inputs"),
    ("a field of an entry", entry(weight={}), "operators\\[0\\].weight: unknown field; .*; did you mean 'weights'"),
    ("a type of weights", entry(weights={"dtype": "int9x"}),
     "operators\\[0\\].weights.dtype: 'int9x' is no type of codes; allowed: int2 to int16, uint2 to uint8; did you mean"),
    ("weights without signs", entry(weights={"dtype": "uint4"}), "weights.dtype: 'uint4': .*; use 'int4'"),
    ("codes that are floats", entry(inputs={"dtype": "bfloat16"}),
     "inputs.dtype: 'bfloat16' is no type of codes; .* for operators that stay float write computes instead"),
    ("a storage that it lacks", entry(inputs={"dtype": ["int8", "int12"]}),
     "operators\\[0\\].inputs.dtype: int12 is stored as int16, and activations are int8; add 'int16' there"),
    ("two storages first", {"name": "x", "operators": [{"pattern": "add", "inputs": {"dtype": "int8"}},
                                                       {"pattern": "dense", "inputs": {"dtype": "uint8"}}]},
     "operators\\[1\\].inputs.dtype: codes that are stored as uint8, and those of an entry before as int8"),
    ("a granularity", entry(weights={"granularity": "per_row"}), "granularity: 'per_row' .* per_channel, per_tensor, per_group"),
    ("groups of calibrated codes", entry(weights={"granularity": "per_group", "group_size": 32}),
     "weights.granularity: 'per_group' needs activation_scales 'run_time'"),
    ("groups without a size", entry(weights={"granularity": "per_group"}), "weights.group_size: goes with granularity"),
    ("the input axis", entry(weights={"axis": "input"}), "weights.axis: scales along the input axis do not factor out"),
    ("scales", entry(inputs={"scales": "power_of_two"}),
     "inputs.scales: 'power_of_two' does not go with requantize 'float'; use 'free', or arithmetic 'shift'"),
    ("a whole range of symmetric codes", entry(inputs={"dtype": ["int8"], "scheme": "symmetric", "narrow_range": False}),
     "inputs.narrow_range: symmetric codes of the quantizer end at -127 of 8 bits"),
    ("a whole range without zero points",
     {"name": "x", "activations": ["int8"], "zero_points": False,
      "operators": [{"pattern": "dense", "inputs": {"narrow_range": False}}]},
     "inputs.narrow_range: symmetric codes of the quantizer end at -127 of 8 bits"),
    ("a narrow range of asymmetric codes", entry(inputs={"narrow_range": True}), "inputs.narrow_range: asymmetric codes use"),
    ("symmetric without signs", {"name": "x", "operators": [{"pattern": "*", "inputs": {"scheme": "symmetric"}}]},
     "operators\\[0\\].inputs.scheme: 'symmetric' needs signed codes"),
    ("an observer", entry(inputs={"observer": "histgram"}), "inputs.observer: 'histgram' .*; did you mean 'histogram'"),
    ("an observer of one's own", entry(inputs={"observer": "my_code:Observer"}), "'my_code:Observer' is none of them"),
    ("shifts here, products there", entry(requantize={"arithmetic": "shift", "roundings": ["upward"]}),
     "operators\\[0\\].requantize.arithmetic: 'shift' beside operators that requantize by float"),
    ("results that nobody reads", entry(output=["int16"]),
     "operators\\[0\\].output: int16: another operator reads int8, .*; add 'int8'"),
    ("one scale of what has none", entry(same_scales=True), "operators\\[0\\].same_scales: is for add, avg_pool, mean"),
    ("weights of a sum", {"name": "x", "operators": [{"pattern": "add", "weights": {"dtype": "int4"}}]},
     "operators\\[0\\].weights: none of add has a weight; allowed: conv1d"),
    ("floats with codes", entry(computes="float16", inputs={"dtype": "int8"}),
     "operators\\[0\\].inputs: says nothing of operators that compute in float16"),
    ("a limit", entry(limits={"kernel": 0}), "operators\\[0\\].limits.kernel: must be a whole number in 1.."),
    ("scales at run time, and accumulators", {"name": "x", "activation_scales": "run_time", "operators":
     [{"pattern": "*", "accumulator_bits": 24}]}, "accumulator_bits: says nothing of scales made at run time"),
    ("scales at run time without floats", {"name": "x", "activation_scales": "run_time", "floats": False,
                                           "requantize": ["fixed_point"]}, "activation_scales: 'run_time' scales are floats"),
    ("groups of 8 bits", {"name": "x", "activation_scales": "run_time", "operators": [{"pattern": "*", "weights":
     {"dtype": "int8", "granularity": "per_group", "group_size": 32}}]}, "weights.dtype: 'per_group' is for at most 4 bits"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "words"), BAD, ids=[kind for kind, _, _ in BAD])
def test_a_bad_description_is_one_clear_error(kind: str, data: Any, words: str):
    with pytest.raises(ConfigError, match=words) as error:
        Backend.from_json(json.dumps(data), "my.json")
    message = str(error.value)
    assert "\n" not in message and message.startswith("my.json: ") and "Backend" not in message
    if "operators" in str(data) and "must be a list" not in words:
        assert message.startswith("my.json: operators[") or kind == "scales at run time without floats"


@pytest.mark.parametrize(("text", "words"), [
    (b'{"name": "x",}', "my.json: line 1, column 14: not JSON: "),
    (b'{\n"name": "x"\n"y": 1}', "my.json: line 3, column 1: not JSON: Expecting ',' delimiter"),
    (b'{"name": "\xff"}', "my.json: not JSON: byte 10 is no UTF-8"),
    (b'{"name": "x", "name": "y"}', "my.json: field 'name' stands twice in one object"),
    (b'{"name": "x", "accumulator_bits": NaN}', "my.json: NaN is no number of JSON"),
    (b"[" * 100000, "my.json: not a description: its lists stand in each other too deep"),
    (b"", "my.json: line 1, column 1: not JSON"),
])  # fmt: skip
def test_what_is_no_json_is_refused(text: bytes, words: str):
    with pytest.raises(ConfigError, match=words):
        Backend.from_json(text, "my.json")


def test_a_file_is_a_name(tmp_path: Path):
    path = tmp_path / "mychip.json"
    path.write_text(json.dumps({"name": "mychip", "per_channel": False}))
    assert backend_named(str(path)) == Backend("mychip", per_channel=False)
    path.write_text('{"name": "mychip", "per_chanel": false}')
    with pytest.raises(ConfigError, match=f"^{path}: per_chanel: unknown field; .*; did you mean 'per_channel'"):
        backend_named(str(path))
    with pytest.raises(ConfigError, match="nowhere.json: cannot be read: No such file"):
        backend_named("nowhere.json")


def test_python_says_the_same_by_path():
    with pytest.raises(ConfigError, match=r"Backend 'x': operators\[0\].weights.granularity: 'per_group' needs"):
        Backend("x", operators=(OperatorEntry(("dense",), weights=WeightForm(("int4",), "per_group", 32)),))
    with pytest.raises(ConfigError, match=r"inputs.dtype: must be a tuple of types. Got 'int8'"):
        TensorForm("int8")
    with pytest.raises(ConfigError, match="OperatorEntry: inputs: must be a TensorForm"):
        OperatorEntry(("conv2d",), inputs="int8")


def test_what_compiled_code_cannot_give_is_said():
    assert emulation_alone(backend_named("tflite")) is None and why_not_compiled(described("mixed")) is None
    assert "is no mode and rounding of" in str(why_not_compiled(described("shifts")))
    assert emulation_alone(described("halves")) is None
    assert emulation_alone(Backend("x", float_type="bfloat16")) is None
    wraps = Backend("x", accumulator_bits=16, overflow="wrap")
    assert emulation_alone(wraps) == "sums of 16 bits wrap, compiled sums are proved to fit int32"
    assert emulation_alone(Backend("x", overflow="wrap")) is None  # sums that fit int32 never wrap there
