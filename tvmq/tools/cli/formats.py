"""Files of other formats that `tvmq quantize` writes beside the executable, and the options that they need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tvmq
from tvmq.errors import ConfigError
from tvmq.tools.cli.options import with_options


@dataclass(frozen=True)
class Formats:
    """Files to write, None for those not requested, and the dialect of ONNX.

    onnx     Also write the integer model as ONNX with QuantizeLinear and DequantizeLinear.
    tflite   Also write the integer core as an int8 TFLite file. Without --backend, tflite is the backend.
    tosa     Also write the integer core as TOSA. Without --backend, tosa is the backend.
    dialect  Dialect of --onnx: onnxruntime (also for OpenVINO), or tensorrt (symmetric int8, float biases).
    """

    onnx: Path | None = None
    tflite: Path | None = None
    tosa: Path | None = None
    dialect: str = "onnxruntime"

    @property
    def files(self) -> tuple[Path | None, ...]:
        """Paths of all formats."""
        return self.onnx, self.tflite, self.tosa

    def backend(self, backend: str | None) -> str | None:
        """Backend to quantize for: the format's own arithmetic unless --backend says otherwise.

        raises  ConfigError for two formats of one model, whose requantizations differ
        """
        named = [name for name in ("tflite", "tosa") if getattr(self, name) is not None]
        if len(named) > 1 and backend is None:
            raise ConfigError(
                "quantize: --tflite and --tosa round differently, and a model has only one arithmetic; quantize twice, "
                "or choose one with --backend"
            )
        return backend or (named[0] if named else None)

    def with_required_options(self, config: tvmq.QConfig) -> tvmq.QConfig:
        """Options, with an integer-only core where a format requires it."""
        if self.tflite is None and self.tosa is None:
            return config
        return with_options(config, partition_conversions="fully_integral")

    def remarks(self, output: Path) -> list[str]:
        """Remarks about the files beside each other: the executable has the arithmetic of the format, too.

        >>> Formats(tflite=Path("m.tflite")).remarks(Path("m.tvmq"))
        ['m.tvmq computes as the tflite file does; without --tflite it may be more accurate and faster']
        """
        named = [name for name in ("tflite", "tosa") if getattr(self, name) is not None]
        return [
            f"{output} computes as the {name} file does; without --{name} it may be more accurate and faster"
            for name in named
        ]

    def write(self, qmod: Any) -> None:
        """Write the files of all requested formats."""
        if self.onnx is not None:
            tvmq.to_onnx(qmod, self.onnx, dialect=self.dialect)
        if self.tflite is not None:
            tvmq.to_tflite(qmod, self.tflite)
        if self.tosa is not None:
            tvmq.to_tosa(qmod, self.tosa)
