"""partition: which operators stay float. Behind a result stands the reason, or its group."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = np.ones((2, 2, 3, 3))
p = np.ones((1, 2, 4, 4))
infinite = np.where(np.arange(32) == 5, np.inf, 1.0).reshape(1, 2, 4, 4)
slopes = np.float32([0.5, np.nan])
mask = np.ones((1, 2, 4, 4), bool)
partly = np.float32([1, 2000]).reshape(1, 2, 1, 1)

# Case: forms that have no definition on codes
# Before
c = R.nn.conv2d(x, w, padding=1)  # conv2d: c
a1 = R.tril(c)  # limit: tril has no integer form
a2 = R.divide(p, c)  # limit: a constant that varies over the tensor, divided by it, has no integer form
a3 = R.divide(c, x)  # limit: a quotient of two tensors has no integer form
a4 = R.concat((c, p), axis=1)  # limit: a constant part, or parts that are not written out
a5 = R.nn.pad(c, (0, 0, 0, 0, 1, 1, 1, 1), pad_value=-1e9)  # limit: padding with -1e+09 would take all codes for itself
a6 = R.nn.pad(c, (0, 0, 0, 0, 1, 1, 1, 1), pad_mode="edge")  # limit: this form of nn.pad has no definition on codes
a7 = R.nn.avg_pool2d(c, layout="NHWC", pool_size=(2, 2))  # limit: layout NHWC
a8 = R.nn.avg_pool2d(c, pool_size=(2, 2), dilation=(2, 2))  # limit: dilated average pooling
a9 = R.nn.avg_pool2d(c, pool_size=(1, 1), strides=(1, 1), padding=(1, 1, 1, 1))  # limit: a window lies wholly in the padding
b1 = R.image.resize2d(c, (8, 8), method="linear")  # limit: linear resize computes new values
b2 = R.image.resize2d(c, (8, 8), method="nearest_neighbor", coordinate_transformation_mode="align_corners")  # limit: a nearest resize that does not just repeat pixels (NCHW, align_corners, round)
b3 = R.image.resize2d(c, (6, 6), method="nearest_neighbor")  # limit: a nearest resize that does not just repeat pixels (NCHW, half_pixel, round)
b4 = R.multiply(c, infinite)  # limit: constants that are not finite
b5 = R.nn.prelu(c, slopes, axis=1)  # limit: slopes that are not finite
t = R.mean(x, axis=[0, 2, 3])
b6 = R.nn.prelu(c, t, axis=1)  # limit: the slopes are computed in the graph
d = (c, c)
b7 = R.concat(d, axis=1)  # limit: a constant part, or parts that are not written out
i = R.astype(c, "int32")
b8 = R.reshape(i, R.shape([32]))  # limit: the input is int32, not float32
m = R.less(c, p)  # limit: a comparison with a constant that varies over the tensor has no integer form
b9 = R.astype(m, "float32")
c1 = R.where(mask, p, p)  # limit: both sides are constants
c2 = R.where(mask, c, R.const(-10000.0, "float32"))  # limit: a constant beyond 1000 would take all codes for itself
c3 = R.where(mask, c, R.const(float("-inf"), "float32"))  # limit: a constant beyond 1000 would take all codes for itself
c4 = R.where(mask, c, partly)  # limit: a constant beyond 1000 would take all codes for itself
return (a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1, c2, c3, c4)

# Case: a choice by a comparison of integers, sums and choices that a softmax reads
# Before
c = R.nn.conv2d(x, w, padding=1)
i = R.astype(c, "int32")
m = R.less(i, i)  # table: i, m; chain=['i', 'm']
y1 = R.where(m, c, p)  # select: y1; needs_output_codes=True
y2 = R.add(c, p)  # default: a softmax reads this sum; in 8 bits it would lose too much
s2 = R.nn.softmax(y2)
y3 = R.where(mask, c, p)  # default: a softmax reads this sum; in 8 bits it would lose too much
s3 = R.nn.softmax(y3)
s = R.nn.softmax(c)
y4 = R.nn.relu(s)  # default: an operator between float operators stays float
return (y1, s2, s3, y4)

# Case: products of which one side has no scale
# Given
n: R.Tensor((1, 4, 4, 2), "float32")
v: R.Tensor((1, 2, 3), "float32")
u: R.Tensor((3,), "float32")
one = np.ones(3)
y: R.Tensor((2, 2, 3, 3), "float32")
# Before
a = R.nn.conv2d(x, y, padding=1)  # limit: the weight is computed in the graph, not constant
b = R.nn.conv2d(n, w, padding=1, data_layout="NHWC")  # limit: layout NHWC / OIHW
c = R.matmul(v, u)  # limit: a product of a vector has no integer form
d = R.matmul(v, one)  # limit: the constant has rank 1, not 2
e = R.nn.conv2d(w, w)  # limit: the input is a constant
return (a, b, c, d, e)

# Case: averages that int32 cannot hold
# Given
x: R.Tensor((1, 2, 4096, 2100), "float32")
v: R.Tensor((1, 2, 80, 1), "float32")
w = np.ones((2, 2, 1, 1))
# Before
c = R.nn.conv2d(x, w)
y = R.mean(c, axis=[2, 3])  # limit: the sum of 8601600 codes could leave int32
d = R.nn.conv2d(v, w)
z = R.nn.avg_pool2d(d, pool_size=(71, 1), padding=(35, 0, 35, 0), count_include_pad=False)  # limit: the common multiple of the windows' counts leaves int32
return (y, z)

# Case: numbers of values that only a run tells
# Given
x: R.Tensor((1, 2, "h", 4), "float32")
# Before
c = R.nn.conv2d(x, w, padding=1)  # conv2d: c
m = R.mean(c, axis=[2, 3])  # limit: the number of values is dynamic (h, 4)
p2 = R.nn.avg_pool2d(c, [2, 2])  # avg_pool: p2; kernel=[2, 2]; strides=[1, 1]; padding=[0, 0, 0, 0]; counted=[0, 0, 0, 0]
p3 = R.nn.avg_pool2d(c, [2, 2], padding=(1, 1, 1, 1), count_include_pad=True)  # avg_pool: p3; kernel=[2, 2]; strides=[1, 1]; padding=[1, 1, 1, 1]; counted=[1, 1, 1, 1]
p4 = R.nn.avg_pool2d(c, [3, 3], padding=(1, 1, 1, 1))  # limit: windows that count less at the border of a picture whose size is dynamic (h)
p5 = R.nn.avg_pool2d(c, [3, 3], ceil_mode=True)  # limit: windows that count less at the border of a picture whose size is dynamic (h)
p6 = R.nn.avg_pool2d(c, [1, 1], padding=(1, 1, 1, 1), count_include_pad=True)  # limit: windows in the padding alone of a picture whose size is dynamic (h)
p7 = R.nn.adaptive_avg_pool2d(c, output_size=(2, 2))  # limit: adaptive windows of a picture whose size is dynamic (h)
return (m, p2, p3, p4, p5, p6, p7)

# Case: an embedding of numbers that are not finite
# Given
i: R.Tensor((2, 5), "int64")
t = np.float32([[1, 2], [np.inf, 3], [4, 5], [6, 7]])
w = np.ones((2, 4))
# Before
e = R.take(t, i, axis=0)  # limit: a table of numbers that are not finite
m = R.matmul(e, w)
