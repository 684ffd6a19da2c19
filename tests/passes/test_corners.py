"""Networks at the corners, from ONNX to the executable: equal to the definition, close to onnxruntime's float32."""

from __future__ import annotations

import pytest

from tests.models import Road, drive
from tests.passes.nets import NETS

# Functions that spread the dynamic range before 8 bits hold it.
LEAST_SNR = {"square": 12.0, "island_of_tanh": 20.0}


@pytest.mark.parametrize("name", NETS)
def test_exact_and_accurate(name: str) -> None:
    made, outputs = NETS[name]()
    drive(made.model(*outputs), least_snr=LEAST_SNR.get(name, 25.0))


def road(name: str, **options: object) -> Road:
    """The road of a network of nets.py."""
    made, outputs = NETS[name]()
    return drive(made.model(*outputs), **options)
