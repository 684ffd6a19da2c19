"""onnxruntime as on a CPU without VNNI: its sessions run in a process of their own, under qemu-user's Haswell.

There its integer kernels add pairs of products in 16 bits, which saturate. `make test-avx2` loads this plugin, and with
TVMQ_CPU=haswell the rest of the test run, compiled code too, is what an AVX2 CPU would compute:

    python -m pytest -p tests.support.devices.emulated_onnxruntime tests/formats/onnx/importer/test_quantized_operators.py

A session in the emulator takes the model, session options and feeds of the real class. Custom libraries, IO bindings and
run options are not forwarded.
"""

from __future__ import annotations

import pickle
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

EMULATOR = "qemu-x86_64"
CPU = "Haswell"
FORWARDED = (
    "graph_optimization_level",
    "intra_op_num_threads",
    "inter_op_num_threads",
    "log_severity_level",
    "optimized_model_filepath",
)


def pytest_configure(config: Any) -> None:
    """Put the emulated session in the place of onnxruntime's, before test modules import it."""
    import onnxruntime
    import pytest

    if shutil.which(EMULATOR) is None:
        pytest.exit(f"there is no {EMULATOR}; install Debian's package qemu-user, or its like", returncode=2)
    onnxruntime.InferenceSession = EmulatedSession


def pytest_report_header() -> str:
    """The CPU that onnxruntime sees."""
    return f"onnxruntime: {EMULATOR} -cpu {CPU}"


class _Emulator:
    """The emulated process: one request, one answer, by pipes."""

    _instance: _Emulator | None = None

    def __init__(self) -> None:
        command = [EMULATOR, "-cpu", CPU, sys.executable, __file__]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    @classmethod
    def get(cls) -> _Emulator:
        """The process of this test run, started by the first session."""
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    def call(self, *request: Any) -> Any:
        """The answer to a request; an exception of the emulated process is raised here, as onnxruntime's class."""
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        assert self._process.stdin is not None and self._process.stdout is not None
        _send(self._process.stdin, request)
        answer, error = _receive(self._process.stdout)
        if error is not None:
            name, text = error
            raise getattr(state, name, RuntimeError)(text)
        return answer


class EmulatedSession:
    """Stand-in for onnxruntime.InferenceSession."""

    def __init__(self, path_or_bytes: Any, sess_options: Any = None, providers: Any = None, **kwargs: Any) -> None:
        options = {name: _plain(getattr(sess_options, name)) for name in FORWARDED} if sess_options is not None else {}
        source = path_or_bytes if isinstance(path_or_bytes, bytes) else str(Path(path_or_bytes).absolute())
        self._emulator = _Emulator.get()
        self._number, inputs, outputs, self._providers = self._emulator.call("open", source, options, providers)
        self._inputs = [_Argument(*one) for one in inputs]
        self._outputs = [_Argument(*one) for one in outputs]

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> Any:
        """Results in the order of `output_names`, or all of them."""
        return self._emulator.call("run", self._number, output_names, dict(input_feed))

    def get_inputs(self) -> list[_Argument]:
        """Arguments with name, shape and type."""
        return self._inputs

    def get_outputs(self) -> list[_Argument]:
        """Results with name, shape and type."""
        return self._outputs

    def get_providers(self) -> list[str]:
        """Providers of the emulated session."""
        return self._providers


class _Argument:
    def __init__(self, name: str, shape: list[Any], type_: str) -> None:
        self.name, self.shape, self.type = name, shape, type_


def _plain(value: Any) -> int | str:
    return value if isinstance(value, str) else int(getattr(value, "value", value))


def _send(stream: BinaryIO, value: Any) -> None:
    data = pickle.dumps(value)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _receive(stream: Any) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError(f"{EMULATOR} ended; run {sys.executable} -c 'import onnxruntime' in it to see why")
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0]))


def _serve() -> None:
    """Answer requests until the pipe is closed; runs in the emulator."""
    import onnxruntime

    sessions: list[Any] = []
    output = sys.stdout.buffer
    sys.stdout = sys.stderr
    while True:
        try:
            kind, *rest = _receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            if kind == "open":
                sessions.append(_open_session(onnxruntime, *rest))
                session = sessions[-1]
                describe = lambda values: [(v.name, v.shape, v.type) for v in values]  # noqa: E731
                answer: Any = (
                    len(sessions) - 1,
                    describe(session.get_inputs()),
                    describe(session.get_outputs()),
                    session.get_providers(),
                )
            else:
                number, names, feed = rest
                answer = sessions[number].run(names, feed)
            _send(output, (answer, None))
        except Exception as error:
            _send(output, (None, (type(error).__name__, str(error))))


def _open_session(onnxruntime: Any, source: Any, options: Mapping[str, int | str], providers: Any) -> Any:
    session_options = onnxruntime.SessionOptions()
    for name, value in options.items():
        if name == "graph_optimization_level":
            level = onnxruntime.GraphOptimizationLevel
            value = next(one for one in level.__members__.values() if int(one.value) == value)
        setattr(session_options, name, value)
    return onnxruntime.InferenceSession(source, session_options, providers=providers or ["CPUExecutionProvider"])


if __name__ == "__main__":
    _serve()
