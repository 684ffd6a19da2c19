"""Preprocessing that a model keeps in its ledger, of pictures, sounds or texts, with the names of its classes.

    {"picture": {...}, "labels": [...]}      or "sound", or "text"

Tests: tests/calibration/data/test_sounds.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tvmq.calibration.data import picture_preprocessing, sounds, texts
from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing
from tvmq.calibration.data.sounds import SoundPreprocessing
from tvmq.calibration.data.texts import TextPreprocessing

KeptPreprocessing = PicturePreprocessing | SoundPreprocessing | TextPreprocessing
KINDS: dict[str, Any] = {
    picture_preprocessing.KEY: PicturePreprocessing, sounds.KEY: SoundPreprocessing, texts.KEY: TextPreprocessing,
}  # fmt: skip


def kept_preprocessing(entry: Mapping[str, Any]) -> KeptPreprocessing | None:
    """Preprocessing of a ledger's entry; None where there is none. raises ArtifactError for a damaged one"""
    for key, kind in KINDS.items():
        if key in entry:
            result: KeptPreprocessing = kind.from_json(entry[key])
            return result
    return None


def entry_of(preprocessing: KeptPreprocessing, labels: tuple[str, ...] = ()) -> dict[str, Any]:
    """Entry of a ledger."""
    key = next(key for key, kind in KINDS.items() if isinstance(preprocessing, kind))
    return {key: preprocessing.to_json(), **({"labels": list(labels)} if labels else {})}
