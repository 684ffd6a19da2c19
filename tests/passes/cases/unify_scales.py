"""unify_scales: which tensors share a scale with a concat. Each network ends in a pool: a concat there would stay float."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = np.ones((2, 2, 3, 3))

# Case: parts take the scale of the concat
# Before
a = R.nn.conv2d(x, w, padding=1)  # scale y
b = R.nn.conv2d(x, w, padding=1)  # scale y
y = R.concat((a, b), axis=1)  # shared: none
end = R.nn.max_pool2d(y)

# Case: a part that others read keeps its name, a concat of a concat is one set
# Before
a = R.nn.conv2d(x, w, padding=1)  # scale a
b = R.nn.conv2d(x, w, padding=1)  # scale z
y = R.concat((a, b), axis=1)  # shared: a
d = R.nn.conv2d(a, w, padding=1)  # scale z
z = R.concat((y, d), axis=1)  # shared: none
end = R.nn.max_pool2d(z)

# Case: scales reach through what moves codes
# Before
a = R.nn.conv2d(x, w, padding=1)  # scale y
b = R.nn.conv2d(x, w, padding=1)  # scale y
p = R.nn.max_pool2d(a)
q = R.reshape(p, R.shape([1, 2, 4, 4]))
y = R.concat((q, b), axis=1)  # shared: none
end = R.nn.max_pool2d(y)

# Case: a moved part that others read is shared
# Before
a = R.nn.conv2d(x, w, padding=1)  # scale a
b = R.nn.conv2d(x, w, padding=1)  # scale z
p = R.nn.max_pool2d(a)
y = R.concat((p, b), axis=1)  # shared: a
d = R.nn.conv2d(p, w, padding=1)  # scale z
z = R.concat((y, d), axis=1)  # shared: none
end = R.nn.max_pool2d(z)

# Case: one tensor twice
# Before
a = R.nn.conv2d(x, w, padding=1)  # scale y
y = R.concat((a, a), axis=1)  # shared: none
end = R.nn.max_pool2d(y)

# Case: a part that a table reads, and one that is a result, are shared
# Before
a = R.nn.conv2d(x, w, padding=1)  # scale a
b = R.nn.conv2d(x, w, padding=1)  # scale b
y = R.concat((a, b), axis=1)  # shared: a, b
o = R.nn.relu(a)  # scale z
z = R.concat((y, o), axis=1)  # shared: none
end = R.nn.max_pool2d(z)
return (end, b)

# Case: branches of one tensor that are joined again share it
# Before
a = R.nn.conv2d(x, w, padding=1)  # scale z
b = R.nn.conv2d(x, w, padding=1)  # scale z
s = R.split(a, 2, axis=1)
u = s[0]
v = s[1]
y = R.concat((v, u), axis=1)  # shared: none
z = R.concat((y, b), axis=1)  # shared: none
end = R.nn.max_pool2d(z)
