"""annotate: where simulated_quantize goes, with which spec, and who reads behind it."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = np.ones((2, 2, 3, 3))
scale = np.zeros(2)
zero = np.zeros(2, np.int32)

# Case: activations and weights are watched
# Before
c = R.nn.conv2d(x, w, padding=1)
r = R.nn.relu(c)
d = R.nn.conv2d(r, w, padding=1)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.0, "float32"), R.const(0, "int32"), kind="input", tensor="x")
c_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="c_weight", dtype="int8", symmetric=True, axis=0)
c = R.nn.conv2d(x_sq, c_weight_sq, padding=[1, 1, 1, 1])
r = R.nn.relu(c)
r_sq = R.tvmq.simulated_quantize(r, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="r")
d_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="d_weight", dtype="int8", symmetric=True, axis=0)
d = R.nn.conv2d(r_sq, d_weight_sq, padding=[1, 1, 1, 1])

# Case: per tensor weights and signed activations
# Options: dtype_input="int8", scheme="symmetric", per_channel=False
# Before
c = R.nn.conv2d(x, w, padding=1)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.0, "float32"), R.const(0, "int32"), kind="input", tensor="x", dtype="int8", symmetric=True)
c_weight_sq = R.tvmq.simulated_quantize(w, R.const(0.0, "float32"), R.const(0, "int32"), kind="weight", tensor="c_weight", dtype="int8", symmetric=True)
c = R.nn.conv2d(x_sq, c_weight_sq, padding=[1, 1, 1, 1])

# Case: what moves codes is not watched
# Before
m = R.nn.max_pool2d(x)
c = R.nn.conv2d(m, w, padding=1)
t = R.nn.max_pool2d(c)
d = R.nn.conv2d(t, w, padding=1)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.0, "float32"), R.const(0, "int32"), kind="input", tensor="x")
m = R.nn.max_pool2d(x_sq)
c_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="c_weight", dtype="int8", symmetric=True, axis=0)
c = R.nn.conv2d(m, c_weight_sq, padding=[1, 1, 1, 1])
c_sq = R.tvmq.simulated_quantize(c, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="c")
t = R.nn.max_pool2d(c_sq)
d_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="d_weight", dtype="int8", symmetric=True, axis=0)
d = R.nn.conv2d(t, d_weight_sq, padding=[1, 1, 1, 1])

# Case: float readers of floats see no rounding
# x is float in the integer module too: the convolution reads its codes, tril reads x itself; so does the result.
# Before
c = R.nn.conv2d(x, w, padding=1)
e = R.tril(x)
t = R.add(c, e)
y = R.nn.max_pool2d(t)
return (y, x)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.0, "float32"), R.const(0, "int32"), kind="input", tensor="x")
c_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="c_weight", dtype="int8", symmetric=True, axis=0)
c = R.nn.conv2d(x_sq, c_weight_sq, padding=[1, 1, 1, 1])
c_sq = R.tvmq.simulated_quantize(c, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="c")
e = R.tril(x, 0)
e_sq = R.tvmq.simulated_quantize(e, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="e")
t = R.add(c_sq, e_sq)
t_sq = R.tvmq.simulated_quantize(t, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="t")
y = R.nn.max_pool2d(t_sq)
return (y, x)

# Case: results of sums are watched even if only floats read them
# An integer add needs the scale of its result.
# Before
c = R.nn.conv2d(x, w, padding=1)
d = R.nn.conv2d(x, w, padding=1)
y = R.add(c, d)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.0, "float32"), R.const(0, "int32"), kind="input", tensor="x")
c_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="c_weight", dtype="int8", symmetric=True, axis=0)
c = R.nn.conv2d(x_sq, c_weight_sq, padding=[1, 1, 1, 1])
c_sq = R.tvmq.simulated_quantize(c, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="c")
d_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="d_weight", dtype="int8", symmetric=True, axis=0)
d = R.nn.conv2d(x_sq, d_weight_sq, padding=[1, 1, 1, 1])
d_sq = R.tvmq.simulated_quantize(d, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="d")
y = R.add(c_sq, d_sq)
y_sq = R.tvmq.simulated_quantize(y, R.const(0.0, "float32"), R.const(0, "int32"), kind="activation", tensor="y")

# Case: a rule about activations is about what the layer reads
# Options: rules=[Rule("d", activations=QuantSpec("uint8", 5))]
# Before
c = R.nn.conv2d(x, w, padding=1)  # uint8 5
d = R.nn.conv2d(c, w, padding=1)  # nothing

# Case: a rule reaches through what moves codes
# The convolution reads a pool of c: c itself has the scale, so c gets the spec.
# Options: rules=[Rule("d", activations=QuantSpec("int8", 5))]
# Before
c = R.nn.conv2d(x, w, padding=1)  # int8 5
p = R.nn.max_pool2d(c)  # nothing
q = R.concat((p, c), axis=0)  # nothing
d = R.nn.conv2d(q, w, padding=1)

# Case: weights of a rule
# Options: rules=[Rule("c", weights=QuantSpec("int8", 4, symmetric=True, per_channel=True))]
# Before
c = R.nn.conv2d(x, w, padding=1)
# After
x_sq = R.tvmq.simulated_quantize(x, R.const(0.0, "float32"), R.const(0, "int32"), kind="input", tensor="x")
c_weight_sq = R.tvmq.simulated_quantize(w, scale, zero, kind="weight", tensor="c_weight", dtype="int8", bits=4, symmetric=True, axis=0)
c = R.nn.conv2d(x_sq, c_weight_sq, padding=[1, 1, 1, 1])
