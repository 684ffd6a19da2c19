"""`tvmq.verify`: is the compiled model, bit for bit, what the NumPy definition says?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tvmq.codegen.executable import Executable
from tvmq.codegen.reference import Reference
from tvmq.dataset import Dataset, Input
from tvmq.errors import DataError


@dataclass(frozen=True)
class Difference:
    """The first value of an output that differs."""

    output: str
    sample: int
    index: tuple[int, ...]
    compiled: float
    defined: float


@dataclass(frozen=True)
class Verification:
    """What was compared.

    samples, values  how much
    differing        values that are not equal (two NaN are equal)
    first            where the first one is
    islands          float operators without a definition of their own, taken from their compiled form
    """

    samples: int
    values: int
    differing: int
    first: Difference | None
    islands: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """True if nothing differs."""
        return self.differing == 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"exact": self.exact, **asdict(self)}

    def __str__(self) -> str:
        if self.exact:
            text = f"exact: yes ({self.values} values of {self.samples} samples equal the NumPy definition bit for bit)"
        else:
            first = self.first
            text = f"exact: no ({self.differing} of {self.values} values of {self.samples} samples differ from the NumPy definition"
            if first is not None:
                text += (
                    f"; first in output '{first.output}' of sample {first.sample} at {list(first.index)}: "
                    f"compiled {first.compiled!r}, defined {first.defined!r}"
                )
            text += ")"
        if self.islands:
            text += f"\nfloat operators without a definition, equality asked around them: {', '.join(self.islands)}"
        return text


def verify(exe: Executable, data: Any) -> Verification:
    """Run the executable and the NumPy definition of its module on the same data and compare every value.

    data    anything that `quantize` takes as a data set
    raises  DataError if there are no samples
    """
    inputs = [Input(info.name, tuple(info.shape), info.dtype) for info in exe.input_info]
    reference = Reference(exe.module, target=exe.target)
    samples = values = differing = 0
    first: Difference | None = None
    for feed, count in Dataset(data, inputs):
        results, defined = exe.run(feed), reference.run([feed[given.name] for given in inputs])
        for info, a, b in zip(exe.output_info, results, defined, strict=True):
            unequal = _unequal(a, np.asarray(b))
            if unequal.any() and first is None:
                at = tuple(int(i) for i in np.argwhere(unequal)[0])
                first = Difference(info.name, samples, at, float(a[at]), float(np.asarray(b)[at]))
            differing += int(unequal.sum())
            values += a.size
        samples += count
    if samples == 0:
        raise DataError("verify: the data gave 0 samples; give at least one")
    return Verification(samples, values, differing, first, tuple(reference.islands))


def _unequal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f":
        return (a != b) & ~(np.isnan(a) & np.isnan(b))
    return np.asarray(a != b)
