"""partition: which operators belong together. Behind a result stand its family, its members and its facts."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
y: R.Tensor((2, 3, 4), "float32")
z: R.Tensor((2, 4, 5), "float32")
u: R.Tensor((3, 2), "float32")
w = np.ones((2, 2, 3, 3))
b = np.ones((1, 2, 1, 1))
square = np.ones((2, 2))
axes = np.ones((1, 1, 1))

# Case: bindings stay
# Before
c = R.nn.conv2d(x, w, padding=1)
a = R.add(c, b)
r = R.nn.relu(a)
# After: the same

# Case: what a convolution absorbs
# 0 has no code between 0.5 and 6; prepare puts constants second: elsewhere they are no bias.
# Before
c1 = R.nn.conv2d(x, w, padding=1)
a1 = R.add(c1, b)
r1 = R.nn.relu(a1)  # conv2d: c1, a1, r1; low=0.0; bias=True
c2 = R.nn.conv2d(x, w, padding=1)
r2 = R.clip(c2, 0, 6)  # conv2d: c2, r2; low=0.0; high=6.0
c3 = R.nn.conv2d(x, w, padding=1)
r3 = R.nn.relu6(c3)  # conv2d: c3, r3; low=0.0; high=6.0
c4 = R.nn.conv2d(x, w, padding=1)
r4 = R.clip(c4, -0.5, R.prim_value(T.float32("inf")))  # conv2d: c4, r4; low=-0.5
c5 = R.nn.conv2d(x, w, padding=1)
a5 = R.add(c5, R.const(1.0, "float32"))  # conv2d: c5, a5; bias=True
c6 = R.nn.conv2d(x, w, padding=1)  # conv2d: c6
r6 = R.clip(c6, R.prim_value(T.float32(0.5)), 6)  # table: r6; chain=['r6']
c7 = R.nn.conv2d(x, w, padding=1)  # conv2d: c7
r7 = R.clip(c7, -6, R.prim_value(T.float32(-0.5)))  # table: r7; chain=['r7']
c8 = R.nn.conv2d(x, w, padding=1)  # conv2d: c8
a8 = R.add(b, c8)  # limit: the input is a constant
c9 = R.nn.conv2d(x, w, padding=1)  # conv2d: c9
r9 = R.nn.relu(c9)  # nothing
s9 = R.add(c9, r9)  # table: r9, s9; chain=['r9', 's9']
return (r1, r2, r3, r4, a5, r6, r7, a8, s9)

# Case: functions of one tensor become one table
# A link that others read is a table too; a function that enlarges its tensor is none.
# Before
c = R.nn.conv2d(x, w, padding=1)
s = R.sigmoid(c)
m = R.multiply(c, s)  # table: s, m; chain=['s', 'm']
d = R.nn.conv2d(m, w, padding=1)
s2 = R.sigmoid(d)  # table: s2; chain=['s2']
m2 = R.multiply(d, s2)  # table: m2; chain=['s2', 'm2']
j = R.concat((m2, s2), axis=1)
e = R.nn.max_pool2d(j, pool_size=(2, 2))
p = R.matmul(u, square)
f = R.multiply(p, axes)  # scale_shift: f; needs_output_codes=True; links=['f']
return (e, f)

# Case: a link that a float operator reads is computed there
# By rule one of two readers of sigmoid is float; the other still has its table.
# Options: rules=[Rule("m", None)]
# Before
c = R.nn.conv2d(x, w, padding=1)
s = R.sigmoid(c)  # default: a float operator reads it
m = R.multiply(c, s)  # rule 'm'
a = R.add(c, s)  # table: a; chain=['s', 'a']
j = R.concat((m, a), axis=1)
d = R.nn.max_pool2d(j, pool_size=(2, 2))

# Case: operators that move codes follow their neighbours
# Between float operators they stay float; between a float tensor and a convolution they move codes.
# Before
t = R.permute_dims(x, axes=[0, 1, 3, 2])  # shape: t
c = R.nn.conv2d(t, w, padding=1)
v = R.permute_dims(x, axes=[0, 1, 3, 2])  # default: an operator between float operators stays float
e = R.tril(v)
f = R.add(c, e)

# Case: split reaches through its tuple
# Before
c = R.nn.conv2d(x, w, padding=1)  # conv2d: c
s = R.split(c, 2, axis=1)  # shape: s
a = s[0]  # shape: a
d = s[1]  # shape: d
e = R.concat((d, a), axis=1)  # concat: e
f = R.nn.max_pool2d(e)  # max_pool: f

# Case: a product of two tensors and the numbers behind it
# Numbers that no scale can hold are no members.
# Before
m = R.matmul(y, z)
s = R.multiply(m, R.const(0.5, "float32"))
d = R.divide(s, R.const(4.0, "float32"))
r = R.nn.relu(d)  # matmul: m, s, d, r; low=0.0; factor=0.125
m1 = R.matmul(y, z)  # matmul: m1; factor=1.0
s1 = R.multiply(m1, R.const(-2.0, "float32"))
m2 = R.matmul(y, z)  # matmul: m2; factor=1.0
s2 = R.multiply(m2, R.const(0.0, "float32"))
m3 = R.matmul(y, z)  # matmul: m3; factor=1.0
s3 = R.multiply(m3, R.const(1e30, "float32"))
return (r, s1, s2, s3)
