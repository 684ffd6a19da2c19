"""Help that people read: usual options in groups, whole words at 80 columns, all options on demand."""

from __future__ import annotations

import pytest

from tvmq.tools.cli.command_help import COMMON
from tvmq.tools.cli.commands import load_command


@pytest.fixture
def help_of(cli, monkeypatch):
    """Lines of what `tvmq ARGUMENTS` prints on a terminal of so many columns."""

    def run(*arguments: str, columns: int = 80) -> list[str]:
        with monkeypatch.context() as context:
            context.setenv("COLUMNS", str(columns))
            result = cli(*arguments)
        assert result.code == 0, result.err
        return result.out.splitlines()

    return run


def test_the_usual_options_come_in_groups_of_whole_words(help_of):
    lines = help_of("quantize", "--help")
    assert len(lines) < 100 and max(map(len, lines)) <= 100
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Arguments:", "Model and data:", "Precision:", "Output:"]
    assert any(line.startswith("  --data TEXT") for line in lines) and not any("…" in line for line in lines)
    assert any(line.startswith("--help-all shows ") for line in lines)
    assert not any("--momentum" in line for line in lines)


def test_all_options_are_shown_on_demand(help_of):
    lines = help_of("quantize", "--help-all")
    shown = {word for line in lines for word in line.replace(",", " ").split() if line.startswith("  -")}
    options = {
        name for param in load_command("quantize").params if not getattr(param, "hidden", False) for name in param.opts
        if name.startswith("--")
    }  # fmt: skip
    assert {name.partition("/")[0] for name in options} <= {word.partition("/")[0] for word in shown}
    assert not any(line.startswith("--help-all shows") for line in lines)
    assert not any("NoneType" in line or "<" in line.split("  ")[1] for line in lines if line.startswith("  -"))
    assert "One of portable, this-machine." in " ".join(" ".join(lines).split())


@pytest.mark.parametrize("command", COMMON)
def test_options_in_the_table_exist(command):
    names = [name for group in COMMON[command].values() for name in group]
    assert len(names) == len(set(names)) <= 16
    assert set(names) <= {param.name for param in load_command(command).params}


def test_a_command_of_few_options_shows_them_all(help_of):
    assert help_of("verify", "--help") == help_of("verify", "--help-all")


def test_data_without_their_option(cli):
    result = cli("quantize", "m.onnx", "pictures/")
    assert result.code == 2
    message = " ".join(result.err.replace("│", " ").split())
    assert "Samples follow --data: tvmq quantize m.onnx --data pictures/" in message, message


@pytest.mark.parametrize("arguments, message", [
    (("--normalize", "imagnet"), "'mnist'. Did you mean 'imagenet'?"), (("--activations", "int3"), "'int3' is not one of 'static'"),
    (("--batch", "x"), "'--batch': 'x' is no whole number"), (("--momentum=0,5",), "'--momentum': '0,5' is no number"),
])  # fmt: skip
def test_a_value_that_an_option_does_not_take(cli, arguments, message):
    result = cli("quantize", "model.onnx", *arguments)
    text = " ".join(result.err.replace("\u2502", " ").split())
    assert result.code == 2 and message in text and "Value error" not in text
