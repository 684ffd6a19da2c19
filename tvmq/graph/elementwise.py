"""Relax operators that compute each value from the values at the same place: the one list of them.

Passes make tables of chains of them (passes/families/table.py); samples that meet in none but these stay apart
(samples.py).
"""

ELEMENTWISE = frozenset(
    """
    nn.relu clip sigmoid tanh exp log erf sqrt rsqrt square sign floor ceil round trunc negative abs
    nn.silu nn.gelu nn.gelu_tanh nn.leakyrelu nn.prelu nn.selu nn.softplus
    sin cos tan sinh cosh asin acos atan asinh acosh atanh
    add subtract multiply divide maximum minimum power log_add_exp
    equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor logical_not
    isnan isinf isfinite where astype zeros_like ones_like full_like
    """.split()
)

# Of integers, or of several tensors: no tables are made of them
MORE_ELEMENTWISE = frozenset(
    """
    atan2 floor_divide floor_mod mod ewise_fma left_shift right_shift bitwise_and bitwise_or bitwise_xor bitwise_not
    """.split()
)
