"""Damaged files: bytes flipped, cut off, omitted, repeated. The result is one error, or an equal model.

run_damage(seed)     # seed % 3: an .onnx, a .tvmq or a calibration file; never raises
"""

from __future__ import annotations

import functools
import tempfile
import traceback
from pathlib import Path

import numpy as np
import onnx

from tests.support.fuzz.case import Outcome
from tests.support.fuzz.graphs import fuzz_model
from tests.support.models.networks import Net, feeds_of

KINDS = (".onnx", ".tvmq", ".calibration.npz")


def damaged(data: bytes, random: np.random.Generator) -> bytes:
    """The bytes with one to three things done to them."""
    changed = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        place = int(random.integers(0, max(1, len(changed))))
        length = int(random.integers(1, 20))
        kind = random.choice(["flip", "flip", "flip", "cut", "lose", "repeat", "zero"])
        if kind == "flip" and changed:
            changed[place % len(changed)] ^= int(random.integers(1, 256))
        elif kind == "cut":
            del changed[place:]
        elif kind == "lose":
            del changed[place : place + length]
        elif kind == "repeat":
            changed[place:place] = changed[place : place + length]
        else:
            changed[place : place + length] = bytes(len(changed[place : place + length]))
    return bytes(changed)


@functools.cache
def whole() -> tuple[onnx.ModelProto, dict[str, bytes]]:
    """A small model, and what is saved of it: {kind of file: contents}."""
    import tvmq

    net = Net((1, 3, 5, 5))
    model = net.model(net.dense(net.op("Flatten", net.op("Relu", net.conv("x", 3, 4)), axis=1), 100, 3))
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    with tempfile.TemporaryDirectory() as folder:
        saved, calibration = Path(folder, "m.tvmq"), Path(folder, "m.npz")
        tvmq.build(tvmq.quantize(mod, params, feeds)).save(saved)
        tvmq.run_calibration(mod, params, feeds).save(calibration)
        return model, {".tvmq": saved.read_bytes(), ".calibration.npz": calibration.read_bytes()}


def run_damage(seed: int) -> Outcome:
    """Read one damaged file; what can still be read is used, too."""
    from tvmq.errors import TvmqError

    random, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    data = fuzz_model(seed // 6).SerializeToString() if seed % 2 else whole()[0].SerializeToString()
    data = data if kind == ".onnx" else whole()[1][kind]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"damaged{kind}")
        path.write_bytes(damaged(data, random))
        try:
            _use(path, kind)
            return Outcome("exact", kind)
        except TvmqError as error:
            clear = 15 < len(str(error)) < 600 and "Traceback" not in str(error)
            return Outcome("refused" if clear else "unclear", kind, f"{type(error).__name__}: {error}")
        except Exception:
            return Outcome("crash", kind, traceback.format_exc())


def _use(path: Path, kind: str) -> None:
    import tvmq

    model, _ = whole()
    if kind == ".onnx":
        tvmq.from_onnx(path)
    elif kind == ".tvmq":
        executable = tvmq.load(path)
        executable.run(feeds_of(model, 1)[0])
        tvmq.explain(executable)
    else:
        calibration = tvmq.CalibrationResult.load(path)
        tvmq.quantize(*tvmq.from_onnx(model), calibration=calibration)
