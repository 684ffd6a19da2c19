"""Folders of pictures: which files, which classes, which size; frames of models; rows on disk."""

import builtins

import numpy as np
import pytest

from tvmq.calibration.data.pictures import (
    Frame,
    find_pictures,
    fit,
    frame_of,
    most_pictures,
    pillow,
    read_pictures,
    size_of_first,
)
from tvmq.calibration.data.spool import Spool
from tvmq.errors import DataError, OutputError

Image = pytest.importorskip("PIL.Image", reason="pillow is an extra: pip install 'tvmq[images]'")
FRAME = Frame("x", "NCHW", 3, 8, 8)


def picture(path, value=100, size=(8, 8), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, value if mode in ("L", "I;16") else (value, 0, 255 - value)[: len(mode)]).save(path)
    return path


def read(folder, frame=FRAME, count=100, resize="crop"):
    return read_pictures(find_pictures(folder), frame, count=count, resize=resize, crop=0.875)


@pytest.mark.slow
def test_subfolders_are_classes_and_take_turns(tmp_path):
    for name, count in (("cat", 1), ("ant", 3)):
        for index in range(count):
            picture(tmp_path / name / f"{index}.png", value=index)
    found = find_pictures(tmp_path)
    assert found.classes == ("ant", "cat") and found.labels == (0, 1, 0, 0)
    assert read(tmp_path, count=2).names == ["ant/0.png", "cat/0.png"]


def test_plain_folders_and_one_inner_folder_have_no_classes(tmp_path):
    picture(tmp_path / "a" / "b" / "1.JPG")
    assert find_pictures(tmp_path).labels is None and find_pictures(tmp_path / "a" / "b").labels is None
    picture(tmp_path / "2.png")
    assert len(find_pictures(tmp_path).paths) == 2


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(DataError, match="holds no pictures .* but 1 other files"):
        find_pictures(tmp_path)
    for part in ("train", "val"):
        picture(tmp_path / part / "cat" / "1.png")
    with pytest.raises(DataError, match="parts train, val of a data set, which are no classes; give one: --data"):
        find_pictures(tmp_path)


def test_pictures_that_cannot_be_read_are_skipped_and_counted(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no picture")
    (tmp_path / "b.png").write_bytes(b"")
    whole = picture(tmp_path / "c.jpg", size=(64, 64)).read_bytes()
    (tmp_path / "d.jpg").write_bytes(whole[: len(whole) // 2])
    result = read(tmp_path)
    assert result.array.shape == (1, 8, 8, 3) and result.names == ["c.jpg"]
    assert [line.split(":")[0].rpartition("/")[2] for line in result.skipped] == ["a.png", "b.png", "d.jpg"]
    (tmp_path / "c.jpg").unlink()
    with pytest.raises(DataError, match="none of 3 pictures can be read, first .*a.png"):
        read(tmp_path)


def of_mode(mode):
    """Gray 90 in a mode of Pillow; black where it has black and white alone."""
    if mode == "I;16":
        return Image.fromarray(np.full((8, 8), 90 * 257, np.uint16))
    plain = Image.new("RGB", (8, 8), (90, 90, 90))
    return (
        plain.quantize(4)
        if mode == "P"
        else plain.point(lambda _: 0).convert("1")
        if mode == "1"
        else plain.convert(mode)
    )


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "1", "I;16", "CMYK"])
@pytest.mark.parametrize("channels", [1, 3])
def test_every_mode_of_pictures(tmp_path, mode, channels):
    of_mode(mode).save(tmp_path / ("x.tif" if mode == "CMYK" else "x.png"))
    result = read(tmp_path, Frame("x", "NHWC", channels, 8, 8)).array
    assert result.shape == (1, 8, 8, channels) and result.dtype == np.uint8
    assert np.abs(result.astype(int) - (0 if mode == "1" else 90)).max() <= 1


@pytest.mark.parametrize("resize, left, corner", [("crop", 50, 50), ("stretch", 0, 0), ("pad", 114, 114)])
def test_fitting(resize, left, corner):
    """A wide picture whose halves at the sides are black, its middle 50."""
    values = np.zeros((20, 60), np.uint8)
    values[:, 15:45] = 50
    frame = Frame("x", "NCHW", 1, 10, 10)
    result = np.asarray(fit(Image.fromarray(values), frame, resize, 1.0))
    assert result.shape == (10, 10)
    assert abs(int(result[5, 0]) - (0 if resize == "pad" else left)) <= 2 and abs(int(result[0, 0]) - corner) <= 2
    assert int(result[5, 5]) == 50


def test_fitting_leaves_what_fits():
    same = Image.new("L", (10, 10), 7)
    assert fit(same, Frame("x", "NCHW", 1, 10, 10), "crop", 0.5) is same


@pytest.mark.parametrize("shape, layout, channels, size", [
    ((1, 3, 32, 48), "NCHW", 3, (32, 48)), ((None, 48, 32, 3), "NHWC", 3, (48, 32)),
    ((None, 1, None, None), "NCHW", 1, (None, None)), ((1, None, None, 1), "NHWC", 1, (None, None)),
    (None, "NCHW", 3, (None, None)), ((1, 3, 32, 3), "NCHW", 3, (32, 3)),
])  # fmt: skip
def test_frames(shape, layout, channels, size):
    frame = frame_of({"x": shape}, {"x": "float32"})
    assert (frame.layout, frame.channels, (frame.height, frame.width)) == (layout, channels, size)


def test_a_layout_that_was_given():
    assert frame_of({"x": (1, 3, 32, 3)}, {"x": "float32"}, "NHWC").layout == "NHWC"


@pytest.mark.parametrize("shapes", [{"x": (1, 8)}, {"x": (1, 16, 8, 8)}, {"x": (1, 3, 8, 8), "y": (1, 2)}])
def test_models_that_take_no_picture(shapes):
    with pytest.raises(DataError, match="suits a model with one input of shape"):
        frame_of(shapes, dict.fromkeys(shapes, "float32"))


def test_without_pillow(monkeypatch):
    real = builtins.__import__

    def refused(name, *args, **kwargs):
        if name.startswith("PIL"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refused)
    with pytest.raises(
        DataError, match=r"needs pillow, which is not installed; pip install pillow \(or tvmq\[images\]\)"
    ):
        pillow()


def test_large_pictures_are_fewer():
    assert most_pictures(FRAME, 1000) == 1000
    assert most_pictures(Frame("x", "NCHW", 3, 4000, 4000), 1000) == 20


def test_a_full_disk_is_said(monkeypatch):
    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

    spool = Spool()
    monkeypatch.setattr(spool, "_file", Full())
    with pytest.raises(OutputError, match="sample 0 could not be kept .*No space left on device.*set TMPDIR"):
        spool.append(np.zeros(3))


def test_a_spool_lives_on_disk():
    spool = Spool()
    for value in range(5):
        spool.append(np.full((2, 2), value, np.float32))
    rows = spool.array()
    assert isinstance(rows, np.memmap) and rows.shape == (5, 2, 2) and rows[4, 1, 1] == 4
    assert Spool().array().size == 0


@pytest.mark.parametrize("kind", ["EPS", "ICO", "PCX", "TGA"])
def test_other_formats_under_the_name_of_a_picture(tmp_path, kind, monkeypatch):
    """Pillow would open them, and start Ghostscript for PostScript."""
    monkeypatch.setattr("PIL.EpsImagePlugin.Ghostscript", lambda *_: pytest.fail("another program was started"))
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "a.png", format=kind)
    with pytest.raises(DataError, match="none of 1 pictures can be read.*cannot identify image file"):
        read_pictures(find_pictures(tmp_path), FRAME, count=1, resize="stretch", crop=1.0)
    assert size_of_first(find_pictures(tmp_path)) == set()


def test_a_picture_of_too_many_pixels_is_skipped_unread(tmp_path, monkeypatch):
    """A file of 100 kB may unpack to GB; the bound is Pillow's own."""
    picture(tmp_path / "small.png")
    picture(tmp_path / "wide.png", size=(40, 30))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40 * 30 - 1)
    found = read(tmp_path)
    assert found.names == ["small.png"] and "DecompressionBombWarning" in found.skipped[0]
