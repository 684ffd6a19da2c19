"""group_queries: heads that share keys and values are rows of one product."""

# Given
q: R.Tensor((2, 6, 5, 8), "float32")
k: R.Tensor((2, 3, 7, 8), "float32")
p: R.Tensor((2, 6, 5, 7), "float32")
wide: R.Tensor((2, 3, 2, 7, 8), "float32")

# Case: keys are read turned, values as they are
# Before
e = R.expand_dims(k, axis=2)
b = R.broadcast_to(e, R.shape([2, 3, 2, 7, 8]))
r = R.reshape(b, R.shape([2, 6, 7, 8]))
t = R.permute_dims(r, axes=[0, 1, 3, 2])
s = R.matmul(q, t)
y = R.matmul(p, r)
return (s, y)
# After
s_grouped = R.reshape(q, R.shape([2, 3, 10, 8]))
s_turned = R.permute_dims(k, axes=[0, 1, 3, 2])
s_product = R.matmul(s_grouped, s_turned)
s = R.reshape(s_product, R.shape([2, 6, 5, 7]))
y_grouped = R.reshape(p, R.shape([2, 3, 10, 7]))
y_product = R.matmul(y_grouped, k)
y = R.reshape(y_product, R.shape([2, 6, 5, 8]))
return (s, y)

# Case: what is repeated along another axis, in another order, or not at all stays
# Before
e = R.expand_dims(k, axis=1)
b = R.broadcast_to(e, R.shape([2, 2, 3, 7, 8]))
r = R.reshape(b, R.shape([2, 6, 7, 8]))
y = R.matmul(p, r)
f = R.reshape(wide, R.shape([2, 6, 7, 8]))
z = R.matmul(p, f)
return (y, z)
# After: the same
