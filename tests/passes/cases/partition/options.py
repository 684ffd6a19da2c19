"""partition: rules and options, whose words stand behind the layers that they decide."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = np.ones((2, 2, 3, 3))
b = np.ones((1, 2, 1, 1))

# Case: convolutions by number
# Options: skip_conv_layers=[1]
# Before
r = R.nn.conv2d(x, w, padding=1)  # conv2d: r
d = R.nn.conv2d(r, w, padding=1)  # option skip_conv_layers: 1

# Case: numbers count convolutions that stay float
# In the order of execution, whatever has an integer form.
# Options: skip_conv_layers=[1]
# Given
x: R.Tensor((2, 2, 3, 3), "float32")
# Before
e = R.nn.conv2d(x, x)
c = R.nn.conv2d(x, w, padding=1)  # option skip_conv_layers: 1
y = R.add(c, e)

# Case: one kind of operators alone
# Options: debug_enabled_ops=["nn.conv2d"]
# Before
c = R.nn.conv2d(x, w, padding=1)  # conv2d: c
y = R.nn.max_pool2d(c)  # option debug_enabled_ops

# Case: activations of 16 bits
# Options: dtype_input="int16", nbit_input=16
# Before
c = R.nn.conv2d(x, w, padding=1)
d = R.nn.conv2d(c, w, padding=1)  # conv2d: d; stream=True; bits=16

# Case: attention reads 8 bits only
# Options: dtype_input="int16", nbit_input=16
# Given
x: R.Tensor((1, 3, 4), "float32")
w = np.eye(4)
# Before
a = R.matmul(x, w)
m = R.matmul(a, R.permute_dims(a, [0, 2, 1]))  # limit: matmul reads codes of 8 bits, not of 16
y = R.matmul(m, a)

# Case: a rule is heard
# Options: rules=[Rule("op:nn.conv2d", weights=QuantSpec("int8", 4, symmetric=True, per_channel=True))]
# Before
c = R.nn.conv2d(x, w, padding=1)
a = R.add(c, b)  # conv2d: c, a; bias=True; rule 'op:nn.conv2d'

# Case: a rule about a layer that is float anyway
# Options: rules=[Rule("y", None)]
# Before
c = R.nn.conv2d(x, w, padding=1)
y = R.tril(c)  # limit: tril has no integer form

# Case: a rule may ask for shape and work
# Options: rules=[Rule(lambda layer: layer.macs > 100 and layer.weight_shape == (2, 2, 3, 3), None)]
# Before
c = R.nn.conv2d(x, w, padding=1)  # rule <lambda>
y = R.nn.relu(c)

# Case: a rule without a layer
# Options: rules=[Rule("nothing", None)]
# Before
c = R.nn.conv2d(x, w, padding=1)
y = R.tril(c)
# Error: ConfigError: matches none of 2 layers

# Case: a leaky relu is a slope of the requantize before it
# Before
c = R.nn.conv2d(x, w, padding=1)
y = R.nn.leakyrelu(c, 0.25)  # conv2d: c, y; negative_slope=0.25
z = R.nn.conv2d(y, w, padding=1)

# Case: a requantize in integers has no slope
# Options: requantize="fixed_point"
# Before
c = R.nn.conv2d(x, w, padding=1)  # conv2d: c
y = R.nn.leakyrelu(c, 0.25)  # table: y; chain=['y']
z = R.nn.conv2d(y, w, padding=1)
