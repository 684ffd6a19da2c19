"""The outcome of calibration: for each tensor its range and how it came about. Saved; refused when stale.

File  one .npz (a zip of arrays, nothing pickled): `document` holds JSON as bytes, `channel_means` the channel
      means of all tensors one after the other, `weight_codes` and `shifts` those of the roundings. Equal results
      give equal bytes. It is written under another name and renamed.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.regular_file import check_regular
from tvmq.base.whole_file import write_file
from tvmq.calibration.observers.rounding import (
    ROUNDING_ARRAYS,
    Rounding,
    describe_roundings,
    pack_roundings,
    unpack_roundings,
)
from tvmq.errors import CalibrationError

SCHEMA_VERSION = 2
# More than any network needs; keeps a forged archive from filling the memory.
MOST_BYTES = 2**30


@dataclass(frozen=True)
class TensorResult:
    """Result of calibration for a tensor.

    low, high      thresholds chosen
    observer       name of the observer, or of the candidate of `auto`, that gave them
    errors         error of each candidate, as far as they were compared
    seen           lowest and highest value of the data; (0, 0) if there were none
    channel_means  float64 (channels,), or None
    samples        number of samples seen
    layers         names in the source of the layer whose result it is
    raises         CalibrationError for thresholds that are not finite or not in order
    """

    low: float
    high: float
    observer: str
    errors: Mapping[str, float] = field(default_factory=dict)
    seen: tuple[float, float] = (0.0, 0.0)
    channel_means: np.ndarray | None = field(default=None, compare=False)
    samples: int = 0
    layers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low <= self.high):
            raise CalibrationError(
                f"calibrate: thresholds must be finite with low <= high. Got {self.low}..{self.high} from "
                f"observer {self.observer!r} instead; look for NaN or inf in the calibration data"
            )


class Ranges(dict[str, tuple[float, float]]):
    """{tensor: (low, high)} as data gave them.

    data_hash  the fingerprint of these data
    """

    def __init__(self, ranges: Mapping[str, tuple[float, float]], data_hash: str) -> None:
        super().__init__(ranges)
        self.data_hash = data_hash


@dataclass(frozen=True)
class CalibrationResult:
    """Thresholds of all tensors, and of which model and data they are.

    tensors     tensor name -> TensorResult
    model_hash  of the model that was calibrated; data_hash of the data (`Fingerprint`)
    settings    what else decided the result, as JSON can hold it
    roundings   layer (root variable) -> Rounding, where data chose it

    >>> result = CalibrationResult({"x": TensorResult(-1.0, 2.0, "minmax")}, model_hash="m")
    >>> result["x"].high
    2.0
    """

    tensors: Mapping[str, TensorResult]
    model_hash: str = ""
    data_hash: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    roundings: Mapping[str, Rounding] = field(default_factory=dict)

    def ranges(self) -> Ranges:
        """{tensor: (low, high)}; a plain dict made of it no longer names the data."""
        return Ranges({name: (tensor.low, tensor.high) for name, tensor in self.tensors.items()}, self.data_hash)

    def means(self) -> dict[str, np.ndarray]:
        """{tensor: mean of each channel, float64 [channels]}, where the data were seen."""
        measured = {name: one.channel_means for name, one in self.tensors.items() if one.channel_means is not None}
        return {name.removesuffix(":stream"): means for name, means in measured.items()}

    def __getitem__(self, name: str) -> TensorResult:
        """The result of a tensor, by its own name or by that of its layer in the source.

        raises  CalibrationError where there is none
        """
        if name in self.tensors:
            return self.tensors[name]
        for tensor in self.tensors.values():
            if name in tensor.layers:
                return tensor
        raise CalibrationError(
            f"calibrate, tensor {name!r}: no thresholds among those of {len(self.tensors)} tensors; "
            f"calibrate this model again"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; OutputError where that fails, and then nothing is left behind."""
        write_file(path, self._pack(), "calibration")

    def _pack(self) -> bytes:
        means = [one.channel_means for one in self.tensors.values() if one.channel_means is not None]
        text = json.dumps(self._document(), sort_keys=True)
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {
            "document": np.frombuffer(text.encode(), np.uint8),
            "channel_means": np.concatenate([np.zeros(0), *means]),
            **pack_roundings(self.roundings),
        }
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    def _document(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "model_hash": self.model_hash,
            "data_hash": self.data_hash,
            "settings": dict(self.settings),
            "tensors": [_describe_tensor(name, tensor) for name, tensor in self.tensors.items()],
            "roundings": describe_roundings(self.roundings),
        }

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, model_hash: str | None = None, data_hash: str | None = None
    ) -> CalibrationResult:
        """Read a file written by `save`.

        model_hash, data_hash  what the result must belong to; None: not compared
        raises                 CalibrationError for a missing, damaged, foreign or stale file
        """
        place = f"calibration {str(path)!r}"
        document, arrays = _read(Path(path), place)
        version = document.get("schema_version")
        if version != SCHEMA_VERSION:
            raise CalibrationError(
                f"{place}: schema version {version}, this tvmq reads {SCHEMA_VERSION}; calibrate again"
            )
        for what, wanted in (("model", model_hash), ("data", data_hash)):
            stored_hash = document.get(f"{what}_hash")
            if wanted is not None and stored_hash != wanted:
                raise CalibrationError(
                    f"{place}: made for {what} {str(stored_hash)[:12]!r}, this is {wanted[:12]!r} (hashes); "
                    f"it is stale: calibrate again"
                )
        try:
            return cls(
                _tensors(document["tensors"], arrays["channel_means"]),
                document["model_hash"],
                document["data_hash"],
                _settings(document["settings"]),
                unpack_roundings(document["roundings"], arrays),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise _damage_error(place, error) from error


def _describe_tensor(name: str, tensor: TensorResult) -> dict[str, Any]:
    """The fields as JSON can hold them; of the channel means only their number."""
    channels = None if tensor.channel_means is None else len(tensor.channel_means)
    return {
        "name": name,
        "low": float(tensor.low),
        "high": float(tensor.high),
        "observer": tensor.observer,
        "errors": {key: float(error) for key, error in tensor.errors.items()},
        "seen": [float(end) for end in tensor.seen],
        "channels": channels,
        "samples": int(tensor.samples),
        "layers": list(tensor.layers),
    }


def _tensors(descriptions: list[dict[str, Any]], means: np.ndarray) -> dict[str, TensorResult]:
    """Inverse of `_describe_tensor` for all tensors; the channel means are dealt out in order."""
    tensors = {}
    start = 0
    for description in descriptions:
        fields = dict(description)
        name, channels = fields.pop("name"), fields.pop("channels")
        fields["seen"], fields["layers"] = tuple(fields["seen"]), tuple(fields.get("layers", ()))
        if channels is not None:
            fields["channel_means"] = means[start : start + channels]
            start += channels
        tensors[name] = TensorResult(**fields)
    if means.shape != (start,):
        raise ValueError(f"{start} channel means expected, found {means.shape}")
    return tensors


def _settings(data: dict[str, Any]) -> dict[str, Any]:
    """Options and outliers; ValueError for what nobody wrote so. Options themselves are checked where they are used."""
    data = dict(data)
    config, outliers = data.get("config", {}), data.get("outliers", {})
    rules = config.get("rules", []) if isinstance(config, dict) else None
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ValueError("options that are none")
    factors: Any
    channels: Any
    for name, choice in outliers.items() if isinstance(outliers, dict) else [("", None)]:
        factors, channels = (choice.get("factors", {}), choice.get("split", [])) if isinstance(choice, dict) else (0, 0)
        is_right = (
            isinstance(factors, dict)
            and isinstance(channels, list)
            and all([*map(str.isdecimal, factors), *(type(channel) is int and channel >= 0 for channel in channels)])
        )
        if not is_right or not all(type(f) in (int, float) and 0 < f < np.inf for f in factors.values()):
            raise ValueError(f"outliers of '{name}' that are none")
    return data


# What zipfile raises beside the usual; RuntimeError and its NotImplementedError: encrypted, or of an unknown version.
DAMAGES = (zipfile.BadZipFile, zlib.error, RuntimeError)


def _read(path: Path, place: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The members of the archive; CalibrationError where it is not such an archive."""
    try:
        check_regular(path)
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"{size} bytes, at most {MOST_BYTES} are read")
        with np.load(path, allow_pickle=False) as archived:
            document = json.loads(archived["document"].tobytes())
            arrays = {name: archived[name] for name in ("channel_means", *ROUNDING_ARRAYS)}
        if not isinstance(document, dict) or arrays["channel_means"].dtype != np.float64:
            raise ValueError("not a calibration result")
    except FileNotFoundError as error:
        raise CalibrationError(f"{place}: no such file; calibrate and save first") from error
    except (*DAMAGES, OSError, ValueError, KeyError, EOFError, MemoryError) as error:
        raise _damage_error(place, error) from error
    return document, arrays


def _damage_error(place: str, error: Exception) -> CalibrationError:
    return CalibrationError(f"{place}: damaged, or no calibration result ({error}); calibrate again")
