"""prepare: a batch norm of constant statistics goes into weight and bias in front of it, or becomes two operators."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = (np.arange(4) + 1.0).reshape(2, 2, 1, 1)
b = np.float32([1, 2]).reshape(1, 2, 1, 1)
gamma = np.float32([2, 3])
beta = np.float32([1, -1])
mean = np.float32([0.5, 0.25])
variance = np.float32([4, 0.25]) - np.float32(2**-10)
scale = np.float32([1, 6]).reshape(1, 2, 1, 1)
shift = np.float32([0.5, -2.5]).reshape(1, 2, 1, 1)
scaled_weight = w * scale.reshape(2, 1, 1, 1)
scaled_bias = b * scale + shift

# Case: behind a convolution
# Before
c1 = R.nn.conv2d(x, w)
a1 = R.add(c1, b)
n1 = R.nn.batch_norm(a1, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)
y1 = n1[0]
c2 = R.nn.conv2d(x, w)
n2 = R.nn.batch_norm(c2, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)
y2 = n2[0]
return (y1, y2)
# After
c1 = R.nn.conv2d(x, scaled_weight)
y1 = R.add(c1, scaled_bias)
c2 = R.nn.conv2d(x, scaled_weight)
y2 = R.add(c2, shift)
return (y1, y2)

# Case: behind anything else it is two operators
# Scaling the weight would change what other readers see; a sum behind a relu is no bias.
# Before
c1 = R.nn.conv2d(x, w)
r1 = R.sigmoid(c1)
n1 = R.nn.batch_norm(r1, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)
y1 = n1[0]
c2 = R.nn.conv2d(x, w)
n2 = R.nn.batch_norm(c2, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)
y2 = n2[0]
z2 = R.add(c2, y2)
c3 = R.nn.conv2d(x, w)
r3 = R.nn.relu(c3)
a3 = R.add(r3, b)
n3 = R.nn.batch_norm(a3, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)
y3 = n3[0]
c4 = R.nn.conv2d(x, w)
a4 = R.add(c4, b)
n4 = R.nn.batch_norm(a4, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)
y4 = n4[0]
z4 = R.add(c4, y4)
return (y1, z2, y3, z4)
# After
c1 = R.nn.conv2d(x, w)
r1 = R.sigmoid(c1)
y1_scale = R.multiply(r1, scale)
y1 = R.add(y1_scale, shift)
c2 = R.nn.conv2d(x, w)
y2_scale = R.multiply(c2, scale)
y2 = R.add(y2_scale, shift)
z2 = R.add(c2, y2)
c3 = R.nn.conv2d(x, w)
r3 = R.nn.relu(c3)
a3 = R.add(r3, b)
y3_scale = R.multiply(a3, scale)
y3 = R.add(y3_scale, shift)
c4 = R.nn.conv2d(x, w)
a4 = R.add(c4, b)
y4_scale = R.multiply(a4, scale)
y4 = R.add(y4_scale, shift)
z4 = R.add(c4, y4)
return (y1, z2, y3, z4)

# Case: read twice, of computed statistics, or in training it stays
# Given
computed: R.Tensor((2,), "float32")
# Before
c1 = R.nn.conv2d(x, w)
n1 = R.nn.batch_norm(c1, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)
y1 = n1[0]
v1 = n1[0]
z1 = R.add(y1, v1)
c2 = R.nn.conv2d(x, w)
n2 = R.nn.batch_norm(c2, gamma, beta, computed, variance, axis=1, epsilon=0.0009765625, training=False)
y2 = n2[0]
c3 = R.nn.conv2d(x, w)
n3 = R.nn.batch_norm(c3, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=True)
y3 = n3[0]
return (z1, y2, y3)
# After: the same
