"""define_floats: sums and means that stayed float are of our own order."""

# Given
x: R.Tensor((2, 3, 4), "float32")
i: R.Tensor((2, 3), "int32")
p: R.Tensor((2, 3, 5, 4), "float32")
v: R.Tensor((2, 3, 5, 4, 2), "float32")
square: R.Tensor((1, 4, 4, 4), "float32")

# Case: sums and means
# Before
s = R.sum(x, axis=[-1])
m = R.mean(x, axis=[1, 0], keepdims=True)
a = R.sum(x)
t = R.add(R.mean(s), a)
y = R.add(m, t)
# After
s = R.tvmq.float_sum(x, axes=[2])
m = R.tvmq.float_sum(x, axes=[0, 1], keepdims=True, mean=True)
a = R.tvmq.float_sum(x, axes=[0, 1, 2])
t = R.add(R.tvmq.float_sum(s, axes=[0, 1], mean=True), a)
y = R.add(m, t)

# Case: an average of the whole picture is a mean
# Before
a = R.nn.avg_pool1d(x, pool_size=[4])
b = R.nn.adaptive_avg_pool1d(x, [1])
c = R.nn.avg_pool2d(p, pool_size=[5, 4])
d = R.nn.adaptive_avg_pool2d(p, [1, 1])
e = R.nn.avg_pool3d(v, pool_size=[5, 4, 2])
f = R.nn.adaptive_avg_pool3d(v, [1, 1, 1])
return (a, b, c, d, e, f)
# After
a = R.tvmq.float_sum(x, axes=[2], keepdims=True, mean=True)
b = R.tvmq.float_sum(x, axes=[2], keepdims=True, mean=True)
c = R.tvmq.float_sum(p, axes=[2, 3], keepdims=True, mean=True)
d = R.tvmq.float_sum(p, axes=[2, 3], keepdims=True, mean=True)
e = R.tvmq.float_sum(v, axes=[2, 3, 4], keepdims=True, mean=True)
f = R.tvmq.float_sum(v, axes=[2, 3, 4], keepdims=True, mean=True)
return (a, b, c, d, e, f)

# Case: integers, pools of parts of a picture, nearest resizes and other layouts stay
# Before
a = R.sum(i, axis=[1])
b = R.nn.avg_pool2d(square, pool_size=[2, 2], strides=[2, 2])
c = R.nn.avg_pool2d(square, pool_size=[4, 4], padding=[1, 1, 0, 0], strides=[2, 2])
d = R.nn.adaptive_avg_pool2d(square, [1, 2])
e = R.image.resize2d(square, R.shape([8, 8]), method="nearest_neighbor")
f = R.image.resize2d(square, R.shape([8, 8]), method="linear", layout="NHWC")
return (a, b, c, d, e, f)
# After: the same
