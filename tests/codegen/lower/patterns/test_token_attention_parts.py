"""Attention with a scale for each token is one kernel, whatever heads share keys and whatever the mask; exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.built_modules import build_module
from tests.support.models.llama_model import LlamaShape, formula_weights, write_llama
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.token_attention_parts import token_attention_at
from tvmq.graph.module_functions import plain_module, unpack_weights
from tvmq.graph.view import View, op_name

R = tvm.relax.op


def quantized(mod: tvm.IRModule, params: Any = None) -> tvm.IRModule:
    with tvmq.qconfig(activations="dynamic"):
        return tvmq.quantize(mod, params)


def kernels(qmod: tvm.IRModule) -> list[str]:
    lowerer = Lowerer(unpack_weights(plain_module(qmod)), isa_named("generic"))
    lowerer.run()
    return [name.split("_generic")[0] for name in lowerer.kernel_names.values()]


@pytest.mark.parametrize("options", [{}, {"mask": True}])
@pytest.mark.parametrize("key_heads", [1, 2, 4])
def test_decoders(key_heads: int, options: dict[str, bool]) -> None:
    shape = LlamaShape(layers=1, width=16, heads=4, key_heads=key_heads, hidden=16, words=11)
    names = kernels(quantized(*tvmq.from_onnx(write_llama(shape, formula_weights(shape), **options))))
    assert names.count("token_attention") == 1 and "softmax" not in names and "dynamic_matmul" not in names


SIZES = {"q": ("n", 2, "rows", 8), "k": ("n", 2, "keys", 8), "v": ("n", 2, "keys", 8)}
MASKS: list[tuple[Any, bool]] = [
    (None, True), (("n", 1, 1, "keys"), True), ((1, 2, "rows", "keys"), True), (("rows", "keys"), True),
    (("n", 1, "rows", 1), False), ((1, 2, 1, "keys"), True),
]  # fmt: skip


def attention(builder: Any, q: Any, k: Any, v: Any, mask: Any = None, *, axis: int = -1, again: bool = False) -> Any:
    scores = builder.emit(R.matmul(q, builder.emit(R.permute_dims(k, [0, 1, 3, 2]))))
    scores = builder.emit(R.multiply(scores, tvm.relax.const(np.float32(0.3))))
    if mask is not None:
        scores = builder.emit(R.add(scores, mask))
    weights = builder.emit(R.nn.softmax(scores, axis))
    result = builder.emit(R.matmul(weights, v))
    return [result, weights] if again else result


@pytest.mark.parametrize(("mask", "fits"), MASKS)
def test_masks(mask: Any, fits: bool) -> None:
    mod = quantized(build_module(SIZES | ({} if mask is None else {"mask": mask}), attention))
    assert kernels(mod).count("token_attention") == fits


def test_what_is_another_thing() -> None:
    for options in ({"axis": 2}, {"again": True}):
        mod = quantized(build_module(SIZES, lambda builder, *args: attention(builder, *args, **options)))  # noqa: B023
        view = View(plain_module(mod))
        products = [var.name for var, value in view.bindings if op_name(value) == "tvmq.matmul"]
        assert products and not any(token_attention_at(view, name) for name in products)


@pytest.mark.slow
@pytest.mark.parametrize("mask", [mask for mask, _ in MASKS])
def test_equals_the_definition(mask: Any) -> None:
    exe = tvmq.build(quantized(build_module(SIZES | ({} if mask is None else {"mask": mask}), attention)))
    random = np.random.default_rng(0)
    for sizes in ({"n": 1, "rows": 1, "keys": 1}, {"n": 2, "rows": 5, "keys": 19}):
        feed = {}
        for info in exe.input_info:
            values = random.standard_normal([sizes.get(size, size) for size in info.shape]).astype(np.float32)
            feed[info.name] = np.where(values > 1, np.float32(-1e9), np.float32(0)) if info.name == "mask" else values
        (defined,) = tvmq.reference.run(exe.module, feed)
        np.testing.assert_array_equal(exe.run(feed)[0], defined)
