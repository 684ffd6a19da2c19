"""The command line as a whole: help, version, exit codes."""

import inspect
import os
import subprocess
import sys

import pytest

import tvmq
from tests.support.project import ROOT
from tvmq import errors
from tvmq.base.by_name import load_object
from tvmq.tools.cli.command_line import help_text
from tvmq.tools.cli.commands import COMMANDS, help_of


def test_version(cli):
    result = cli("--version")
    assert (result.code, result.out.strip()) == (0, f"tvmq {tvmq.__version__}")


def test_help_names_every_command(cli):
    result = cli("--help")
    assert result.code == 0
    assert all(name in result.out for name in COMMANDS)


@pytest.mark.slow_cases("quantize", "finetune", "search")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(cli, name):
    result = cli(name, "--help")
    assert result.code == 0
    assert f"Example: tvmq {name}" in result.out and "--json" in result.out


@pytest.mark.parametrize("arguments, text", [
    (["-h"], "Exit codes"), (["help"], "Exit codes"), (["run", "-h"], "Example: tvmq run"),
    (["help", "run"], "Example: tvmq run"),
])  # fmt: skip
def test_help_by_other_ways(cli, arguments, text):
    result = cli(*arguments)
    assert result.code == 0 and text in result.out


def test_help_of_no_command_is_refused(cli):
    result = cli("help", "nothing")
    assert result.code == 2 and "No such command 'nothing'" in result.err


@pytest.mark.parametrize("name", COMMANDS)
def test_texts_of_the_list_are_those_of_the_commands(name):
    assert help_of(name) == help_text(inspect.getdoc(load_object(COMMANDS[name])))


@pytest.mark.parametrize("module", ["tvmq", "tvmq.tools.cli"])
def test_the_module_runs_as_a_console_script(module):
    command = [sys.executable, "-m", module, "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.strip() == f"tvmq {tvmq.__version__}"


@pytest.mark.parametrize("module", ["tvmq", "tvmq.tools.cli"])
@pytest.mark.parametrize("library", ["typer", "numpy"])
def test_an_interrupt_of_an_import_is_a_sentence(tmp_path, module, library):
    """Ctrl-C within the first half second: here the imported library raises it."""
    (tmp_path / f"{library}.py").write_text("raise KeyboardInterrupt")
    command = [sys.executable, "-m", module, "run", "net.tvmq"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 130 and "Traceback" not in done.stderr
    assert done.stderr in ("", "tvmq: interrupted; no partly written files are left\n")


def test_the_console_script_is_the_module():
    assert "    tvmq = tvmq.__main__:main\n" in (ROOT / "setup.cfg").read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["quantise"], ["quantize"], ["run", "--no-such-option"], ["bench"]])
def test_a_wrong_command_line_is_exit_code_2(cli, arguments):
    result = cli(*arguments)
    assert result.code == 2
    assert "Usage" in result.err and not result.out


@pytest.fixture
def fails_with(cli, fake, monkeypatch):
    """Result of a command whose work raises an error."""

    def run(error, *options):
        def load(path, sha256=None, *, code=True):
            raise error

        monkeypatch.setitem(vars(tvmq), "load", load)
        return cli("explain", "m.tvmq", *options)

    return run


@pytest.mark.parametrize("kind", [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.TvmqError)
], ids=lambda kind: kind.__name__)  # fmt: skip
def test_our_errors_are_one_sentence_and_exit_code_1(fails_with, kind):
    result = fails_with(kind("load: something is wrong; do this"), "--json")
    assert (result.code, result.out, result.err) == (1, "", "tvmq: load: something is wrong; do this\n")


def test_an_interrupt_is_exit_code_130_and_a_bug_keeps_its_traceback(fails_with):
    result = fails_with(KeyboardInterrupt())
    assert (result.code, result.err) == (130, "tvmq: interrupted; no partly written files are left\n")
    with pytest.raises(ZeroDivisionError):
        fails_with(ZeroDivisionError("bug"))


@pytest.mark.slow_cases("arguments0*")
@pytest.mark.parametrize("arguments, modules", [
    (["quantize", "--help"], ["tvm", "onnx", "torch"]),
    (["--help"], ["numpy", "tvmq.options.config", "tvmq.tools.cli.quantize"]),
])  # fmt: skip
def test_help_imports_little(arguments, modules):
    code = (
        f"import sys; sys.argv = ['tvmq', *{arguments}]\nfrom tvmq.tools.cli.main import main\n"
        f"try: main()\nexcept SystemExit: print([m for m in {modules} if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "[]"
