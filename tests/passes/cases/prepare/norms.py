"""prepare: normalizations, softmax and gelu become operators of our own; what only looks like them stays."""

# Given
x: R.Tensor((2, 6, 4, 5), "float32")
v: R.Tensor((2, 6, 5), "float32")
g = np.arange(5.0)
b = np.arange(5.0) - 2
g6 = np.arange(6.0)
b6 = np.arange(6.0) - 2

# Case: as Relax has them
# Given
ones = np.ones(5)
zeros = np.zeros(5)
# Before
y1 = R.nn.rms_norm(x, g, axes=[-1], epsilon=1e-3)
y2 = R.nn.log_softmax(x, axis=1)
y3 = R.nn.layer_norm(x, g, b, axes=[-1], epsilon=1e-3, scale=False, center=False)
return (y1, y2, y3)
# After
y1 = R.tvmq.rms_norm(x, g, axes=1, epsilon=0.001)
y2 = R.tvmq.log_softmax(x, axis=1)
y3 = R.tvmq.layer_norm(x, ones, zeros, axes=1, epsilon=0.001)
return (y1, y2, y3)

# Case: an instance norm over a batch of one
# As torch's importer writes it: the batch has become channels.
# Given
x: R.Tensor((1, 6, 4, 5), "float32")
# Before
y = R.nn.instance_norm(x, g6, b6, channel_axis=1, axes=[0, 2, 3])
# After
y = R.tvmq.group_norm(x, g6, b6, groups=6)

# Case: other axes and other types stay
# Given
h: R.Tensor((2, 3), "float16")
k: R.Tensor((3,), "float16")
# Before
y1 = R.nn.instance_norm(x, g6, b6, channel_axis=1, axes=[0, 2, 3])
y2 = R.nn.group_norm(x, g6, b6, num_groups=2, channel_axis=1, axes=[3], epsilon=1e-3)
y3 = R.nn.rms_norm(h, k, axes=[-1])
return (y1, y2, y3)
# After: the same

# Case: written out
# A quotient that is also a result stays apart from its factor.
# Before
m = R.mean(v, axis=[-1], keepdims=True)
d = R.subtract(v, m)
q = R.multiply(d, d)
s = R.mean(q, axis=[-1], keepdims=True)
e = R.add(s, R.const(0.001, "float32"))
r = R.rsqrt(e)
n = R.multiply(d, r)
y = R.multiply(n, g)
m2 = R.mean(v, axis=[-1], keepdims=True)
d2 = R.subtract(v, m2)
s2 = R.variance(v, axis=[-1], keepdims=True)
e2 = R.add(s2, R.const(0.001, "float32"))
r2 = R.rsqrt(e2)
n2 = R.multiply(d2, r2)
y2 = R.multiply(n2, g)
return (y, n, y2)
# After
n = R.tvmq.layer_norm(v, R.const(np.full((5,), 1.0), "float32"), R.const(np.full((5,), 0.0), "float32"), epsilon=0.0010000000474974513)
y = R.multiply(n, g)
y2 = R.tvmq.layer_norm(v, g, R.const(np.full((5,), 0.0), "float32"), epsilon=0.0010000000474974513)
return (y, n, y2)

# Case: what is read from inside
# Before
m = R.mean(v, axis=[-1], keepdims=True)
d = R.subtract(v, m)
q = R.multiply(d, d)
s = R.mean(q, axis=[-1], keepdims=True)
e = R.add(s, R.const(0.001, "float32"))
r = R.rsqrt(e)
n = R.multiply(d, r)
y = R.multiply(n, d)
# After
m = R.mean(v, axis=[-1], keepdims=True)
d = R.subtract(v, m)
n = R.tvmq.rms_norm(d, R.const(np.full((5,), 1.0), "float32"), epsilon=0.0010000000474974513)
y = R.multiply(n, d)

# Case: another power, squares of something else, a mean in place of epsilon
# Before
m = R.mean(v, axis=[-1], keepdims=True)
d = R.subtract(v, m)
q1 = R.power(d, R.const(3.0, "float32"))
s1 = R.mean(q1, axis=[-1], keepdims=True)
e1 = R.add(s1, R.const(0.001, "float32"))
r1 = R.rsqrt(e1)
y1 = R.multiply(d, r1)
q2 = R.multiply(v, v)
s2 = R.mean(q2, axis=[-1], keepdims=True)
e2 = R.add(s2, R.const(0.001, "float32"))
r2 = R.rsqrt(e2)
y2 = R.multiply(d, r2)
q3 = R.multiply(d, d)
s3 = R.mean(q3, axis=[-1], keepdims=True)
e3 = R.add(s3, m)
r3 = R.rsqrt(e3)
y3 = R.multiply(d, r3)
return (y1, y2, y3)
# After: the same

# Case: a sum without its root, means over other axes, a part of the mean, a large epsilon beside the root
# Before
q1 = R.multiply(v, v)
t1 = R.sum(q1, axis=[-1], keepdims=True)
y1 = R.divide(v, t1)
m2 = R.mean(v, axis=[1], keepdims=True)
d2 = R.subtract(v, m2)
s = R.variance(v, axis=[-1], keepdims=True)
e = R.add(s, R.const(0.1, "float32"))
r = R.sqrt(e)
y2 = R.divide(d2, r)
m = R.mean(v, axis=[-1], keepdims=True)
p3 = R.multiply(m, R.const(0.9, "float32"))
d3 = R.subtract(v, p3)
y3 = R.divide(d3, r)
d4 = R.subtract(v, m)
q4 = R.sqrt(s)
r4 = R.add(q4, R.const(0.1, "float32"))
y4 = R.divide(d4, r4)
return (y1, y2, y3, y4)
# After: the same

# Case: exponentials of another base, half a softmax, a softmax of two axes
# Before
e = R.exp(v)
t = R.sum(e, axis=[-1], keepdims=True)
p1 = R.multiply(v, R.const(0.5, "float32"))
h1 = R.exp(p1)
y1 = R.divide(h1, t)
h2 = R.multiply(e, R.const(0.5, "float32"))
y2 = R.divide(h2, t)
t3 = R.sum(e, axis=[1, 2], keepdims=True)
y3 = R.divide(e, t3)
return (y1, y2, y3)
# After: the same

# Case: other constants make no gelu, nor does another argument
# Before
e1 = R.erf(v)
a1 = R.add(e1, R.const(1.0, "float32"))
b1 = R.multiply(a1, v)
y1 = R.multiply(b1, R.const(0.4, "float32"))
n2 = R.negative(v)
i2 = R.multiply(n2, R.const(0.70710678, "float32"))
e2 = R.erf(i2)
a2 = R.add(e2, R.const(1.0, "float32"))
b2 = R.multiply(a2, v)
y2 = R.multiply(b2, R.const(0.5, "float32"))
return (y1, y2)
# After: the same
