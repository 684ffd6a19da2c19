"""partition_conversions: in which of the three functions each binding stands, and why a core is not integral."""

# Given
x: R.Tensor((1, 4), "float32")
ids: R.Tensor((5,), "int64")
table = np.ones((9, 4), np.uint8)
w = np.eye(4)

# Case: movements before the first quantize belong to it
# Before
t = R.permute_dims(x)  # quantize_inputs
q = R.tvmq.quantize(t, R.const(0.5, "float32"), R.const(3, "int32"), dtype="uint8", qmin=0, qmax=255)  # quantize_inputs
m = R.maximum(q, q)  # quantized_main
y = R.tvmq.dequantize(m, R.const(0.5, "float32"), R.const(3, "int32"))  # dequantize_outputs; quantized_main computes in integers only: 1 operators, uint8 to uint8

# Case: integer inputs pass unchanged
# Token ids are the core's as they are, and the table of codes is looked up there.
# Before
c = R.take(table, ids, axis=0)  # quantized_main
y = R.tvmq.dequantize(c, R.const(0.5, "float32"), R.const(3, "int32"))  # dequantize_outputs; quantized_main computes in integers only: 1 operators, int64 to uint8

# Case: an input that is also read as floats enters twice
# Before
q = R.tvmq.quantize(x, R.const(0.5, "float32"), R.const(3, "int32"), dtype="uint8", qmin=0, qmax=255)  # quantize_inputs
m = R.maximum(q, q)  # quantized_main
d = R.tvmq.dequantize(m, R.const(0.5, "float32"), R.const(3, "int32"))  # quantized_main
y = R.add(d, x)  # quantized_main, add in float32; quantized_main is not fully integral: add and 1 conversion around them, float32, uint8 to float32

# Case: last functions belong to the suffix
# Softmax, the class that wins, a cast of it: what follows the last dequantize and nothing reads.
# Before
q = R.tvmq.quantize(x, R.const(0.5, "float32"), R.const(3, "int32"), dtype="uint8", qmin=0, qmax=255)  # quantize_inputs
m = R.maximum(q, q)  # quantized_main
d = R.tvmq.dequantize(m, R.const(0.5, "float32"), R.const(3, "int32"))  # dequantize_outputs
s = R.tvmq.softmax(d, axis=-1)  # dequantize_outputs
a = R.argmax(s, axis=-1)  # dequantize_outputs
y = R.astype(a, dtype="int32")  # dequantize_outputs; quantized_main computes in integers only: 1 operators, uint8 to uint8; dequantize_outputs ends with softmax 's', argmax 'a' in floats

# Case: a float product behind the core is no last function
# Before
q = R.tvmq.quantize(x, R.const(0.5, "float32"), R.const(3, "int32"), dtype="uint8", qmin=0, qmax=255)  # quantize_inputs
m = R.maximum(q, q)  # quantized_main
d = R.tvmq.dequantize(m, R.const(0.5, "float32"), R.const(3, "int32"))  # dequantize_outputs
y = R.matmul(d, w)  # dequantize_outputs, matmul in float32; quantized_main is not fully integral: matmul, uint8 to uint8

# Case: an operator that nobody knows is no proof
# Before
q = R.tvmq.quantize(x, R.const(0.5, "float32"), R.const(3, "int32"), dtype="uint8", qmin=0, qmax=255)  # quantize_inputs
m = R.power(q, q)  # quantized_main, power in an unknown way
y = R.tvmq.dequantize(m, R.const(0.5, "float32"), R.const(3, "int32"))  # dequantize_outputs; quantized_main is not fully integral: power, uint8 to uint8
