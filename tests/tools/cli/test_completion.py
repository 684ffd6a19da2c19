"""Completion of commands, options and choices in the shells that typer knows; colours; exit codes in the help."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SHELLS = ("bash", "zsh", "fish")


def tvmq_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tvmq.tools.cli", *arguments]
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return subprocess.run(command, capture_output=True, text=True, env={**inherited, **environment})


def completed(shell: str, line: str) -> str:
    """Words that the shell offers for a line."""
    words = {"bash": {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}}
    own = words.get(shell, {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"})
    code = "import sys; sys.argv = ['tvmq']; from tvmq.tools.cli.main import main; main()"
    environment = {**os.environ, "_TVMQ_COMPLETE": f"complete_{shell}", **own}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment).stdout


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("shell", SHELLS)
def test_commands_and_options(shell):
    assert "quantize" in completed(shell, "tvmq quan")
    assert "--random-data" in completed(shell, "tvmq quantize --rand")


@pytest.mark.slow
def test_choices():
    assert "percentile" in completed("bash", "tvmq quantize --calibrate-mode perc")


def test_the_scripts_can_be_shown():
    """typer asks the shell around; the test stands in for it."""
    code = (
        "import sys, shellingham\n"
        "shellingham.detect_shell = lambda *_: ('bash', '/bin/bash')\n"
        "sys.argv = ['tvmq', '--show-completion']\n"
        "from tvmq.tools.cli.main import main; main()"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "complete" in shown.stdout and "_TVMQ_COMPLETE" in shown.stdout, shown.stderr


@pytest.mark.slow
def test_no_color_means_none():
    coloured = tvmq_process("--help", FORCE_COLOR="1", TERM="xterm-256color").stdout
    plain = tvmq_process("--help", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color").stdout
    assert "\x1b[3" in coloured or "\x1b[1;3" in coloured
    assert not any(f"\x1b[{code}" in plain for code in ("3", "1;3", "9"))


@pytest.mark.slow
def test_exit_codes_are_in_the_help(cli):
    shown = " ".join(cli("--help").out.replace("│", " ").split())
    for words in ("0 done", "1 an error", "2 the command line is wrong", "130 interrupted"):
        assert words in shown
