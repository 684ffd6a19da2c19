"""A folder of .wav files as samples: mono, -1..1, at one rate, cut or filled up with silence to the size of a model.

Nothing is resampled: a file of another rate is refused with the command that converts it.

Tests: tests/calibration/data/test_sounds.py
"""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.calibration.data.pictures import Folder, Pictures, find_files
from tvmq.calibration.data.spool import Spool
from tvmq.errors import ArtifactError, DataError

KEY = "sound"  # of the ledger's entry
SUFFIXES = (".wav", ".wave")
RATES = ("sample_rate", "sampling_rate", "samplerate")  # of a model file's metadata
LONGEST = 2**28  # values of an input


@dataclass(frozen=True)
class SoundPreprocessing:
    """Function from a sound to the input of a model, as the model was calibrated with it.

    input    its name
    rank     2: (batch, values); 3: (batch, 1, values)
    length   values of a sample
    rate     in Hz

        y, = exe.run({exe.preprocessing.input: exe.preprocessing("word.wav")})
    """

    input: str
    rank: int
    length: int
    rate: int

    def __call__(self, sound: str | Path | bytes | np.ndarray) -> np.ndarray:
        """Input of one sample.

        sound   a .wav file, or its bytes; or values of -1..1 at the rate of the model, float (values,)
        raises  DataError for what is no such file, and for another rate
        """
        if isinstance(sound, np.ndarray):
            if sound.ndim != 1 or sound.dtype.kind != "f":
                raise DataError(
                    f"preprocessing: values must be floats of shape (values,). Got {sound.dtype} {sound.shape} instead"
                )
            values = sound
        else:
            name = f"{len(sound)} bytes" if isinstance(sound, bytes) else f"'{sound}'"
            rate, values = read_wav(io.BytesIO(sound) if isinstance(sound, bytes) else Path(sound), name)
            refuse_rate(name, rate, self.rate)
        return self.place(cut(values, self.length)[None])

    def place(self, values: np.ndarray) -> np.ndarray:
        """Input of the model from values of its length: float (count, length)."""
        return np.ascontiguousarray(values if self.rank == 2 else values[:, None], np.float32)

    def __str__(self) -> str:
        return f"sounds of {self.length} values at {self.rate} Hz"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SoundPreprocessing:
        """The inverse of `to_json`. raises ArtifactError for fields that are not its own"""
        try:
            result = cls(str(fields["input"]), fields["rank"], fields["length"], fields["rate"])
            numbers = (result.length, result.rate)
            is_right = result.rank in (2, 3) and all(type(n) is int and 0 < n <= LONGEST for n in numbers)
        except (KeyError, TypeError):
            is_right = False
        if not is_right:
            raise ArtifactError("preprocessing: what the model keeps of sounds is damaged; quantize the model again")
        return result


def is_of_sounds(path: Path) -> bool:
    """True for a .wav file, and for a folder with some."""
    if path.is_dir():
        return any(one.suffix.lower() in SUFFIXES for one in path.rglob("*"))
    return path.suffix.lower() in SUFFIXES


def find_sounds(path: Path) -> Folder:
    """Sounds of a folder, or of its subfolders, which then name the classes; a file alone. raises DataError"""
    return find_files(path, SUFFIXES, "sounds") if path.is_dir() else Folder(path.parent, (path,))


def sound_input_of(shapes: Mapping[str, Sequence[int | None] | None]) -> tuple[str, int, int | None]:
    """(input, rank, length) of a model that takes one sound; None for a dynamic length.

    shapes   {input: shape, None for dynamic dimensions, or None for an unknown rank}
    raises   DataError for a model of other inputs

    >>> sound_input_of({"x": (None, 1, 16000)}), sound_input_of({"x": (1, None)})
    (('x', 3, 16000), ('x', 2, None))
    """
    if len(shapes) == 1:
        ((name, shape),) = shapes.items()
        if shape is not None and (len(shape) == 2 or (len(shape) == 3 and shape[1] in (1, None))):
            return name, len(shape), shape[-1]
    described = ", ".join(f"'{name}' {tuple(shape) if shape else shape}" for name, shape in shapes.items())
    raise DataError(
        "data: a folder of sounds suits a model with one input of shape (batch, values) or (batch, 1, values); this "
        f"one takes {described}. Give an .npz with its arrays, or a function as file.py:name"
    )


def read_sounds(
    folder: Folder, rank: int, length: int | None, name: str, *, count: int, rate: int | None = None,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Pictures, SoundPreprocessing]:  # fmt: skip
    """The first `count` sounds: float32 (count, length) on disk, labels, names; and how they were prepared.

    length  values of a sample; None: as many as the longest has
    rate    that they must have; None: that of the first one
    raises  DataError where none can be read, and for sounds of several rates
    """
    sounds: list[np.ndarray] = []
    labels, names, skipped = [], [], []
    for index, path in enumerate(folder.paths):
        if len(sounds) == count:
            break
        try:
            own, values = read_wav(path, f"'{path}'")
        except DataError as error:
            skipped.append(str(error))
            continue
        rate = rate or own
        refuse_rate(f"'{path}'", own, rate)
        sounds.append(values if length is None else cut(values, length))
        names.append(path.relative_to(folder.root).as_posix())
        labels.append(folder.labels[index] if folder.labels is not None else 0)
        advance()
    if not sounds:
        raise DataError(f"data: none of {len(folder.paths)} sounds can be read: {skipped[0]}")
    length = length or max(map(len, sounds))
    spool = Spool()
    for values in sounds:
        spool.append(cut(values, length))
    read = Pictures(spool.array(), np.array(labels) if folder.labels is not None else None, names, skipped)
    return read, SoundPreprocessing(name, rank, length, int(rate or 0))


def read_wav(source: Path | io.BytesIO, name: str) -> tuple[int, np.ndarray]:
    """(rate, values of -1..1, mono: the mean of the channels). raises DataError for another format"""
    try:
        with wave.open(str(source) if isinstance(source, Path) else source, "rb") as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            data = file.readframes(file.getnframes())
    except (OSError, EOFError, wave.Error) as error:
        raise DataError(
            f"data: {name} cannot be read as PCM in a .wav ({error or 'it ends early'}); convert it: ffmpeg -i IN -c:a "
            "pcm_s16le OUT.wav"
        ) from error
    return rate, _values(data, width)[: len(data) // (width * channels) * channels].reshape(-1, channels).mean(axis=1)


def _values(data: bytes, width: int) -> np.ndarray:
    """Values of -1..1, float32, of integers of so many bytes; those of one byte have no sign.

    >>> _values(bytes([0, 128, 255]), 1).tolist(), _values(b"\\x00\\x80\\xff\\x7f", 2).tolist()
    ([-1.0, 0.0, 0.9921875], [-1.0, 0.999969482421875])
    """
    if width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    if width == 3:  # its three bytes are the upper ones of four
        raw = np.frombuffer(data[: len(data) // 3 * 3], np.uint8).reshape(-1, 3)
        four = np.concatenate([np.zeros((len(raw), 1), np.uint8), raw], axis=1)
        return np.ascontiguousarray(four).view("<i4")[:, 0].astype(np.float32) / 2.0**31
    kind = {2: "<i2", 4: "<i4"}[width]
    whole = data[: len(data) // width * width]
    return np.frombuffer(whole, kind).astype(np.float32) / np.float32(2.0 ** (8 * width - 1))


def cut(values: np.ndarray, length: int) -> np.ndarray:
    """The first `length` values, silence behind a shorter sound.

    >>> cut(np.float32([1, 2, 3]), 2).tolist(), cut(np.float32([1, 2]), 3).tolist()
    ([1.0, 2.0], [1.0, 2.0, 0.0])
    """
    whole = np.zeros(length, np.float32)
    whole[: min(length, len(values))] = values[:length]
    return whole


def refuse_rate(name: str, rate: int, wanted: int) -> None:
    """Refuse a sound of another rate. raises DataError"""
    if rate != wanted:
        raise DataError(
            f"data: {name} has {rate} Hz, the others and the model {wanted}; convert it: ffmpeg -i IN -ar {wanted} "
            "OUT.wav"
        )


def rate_in(metadata: Mapping[str, str]) -> int | None:
    """Rate that a model file states; None where it does not.

    >>> rate_in({"sample_rate": "16000"}), rate_in({"author": "we"})
    (16000, None)
    """
    texts = [metadata[name] for name in RATES if metadata.get(name, "").isdecimal()]
    return int(texts[0]) if texts else None
