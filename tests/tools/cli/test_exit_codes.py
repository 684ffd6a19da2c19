"""Exit codes of errors."""

from __future__ import annotations

import os
import signal
import threading

import pytest
import typer

from tvmq.base.interruption import USUAL
from tvmq.errors import AccuracyWarning, BuildError, DataError
from tvmq.tools.cli.exit_codes import with_exit_codes


def exit_code(command) -> int | None:
    """Exit code of a guarded command; None if it ended normally."""
    try:
        with_exit_codes(command)()
    except typer.Exit as end:
        return end.exit_code
    return None


def fail(error: BaseException) -> None:
    raise error


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_exit_codes(capsys):
    assert exit_code(lambda: None) is None
    assert exit_code(lambda: fail(DataError("run: no data; give some"))) == 1
    assert capsys.readouterr().err == "tvmq: run: no data; give some\n"
    assert exit_code(lambda: fail(KeyboardInterrupt())) == 130
    assert exit_code(interrupt) == 130
    assert capsys.readouterr().err == 2 * "tvmq: interrupted; no partly written files are left\n"
    assert exit_code(lambda: fail(typer.Exit(7))) == 7
    assert exit_code(lambda: fail(AccuracyWarning("quantize: int8 keeps 3 dB"))) == 3
    text = "tvmq: quantize: int8 keeps 3 dB; nothing was saved; --force saves the model anyway\n"
    assert capsys.readouterr().err == text
    with pytest.raises(ZeroDivisionError):  # a bug of ours: its traceback is wanted
        exit_code(lambda: 1 / 0)


@pytest.mark.parametrize("other", [BuildError("build: TVM could not compile"), RuntimeError(), ValueError("?")])
def test_an_interrupt_that_became_another_error_is_still_one(other, capsys):
    def command() -> None:
        try:
            interrupt()
        except KeyboardInterrupt:
            raise other from None

    assert exit_code(command) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.fixture
def usual_handlers():
    """Handlers of a program that changed none, as long as a test runs."""
    before = {number: signal.signal(number, usual) for number, usual in USUAL.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_end_by_a_service_manager_is_like_ctrl_c(usual_handlers, capsys):
    assert exit_code(lambda: os.kill(os.getpid(), signal.SIGTERM)) == 143
    assert capsys.readouterr().err == "tvmq: interrupted; no partly written files are left\n"


def test_a_fork_ends_as_it_would_without_the_command(usual_handlers):
    ends = []

    def command() -> None:
        child = os.fork()
        if not child:
            signal.raise_signal(signal.SIGTERM)
            os._exit(7)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    assert exit_code(command) is None and ends == [-signal.SIGTERM]


def test_handlers_are_as_before_afterwards(usual_handlers):
    exit_code(interrupt)
    exit_code(lambda: None)
    assert {number: signal.getsignal(number) for number in USUAL} == USUAL


def test_a_handler_of_the_caller_stays(monkeypatch):
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        assert exit_code(interrupt) is None and seen == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_commands_run_in_other_threads_too():
    codes = []
    thread = threading.Thread(target=lambda: codes.append(exit_code(lambda: fail(DataError("x; y")))))
    thread.start()
    thread.join()
    assert codes == [1]
