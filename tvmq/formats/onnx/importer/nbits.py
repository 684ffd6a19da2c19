"""Weights of 2, 4 or 8 bits in blocks as onnxruntime's own operators hold them, by ONNX's DequantizeLinear of blocks.

Before                                                After
    y = MatMulNBits(x, b, s, z)      'product'            w = DequantizeLinear(codes, s, z)   'product/weight'
        b: (N, K / 32, 16) uint8, block_size 32           y = MatMul(x, w)                    'product'
                                                              codes: (K, N), block_size 32

GatherBlockQuantized likewise, with Gather. What is below 8 bits lies in bytes, the first of them in the lowest bits.
"""

from __future__ import annotations

import numpy as np

from tvmq.formats.onnx.importer.layer import OnnxLayer

EXPORT_AGAIN = "the model is damaged, export it again"


def matmul_nbits(layer: OnnxLayer) -> None:
    """MatMulNBits(A, B, scales, zero_points, g_idx, bias); `accuracy_level` says how much less than float32 may do.

    Rows that `g_idx` gives to blocks in another order are brought into order, and the columns of A with them. What is
    no block of codes then, as zero points between two codes, is what it stands for in float.
    """
    defaults = {"bits": 4, "block_size": 0, "K": 0, "N": 0, "weight_prepacked": 0}
    bits, block, rows, columns, prepacked = (int(layer.attributes.get(name, defaults[name])) for name in defaults)
    _check_form(layer, bits, block)
    if prepacked:
        raise layer.unsupported_error(
            f"weight_prepacked={prepacked} is made for one GPU", "export the model without it"
        )
    if min(rows, columns) < 1:
        raise layer.unsupported_error(f"its weight has the shape {rows} x {columns}", EXPORT_AGAIN)
    blocks = -(-rows // block)
    packed = _constant(layer, 1, columns * blocks * block * bits // 8)
    codes = unpack(packed.reshape(columns, -1), bits)[:, :rows].T
    scale = _constant(layer, 2, columns * blocks).reshape(columns, blocks).T
    zero = _zero_points(layer, bits, columns, blocks)
    plain = np.arange(rows) // block
    groups = _constant(layer, 4, rows).astype(np.int64) if layer.has_input(4) else plain
    if groups.min() < 0 or groups.max() >= blocks:
        raise layer.unsupported_error(
            f"g_idx is from {groups.min()} to {groups.max()} for {blocks} blocks", EXPORT_AGAIN
        )
    order, x = np.argsort(groups, kind="stable"), layer.inputs[0]
    if zero.dtype == np.uint8 and np.array_equal(groups[order], plain):
        if not np.array_equal(order, np.arange(rows)):
            x = layer.compute("Gather", [x, layer.vector("order", *order)], "ordered", axis=-1)
        weight = _in_blocks(layer, codes[order], scale, zero, 0, block)
    else:
        real = (codes - zero[groups].astype(np.float32)) * scale[groups].astype(np.float32)
        weight = layer.constant("weight", real.astype(scale.dtype))
    if layer.has_input(5):
        layer.finish("Add", [layer.compute("MatMul", [x, weight], "product"), layer.inputs[5]])
    else:
        layer.finish("MatMul", [x, weight])


def gather_blocks(layer: OnnxLayer) -> None:
    """GatherBlockQuantized(data, indices, scales, zero_points)."""
    data, scale = _constant(layer, 0), _constant(layer, 2)
    kind = next(iter(data.dtype.fields or ()), data.dtype.name)  # of 4 bits, older releases of onnx have fields
    is_packed = kind == "uint8"
    bits, block = int(layer.attributes.get("bits", 4)) if is_packed else 4, int(layer.attributes.get("block_size", 128))
    _check_form(layer, bits, block)
    if kind not in ("uint8", "int4", "uint4"):
        raise layer.unsupported_error(f"codes of type {kind} are not supported", "use int4, uint4 or uint8")
    zero = _constant(layer, 3) if layer.has_input(3) else np.zeros(scale.shape, data.dtype)
    dtype = np.int8 if kind == "int4" else np.uint8
    codes, points = data.astype(dtype), zero.astype(dtype)
    if is_packed:
        codes = unpack(codes, bits)
        points = (
            unpack(points, bits)[..., : scale.shape[-1]] if layer.has_input(3) else points + np.uint8(1 << bits - 1)
        )
    quantized, gathered = (int(layer.attributes.get(f"{role}_axis", i)) for role, i in (("quantize", 1), ("gather", 0)))
    if scale.ndim != codes.ndim or not -codes.ndim <= quantized < codes.ndim:
        what = f"scales of {scale.ndim} dimensions along axis {quantized} do not fit codes of {codes.ndim} dimensions"
        raise layer.unsupported_error(what, "give the scales the rank of the codes, and one of their axes")
    table = _in_blocks(layer, codes, scale, points, quantized, block)
    layer.finish("Gather", [table, layer.inputs[1]], axis=gathered)


def unpack(values: np.ndarray, bits: int) -> np.ndarray:
    """Codes of bytes, along the last axis; the first lies in the lowest bits.

    >>> unpack(np.array([0x21, 0x43], np.uint8), 4).tolist()
    [1, 2, 3, 4]
    """
    codes = values[..., None] >> np.arange(0, 8, bits, dtype=np.uint8) & np.uint8((1 << bits) - 1)
    return codes.reshape(*values.shape[:-1], -1)


def _zero_points(layer: OnnxLayer, bits: int, columns: int, blocks: int) -> np.ndarray:
    """Zero points (blocks, columns): uint8 where they are codes, else as they are."""
    if not layer.has_input(3):
        return np.full((blocks, columns), 1 << bits - 1, np.uint8)
    zero = _constant(layer, 3)
    if zero.dtype == np.uint8:
        return unpack(_constant(layer, 3, columns * -(-blocks * bits // 8)).reshape(columns, -1), bits)[:, :blocks].T
    zero = _constant(layer, 3, columns * blocks).reshape(columns, blocks).T
    whole = np.array_equal(zero, np.clip(np.rint(zero), 0, 255))
    return zero.astype(np.uint8) if whole else zero


def _check_form(layer: OnnxLayer, bits: int, block: int) -> None:
    if bits not in (2, 4, 8) or block < 16 or block & (block - 1):
        raise layer.unsupported_error(
            f"codes of {bits} bits in blocks of {block}", "use 2, 4 or 8 bits and a block size of 16, 32, 64, ..."
        )


def _constant(layer: OnnxLayer, index: int, size: int | None = None) -> np.ndarray:
    """An input that is a constant, of so many elements."""
    value = layer.value(layer.inputs[index])
    if value is None:
        raise layer.unsupported_error(f"its input {index} is not a constant", "use constant weights and scales")
    if size is not None and value.size != size:
        shape = list(value.shape)
        raise layer.unsupported_error(
            f"its input {index} has shape {shape}, but K, N and block_size require {size} elements", EXPORT_AGAIN
        )
    return value


def _in_blocks(layer: OnnxLayer, codes: np.ndarray, scale: np.ndarray, zero: np.ndarray, axis: int, block: int) -> str:
    named = {"codes": codes, "scales": scale, "zero_points": zero}
    inputs = [layer.constant(role, np.ascontiguousarray(value)) for role, value in named.items()]
    return layer.compute("DequantizeLinear", inputs, "weight", axis=axis, block_size=block)


NBITS = {"GatherBlockQuantized": gather_blocks, "MatMulNBits": matmul_nbits}
