"""Models that torch's own tools quantized, as quantize and dequantize operators that torch.export can trace.

prepared_models.py          convert a prepared model (observers, fake quantizers) by the tool that prepared it
packed_weights.py           packed weights as codes and scales that can be traced
subclasses.py               weights of torchao likewise
codes.py                    a quantized tensor while the model is traced: the float tensor behind its rounding
torch_functions.py, operators.py  torch functions and operators of torch.ops.quantized on such tensors
repairs.py                  quantize and dequantize of the graph as R.tvmq.quantize and R.tvmq.dequantize
dynamic_layers.py           products whose activations get a scale at run time; torch_library.py: their operators
products.py                 these in Relax
borders.py                  QuantStub and DeQuantStub of a float model: where codes begin and end
custom_modules.py           other modules in place of those of one's own classes
"""

from __future__ import annotations

_CONVERSIONS = "tvmq.formats.torch.importer.quantized.repairs:"
_PRODUCTS = "tvmq.formats.torch.importer.quantized.products:"
_OVERLOADS = ("per_channel.default", "per_tensor.default", "per_tensor.tensor", "per_tensor.tensor2")
_FAKE = (
    "fake_quantize_per_tensor_affine_cachemask.default",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
    "fake_quantize_per_channel_affine_cachemask.default",
)

# what repairs.py of the front end adds to its table
QUANTIZED: dict[str, str] = {
    **{f"quantize_{overload}": f"{_CONVERSIONS}quantize" for overload in _OVERLOADS},
    **{f"dequantize_{overload}": f"{_CONVERSIONS}dequantize" for overload in _OVERLOADS},
    **dict.fromkeys(_FAKE, f"{_CONVERSIONS}fake_quantize"),
    "choose_qparams.tensor": f"{_PRODUCTS}choose_qparams",
    "coded_linear.default": f"{_PRODUCTS}coded_linear",
    "group_linear.default": f"{_PRODUCTS}group_linear",
    "integer_linear.default": f"{_PRODUCTS}integer_linear",
    "linear.default": f"{_PRODUCTS}linear",
}
