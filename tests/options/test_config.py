"""qconfig: defaults, checks, nesting, threads and tasks, JSON."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import re
import threading
from dataclasses import replace

import pytest

import tvmq
from tvmq.backends.description import Backend
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import DEFAULTS, OPTION_CHOICES, OPTION_HELP, QConfig, current_qconfig, qconfig
from tvmq.options.options import FIXED
from tvmq.options.rules import Rule

# Relay's qconfig, field by field, but for those of FIXED
RELAY = {
    "nbit_input": 8, "nbit_weight": 8, "dtype_input": "int8", "dtype_weight": "int8",
    "calibrate_mode": "global_scale", "global_scale": 8.0, "weight_scale": "power2",
    "skip_dense_layer": True, "skip_conv_layers": (0,), "do_simulation": False,
    "debug_enabled_ops": None, "rounding": "UPWARD",
    "partition_conversions": "disabled",
}  # fmt: skip


def test_defaults_are_todays_practice():
    config = qconfig()
    assert config == DEFAULTS == QConfig()
    assert config.activation_spec == QuantSpec("uint8", 8, symmetric=False, per_channel=False)
    assert config.weight_spec == QuantSpec("int8", 8, symmetric=True, per_channel=True)
    assert config.skip_conv_layers is None and not config.skip_dense_layer
    assert config.calibrate_mode == "auto" and config.bias_correction and config.rules == ()


@pytest.mark.parametrize("name", RELAY)
def test_relay_defaults(name):
    assert getattr(qconfig.relay(), name) == RELAY[name]


def test_relay_is_symmetric_and_per_tensor():
    config = qconfig.relay()
    assert config.activation_spec == QuantSpec("int8", 8, symmetric=True)
    assert config.weight_spec == QuantSpec("int8", 8, symmetric=True)
    assert not config.bias_correction and not config.outlier_channels


def test_relay_takes_options_and_lets_nothing_outside_through():
    with qconfig(nbit_weight=4, percentile=99.0), qconfig.relay(global_scale=4.0) as config:
        assert (config.global_scale, config.nbit_weight, config.percentile) == (4.0, 8, 99.99)


def test_every_option_has_help_and_choices_hold_the_default():
    assert set(OPTION_HELP) == set(DEFAULTS.to_dict()) - set(FIXED)
    assert all(len(text) > 30 and text.rstrip().endswith(".") for text in OPTION_HELP.values())
    assert all(getattr(DEFAULTS, name) in choices for name, choices in OPTION_CHOICES.items())


@pytest.mark.parametrize("options, message", [
    ({"nbit_weigth": 4}, "there is no option 'nbit_weigth'; did you mean 'nbit_weight'"),
    ({"xyz": 4}, "there is no option 'xyz'; options: activations"),
    ({"calibrate_mode": "minmaxx"}, "one of auto, minmax, .*Got 'minmaxx' instead; did you mean 'minmax'"),
    ({"calibrate_mode": 3}, "'calibrate_mode' must be one of .* Got 3 instead"),
    ({"nbit_input": 1}, r"'nbit_input' must be a whole number in 2\.\.16\. Got 1 instead"),
    ({"nbit_weight": 17}, r"'nbit_weight' must be a whole number in 2\.\.16"),
    ({"nbit_weight": True}, "'nbit_weight' must be a whole number"),
    ({"nbit_weight": 9}, "nbit_weight=9 does not fit dtype_weight='int8'; use dtype_weight='int16'"),
    ({"nbit_input": 12}, "nbit_input=12 does not fit dtype_input='uint8'"),
    ({"nbit_activation": 16}, "'nbit_activation' is no option, it is 32: .* Got 16 instead; leave it out"),
    ({"dtype_activation": "int8"}, "'dtype_activation' is no option, it is 'int32': .*for codes use dtype_input"),
    ({"dtype_weight": "uint8"}, "'dtype_weight' must be one of int8, int16. Got 'uint8'"),
    ({"scheme": "symmetric"}, "needs signed codes; add dtype_input='int8'"),
    ({"percentile": 50}, r"'percentile' must be a number in \(50, 100\]. Got 50"),
    ({"percentile": 100.5}, "'percentile' must be"),
    ({"percentile": float("nan")}, "'percentile' must be"),
    ({"global_scale": 0.0}, "'global_scale' must be a finite number above 0"),
    ({"global_scale": float("inf")}, "'global_scale' must be a finite number above 0"),
    ({"round_for_shift": False}, "would bias every layer downwards"),
    ({"partition_conversions": "on"}, "'partition_conversions' must be one of disabled, enabled, fully_integral"),
    ({"integer_softmax": True, "activations": "dynamic"}, "'integer_softmax' is for codes of calibrated scales"),
    ({"equalization": True, "activations": None}, "activations=None has none; leave one of them out"),
    ({"partition_conversions": "enabled", "do_simulation": True}, "do_simulation stops before integers"),
    ({"skip_conv_layers": "0"}, "'skip_conv_layers' must be a list of indices, or None"),
    ({"skip_conv_layers": [True]}, "'skip_conv_layers' must be a list of indices"),
    ({"debug_enabled_ops": "nn.conv2d"}, "'debug_enabled_ops' must be a list of operator types, or None"),
    ({"rules": [("a", None)]}, "'rules' must be a list of Rule"),
    ({"rules": None}, "'rules' must be a list of Rule"),
    ({"per_channel": 1}, "'per_channel' must be True or False. Got 1"),
    ({"rounding": "DOWN"}, "'rounding' must be one of UPWARD, TONEAREST, DOUBLE"),
])  # fmt: skip
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        qconfig(**options)


def test_options_of_one_value_are_read_in_files_and_stay_in_ledgers():
    """Text of an older version, in its order: calibrations know their module by a hash of this text."""
    older = ["nbit_weight", "nbit_activation", "nbit_bias", "dtype_input", "dtype_weight", "dtype_activation"]
    written = qconfig(nbit_weight=4).to_dict()
    names = list(written)
    assert names[names.index("nbit_weight") :][: len(older)] == older
    assert names[names.index("rounding") + 1] == "round_for_shift" and names[-2] == "calibrate_chunk_by"
    assert {name: written[name] for name in FIXED} == {name: value for name, (value, _, _) in FIXED.items()}
    assert QConfig.from_dict({**written, "calibrate_chunk_by": 16}) == qconfig(nbit_weight=4)
    with pytest.raises(ConfigError, match="'round_for_shift' is no option, it is True: shifts that truncate"):
        QConfig.from_dict({"round_for_shift": False})


@pytest.mark.parametrize("make", [qconfig, qconfig.relay])
def test_options_of_one_value_warn_in_scripts(make):
    with pytest.warns(FutureWarning, match=r"qconfig\(nbit_activation=...\) is deprecated .* relay.quantize.qconfig") as seen:
        assert make(nbit_activation=32) == make()
    assert seen[0].filename == __file__


def test_json_is_checked_too():
    with pytest.raises(ConfigError, match="did you mean 'nbit_weight'"):
        QConfig.from_dict({"nbit_weigth": 4})
    with pytest.raises(ConfigError, match="'nbit_weight' must be"):
        QConfig.from_dict({"nbit_weight": 1})


@pytest.mark.parametrize("options", [
    {"nbit_input": 12, "dtype_input": "int16"}, {"scheme": "symmetric", "dtype_input": "int8"},
    {"nbit_weight": 2}, {"percentile": 100}, {"skip_conv_layers": [0, 3]},
    {"debug_enabled_ops": ["nn.conv2d"]}, {"requantize": "power_of_two"},
])  # fmt: skip
def test_possible_options_are_taken(options):
    config = qconfig(**options)
    for name, value in options.items():
        assert getattr(config, name) == (tuple(value) if isinstance(value, list) else value)


def test_repr_shows_what_differs():
    assert repr(qconfig()) == "qconfig()"
    config = qconfig(nbit_weight=4, rules=[Rule("*/head/*", None)], percentile=99.99)
    assert repr(config) == "qconfig(nbit_weight=4, rules=(Rule('*/head/*', None),))"


def test_a_configuration_is_frozen_and_hashable():
    config = qconfig(nbit_weight=4)
    with pytest.raises(AttributeError):
        config.nbit_weight = 8
    assert len({config, qconfig(nbit_weight=4), qconfig()}) == 2


def test_nested_contexts_merge_and_are_left_again():
    with qconfig(nbit_weight=4, percentile=99.0) as outer:
        with qconfig(nbit_weight=6) as inner:
            assert (inner.nbit_weight, inner.percentile) == (6, 99.0)
            assert current_qconfig() is inner
        assert current_qconfig() is outer
    assert current_qconfig() == DEFAULTS


def test_an_option_given_with_its_default_value_still_wins():
    with qconfig(nbit_weight=4), qconfig(nbit_weight=8) as inner:
        assert inner.nbit_weight == 8


def test_a_value_made_elsewhere_brings_only_what_it_was_given():
    four_bits = qconfig(nbit_weight=4)
    with qconfig(percentile=99.0, nbit_weight=6), four_bits as config:
        assert (config.nbit_weight, config.percentile) == (4, 99.0)
    with qconfig(percentile=99.0):
        made_inside = qconfig(nbit_weight=4)
    assert made_inside.percentile == 99.0
    with made_inside as config:
        assert (config.nbit_weight, config.percentile) == (4, 99.99)


def test_a_direct_value_brings_what_its_call_names():
    with qconfig(percentile=99.0, weight_scale="mse"), QConfig(nbit_weight=4, weight_scale="max") as config:
        assert (config.nbit_weight, config.percentile, config.weight_scale) == (4, 99.0, "max")
    assert QConfig(weight_scale="max").given == qconfig(weight_scale="max").given == {"weight_scale"}
    lanes = Backend("lanes", weight_scale="lanes")
    assert QConfig(weight_scale="max").for_backend(lanes).weight_scale == "max"
    assert QConfig().for_backend(lanes).weight_scale == "lanes"
    config = QConfig(weight_scale="max", nbit_weight=4)
    for same in (copy.deepcopy(config), pickle.loads(pickle.dumps(config)), replace(config)):
        assert same == config and same.given == config.given and vars(same) == vars(config)
    assert QConfig.from_dict(config.to_dict()).given == {"nbit_weight"}


def test_codes_of_16_bits_follow_their_type():
    assert qconfig(dtype_input="int16").nbit_input == QConfig(dtype_input="int16").nbit_input == 16
    assert qconfig(dtype_input="int16", nbit_input=12).nbit_input == 12
    assert QConfig.from_dict({"dtype_input": "int16"}).nbit_input == 16
    written = qconfig(dtype_input="int16", nbit_input=8).to_dict()
    assert QConfig.from_dict(written).nbit_input == 8
    with qconfig(dtype_input="int16"):
        assert current_qconfig().nbit_input == 16
        with qconfig(dtype_input="uint8") as inner:
            assert inner.nbit_input == 8
    with qconfig(nbit_input=6), qconfig(dtype_input="int16") as inner:
        assert inner.nbit_input == 6
    assert QConfig().for_backend(Backend("wide", activations=("int16",))).nbit_input == 16


def test_one_value_can_be_entered_twice():
    config = qconfig(nbit_weight=4)
    with config, config:
        assert current_qconfig().nbit_weight == 4
    assert current_qconfig() == DEFAULTS


def test_combinations_are_checked_when_contexts_merge():
    signed = qconfig(dtype_input="int8", scheme="symmetric")
    unsigned = qconfig(dtype_input="uint8")
    with signed, pytest.raises(ConfigError, match="needs signed codes"):
        unsigned.__enter__()
    assert current_qconfig() == DEFAULTS


def test_an_error_leaves_the_context():
    with pytest.raises(RuntimeError), qconfig(nbit_weight=4):
        raise RuntimeError
    assert current_qconfig() == DEFAULTS


def test_threads_start_with_the_defaults_and_leak_nothing():
    seen = {}

    def work(name, bits):
        seen[name, "before"] = current_qconfig().nbit_weight
        with qconfig(nbit_weight=bits):
            barrier.wait(10)
            seen[name, "inside"] = current_qconfig().nbit_weight
            barrier.wait(10)

    barrier = threading.Barrier(2)
    with qconfig(nbit_weight=7):
        threads = [threading.Thread(target=work, args=(bits, bits)) for bits in (3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert current_qconfig().nbit_weight == 7
    assert seen == {(3, "before"): 8, (4, "before"): 8, (3, "inside"): 3, (4, "inside"): 4}


def test_tasks_inherit_and_leak_nothing():
    async def work(bits, ready, other):
        inherited = current_qconfig().percentile
        with qconfig(nbit_weight=bits):
            ready.set()
            await other.wait()
            return inherited, current_qconfig().nbit_weight

    async def both():
        first, second = asyncio.Event(), asyncio.Event()
        with qconfig(percentile=99.0):
            return await asyncio.gather(work(3, first, second), work(4, second, first))

    assert asyncio.run(both()) == [(99.0, 3), (99.0, 4)]
    assert current_qconfig() == DEFAULTS


def test_json_round_trip():
    four_bits = QuantSpec("int8", 4, symmetric=True)
    rules = [Rule("*/head/*", None), Rule(re.compile("conv[12]", re.I), weights=four_bits)]
    config = qconfig(nbit_weight=4, skip_conv_layers=[0, 2], rules=rules, debug_enabled_ops=["nn.conv2d"])
    text = json.dumps(config.to_dict())
    assert QConfig.from_dict(json.loads(text)) == config


def test_a_function_rule_is_written_but_cannot_be_read():
    def tiny(layer):
        return layer.macs < 10

    written = json.loads(json.dumps(qconfig(rules=[Rule(tiny, None)]).to_dict()))
    assert written["rules"][0]["function"].endswith("tiny")
    with pytest.raises(ConfigError, match="functions cannot be read back"):
        QConfig.from_dict(written)


def test_public_names():
    assert tvmq.qconfig is qconfig and tvmq.QConfig is QConfig and tvmq.current_qconfig is current_qconfig


@pytest.mark.parametrize("options", [{}, {"activations": None, "per_channel": False}])
def test_groups_are_not_for_calibrated_scales(options: dict) -> None:
    with pytest.raises(ConfigError, match="group_size=32 is for weights alone or codes made at run time"):
        qconfig(group_size=32, **options)
    assert qconfig(activations=None, group_size=32).group_size == 32


def test_groups_of_products_in_integers_are_of_four_bits() -> None:
    with pytest.raises(ConfigError, match="activations='dynamic' is for weights of at most 4 bits; add nbit_weight=4"):
        qconfig(activations="dynamic", group_size=32)
    assert qconfig(activations="dynamic", group_size=32, nbit_weight=4).group_size == 32
