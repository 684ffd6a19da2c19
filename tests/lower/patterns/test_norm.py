"""What goes into one kernel with a norm: sums before and codes behind, with other readers and without; exact."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.models import block
from tvmq.graph.view import View
from tvmq.lower.patterns.chains import find_chains
from tvmq.runtime.call_code import entry

STREAMS = (
    'a: R.Tensor((1, 5, 24), "float32"), b: R.Tensor((1, 5, 24), "float32"), c: R.Tensor((1, 1, 24), "float32"), '
    'g: R.Tensor((24,), "float32"), h: R.Tensor((24,), "float32"), '
    'f: R.Tensor((24,), "float32")'
)
FACTORS = np.linspace(0.5, 2, 24, dtype=np.float32)
SUM = "s = R.add(a, b)\n"
NORM = "n = R.tvmq.layer_norm(s, g, h, axes=1, epsilon=1e-5)\n"
CODES = 'q = R.tvmq.quantize(n, R.const(0.03, "float32"), R.const(120, "int32"), dtype="uint8", qmin=0, qmax=255)\n'
SCALED = "p = R.multiply(n, f)\n"
BACK = 'd = R.tvmq.dequantize(q, R.const(0.03, "float32"), R.const(120, "int32"))\n'


def codes(scale: str = 'R.const(0.03, "float32")', of: str = "n") -> str:
    return CODES.replace('R.const(0.03, "float32")', scale).replace("(n,", f"({of},")


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("body", "members"),
    [
        (SUM + NORM + CODES + BACK + "y = R.negative(d)", ["s", "n", "q"]),
        (SUM + NORM + CODES + BACK + "y = R.add(n, d)", ["s", "n", "q"]),
        (SUM + NORM + CODES + BACK + "e = R.add(s, d)\ny = R.subtract(e, n)", ["s", "n", "q"]),
        (SUM + NORM + SCALED + codes(of="p") + BACK + "y = R.add(n, d)", ["s", "n", "p", "q"]),
        (SUM + NORM + SCALED + codes(of="p") + BACK + "y = R.add(p, d)", ["s", "n"]),
        (SUM + NORM + "y = R.negative(n)", ["s", "n"]),
        (SUM + NORM + "m = R.negative(n)\n" + CODES + BACK + "y = R.add(m, d)", ["s", "n"]),
        (SUM.replace("b)", "c)") + NORM + CODES + BACK + "y = R.negative(d)", ["n", "q"]),
        (SUM + NORM + codes(of="s") + BACK + "y = R.add(n, d)", ["s", "n"]),
        (SUM + NORM + codes('R.const(1e-38, "float32")') + BACK + "y = R.negative(d)", ["s", "n"]),
        (
            SUM + NORM.replace("layer_norm(s, g, h", "rms_norm(s, g") + CODES + BACK + "y = R.negative(d)",
            ["s", "n", "q"],
        ),
    ],
)
def test_what_goes_together_and_is_exact(body: str, members: list[str]) -> None:
    mod = block(STREAMS, body, '(1, 5, 24), "float32"', f=FACTORS)
    chains = [chain.members for chain in find_chains(View(mod), wide=True).values() if "n" in chain.members]
    assert chains == [members]
    assert not [chain for chain in find_chains(View(mod)).values() if "n" in chain.members]
    random = np.random.default_rng(0)
    shapes = {"a": (1, 5, 24), "b": (1, 5, 24), "c": (1, 1, 24), "g": (24,), "h": (24,)}
    feed = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    (expected,) = tvmq.reference.run(mod, feed)
    (found,) = tvmq.build(mod).run(feed)
    np.testing.assert_array_equal(found, expected)


def test_several_results_of_a_kernel_stay_in_native_code() -> None:
    mod = block(STREAMS, SUM + NORM + CODES + BACK + "y = R.add(n, d)", '(1, 5, 24), "float32"', f=FACTORS)
    machine = relax.VirtualMachine(tvmq.build(mod)._parts.code, tvm.cpu())
    assert entry(machine, "main")[1]
