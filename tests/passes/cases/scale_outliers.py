"""scale_outliers: channels that stand out are made smaller in front of a product, and its weight larger."""

# Given
x: R.Tensor((1, 4, 8), "float32")
w = np.eye(8)
g = np.ones(8)

# Case: a norm's own parameters hold the factors
# Options: outliers={"n": {"factors": {"1": 4.0}}}
# Given
smaller = np.float32([1, 0.25, 1, 1, 1, 1, 1, 1])
larger = np.diag(1 / smaller)
# Before
n = R.tvmq.layer_norm(x, g, g)
y = R.matmul(n, w)
# After
n = R.tvmq.layer_norm(x, smaller, smaller)
y = R.matmul(n, larger)
