"""partition: what decodes boxes at the end of a network. Behind a result stands the reason, or its group."""

# Given
x: R.Tensor((1, 8, 4, 4), "float32")
four = np.ones((4, 8, 1, 1))
two = np.ones((2, 8, 1, 1))
bins = np.ones((64, 8, 1, 1))
means = np.arange(16.0).reshape(1, 16, 1, 1)

anchors = np.ones((1, 4, 16))
again = np.ones((8, 8, 1, 1))

# Case: boxes by anchors and strides beside scores
# Before
c = R.nn.conv2d(x, four)  # conv2d: c
b = R.reshape(c, R.shape([1, 4, 16]))  # default: decoding behind the last products; as floats it costs next to nothing
m = R.multiply(b, R.const(8.0, "float32"))  # default: decoding behind the last products; as floats it costs next to nothing
a = R.add(m, anchors)  # default: decoding behind the last products; as floats it costs next to nothing
s = R.nn.conv2d(x, two)  # conv2d: s
t = R.reshape(s, R.shape([1, 2, 16]))  # default: decoding behind the last products; as floats it costs next to nothing
g = R.sigmoid(t)  # default: decoding behind the last products; as floats it costs next to nothing
y = R.concat((a, g), axis=1)  # default: a concat at the end of the network; joined as floats its parts keep scales of their own

# Case: sides as means of bins
# Before
c = R.nn.conv2d(x, bins)  # conv2d: c
r = R.reshape(c, R.shape([1, 4, 16, 16]))  # default: decoding behind the last products; as floats it costs next to nothing
p = R.permute_dims(r, axes=[0, 2, 1, 3])  # default: decoding behind the last products; as floats it costs next to nothing
f = R.nn.softmax(p, axis=1)  # limit: nn.softmax has no integer form
d = R.nn.conv2d(f, means)  # default: decoding behind the last products; as floats it costs next to nothing
e = R.reshape(d, R.shape([1, 4, 16]))  # default: decoding behind the last products; as floats it costs next to nothing
s = R.nn.conv2d(x, two)  # conv2d: s
t = R.reshape(s, R.shape([1, 2, 16]))  # default: decoding behind the last products; as floats it costs next to nothing
g = R.sigmoid(t)  # default: decoding behind the last products; as floats it costs next to nothing
y = R.concat((e, g), axis=1)  # default: a concat at the end of the network; joined as floats its parts keep scales of their own

# Case: scores that are sorted by the highest of each place
# Before
s = R.nn.conv2d(x, two)  # conv2d: s
t = R.reshape(s, R.shape([1, 2, 16]))  # default: decoding behind the last products; as floats it costs next to nothing
g = R.sigmoid(t)  # default: decoding behind the last products; as floats it costs next to nothing
h = R.max(g, axis=[1])  # default: decoding behind the last products; as floats it costs next to nothing
k = R.topk(h, k=3, ret_type="values")  # limit: topk has no integer form

# Case: what products read, and pools, stay integers
# Before
c = R.nn.conv2d(x, again)  # conv2d: c
h = R.sigmoid(c)  # table: h; chain=['h']
d = R.nn.conv2d(h, again)  # conv2d: d
p = R.nn.max_pool2d(d, pool_size=[2, 2])  # max_pool: p
q = R.sigmoid(p)  # default: decoding behind the last products; as floats it costs next to nothing
z = R.nn.max_pool2d(h, pool_size=[2, 2])  # max_pool: z
y = R.concat((q, z), axis=1)  # default: a concat at the end of the network; joined as floats its parts keep scales of their own

# Case: places beside sizes and scores, a constant part
# Before
s = R.nn.conv2d(x, two)  # conv2d: s
t = R.reshape(s, R.shape([1, 2, 16]))  # default: decoding behind the last products; as floats it costs next to nothing
g = R.sigmoid(t)  # default: decoding behind the last products; as floats it costs next to nothing
j = R.concat((anchors, g), axis=1)  # limit: a constant part, or parts that are not written out
y = R.permute_dims(j, axes=[0, 2, 1])
