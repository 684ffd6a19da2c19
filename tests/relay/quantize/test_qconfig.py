"""relay.quantize.qconfig: defaults, scopes, threads, unknown names, the old types of exceptions."""

from __future__ import annotations

import threading
import warnings

import pytest

from tvmq.relay import quantize as q
from tvmq.relay.quantize.qconfig import OPTIONS, UnknownPartition, check
from tvmq.relay.quantize.translate import to_tvmq

DEFAULTS = {
    "nbit_input": 8, "nbit_weight": 8, "nbit_activation": 32, "dtype_input": "int8", "dtype_weight": "int8",
    "dtype_activation": "int32", "calibrate_mode": "global_scale", "global_scale": 8.0, "weight_scale": "power2",
    "skip_dense_layer": True, "skip_conv_layers": [0], "do_simulation": False, "round_for_shift": True,
    "debug_enabled_ops": None, "rounding": "UPWARD", "calibrate_chunk_by": -1, "partition_conversions": "disabled",
}  # fmt: skip


def test_defaults() -> None:
    config = q.qconfig()
    assert set(OPTIONS) == set(DEFAULTS)
    assert {name: getattr(config, name) for name in OPTIONS} == DEFAULTS


def test_outside_of_scopes_no_layer_is_skipped() -> None:
    outside = q.current_qconfig()
    assert outside.skip_conv_layers is None
    assert {name: getattr(outside, name) for name in OPTIONS} == DEFAULTS | {"skip_conv_layers": None}


def test_inner_scopes_inherit_nothing() -> None:
    with q.qconfig(nbit_weight=4, skip_conv_layers=None) as outer:
        with q.qconfig(global_scale=2.0) as inner:
            assert q.current_qconfig() is inner
            assert (inner.nbit_weight, inner.skip_conv_layers) == (8, [0])
        assert q.current_qconfig() is outer
    assert q.current_qconfig().skip_conv_layers is None


def test_scopes_end_with_errors() -> None:
    with pytest.raises(KeyError), q.qconfig():
        raise KeyError
    assert q.current_qconfig().skip_conv_layers is None


def test_each_thread_has_its_own() -> None:
    seen: list[object] = []
    with q.qconfig(global_scale=3.0):
        thread = threading.Thread(target=lambda: seen.append(q.current_qconfig().global_scale))
        thread.start()
        thread.join()
    assert seen == [8.0]


@pytest.mark.parametrize("name", OPTIONS)
def test_fields_cannot_be_assigned(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(q.qconfig(), name, 1)


@pytest.mark.parametrize("name", ["skip_dense_layers", "paritition_conversions", "store_lowbit_output"])
def test_unknown_names_are_ignored_with_a_warning(name: str) -> None:
    with pytest.warns(UserWarning, match=f"no option '{name}', it is ignored"):
        assert q.qconfig(**{name: True}) == q.qconfig()


def test_known_names_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        q.qconfig(**DEFAULTS)


def test_nothing_is_checked_when_it_is_made() -> None:
    q.qconfig(calibrate_mode="no such mode", partition_conversions=7, nbit_input=400)


@pytest.mark.parametrize("options, error, message", [
    ({"calibrate_mode": "minmax"}, ValueError, "Unknown calibrate mode minmax; use global_scale, kl_divergence"),
    ({"weight_scale": "mse"}, ValueError, "Unknown weight scale mode mse; use power2, max"),
    ({"partition_conversions": "on"}, AssertionError, "Unknown partition_conversions 'on'; use disabled"),
])  # fmt: skip
def test_words_are_refused_by_the_old_exceptions(options: dict[str, str], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        check(q.qconfig(**options))
    assert issubclass(UnknownPartition, ValueError)


def test_bits_and_types_by_kind() -> None:
    config, kinds = q.qconfig(nbit_weight=4), q.QAnnotateKind
    assert [config.get_nbit_by_kind(kind) for kind in (kinds.INPUT, kinds.WEIGHT, kinds.ACTIVATION)] == [8, 4, 32]
    assert [config.get_dtype_by_kind(kind) for kind in (1, 2, 3)] == ["int8", "int8", "int32"]
    assert [q.kind2str(kind) for kind in range(4)] == ["identity", "input", "weight", "activation"]
    with pytest.raises(AttributeError):
        config.get_nbit_by_kind(kinds.IDENTITY)
    with pytest.raises(AssertionError, match="a kind is 0..3"):
        q.kind2str(4)


def test_it_prints_as_the_call_that_makes_it() -> None:
    config = q.qconfig(global_scale=4.0, skip_conv_layers=[1, 2])
    assert eval(repr(config), {"qconfig": q.qconfig}) == config


def test_what_overflowed_gets_a_wider_type() -> None:
    with pytest.warns(UserWarning, match="dtype_input='int8' with 12 bits.* is 'int16' here"):
        config = to_tvmq(q.qconfig(nbit_input=12))
    assert (config.dtype_input, config.nbit_input) == ("int16", 12)
    with pytest.warns(UserWarning, match="'uint8' with 8 bits.* is 'int8' here"):
        assert to_tvmq(q.qconfig(dtype_weight="uint8")).dtype_weight == "int8"


@pytest.mark.parametrize("options, message", [
    ({"round_for_shift": False}, "round_for_shift=False has no effect"),
    ({"nbit_activation": 16, "dtype_activation": "int16"}, "sums have 32 bits here, not nbit_activation=16"),
])  # fmt: skip
def test_what_has_no_effect_warns(options: dict[str, object], message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        to_tvmq(q.qconfig(**options))


@pytest.mark.parametrize("options", [{"nbit_input": 17}, {"nbit_weight": 1}, {"dtype_input": "float16"}])
def test_what_has_no_integers_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"codes have 2\.\.16 bits in int8 or int16"):
        to_tvmq(q.qconfig(**options))


def test_any_other_rounding_is_to_nearest() -> None:
    assert to_tvmq(q.qconfig()).rounding == "UPWARD"
    assert to_tvmq(q.qconfig(rounding="whatever")).rounding == "TONEAREST"


def test_relays_operator_names_are_known() -> None:
    assert to_tvmq(q.qconfig(debug_enabled_ops=["nn.conv2d", "nn.dense"])).debug_enabled_ops == ("nn.conv2d", "matmul")
