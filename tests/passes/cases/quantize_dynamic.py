"""quantize_dynamic: scales made at run time, or weights alone; behind a layer stands its precision or the reason for float."""

# Given
x: R.Tensor((2, 4), "float32")
w = np.float32([[1, -0.5], [0.25, 2], [0, 1], [-1, 0.125]])

# Case: scales made at run time
# Options: activations="dynamic"
# Before
m = R.matmul(x, w)
y = R.nn.relu(m)
# After
x_scale = R.tvmq.dynamic_scale(x, first=1, count=1)
x_q = R.tvmq.dynamic_quantize(x, x_scale)
m_sums = R.matmul(x_q, R.const([[127, -32], [32, 127], [0, 64], [-127, 8]], "int8"), out_dtype="int32")
m = R.tvmq.dynamic_dequantize(m_sums, x_scale, R.const([0.007874015718698502, 0.015748031437397003], "float32"))
y = R.nn.relu(m)

# Case: weights alone
# Options: activations=None
# Before
m = R.matmul(x, w)
y = R.nn.relu(m)
# After
m_dequantize = R.tvmq.dequantize(R.const([[127, -32], [32, 127], [0, 64], [-127, 8]], "int8"), R.const([0.007874015718698502, 0.015748031437397003], "float32"), R.const(np.full((2,), 0), "int32"), axis=1)
m = R.matmul(x, m_dequantize)
y = R.nn.relu(m)

# Case: a layer of sums beyond int32 stays float
# Options: activations="dynamic"
# Given
x: R.Tensor((1, 140000), "float32")
w = np.ones((140000, 2))
# Before
m = R.matmul(x, w)  # limit: sums can reach 2258060000, int32 ends at 2147483647
# After: the same

# Case: turned keys are codes before they are turned
# Options: activations="dynamic"
# Given
q: R.Tensor((1, 2, 3, 4), "float32")
k: R.Tensor((1, 2, 5, 4), "float32")
# Before
t = R.permute_dims(k, axes=[0, 1, 3, 2])
s = R.matmul(q, t)
# After
k_scale = R.tvmq.dynamic_scale(k, first=3, count=1)
k_q = R.tvmq.dynamic_quantize(k, k_scale)
k_q_turned = R.permute_dims(k_q, axes=[0, 1, 3, 2])
k_scale_turned = R.reshape(k_scale, R.shape([1, 2, 1, 5]))
q_scale = R.tvmq.dynamic_scale(q, first=3, count=1)
q_q = R.tvmq.dynamic_quantize(q, q_scale)
s_sums = R.tvmq.matmul(q_q, k_q_turned, a_zero=0, b_zero=0)
s = R.tvmq.dynamic_dequantize(s_sums, q_scale, k_scale_turned)
