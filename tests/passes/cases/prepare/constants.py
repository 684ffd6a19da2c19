"""prepare: arithmetic with constants is done before the model runs, in the weight where it can be."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
q: R.Tensor((2, 3, 4), "float32")
k: R.Tensor((2, 4, 4), "float32")
w = (np.arange(4) + 1.0).reshape(2, 2, 1, 1)
b = np.float32([2, 3]).reshape(1, 2, 1, 1)

# Case: constants of constants, scalars and constants of channels
# Integers of 64 bits keep their type; minus infinity may mask.
# Given
doubled = w * 2 * b.reshape(2, 1, 1, 1)
squares = b * b
zeros = np.zeros((1, 2, 1, 1))
mask = np.float32([0, -np.inf]).reshape(1, 2, 1, 1)
i = np.int64([0, 1])
j = np.int64([0, 2])
# Before
c = R.nn.conv2d(x, w)
d = R.multiply(c, R.const(2.0, "float32"))
e = R.multiply(b, d)
f = R.add(e, b)
y1 = R.subtract(f, b)
s = R.multiply(b, b)
t = R.reshape(s, R.shape([2, 1, 1, 1]))
u = R.permute_dims(t, axes=[1, 0, 2, 3])
y2 = R.add(x, u)
l = R.add(i, i)
y3 = R.take(x, l, axis=3)
y4 = R.add(x, mask)
return (y1, y2, y3, y4)
# After
c = R.nn.conv2d(x, doubled)
y1 = R.add(c, zeros)
y2 = R.add(x, squares)
y3 = R.take(x, j, axis=3)
y4 = R.add(x, mask)
return (y1, y2, y3, y4)

# Case: constants that vary over pixels or enlarge the result stay
# A summand of a larger batch must not become part of the bias.
# Given
full = np.arange(16.0).reshape(1, 1, 4, 4)
larger = np.ones((3, 2, 1, 1))
# Before
c1 = R.nn.conv2d(x, w)
y1 = R.multiply(c1, full)
c2 = R.nn.conv2d(x, w)
e2 = R.add(c2, b)
y2 = R.add(e2, larger)
return (y1, y2)
# After: the same

# Case: dropout disappears and softmax is ours
# Before
d = R.nn.dropout(x, rate=0.5)
e = d[0]
s = R.nn.softmax(e, axis=1)
# After
s = R.tvmq.softmax(x, axis=1)

# Case: numbers move behind a product of two tensors, a constant on the left to the right
# Given
left = np.arange(6.0).reshape(2, 3)
right = left.T
# Before
a = R.multiply(q, R.const(0.25, "float32"))
t = R.permute_dims(k, [0, 2, 1])
d = R.divide(t, R.const(8.0, "float32"))
u = R.permute_dims(d, [0, 2, 1])
m = R.matmul(a, u)
n = R.matmul(left, q)
return (m, n)
# After
t = R.permute_dims(k, axes=[0, 2, 1])
u_1 = R.permute_dims(t, axes=[0, 2, 1])
m_product = R.matmul(q, u_1)
m = R.multiply(m_product, R.const(0.03125, "float32"))
n_transpose = R.permute_dims(q, axes=[0, 2, 1])
n_product = R.matmul(n_transpose, right)
n = R.permute_dims(n_product, axes=[0, 2, 1])
return (m, n)

# Case: what is read twice, could add an axis or is no number stays
# Given
one = np.float32([0.25])
# Before
a1 = R.multiply(q, R.const(0.25, "float32"))
m1 = R.matmul(a1, k)
t1 = R.permute_dims(a1, [0, 2, 1])
y1 = R.matmul(m1, t1)
a2 = R.multiply(q, one)
y2 = R.matmul(a2, k)
a3 = R.multiply(q, q)
y3 = R.matmul(a3, k)
a4 = R.nn.relu(q)
y4 = R.matmul(a4, k)
return (y1, y2, y3, y4)
# After: the same

# Case: a sum of one product is a product; a layer of one input stays
# Given
f: R.Tensor((2, 3, 1), "float32")
t: R.Tensor((2, 1, 4), "float32")
g = np.float32([1, 2]).reshape(1, 2, 1)
v = np.float32([[1, 2]])
# Before
y = R.matmul(f, t)
a = R.matmul(g, t)
z = R.matmul(f, v)
return (y, a, z)
# After
y = R.multiply(f, t)
a = R.multiply(t, g)
z = R.matmul(f, v)
return (y, a, z)
