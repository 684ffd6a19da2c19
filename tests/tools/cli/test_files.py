"""Arrays from files, batches, files written whole."""

import os
import pickle
import stat
from pathlib import Path

import numpy as np
import pytest

from tvmq.errors import DataError, OutputError
from tvmq.tools.cli.data import open_arrays
from tvmq.tools.cli.files import Batches, check_output, read_arrays, write_output
from tvmq.tools.cli.model import ModelSource

X = np.arange(6, dtype=np.float32).reshape(3, 2)
SOURCE = ModelSource({"x": (None, 2)}, {"x": "float32"}, lambda _: (None, {}))


def test_npz_by_name_and_extra_arrays_are_left_out(tmp_path):
    np.savez(tmp_path / "d.npz", x=X, labels=np.zeros(7))
    arrays = read_arrays(tmp_path / "d.npz", ["x"])
    assert list(arrays) == ["x"] and np.array_equal(arrays["x"], X)


def test_single_arrays_need_no_name(tmp_path):
    np.save(tmp_path / "d.npy", X)
    np.savez(tmp_path / "d.npz", other=X)
    for name in ("d.npy", "d.npz"):
        assert np.array_equal(read_arrays(tmp_path / name, ["x"])["x"], X)


def damaged(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, x=np.arange(1000.0))
    data = bytearray(path.read_bytes())
    data[400:500] = bytes(100)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("make, names, message", [
    (lambda p: p / "none.npz", ["x"], r"there is no file '.*none.npz'; make an .npz with 'x'"),
    (lambda p: p, ["x"], "is a folder, not arrays; `tvmq quantize --save-samples FILE.npz` writes"),
    (lambda p: (p / "a.PNG").write_bytes(b"P") and p / "a.PNG", ["x"], "is a picture, not arrays"),
    (lambda p: (p / "a.npz").write_bytes(b"PK not really") and p / "a.npz", ["x"], "is not an .npz or .npy file"),
    (lambda p: (p / "a.txt").write_bytes(b"hello") and p / "a.txt", ["x"], "is not an .npz or .npy file"),
    (lambda p: (p / "a.npy").write_bytes(b"") or p / "a.npy", ["x"], "is not an .npz or .npy file"),
    (lambda p: np.save(p / "a.npy", X) or p / "a.npy", ["x", "m"], "is one array, but the model takes 'x', 'm'"),
    (lambda p: np.savez(p / "a.npz", y=X, z=X) or p / "a.npz", ["x"], "lacks input 'x' and holds 'y', 'z'"),
    (lambda p: np.savez(p / "a.npz", y=X) or p / "a.npz", ["x", "y"], r"a.npz', x=array, y=array\)$"),
    (lambda p: np.savez(p / "a.npz", y=X) or p / "a.npz", ["x:0", "y"], r"a.npz', \*\*\{'x:0': array, 'y': array\}\)$"),
    (lambda p: (p / "a.py").write_text("x = 1") and p / "a.py", ["x"], r"is not an .npz or .npy file of plain arrays$"),
    (lambda p: np.savez(p / "a.npz", x=X, y=X[:1]) or p / "a.npz", ["x", "y"], "equally many .*: 3, .*: 1"),
    (lambda p: np.save(p / "a.npy", X[:0]) or p / "a.npy", ["x"], "at least 1"),
    (damaged, ["x"], "'x' of '.*bad.npz' cannot be read"),
])  # fmt: skip
def test_bad_data_is_refused(tmp_path, make, names, message):
    with pytest.raises(DataError, match=message):
        read_arrays(make(tmp_path), names)


@pytest.mark.parametrize("name, labels, message", [
    ("labels", X[0], "'labels' of '.*' has 2 rows for 3 samples; save one label for each sample, or leave the array out"),
    ("label", np.int64(4), "'label' of '.*' has one value for 3 samples"),
])  # fmt: skip
def test_labels_of_other_samples_are_refused(tmp_path, name, labels, message):
    np.savez(tmp_path / "a.npz", x=X, **{name: labels})
    with pytest.raises(DataError, match=message):
        open_arrays(tmp_path / "a.npz", SOURCE, quiet=True)


def test_an_array_that_may_be_something_else_is_left_out_and_said(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", x=X, y=X[0])
    assert open_arrays(tmp_path / "a.npz", SOURCE, quiet=False).labels is None
    assert "'y' of" in (said := capsys.readouterr().err) and said.endswith("and is not taken as labels\n")
    np.savez(tmp_path / "a.npz", x=X, y=X[:, 0])
    assert open_arrays(tmp_path / "a.npz", SOURCE, quiet=False).labels.shape == (3,)


def test_pickles_are_never_read(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    (tmp_path / "a.npy").write_bytes(pickle.dumps(Trap()))
    np.save(tmp_path / "b.npy", np.array([Trap()], dtype=object))
    np.savez(tmp_path / "c.npz", x=np.array([Trap()], dtype=object))
    for name in ("a.npy", "b.npy", "c.npz"):
        with pytest.raises(DataError):
            read_arrays(tmp_path / name, ["x"])
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("size, expected", [
    (1, [[0], [1], [2]]), (2, [[0, 1]]), (3, [[0, 1, 2]]), (4, [[0, 1, 2, 0]]),
])  # fmt: skip
def test_batches(size, expected):
    batches = Batches({"x": np.arange(3)}, size)
    for _ in range(2):  # as often as one likes
        assert [feed["x"].tolist() for feed in batches] == expected
    assert len(batches) == len(expected)


def test_batches_report_their_progress():
    calls = []
    list(Batches({"x": np.arange(5)}, 2, lambda: calls.append(1), count=3))
    assert len(calls) == 3


def test_write_output(tmp_path):
    path = tmp_path / "f.bin"
    write_output(path, lambda file: file.write(b"new"))
    write_output(path, lambda file: file.write(b"newer"))
    assert path.read_bytes() == b"newer" and os.listdir(tmp_path) == ["f.bin"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("error, seen", [
    (OSError(28, "No space left on device"), OutputError), (KeyboardInterrupt(), KeyboardInterrupt),
])  # fmt: skip
def test_a_broken_write_leaves_the_old_file_and_nothing_else(tmp_path, error, seen):
    path = tmp_path / "f.bin"
    path.write_bytes(b"old")

    def write(file):
        file.write(b"half")
        raise error

    with pytest.raises(seen):
        write_output(path, write)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["f.bin"]


def test_outputs_that_cannot_be(tmp_path, monkeypatch):
    with pytest.raises(OutputError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(OutputError, match="there is no folder"):
        check_output(tmp_path / "none" / "f")
    with pytest.raises(OutputError, match="cannot write '.*': it is there and no regular file; choose another --output"):
        check_output(Path(os.devnull))
    # root may write everywhere, so permission is taken away by pretending
    monkeypatch.setattr(os, "access", lambda *args: False)
    with pytest.raises(OutputError, match="no permission"):
        check_output(tmp_path / "f")


def test_single_numbers_are_no_samples(tmp_path):
    """Single numbers are passed with every batch."""
    np.savez(tmp_path / "a.npz", rate=np.float32(0.5), x=X)
    arrays = read_arrays(tmp_path / "a.npz", ["rate", "x"])
    feeds = list(Batches(arrays, 2, count=2))
    assert [feed["x"].shape for feed in feeds] == [(2, *X.shape[1:])] * 2
    assert [feed["rate"].item() for feed in feeds] == [0.5, 0.5]


@pytest.mark.parametrize("command", ["bench", "verify", "run", "explain", "build", "serve"])
def test_a_float_model_is_answered_with_the_command_that_quantizes_it(cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.onnx").write_bytes(b"any")
    np.save("x.npy", np.zeros(3))
    more = {"verify": ("--data", "x.npy"), "run": ("--data", "x.npy"), "build": ("-o", "y.tvmq")}.get(command, ())
    result = cli(command, "net.onnx", *more)
    assert result.code == 1 and "'net.onnx' is a float model, and this takes a saved one: `tvmq quantize net.onnx" in result.err
