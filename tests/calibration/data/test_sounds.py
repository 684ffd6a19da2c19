"""Sounds as samples: exact values of every width, one rate, lengths cut and filled up, and what a model keeps of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.sounds_and_texts import RATE, write_wav
from tvmq.calibration.data.kept_preprocessing import entry_of, kept_preprocessing
from tvmq.calibration.data.pictures import Folder
from tvmq.calibration.data.sounds import (
    SoundPreprocessing,
    find_sounds,
    is_of_sounds,
    read_sounds,
    read_wav,
    sound_input_of,
)
from tvmq.errors import ArtifactError, DataError


@pytest.mark.parametrize(("width", "codes"), [
    (1, [0, 1, 128, 255]), (2, [-(2**15), -1, 0, 2**15 - 1]), (3, [-(2**23), -1, 0, 2**23 - 1]), (4, [-(2**31), -(2**8), 0, 2**30]),
])  # fmt: skip
def test_values_are_those_of_the_codes(tmp_path, width, codes):
    rate, values = read_wav(write_wav(tmp_path / "a.wav", codes, width=width), "a")
    middle, scale = (128, 128) if width == 1 else (0, 2 ** (8 * width - 1))
    assert rate == RATE
    np.testing.assert_array_equal(values, np.float32([(code - middle) / scale for code in codes]))


def test_channels_are_averaged(tmp_path):
    _, values = read_wav(write_wav(tmp_path / "a.wav", [[16384, 0], [-16384, 8192]], channels=2), "a")
    np.testing.assert_array_equal(values, np.float32([0.25, -0.125]))


def test_a_folder_of_classes_in_the_length_of_the_model(tmp_path):
    for name, value in (("no", 100), ("yes", 200)):
        write_wav(tmp_path / name / "1.wav", [value] * 3)
        write_wav(tmp_path / name / "2.wav", [value] * 6)
    (tmp_path / "no" / "broken.wav").write_bytes(b"RIFF")
    files = find_sounds(tmp_path)
    read, prepared = read_sounds(files, 3, 4, "x", count=9)
    assert files.classes == ("no", "yes") and len(read.names) == 4 and len(read.skipped) == 1
    assert prepared == SoundPreprocessing("x", 3, 4, RATE)
    lengths = {name: int((row != 0).sum()) for name, row in zip(read.names, read.array, strict=True)}
    assert lengths == {"no/1.wav": 3, "no/2.wav": 4, "yes/1.wav": 3, "yes/2.wav": 4}
    np.testing.assert_array_equal(read.labels, [int(name.startswith("yes")) for name in read.names])
    assert prepared.place(np.asarray(read.array)).shape == (4, 1, 4)
    assert read_sounds(files, 2, None, "x", count=9)[1].length == 6  # of any length: the longest


def test_one_function_for_files_bytes_and_values(tmp_path):
    path = write_wav(tmp_path / "a.wav", [16384] * 5)
    prepare = SoundPreprocessing("x", 2, 4, RATE)
    for sound in (path, str(path), path.read_bytes(), np.full(5, 0.5, np.float32)):
        np.testing.assert_array_equal(prepare(sound), np.full((1, 4), 0.5, np.float32))
    assert kept_preprocessing(entry_of(prepare, ("a", "b"))) == prepare and kept_preprocessing({}) is None


@pytest.mark.parametrize(("sound", "message"), [
    (b"no sound", "8 bytes cannot be read as PCM in a .wav"), ("none.wav", "'none.wav' cannot be read"),
    (np.zeros((2, 2), np.float32), r"values must be floats of shape \(values,\)"), (np.zeros(2, np.int16), "Got int16"),
])  # fmt: skip
def test_what_is_no_sound(sound, message):
    with pytest.raises(DataError, match=message):
        SoundPreprocessing("x", 2, 4, RATE)(sound)


def test_another_rate_is_refused_with_the_command_that_converts(tmp_path):
    first, other = write_wav(tmp_path / "a.wav", [1]), write_wav(tmp_path / "b.wav", [1], rate=44100)
    message = "has 44100 Hz, the others and the model 8000; convert it: ffmpeg -i IN -ar 8000 OUT.wav"
    with pytest.raises(DataError, match=message):
        read_sounds(find_sounds(tmp_path), 2, 4, "x", count=9)
    with pytest.raises(DataError, match=message):
        SoundPreprocessing("x", 2, 4, RATE)(other)
    with pytest.raises(DataError, match="none of 1 sounds can be read"):
        read_sounds(Folder(tmp_path, (tmp_path / "c.wav",)), 2, 4, "x", count=9)
    assert is_of_sounds(first) and is_of_sounds(tmp_path) and not is_of_sounds(tmp_path / "a.png")


@pytest.mark.parametrize("shapes", [{"x": (1, 3, 8, 8)}, {"x": (1, 2, 8)}, {"x": None}, {"x": (1, 8), "y": (1, 8)}, {}])
def test_models_of_other_inputs(shapes):
    with pytest.raises(DataError, match="a folder of sounds suits a model with one input"):
        sound_input_of(shapes)


@pytest.mark.parametrize("change", [{"rank": 4}, {"length": 0}, {"length": 2**40}, {"rate": "8000"}, {"rate": None}])
def test_what_is_kept_may_be_damaged(change):
    with pytest.raises(ArtifactError, match="what the model keeps of sounds is damaged"):
        SoundPreprocessing.from_json({**SoundPreprocessing("x", 2, 4, RATE).to_json(), **change})
