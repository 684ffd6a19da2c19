"""pack_weights: weights of at most 4 bits stand two to a byte; of a realized module, every range -1..2."""

# Given
x: R.Tensor((2, 4), "float32")
w = np.float32([[1, -0.5], [0.25, 2], [0, 1], [-1, 0.125]])

# Case: four bits
# Options: nbit_weight=4
# Before
m = R.matmul(x, w)
# After
x_q = R.tvmq.quantize(x, R.const(0.011764706112444401, "float32"), R.const(85, "int32"))
m_weight = R.tvmq.unpack(R.const([231, 114, 48, 9], "uint8"), shape=[4, 2])
m = R.matmul(x_q, m_weight, out_dtype="int32")
m_bias = R.add(m, R.const([-170, -680], "int32"))
m_1 = R.tvmq.dequantize(m_bias, R.const([0.001680672401562333, 0.003361344803124666], "float32"), R.const(np.full((2,), 0), "int32"), axis=1)

# Case: five bits stay
# Options: nbit_weight=5
# Before
m = R.matmul(x, w)
# After
x_q = R.tvmq.quantize(x, R.const(0.011764706112444401, "float32"), R.const(85, "int32"))
m = R.matmul(x_q, R.const([[15, -4], [4, 15], [0, 7], [-15, 1]], "int8"), out_dtype="int32")
m_bias = R.add(m, R.const([-340, -1615], "int32"))
m_1 = R.tvmq.dequantize(m_bias, R.const([0.0007843137718737125, 0.001568627543747425], "float32"), R.const(np.full((2,), 0), "int32"), axis=1)
