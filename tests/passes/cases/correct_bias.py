"""correct_bias: the bias moves by the mean of what rounding the weight does; every range is -1..2, every mean 1."""

# Given
x: R.Tensor((2, 4), "float32")
w = np.float32([[1, -0.5], [0.25, 2], [0, 1], [-1, 0.125]])
scales = np.float32([1 / 127, 2 / 127])
zeros = np.zeros(2, np.int32)
codes = np.rint(w / scales)
shift = (w.astype(np.float64) - codes * scales.astype(np.float64)).sum(0)

# Case: a layer without a bias gets one
# Options: means={"x": np.ones(4)}
# Before
m = R.matmul(x, w)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.011764706112444401, "float32"), R.const(85, "int32"), kind="input", tensor="x")
m_weight_sq = R.tvmq.simulated_quantize(w, scales, zeros, kind="weight", tensor="m_weight", dtype="int8", symmetric=True, axis=1)
m_sum = R.matmul(x_sq, m_weight_sq)
m = R.add(m_sum, R.const([-0.0019685029983520508, -0.004921257495880127], "float32"))

# Case: a bias of one number becomes one a channel
# Options: means={"x": np.ones(4)}
# Given
moved = shift + 2
# Before
m = R.matmul(x, w)
a = R.add(m, R.const(2.0, "float32"))
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(3 / 255, "float32"), R.const(85, "int32"), kind="input", tensor="x")
v = R.tvmq.simulated_quantize(w, scales, zeros, kind="weight", tensor="m_weight", dtype="int8", symmetric=True, axis=1)
m = R.matmul(x_sq, v)
a = R.add(m, moved)
