"""Streams: real-time factor, state, and how many results the same sound has in other chunks, batches and threads.

    python benchmarks/streaming.py [--seconds 60] [--calibration-seconds 120] [--quick]

Sound is made by formula. Streams: Silero VAD (pip install --no-deps silero-vad), frames of 32 ms; the zoo's DS-CNN with
caches in place of padding, four frames of 10 ms a step.
Contestants  tvmq in int8 and in float, onnxruntime in float; each handed its own state from call to call
Columns      seconds of sound; real time: seconds of sound in one of one thread, a step a call, the best of 3 runs;
             bytes of the state; results: different hashes of all outputs, for chunks of 1, 7, 64 and all steps, 1 and 2
             threads, and several sessions in a batch where it is free; dB beside float of the same runtime
Bounds       one hash for tvmq. Exit code 1 where that is missed.
"""

from __future__ import annotations

import hashlib
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
from harness.command import Command, argument
from harness.report import columns
from harness.streams import audio, frames, silero_folder, streaming_dscnn
from harness.zoo import load_zoo

import tvmq
from tvmq.runtime.threads import with_threads

CHUNKS, ROUNDS, SESSIONS = (1, 7, 64), 3, 4
COLUMNS = columns(
    "stream {stream} | contestant {contestant} | seconds {seconds:.0f} | real time {factor:.0f} x",
    "state {bytes} B | runs {runs} | results {results} | dB {sqnr:.1f}",
)
Run = Callable[[np.ndarray, Any], np.ndarray]  # steps and a state -> outputs


@dataclass(frozen=True)
class Stream:
    """A model, its sound, and the axis of steps.

    sound      all steps; `name` is the input
    sequences  to calibrate with
    batch      the model takes several sessions at once, along the first axis
    """

    title: str
    model: onnx.ModelProto
    name: str
    axis: int
    step_seconds: float
    sound: np.ndarray
    sequences: Sequence[Sequence[dict[str, np.ndarray]]]
    batch: bool


def streams(options: Namespace) -> Iterator[Stream | str]:
    """The streams that can be made here; a sentence for each other one."""
    folder = silero_folder()
    if folder is None:
        yield "silero_vad left out: pip install --no-deps silero-vad"
    else:
        model = onnx.load(folder / "silero_vad_16k_sequence.onnx")
        sounds = [frames(audio(options.calibration_seconds, seed)) for seed in range(1, 9)]
        sequences = [[{"input": part} for part in np.array_split(sound, 5)] for sound in sounds]
        yield Stream("silero_vad", model, "input", 0, 0.032, frames(audio(options.seconds)), sequences, batch=False)
    for task in load_zoo(options.zoo, options.tasks).values():
        clips = [next(iter(feed.values()))[:, 0] for feed in task.calibration(batch=1, limit=80)]
        steps = np.concatenate(clips, axis=1)
        steps = steps[:, : steps.shape[1] // 4 * 4].reshape(1, -1, 160)
        sequences = [[{"x": part} for part in np.split(steps[:, n : n + 60], 4, axis=1)] for n in range(0, 480, 60)]
        count = int(options.seconds / 0.04)
        sound = np.tile(steps[:, 480:], (1, -(-count // (steps.shape[1] - 480)), 1))[:, :count]
        model = streaming_dscnn(onnx.load(task.model_path))
        yield Stream("dscnn_digits", model, "x", 1, 0.04, sound, sequences, batch=True)


def parts(stream: Stream, chunk: int) -> list[np.ndarray]:
    """The sound in chunks of so many steps."""
    count = stream.sound.shape[stream.axis]
    return [np.take(stream.sound, range(n, min(n + chunk, count)), axis=stream.axis) for n in range(0, count, chunk)]


def play(stream: Stream, run: Run, state: Any, chunk: int) -> np.ndarray:
    """Outputs of all steps, in chunks."""
    return np.concatenate([run(part, state) for part in parts(stream, chunk)], axis=stream.axis)


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """The rows of each stream."""
    for stream in streams(options):
        if isinstance(stream, str):
            yield stream
            continue
        mod, params = tvmq.from_onnx(stream.model)
        floats = tvmq.build(mod, params=params)
        int8 = tvmq.build(tvmq.quantize(mod, params, stream.sequences, guard=options.guard))
        wanted = play(stream, _runner(stream, floats), floats.new_state(), 64)
        for name, exe in (("tvmq int8", int8), ("tvmq float", floats)):
            yield _row(stream, name, _runner(stream, exe), exe.new_state, wanted, exe)
        yield _peer(stream, wanted)


def _runner(stream: Stream, exe: tvmq.Executable) -> Run:
    return lambda part, state: exe.run({stream.name: part}, state)[0]


def _row(
    stream: Stream, name: str, run: Run, begin: Callable[..., Any], wanted: np.ndarray, exe: tvmq.Executable | None
) -> dict[str, Any]:
    factor = min(_seconds(stream, run, begin) for _ in range(ROUNDS))
    hashes, outputs = [], np.zeros(0)
    for chunk in (*CHUNKS, stream.sound.shape[stream.axis]):
        for threads in (1, 2) if exe is not None else (1,):
            outputs = with_threads(threads, lambda chunk=chunk: play(stream, run, begin(), chunk))
            hashes.append(_digest(outputs))
    if stream.batch and exe is not None:
        states = exe.new_state(SESSIONS)
        rows = [np.concatenate([part] * SESSIONS) for part in parts(stream, 64)]
        whole = np.concatenate([run(part, states) for part in rows], axis=stream.axis)
        hashes += [_digest(row[None]) for row in whole]
    noise = float(np.square(outputs - wanted).sum())
    return {
        "stream": stream.title, "contestant": name, "runs": len(hashes), "results": len(set(hashes)),
        "seconds": stream.sound.shape[stream.axis] * stream.step_seconds,
        "factor": len(outputs.swapaxes(0, stream.axis)) * stream.step_seconds / factor,
        "bytes": exe.new_state().nbytes if exe is not None else sum(one.nbytes for one in begin().values()),
        "sqnr": 10 * np.log10(float(np.square(wanted).sum()) / noise) if noise else None,
    }  # fmt: skip


def _seconds(stream: Stream, run: Run, begin: Callable[[], Any]) -> float:
    """Seconds of all steps, one a call."""
    calls, state = parts(stream, 1), begin()
    run(calls[0], begin())
    start = time.perf_counter()
    for part in calls:
        run(part, state)
    return time.perf_counter() - start


def _digest(outputs: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(outputs).tobytes()).hexdigest()


def _peer(stream: Stream, wanted: np.ndarray) -> dict[str, Any]:
    """onnxruntime, whose state goes through Python."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(stream.model.SerializeToString(), options, ["CPUExecutionProvider"])
    states = {i.name: [d if isinstance(d, int) else 1 for d in i.shape] for i in session.get_inputs()[1:]}

    def run(part: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
        y, *news = session.run(None, {stream.name: part, **state})
        state.update(zip(states, news, strict=True))
        return np.asarray(y)

    begin = lambda: {name: np.zeros(shape, np.float32) for name, shape in states.items()}  # noqa: E731
    return _row(stream, "onnxruntime float", run, begin, wanted, None)


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Rows of tvmq where one sound has several results."""
    return [
        f"{row['stream']}: {row['contestant']} gives one sound {row['results']} different results"
        for row in rows
        if row["contestant"].startswith("tvmq") and row["results"] > 1
    ]


def measure_little(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """`measure`; --quick: a few seconds of sound."""
    little = {"seconds": 4.0, "calibration_seconds": 4.0}
    return measure(Namespace(**{**vars(options), **little}) if options.quick else options)


COMMAND = Command(
    about=__doc__ or "",
    columns=COLUMNS,
    measure=measure_little,
    missed=missed,
    tasks=("dscnn_digits",),
    arguments=[
        argument("--seconds", type=float, default=60.0, help="of sound"),
        argument(
            "--calibration-seconds", type=float, default=120.0, help="of each of the 8 sounds that calibrate Silero VAD"
        ),
        argument("--guard", default="sqnr >= 20", help="what the int8 models must keep of float's outputs"),
    ],
)

if __name__ == "__main__":
    COMMAND()
