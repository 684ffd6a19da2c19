"""Models that torch's own tools quantized, as quantize and dequantize operators that torch.export can trace.

    prepared.py    a prepared model (observers, fake quantizers) is converted by the tool that prepared it
    packed.py      packed weights become codes and scales that can be traced
    subclasses.py  so do weights of torchao
    codes.py       stands for a quantized tensor while the model is traced: the float tensor behind its rounding
    functions.py, operators.py   what torch functions and operators of torch.ops.quantized do with it
    repairs.py     quantize and dequantize of the graph as R.tvmq.quantize and R.tvmq.dequantize
"""
