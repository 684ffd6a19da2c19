"""partition: sums that a normalization reads, float by default, of 16 bits with residual_streams="int16"."""

# Given
x: R.Tensor((1, 3, 4), "float32")
w = np.eye(4)
g = np.ones(4)

# Case: sums that stay float
# Before
a = R.matmul(x, w)  # dense: a
b = R.matmul(a, w)  # dense: b
s1 = R.add(a, b)  # default: a layer norm reads this sum; in 8 bits it would lose too much
n1 = R.nn.layer_norm(s1, g, g, axes=[-1])
y1 = R.add(s1, n1)
s2 = R.add(a, b)  # default: a softmax reads this sum; in 8 bits it would lose too much
y2 = R.tvmq.softmax(s2)
s3 = R.add(a, b)  # default: a layer norm reads this sum; in 8 bits it would lose too much
r3 = R.reshape(s3, (3, 4))
n3 = R.nn.layer_norm(r3, g, g, axes=[-1])
y3 = R.matmul(n3, w)
s4 = R.add(a, b)  # default: it is added to a sum that stays float for the normalization behind it
t4 = R.add(s4, a)  # default: a layer norm reads this sum; in 8 bits it would lose too much
y4 = R.nn.layer_norm(t4, g, g, axes=[-1])
s5 = R.add(a, b)  # add: s5; needs_output_codes=True
y5 = R.matmul(s5, w)
s6 = R.add(b, a)  # add: s6; needs_output_codes=True
y6 = R.add(s6, a)
return (y1, y2, y3, y4, y5, y6)

# Case: operators that only support each other stay float
# A reshape and a product that reads it would pay conversions for nothing: no convolution is near.
# Before
a = R.matmul(x, w)  # dense: a
b = R.matmul(a, w)  # dense: b
n = R.nn.layer_norm(b, g, g, axes=[-1])
r = R.reshape(x, (1, 4, 3))  # default: an operator between float operators stays float
t = R.permute_dims(r, [0, 2, 1])  # default: an operator between float operators stays float
y = R.multiply(n, t)  # default: an operator between float operators stays float

# Case: sums of 16 bits
# What moves codes to a sum moves 16 bits; what a product reads as well, and what moves a sum to a float one, does not.
# Options: residual_streams="int16"
# Before
a = R.matmul(x, w)  # dense: a
b = R.matmul(a, w)  # dense: b
s1 = R.add(a, b)  # add: s1; needs_output_codes=True; stream=True
y1 = R.nn.layer_norm(s1, g, g, axes=[-1])
s2 = R.subtract(a, b)  # add: s2; needs_output_codes=True; stream=True
y2 = R.nn.layer_norm(s2, g, g, axes=[-1])
s3 = R.add(a, b)  # add: s3; needs_output_codes=True; stream=True
t3 = R.add(s3, a)  # add: t3; needs_output_codes=True; stream=True
y3 = R.nn.layer_norm(t3, g, g, axes=[-1])
s4 = R.add(a, g)  # scale_shift: s4; needs_output_codes=True; links=['s4']; stream=True
y4 = R.nn.layer_norm(s4, g, g, axes=[-1])
r5 = R.reshape(a, (1, 3, 4))  # shape: r5; stream=True; bits=16
s5 = R.add(r5, b)  # add: s5; needs_output_codes=True; stream=True
y5 = R.nn.layer_norm(s5, g, g, axes=[-1])
s6 = R.add(a, b)  # add: s6; needs_output_codes=True; stream=True
r6 = R.reshape(s6, (1, 3, 4))  # shape: r6
n6 = R.nn.layer_norm(r6, g, g, axes=[-1])
y6 = R.add(r6, n6)
r7 = R.reshape(a, (1, 3, 4))  # shape: r7
s7 = R.add(r7, b)  # add: s7; needs_output_codes=True; stream=True
n7 = R.nn.layer_norm(s7, g, g, axes=[-1])
m7 = R.matmul(r7, w)  # dense: m7
y7 = R.add(n7, m7)
s8 = R.add(a, b)  # default: a softmax reads this sum; in 8 bits it would lose too much
y8 = R.tvmq.softmax(s8)
return (y1, y2, y3, y4, y5, y6, y7, y8)

# Case: a rule keeps a sum in float
# Options: residual_streams="int16", rules=[Rule("s", None)]
# Before
a = R.matmul(x, w)
b = R.matmul(a, w)
s = R.add(a, b)  # rule 's'
y = R.nn.layer_norm(s, g, g, axes=[-1])

# Case: a backend that adds no int16 codes
# Options: residual_streams="int16", backend=Backend("toy", streams=())
# Before
a = R.matmul(x, w)
b = R.matmul(a, w)
s = R.add(a, b)  # limit: backend toy adds no int16 codes
y = R.nn.layer_norm(s, g, g, axes=[-1])
