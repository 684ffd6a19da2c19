"""calibrate: the scales of given ranges are put in, by their definition."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = np.float32([1, -0.5]).reshape(2, 1, 1, 1) * np.ones((2, 2, 3, 3))
scales = np.float32([1 / 127, 0.5 / 127])
powers = np.float32([2**-6, 2**-7])
zeros = np.zeros(2, np.int32)

# Case: of the input and of each filter
# Options: ranges={"x": (-1.5, 3.0)}
# Before
c = R.nn.conv2d(x, w, padding=1)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(4.5 / 255, "float32"), R.const(85, "int32"), kind="input", tensor="x")
v = R.tvmq.simulated_quantize(w, scales, zeros, kind="weight", tensor="c_weight", dtype="int8", symmetric=True, axis=0)
c = R.nn.conv2d(x_sq, v, padding=1)

# Case: powers of two
# Options: ranges={"x": (-1.5, 3.0)}, requantize="power_of_two"
# Before
c = R.nn.conv2d(x, w, padding=1)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(2**-5, "float32"), R.const(48, "int32"), kind="input", tensor="x")
v = R.tvmq.simulated_quantize(w, powers, zeros, kind="weight", tensor="c_weight", dtype="int8", symmetric=True, axis=0)
c = R.nn.conv2d(x_sq, v, padding=1)

# Case: parts of a concat share the union of their ranges
# Options: ranges={"x": (-1, 2), "a": (-1, 4), "b": (-3, 1)}
# Before
a = R.nn.conv2d(x, w, padding=1)
b = R.nn.conv2d(x, w, padding=1)
y = R.concat((a, b), axis=1)
end = R.nn.max_pool2d(y)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.011764706112444401, "float32"), R.const(85, "int32"), kind="input", tensor="x")
a_weight_sq = R.tvmq.simulated_quantize(w, scales, zeros, kind="weight", tensor="a_weight", dtype="int8", symmetric=True, axis=0)
a = R.nn.conv2d(x_sq, a_weight_sq, padding=[1, 1, 1, 1])
a_sq = R.tvmq.simulated_quantize(a, R.const(0.027450980618596077, "float32"), R.const(109, "int32"), kind="activation", tensor="y")
b_weight_sq = R.tvmq.simulated_quantize(w, scales, zeros, kind="weight", tensor="b_weight", dtype="int8", symmetric=True, axis=0)
b = R.nn.conv2d(x_sq, b_weight_sq, padding=[1, 1, 1, 1])
b_sq = R.tvmq.simulated_quantize(b, R.const(0.027450980618596077, "float32"), R.const(109, "int32"), kind="activation", tensor="y")
y = R.concat((a_sq, b_sq), axis=1)
end = R.nn.max_pool2d(y)
