"""Patterns of several operators that become one kernel.

What goes into one kernel with a norm: sums before and codes behind, with other readers and without; exact.

Depth-to-space inside an integer core is one kernel in NHWC; what only looks like it is not taken for it.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.models.networks import Net, block, drive
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import find_chains
from tvmq.codegen.lower.patterns.subgraphs import shuffle_at
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph.view import View
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


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize(("body", "members"), [
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
    (SUM + NORM.replace("layer_norm(s, g, h", "rms_norm(s, g") + CODES + BACK + "y = R.negative(d)", ["s", "n", "q"]),
])  # fmt: skip
def test_what_goes_together_and_is_exact(body: str, members: list[str]) -> None:
    mod = block(STREAMS, body, '(1, 5, 24), "float32"', f=FACTORS)
    chains = [chain.members for chain in find_chains(View(mod), fused_kernels=True).values() if "n" in chain.members]
    assert chains == [members]
    assert not [chain for chain in find_chains(View(mod)).values() if "n" in chain.members]
    random = np.random.default_rng(0)
    shapes = {"a": (1, 5, 24), "b": (1, 5, 24), "c": (1, 1, 24), "g": (24,), "h": (24,)}
    feed = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    (expected,) = tvmq.reference.run(mod, feed)
    (found,) = tvmq.build(mod).run(feed)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_several_results_of_a_kernel_stay_in_native_code() -> None:
    mod = block(STREAMS, SUM + NORM + CODES + BACK + "y = R.add(n, d)", '(1, 5, 24), "float32"', f=FACTORS)
    machine = relax.VirtualMachine(tvmq.build(mod)._parts.code, tvm.cpu())
    assert entry(machine, "main")[1]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("shape", [(1, 12, 5, 7), (2, 36, 3, 4)])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_one_kernel(mode: str, shape: tuple[int, ...]) -> None:
    size = 3 if shape[1] == 36 else 2
    n = Net((shape[0], 3, *shape[2:]))
    y = n.op("DepthToSpace", n.op("Relu", n.conv("x", 3, shape[1])), blocksize=size, mode=mode)
    road = drive(n.model(n.conv(y, shape[1] // size**2, 5)), least_snr=28.0)
    lowerer = Lowerer(road.quantized, resolve_target("llvm").isa)
    lowerer.run()
    kernels = list(lowerer.kernel_names.values())
    assert sum(name.startswith("depth_to_space") for name in kernels) == 1
    assert not any(name.startswith("to_nhwc") for name in kernels)
    assert sum(name.startswith("to_nchw") for name in kernels) <= 1, "more than the result is transposed"


@pytest.mark.slow
def test_order_of_the_pixels() -> None:
    """Blocks of rows and columns of different sizes."""
    body = """c = R.nn.max_pool2d(x)
r = R.reshape(c, R.shape([1, 2, 3, 2, 2, 5]))
p = R.permute_dims(r, axes=[0, 3, 4, 1, 5, 2])
y = R.reshape(p, R.shape([1, 2, 4, 15]))"""
    mod = block('x: R.Tensor((1, 12, 2, 5), "uint8")', body, '(1, 2, 4, 15), "uint8"')
    shuffle = shuffle_at(View(mod), "y")
    assert shuffle is not None and (shuffle.block, shuffle.groups) == ((2, 3), 1)
    x = np.arange(120, dtype=np.uint8).reshape(1, 12, 2, 5)
    expected = x.reshape(1, 2, 3, 2, 2, 5).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 15)
    np.testing.assert_array_equal(tvmq.build(mod).run({"x": x})[0], expected)


@pytest.mark.parametrize("cells, order, result, dtype", [
    ("[1, 2, 2, 3, 2, 5]", "[0, 3, 4, 2, 5, 1]", "(1, 3, 4, 10)", "uint8"),  # columns before rows
    ("[1, 2, 2, 3, 5, 2]", "[0, 3, 4, 1, 5, 2]", "(1, 3, 10, 4)", "uint8"),  # cells of another picture
    ("[1, 2, 2, 3, 2, 5]", "[0, 3, 4, 1, 5, 2]", "(1, 12, 2, 5)", "uint8"),  # another result
    ("[1, 2, 2, 3, 2, 5]", "[0, 3, 4, 1, 5, 2]", "(1, 3, 4, 10)", "float32"),  # no codes
])  # fmt: skip
def test_what_only_looks_like_it(cells: str, order: str, result: str, dtype: str) -> None:
    body = f"""r = R.reshape(x, R.shape({cells}))
p = R.permute_dims(r, axes={order})
y = R.reshape(p, R.shape([{result[1:-1]}]))"""
    mod = block(f'x: R.Tensor((1, 12, 2, 5), "{dtype}")', body, f'{result}, "{dtype}"')
    assert shuffle_at(View(mod), "y") is None
    x = np.arange(120).astype(dtype).reshape(1, 12, 2, 5)
    axes, shape = (tuple(int(v) for v in text[1:-1].split(",")) for text in (order, result))
    expected = x.reshape([int(v) for v in cells[1:-1].split(",")]).transpose(axes).reshape(shape)
    np.testing.assert_array_equal(tvmq.build(mod).run({"x": x})[0], expected)
