"""The errors of tvmq; each is also the matching builtin, so that ordinary `except` clauses work.

    TvmqError
    +-- ModelError          ValueError           the model cannot be read or imported
    |   +-- UnsupportedOpError  NotImplementedError  an operator has no import or no integer form that was asked for
    +-- ConfigError         ValueError           an option, a rule or a spec is unknown or impossible
    +-- RangeError          ValueError           a number lies outside of what the definition allows
    +-- AccumulatorError    OverflowError        a sum could leave its accumulator
    +-- DataError           ValueError           calibration data or run-time inputs do not fit the model
    +-- CalibrationError    ValueError           thresholds are missing, stale or impossible
    +-- IntegralError       ValueError           a core that was to be integer only has float operators
    +-- StageError          ValueError           a pass was given a module that is not at its stage
    +-- TargetError         ValueError           a target is unknown or this CPU cannot run it
    +-- BuildError          RuntimeError         compilation failed
    +-- ArtifactError       ValueError           a saved file is damaged, foreign or of another version
    +-- OutputError         OSError              a result could not be written
    +-- MemoryLimitError    MemoryError          more memory would be needed than the bound, or than there is

Every message says where, what, the numbers, and what to do.

>>> issubclass(ConfigError, ValueError) and issubclass(ConfigError, TvmqError)
True

Tests: tests/numerics/test_proof.py
"""

from __future__ import annotations


class TvmqError(Exception):
    """Base of all errors that tvmq raises on purpose."""


class ModelError(TvmqError, ValueError):
    """The model cannot be read or imported."""


class UnsupportedOpError(ModelError, NotImplementedError):
    """An operator cannot be imported, or lacks the integer form that was asked for."""


class ConfigError(TvmqError, ValueError):
    """An option, a rule or a quantization spec is unknown or impossible."""


class RangeError(TvmqError, ValueError):
    """A number lies outside of what the definition allows (scale, zero point, NaN, ...)."""


class AccumulatorError(TvmqError, OverflowError):
    """A sum of products could leave its accumulator.

    fact  what does not fit, in numbers, without the layer's name and the remedy; "" where no layer is known
    """

    fact: str = ""

    @classmethod
    def of_layer(cls, stage: str, layer: str, fact: str, remedy: str) -> AccumulatorError:
        """The error of one layer.

        >>> print(AccumulatorError.of_layer("realize", "head", "the sum can reach 2147483648", "use fewer bits"))
        realize, layer 'head': the sum can reach 2147483648; use fewer bits
        """
        error = cls(f"{stage}, layer {layer!r}: {fact}; {remedy}")
        error.fact = fact
        return error


class BlasError(TvmqError, ArithmeticError):
    """NumPy's BLAS gives wrong sums on this CPU: the definition, calibration and `verify` stand on it."""


class DataError(TvmqError, ValueError):
    """Calibration data or run-time inputs do not fit the model."""


class CalibrationError(TvmqError, ValueError):
    """Thresholds are missing, stale or impossible."""


class IntegralError(TvmqError, ValueError):
    """A core that was to be integer only has float operators; the message has a line for each of them."""


class StageError(TvmqError, ValueError):
    """A pass was called with a module of another stage than it needs, or gave one that is not legal after it."""


class TargetError(TvmqError, ValueError):
    """A target is unknown, or this CPU cannot run it."""


class BuildError(TvmqError, RuntimeError):
    """Compilation failed."""


class ArtifactError(TvmqError, ValueError):
    """A saved file is damaged, foreign or of another schema version."""


class OutputError(TvmqError, OSError):
    """A result could not be written."""


class MemoryLimitError(TvmqError, MemoryError):
    """More memory would be needed than the bound allows, or than there is."""


class BackendWarning(UserWarning):
    """A described device or a written file may give other values than compiled code; the message says where."""


class AccuracyWarning(UserWarning):
    """A quantized model does not keep the bound of its guard; the message names the layers to blame."""
