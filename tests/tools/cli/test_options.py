"""Options of qconfig on the command line."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from typing import get_args

import numpy as np
import pytest
from typer.models import ArgumentInfo

from tvmq.demo import load_demo
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import DEFAULTS, OPTION_HELP, QConfig, qconfig
from tvmq.options.options import FIXED
from tvmq.options.rules import Rule
from tvmq.tools.cli.arguments import ReadOptions
from tvmq.tools.cli.command_line import with_command_line
from tvmq.tools.cli.opening import QuantizationJob
from tvmq.tools.cli.options import config_from, parse_rule
from tvmq.tools.cli.samples import Samples, split

PLAIN = ("--no-compare", "--no-bench")  # the fake executable is not what was opened


def opened(arrays, size=1):
    """Replacement of `opened` that reads no model."""

    def fake_opened(model, data, config, samples=None, held_out=None, **kwargs):
        found = None if arrays is None else Samples(arrays, "arrays")
        return QuantizationJob("mod", {}, size, config, 5, found, split(len(found or ()), samples, held_out))

    return fake_opened


@pytest.fixture
def config_of(cli, fake, samples, tmp_path, monkeypatch):
    """The configuration under which `tvmq quantize ... <arguments>` calls tvmq.quantize."""
    monkeypatch.setattr("tvmq.tools.cli.quantize.open_model_and_data", opened(None))
    (tmp_path / "m.onnx").write_bytes(b"")

    def run(*arguments: object) -> QConfig:
        output = tmp_path / "m.tvmq"
        result = cli("quantize", tmp_path / "m.onnx", "--data", samples, "-o", output, "--force", *PLAIN, *arguments)
        assert result.code == 0, result.err
        return fake.quantized.config

    return run


def test_without_options_the_defaults_hold(config_of):
    assert config_of() == DEFAULTS


@pytest.mark.parametrize("arguments, options", [
    (["--nbit-weight", 4], {"nbit_weight": 4}),
    (["--nbit-input", 12, "--dtype-input", "int16"], {"nbit_input": 12, "dtype_input": "int16"}),
    (["--calibrate-mode", "percentile", "--percentile", "99.5"],
     {"calibrate_mode": "percentile", "percentile": 99.5}),
    (["--no-per-channel", "--skip-dense-layer", "--no-bias-correction"],
     {"per_channel": False, "skip_dense_layer": True, "bias_correction": False}),
    (["--skip-conv-layers", 0, "--skip-conv-layers", 3], {"skip_conv_layers": (0, 3)}),
    (["--debug-enabled-ops", "nn.conv2d"], {"debug_enabled_ops": ("nn.conv2d",)}),
    (["--scheme", "symmetric", "--dtype-input", "int8"], {"scheme": "symmetric", "dtype_input": "int8"}),
    (["--requantize", "fixed_point", "--rounding", "TONEAREST"],
     {"requantize": "fixed_point", "rounding": "TONEAREST"}),
    (["--weight-scale", "mse", "--do-simulation"], {"weight_scale": "mse", "do_simulation": True}),
    (["--global-scale", 4], {"global_scale": 4.0}),
    (["--rule", "*/head/*=float"], {"rules": (Rule("*/head/*", None),)}),
])  # fmt: skip
def test_options_reach_the_configuration(config_of, arguments, options):
    assert config_of(*arguments) == qconfig(**options)


@pytest.mark.slow
def test_options_of_one_value_are_read_and_not_shown(cli, config_of):
    with pytest.warns(FutureWarning, match="calibrate_chunk_by"):
        assert config_of("--global-scale", 4, "--calibrate-chunk-by", 16) == qconfig(global_scale=4.0)
    with pytest.warns(FutureWarning, match="round_for_shift"):
        assert config_of("--round-for-shift", "--nbit-activation", 32) == qconfig()
    shown = cli("quantize", "--help-all").out
    assert not any(f"--{name.replace('_', '-')}" in shown for name in FIXED)


def test_relay(config_of):
    assert config_of("--relay") == qconfig.relay()
    assert config_of("--relay", "--global-scale", 4) == qconfig.relay(global_scale=4.0)


def test_a_file_of_options_and_the_command_line_wins(config_of, tmp_path):
    path = tmp_path / "options.json"
    written = qconfig(nbit_weight=4, percentile=99.0, rules=[Rule("a", None)])
    path.write_text(json.dumps(written.to_dict()))
    assert config_of("--config", path) == written
    config = config_of("--config", path, "--nbit-weight", 6, "--rule", "b=w4")
    assert (config.nbit_weight, config.percentile) == (6, 99.0)
    assert [rule.match for rule in config.rules] == ["a", "b"]


@pytest.mark.parametrize("text, message", [
    (None, "cannot be read"), ("{", "is not JSON"), ("[1]", "must hold an object"),
    ('{"nbit_weigth": 4}', "did you mean 'nbit_weight'"), ('{"nbit_weight": 1}', "'nbit_weight' must be"),
])  # fmt: skip
def test_a_bad_file_of_options(tmp_path, text, message):
    path = tmp_path / "options.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        config_from({"config": path})


def test_an_impossible_value_is_one_sentence(cli, tmp_path):
    result = cli("quantize", "m.onnx", "-o", tmp_path / "m.tvmq", "--nbit-weight", 17)
    assert result.code == 1
    assert result.err == "tvmq: qconfig: 'nbit_weight' must be a whole number in 2..16. Got 17 instead\n"


def test_an_unknown_choice_is_a_usage_error_that_lists_the_choices(cli, tmp_path):
    result = cli("quantize", "m.onnx", "-o", tmp_path / "m.tvmq", "--calibrate-mode", "klm")
    assert result.code == 2
    assert "kl_divergence" in result.err


def test_help_shows_every_option_with_its_default(cli):
    shown = cli("quantize", "--help-all").out
    for option in fields(QConfig):
        if option.name not in ("given", "rules"):
            assert f"--{option.name.replace('_', '-')}" in shown
    words = " ".join(shown.replace("│", " ").split())
    assert "Default: auto." in words and "Default: 99.99." in words and "Default: on." in words
    assert OPTION_HELP["nbit_weight"] in words


@pytest.mark.parametrize("text, rule", [
    ("*/head/*=float", Rule("*/head/*", None)),
    ("op:matmul=w4", Rule("op:matmul", weights=QuantSpec("int8", 4, symmetric=True, per_channel=True))),
    ("/head/*=dynamic", Rule("/head/*", activations="dynamic")),
    ("a=b=a8", Rule("a=b", activations=QuantSpec("uint8"))),
    ("x=w12a16", Rule("x", weights=QuantSpec("int16", 12, symmetric=True, per_channel=True),
                      activations=QuantSpec("int16", 16))),
])  # fmt: skip
def test_rules(text, rule):
    assert parse_rule(text, DEFAULTS) == rule


def test_rules_follow_the_configuration():
    symmetric = qconfig(scheme="symmetric", dtype_input="int8", per_channel=False)
    rule = parse_rule("x=w4a8", symmetric)
    assert rule.activations == QuantSpec("int8", 8, symmetric=True)
    assert rule.weights == QuantSpec("int8", 4, symmetric=True)


@pytest.mark.parametrize("text", ["x", "x=", "=float", "x=8", "x=int8", "x=w", "", "x=float8"])
def test_rules_that_are_none(text):
    with pytest.raises(ConfigError, match="is not PATTERN=SPEC; try"):
        parse_rule(text, DEFAULTS)


def test_impossible_bits_in_a_rule():
    with pytest.raises(ConfigError, match="bits of int16 must be"):
        parse_rule("x=w17", DEFAULTS)


def test_quantize_sees_the_data(cli, fake, samples, tmp_path, monkeypatch):
    arrays = {"x": np.load(samples)["x"]}
    monkeypatch.setattr("tvmq.tools.cli.quantize.open_model_and_data", opened(arrays, 2))
    (tmp_path / "m.onnx").write_bytes(b"12345")
    output = tmp_path / "m.tvmq"
    target = "llvm -mcpu=core-avx2"
    result = cli("quantize", tmp_path / "m.onnx", "--data", samples, "-o", output, "--target", target, *PLAIN)
    assert result.code == 0
    assert np.array_equal([feed["x"] for feed in fake.quantized.feeds], arrays["x"][:4].reshape(2, 2, 3))
    assert (fake.built.mod, fake.built.target) == ("integer module", target)
    assert output.read_bytes() == b"saved"
    assert "1 of 1 operators" in result.out and "quantize ..." in result.err
    assert fake.quantized.target == "llvm -mcpu=core-avx2"


def test_quantize_for_a_backend(cli, fake, samples, tmp_path, monkeypatch):
    monkeypatch.setattr("tvmq.tools.cli.quantize.open_model_and_data", opened(None))
    (tmp_path / "m.onnx").write_bytes(b"12345")
    arguments = ["--data", samples, "-o", tmp_path / "m.tvmq", "--backend", "my_chip:DESCRIPTION", *PLAIN]
    assert cli("quantize", tmp_path / "m.onnx", *arguments).code == 0
    assert fake.quantized.target == "my_chip:DESCRIPTION"


def test_quantize_samples_quiet_and_json(cli, fake, samples, tmp_path, monkeypatch):
    arrays = {"x": np.load(samples)["x"]}
    monkeypatch.setattr("tvmq.tools.cli.quantize.open_model_and_data", opened(arrays))
    (tmp_path / "m.onnx").write_bytes(b"12345")
    output = tmp_path / "m.tvmq"
    result = cli(
        "quantize", tmp_path / "m.onnx", "--data", samples, "-o", output, "--samples", 3, "-q", "--json", *PLAIN
    )
    assert len(fake.quantized.feeds) == 3
    printed = json.loads(result.out)
    assert (printed["model_bytes"], printed["output_bytes"], printed["exact"]) == (5, 5, True)
    assert result.err == ""


def test_modes_that_need_data_say_so(cli, fake, tmp_path):
    (tmp_path / "m.onnx").write_bytes(load_demo().model)
    result = cli("quantize", tmp_path / "m.onnx", "-o", tmp_path / "m.tvmq", "--calibrate-mode", "minmax")
    assert result.code == 1
    assert "'minmax' chooses ranges from data, and scales" in result.err


def test_global_scale_needs_no_data(cli, fake, tmp_path, monkeypatch):
    monkeypatch.setattr("tvmq.tools.cli.quantize.open_model_and_data", opened(None))
    (tmp_path / "m.onnx").write_bytes(b"")
    output = tmp_path / "m.tvmq"
    assert cli("quantize", tmp_path / "m.onnx", "-o", output, "--calibrate-mode", "global_scale", *PLAIN).code == 0
    assert fake.quantized.feeds is None


def test_an_output_that_cannot_be_is_refused_before_the_work(cli, fake, samples, tmp_path):
    for output, reason in ((tmp_path, "is a folder"), (tmp_path / "no" / "m.tvmq", "there is no folder")):
        result = cli("quantize", "missing.onnx", "--data", samples, "-o", output)
        assert result.code == 1 and reason in result.err
    assert fake.quantized is None


def copy(source: str, *, read: ReadOptions, per_layer: bool = False, keep: bool = True) -> None:
    """Copy a model.

    source     File to copy,
               whatever it is.
    per_layer  Copy layer by layer.
    """


def test_a_signature_is_a_command_line():
    """Flags, help of the command or of all commands, and a parameter for the options of a dataclass."""
    parameters = inspect.signature(with_command_line(copy)).parameters
    infos = {name: get_args(parameter.annotation)[1] for name, parameter in parameters.items()}
    assert list(infos) == ["source", "batch", "max_bytes", "shape", "tokenizer", "per_layer", "keep"]
    assert isinstance(infos["source"], ArgumentInfo) and infos["source"].help == "File to copy, whatever it is."
    assert infos["per_layer"].param_decls == ("--per-layer",) and infos["keep"].param_decls == ("--keep/--no-keep",)
    assert infos["batch"].help.startswith("Batch size") and infos["batch"].min == 1
    assert with_command_line(copy).__doc__ == "Copy a model."
