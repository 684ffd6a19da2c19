"""Where a command writes when nobody said so, and what it must not overwrite."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tvmq.cli.files import UNREADABLE, check_output
from tvmq.errors import OutputError

SUFFIX, MANIFEST = ".tvmq", "manifest.json"


def output_for(model: Path, output: Path | None, *, force: bool) -> Path:
    """The file to write: as given, else the model's name in the current folder.

    raises  OutputError where it cannot be written, or is a file that we did not make

    >>> str(output_for(Path("models/resnet18.onnx"), None, force=False))
    'resnet18.tvmq'
    """
    chosen = output or Path(model.name).with_suffix(SUFFIX)
    check_output(chosen)
    if chosen.exists() and not force and not is_ours(chosen):
        raise OutputError(
            f"output: '{chosen}' exists and is no model saved by tvmq; choose another --output, or overwrite it "
            "by --force"
        )
    return chosen


def is_ours(path: Path) -> bool:
    """True for a saved model, whole or damaged behind its list of members."""
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except UNREADABLE:
        return False
