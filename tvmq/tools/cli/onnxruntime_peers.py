"""onnxruntime's float and int8 of the same file, to be timed beside ours; nothing where it is not installed.

Its int8 is what its own quantizer makes by default settings for speed (QDQ, weights per channel). Ranges come from one
batch: they do not change how long a run takes.

Tests: tests/tools/cli/test_speed.py
"""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.tools.cli.speed import PEER_FLOAT, PEER_INT8, PEER_SAME

Feed = Mapping[str, np.ndarray]


def onnxruntime_runs(
    model: Path, feed: Feed, threads: int, *, int8: bool, is_quantized: bool = False
) -> tuple[dict[str, Callable[[], object]], dict[str, str]]:
    """Runs of onnxruntime on this feed, and of what cannot be run, why.

    int8     also quantize with onnxruntime, and run that
    is_quantized  the file is quantized already: its run is no float one, and it is not quantized again
    returns  ({name: run}, {name: reason}); both empty where onnxruntime is not installed
    """
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return {}, {}
    runs: dict[str, Callable[[], object]] = {}
    reasons: dict[str, str] = {}
    name_of_file = PEER_SAME if is_quantized else PEER_FLOAT
    makers: dict[str, Callable[[], Callable[[], object]]] = {name_of_file: lambda: _run_of(str(model), feed, threads)}
    if int8 and not is_quantized:
        makers[PEER_INT8] = lambda: _run_of(_quantize(model, feed), feed, threads)
    for name, make in makers.items():
        try:
            run = make()
            run()
            runs[name] = run
        except Exception as error:  # of the runtime, its quantizer, and of what that asks for
            reasons[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    return runs, reasons


def _run_of(model: str | bytes, feed: Feed, threads: int) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # it would take the others' time
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    names = {one.name for one in session.get_inputs()}
    own = {name: np.ascontiguousarray(array) for name, array in feed.items() if name in names}
    return lambda: session.run(None, own)


def _quantize(model: Path, feed: Feed) -> bytes:
    """The file of onnxruntime's own int8 model."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    class OneBatch(CalibrationDataReader):
        """The feed, once."""

        def __init__(self) -> None:
            self.left: list[Any] = [dict(feed)]

        def get_next(self) -> Any:
            return self.left.pop() if self.left else None

    with tempfile.TemporaryDirectory(prefix="tvmq_") as folder, _quiet():
        output = Path(folder, "int8.onnx")
        quantize_static(str(model), str(output), OneBatch(), quant_format=QuantFormat.QDQ, per_channel=True)
        return output.read_bytes()


@contextlib.contextmanager
def _quiet() -> Any:
    """Without what the quantizer logs and prints."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(level)
