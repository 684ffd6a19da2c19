"""Attention and embeddings as onnxruntime's transformer optimizer writes them, of com.microsoft, in ONNX's operators.

    Attention              x w + b, split into queries, keys and values, then as below
    QAttention             the same of codes; with constant scales DequantizeLinear stands in front
    MultiHeadAttention     queries, keys and values given; heads apart, softmax(scale * q k^T + bias + mask) v
    EmbedLayerNormalization   rows of words, positions and segments, their sum under a layer norm

Caches of keys and values (past, present) are refused.

Tests: tests/formats/onnx/importer/test_contrib.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tvmq.formats.onnx.importer.dynamic_products import product
from tvmq.formats.onnx.importer.fused_operators import layer_norm_nodes
from tvmq.formats.onnx.importer.layer import OnnxLayer

WAY_OUT = "export the model without a cache (use_cache=False) and optimize it without other_inputs"


def attention(layer: OnnxLayer) -> None:
    """Attention(x, w, b, mask, past, bias of scores)."""
    _refuse(layer, (4, 6), (1,))
    x = layer.compute("MatMul", layer.inputs[:2], "MatMul")
    _split_and_attend(layer, x, 2, 3, 5)


def quantized_attention(layer: OnnxLayer) -> None:
    """QAttention(x, w, b, x_scale, w_scale, mask, x_zero_point, w_zero_point, past)."""
    _refuse(layer, (8,), (1,))
    named = [layer.inputs[i] if layer.has_input(i) else "" for i in range(8)]
    a, b = (named[0], named[3], named[6]), (named[1], named[4], named[7])
    if layer.value(a[1]) is None or layer.value(b[1]) is None:
        x = product(layer, a, b)
    else:
        left = layer.dequantize([name for name in a if name], "x")
        right = layer.dequantize([name for name in b if name], "w", axis=1)
        x = layer.compute("MatMul", [left, right], "MatMul")
    _split_and_attend(layer, x, 2, 5, None)


def _refuse(layer: OnnxLayer, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
    if any(layer.has_input(i) for i in inputs) or any(layer.has_output(i) for i in outputs):
        raise layer.unsupported_error("a cache of keys and values is not supported", WAY_OUT)
    if layer.attributes.get("do_rotary", 0):
        raise layer.unsupported_error("do_rotary=1 is not supported", "optimize the model with ORT_ENABLE_BASIC")


def _split_and_attend(layer: OnnxLayer, x: str, bias: int, mask: int, extra: int | None) -> None:
    """Split x, queries, keys and values side by side without their bias, and attend."""
    x = layer.compute("Add", [x, layer.inputs[bias]], "Add") if layer.has_input(bias) else x
    sizes = [int(size) for size in layer.attributes.get("qkv_hidden_sizes", ())]
    weight = layer.value(layer.inputs[1])
    if not sizes and weight is None:
        raise layer.unsupported_error("its weight is not a constant", "export the model with constant weights")
    sizes = sizes or [np.asarray(weight).shape[1] // 3] * 3
    names = [f"{layer.node.name}/{role}" for role in ("q", "k", "v")]
    by_input = layer.opset >= 13
    layer.emit(
        "Split", [x, *([layer.vector("split", *sizes)] if by_input else [])], names[0], f"{layer.node.name}/Split",
        axis=-1, **({} if by_input else {"split": sizes}),
    )  # fmt: skip
    layer.nodes[-1].output.extend(names[1:])
    masks = layer.inputs[mask] if layer.has_input(mask) else ""
    added = layer.inputs[extra] if extra is not None and layer.has_input(extra) else ""
    _attend(layer, names, (layer.inputs[0], masks, added), sizes[0])


def multi_head_attention(layer: OnnxLayer) -> None:
    """MultiHeadAttention(query, key, value, bias, padding of keys, bias of scores)."""
    _refuse(layer, (6, 7, 8, 9), (1, 2, 3))
    if not (layer.has_input(1) and layer.has_input(2)):
        raise layer.unsupported_error("packed queries, keys and values are not supported", "do not pack them")
    q, k, v = layer.inputs[:3]
    if layer.has_input(3):
        bias = layer.value(layer.inputs[3])
        if bias is None:
            raise layer.unsupported_error("its bias is not a constant", "export the model with constant weights")
        third = bias.size // 3
        cuts = {"q": bias[:third], "k": bias[third : 2 * third], "v": bias[2 * third :]}
        q, k, v = (
            layer.compute("Add", [one, layer.constant(f"{role}_bias", part)], role)
            for one, (role, part) in zip((q, k, v), cuts.items(), strict=True)
        )
    masks, added = (layer.inputs[i] if layer.has_input(i) else "" for i in (4, 5))
    _attend(layer, [q, k, v], (layer.inputs[0], masks, added), None)


def _attend(layer: OnnxLayer, names: list[str], around: tuple[str, str, str], width: int | None) -> None:
    """The result of the layer from queries, keys and values of shape (batch, length, heads * size).

    around   the input (batch, length, ...), the mask and what is added to the scores; "" for nothing
    width    heads * size of the queries; None if it is not known
    """
    heads = int(layer.attributes["num_heads"])
    x, mask, added = around
    q, k, v = (_heads(layer, name, role, heads) for name, role in zip(names, "qkv", strict=True))
    turned = layer.compute("Transpose", [k], "k_turned", perm=[0, 1, 3, 2])
    scores = layer.compute("MatMul", [q, turned], "scores")
    scores = layer.compute("Mul", [scores, _scale(layer, q, width, heads)], "scaled")
    scores = layer.compute("Add", [scores, added], "biased") if added else scores
    if mask:
        scores = layer.compute("Add", [scores, _mask(layer, mask, x)], "masked")
    if layer.attributes.get("unidirectional", 0):
        scores = layer.compute("Add", [scores, _causal_mask(layer, x)], "causal")
    shares = layer.compute("Softmax", [scores], "Softmax", axis=3)
    result = layer.compute("MatMul", [shares, v], "MatMul_v")
    result = layer.compute("Transpose", [result], "back", perm=[0, 2, 1, 3])
    layer.finish("Reshape", [result, layer.vector("together", 0, 0, -1)])


def _heads(layer: OnnxLayer, x: str, role: str, heads: int) -> str:
    """A tensor as (batch, heads, length, size); keys and values of cross attention may have this shape already."""
    if layer.rank(x) == 4:
        return x
    split = layer.compute("Reshape", [x, layer.vector(f"{role}_shape", 0, 0, heads, -1)], f"{role}_apart")
    return layer.compute("Transpose", [split], f"{role}_heads", perm=[0, 2, 1, 3])


def _scale(layer: OnnxLayer, q: str, width: int | None, heads: int) -> str:
    """1 / sqrt(head size), computed from the shape at run time where the weights do not give it."""
    scale = float(layer.attributes.get("scale", 0.0))
    if scale or width:
        return layer.number("scale", scale or 1 / np.sqrt((width or 1) / heads))
    shape = layer.compute("Shape", [q], "q_sizes")
    size = layer.compute("Gather", [shape, layer.constant("last", np.array(3, np.int64))], "head_size")
    root = layer.compute("Sqrt", [layer.compute("Cast", [size], "head_float", to=1)], "head_root")
    return layer.compute("Div", [layer.number("one", 1), root], "scale")


def _mask(layer: OnnxLayer, mask: str, x: str) -> str:
    """Term that a mask adds to the scores: 0 for ones, mask_filter_value for zeros; its rank determines its axes."""
    rank = layer.rank(mask)
    if rank is None or rank not in (1, 2, 3):
        shown = "unknown rank" if rank is None else f"{rank} dimensions"
        raise layer.unsupported_error(f"a mask of {shown} is not supported", "give it the shape (batch, length)")
    if rank == 1:
        # mask (batch, length): true for tokens before the end of their sequence
        wide = layer.compute("Cast", [mask], "lengths_wide", to=7)
        column = layer.compute("Reshape", [wide, layer.vector("lengths_shape", -1, 1)], "lengths_column")
        mask = layer.compute("Less", [_positions(layer, x), column], "mask_words")
    kept = layer.compute("Cast", [mask], "mask_float", to=1)
    # 1 -> 0, 0 -> filter
    lowest = float(layer.attributes.get("mask_filter_value", -10000.0))
    lost = layer.compute("Sub", [layer.number("mask_one", 1), kept], "mask_lost")
    value = layer.compute("Mul", [lost, layer.number("mask_filter", lowest)], "mask_value")
    axes = (1,) if rank == 3 else (1, 2)
    if layer.opset >= 13:
        return layer.compute("Unsqueeze", [value, layer.vector("mask_axes", *axes)], "mask")
    return layer.compute("Unsqueeze", [value], "mask", axes=list(axes))


def _positions(layer: OnnxLayer, x: str) -> str:
    """Positions 0, 1, ... of the tokens of x."""
    shape = layer.compute("Shape", [x], "sizes")
    length = layer.compute("Gather", [shape, layer.constant("second", np.array(1, np.int64))], "length")
    ends = [layer.constant(role, np.array(value, np.int64)) for role, value in (("begin", 0), ("step", 1))]
    return layer.compute("Range", [ends[0], length, ends[1]], "places")


def _causal_mask(layer: OnnxLayer, x: str) -> str:
    """Causal mask (length, length): the filter value for later tokens."""
    row = _positions(layer, x)
    column = layer.compute("Reshape", [row, layer.vector("column_shape", -1, 1)], "places_column")
    later = layer.compute("Cast", [layer.compute("Greater", [row, column], "later")], "later_float", to=1)
    # exp of it is 0, whatever the scores are; the attribute's default would leave e^-10000 of large ones
    return layer.compute("Mul", [later, layer.number("later_filter", -1e30)], "causal_mask")


def embed_layer_norm(layer: OnnxLayer) -> None:
    """EmbedLayerNormalization(ids, segments, words, positions, segment rows, gamma, beta, mask, position ids)."""
    words = layer.compute("Gather", [layer.inputs[2], layer.inputs[0]], "words")
    positions = layer.inputs[8] if layer.has_input(8) else _positions(layer, layer.inputs[0])
    x = layer.compute("Add", [words, layer.compute("Gather", [layer.inputs[3], positions], "positions")], "Add")
    if layer.has_input(4) and layer.has_input(1):
        rows = layer.compute("Gather", [layer.inputs[4], layer.inputs[1]], "segments")
        x = layer.compute("Add", [x, rows], "Add_segments")
    layer_norm_nodes(layer, x, layer.inputs[5], layer.inputs[6], 1e-12)
    if layer.has_output(1):
        _emit_lengths(layer)
    if layer.has_output(2):
        layer.finish("Identity", [x], output=2)


def _emit_lengths(layer: OnnxLayer) -> None:
    """Emit the second result: how many tokens of each sequence the mask keeps, 0 without a mask."""
    ids = layer.inputs[7] if layer.has_input(7) else layer.inputs[0]
    wide = layer.compute("Cast", [ids], "mask_wide", to=6)
    if not layer.has_input(7):
        wide = layer.compute("Mul", [wide, layer.constant("nothing", np.array(0, np.int32))], "mask_none")
    if layer.opset >= 13:
        layer.finish("ReduceSum", [wide, layer.vector("mask_axis", 1)], output=1, keepdims=0)
    else:
        layer.finish("ReduceSum", [wide], output=1, keepdims=0, axes=[1])


ATTENTION: dict[str, Callable[[OnnxLayer], None]] = {
    "Attention": attention,
    "EmbedLayerNormalization": embed_layer_norm,
    "MultiHeadAttention": multi_head_attention,
    "QAttention": quantized_attention,
}
