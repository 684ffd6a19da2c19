"""realize: layers between their codes, and the float operators behind them. Every range is -1..2, a step 3 / 255."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = np.float32([[1, -0.5], [0.25, 2]]).reshape(2, 2, 1, 1)
b = np.float32([0.5, -0.25]).reshape(1, 2, 1, 1)

# Case: a convolution with its bias and its relu, a pool, a result in floats
# Before
c = R.nn.conv2d(x, w)
a = R.add(c, b)
r = R.nn.relu(a)
p = R.nn.max_pool2d(r, pool_size=[2, 2])
d = R.nn.conv2d(p, w)
y = R.tril(d)
# After
x_q = R.tvmq.quantize(x, R.const(0.011764706112444401, "float32"), R.const(85, "int32"))
c = R.nn.conv2d(x_q, R.const([[[[127]], [[-64]]], [[[16]], [[127]]]], "int8"), out_dtype="int32")
c_bias = R.add(c, R.const([[[[42]], [[-13504]]]], "int32"))
r = R.tvmq.requantize(c_bias, R.const([0.007874015718698502, 0.015748031437397003], "float32"), R.const(np.full((2,), 0), "int32"), zero_point=85, axis=1, qmin=85)
p = R.nn.max_pool2d(r, pool_size=[2, 2])
d = R.nn.conv2d(p, R.const([[[[127]], [[-64]]], [[[16]], [[127]]]], "int8"), out_dtype="int32")
d_bias = R.add(d, R.const([[[[-5355]], [[-12155]]]], "int32"))
d_1 = R.tvmq.dequantize(d_bias, R.const([9.263548417948186e-05, 0.00018527096835896373], "float32"), R.const(np.full((2,), 0), "int32"), axis=1)
y = R.tril(d_1, 0)

# Case: a sum and a product of two tensors, and an average
# Before
c = R.nn.conv2d(x, w)
d = R.nn.conv2d(x, w)
s = R.add(c, d)
m = R.multiply(s, d)
y = R.nn.avg_pool2d(m, pool_size=[2, 2], strides=[2, 2])
# After
x_q = R.tvmq.quantize(x, R.const(0.011764706112444401, "float32"), R.const(85, "int32"))
c = R.nn.conv2d(x_q, R.const([[[[127]], [[-64]]], [[[16]], [[127]]]], "int8"), out_dtype="int32")
c_bias = R.add(c, R.const([[[[-5355]], [[-12155]]]], "int32"))
c_1 = R.tvmq.requantize(c_bias, R.const([0.007874015718698502, 0.015748031437397003], "float32"), R.const(np.full((2,), 0), "int32"), zero_point=85, axis=1)
d = R.nn.conv2d(x_q, R.const([[[[127]], [[-64]]], [[[16]], [[127]]]], "int8"), out_dtype="int32")
d_bias = R.add(d, R.const([[[[-5355]], [[-12155]]]], "int32"))
d_1 = R.tvmq.requantize(d_bias, R.const([0.007874015718698502, 0.015748031437397003], "float32"), R.const(np.full((2,), 0), "int32"), zero_point=85, axis=1)
s = R.tvmq.add(c_1, d_1, a_multiplier=16384, b_multiplier=16384, offset=-2777088, shift=14, zero_point=85)
m_product = R.tvmq.multiply(s, d_1, a_zero=85, b_zero=85)
m = R.tvmq.requantize(m_product, R.const(0.011764706112444401, "float32"), R.const(0, "int32"), zero_point=85)
y_sum = R.tvmq.sum_pool(m, kernel=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], zero_point=85)
y = R.tvmq.dequantize(y_sum, R.const(0.0029411765281111002, "float32"), R.const(0, "int32"))

# Case: a rule makes the scales of a product at run time
# Options: rules=[Rule(op="matmul", activations="dynamic")]
# Given
x: R.Tensor((1, 2), "float32")
w = np.float32([[1, -0.5], [0.25, 2]])
# Before
m = R.matmul(x, w)
y = R.nn.relu(m)
# After
x_scale = R.tvmq.dynamic_scale(x, first=1, count=1)
x_q = R.tvmq.dynamic_quantize(x, x_scale)
m_sums = R.matmul(x_q, R.const([[127, -32], [32, 127]], "int8"), out_dtype="int32")
m = R.tvmq.dynamic_dequantize(m_sums, x_scale, R.const([0.007874015718698502, 0.015748031437397003], "float32"))
y = R.nn.relu(m)
