"""Operators that stand in a traced graph for products of codes; products.py imports them.

tvmq::integer_linear(q, w)                   int32 sums of codes (..., K) times codes (N, K)
tvmq::coded_linear(x, w, scales, size)       floats (..., K) times codes (N, K) with a scale for each `size` neighbours
tvmq::group_linear(q, s, w, scales, size)    int8 rows with a scale each, times such codes

Tests: tests/formats/importing/test_importers.py
"""

from __future__ import annotations

import torch


def _floats(codes: torch.Tensor, scales: torch.Tensor, size: int) -> torch.Tensor:
    return codes.float() * scales.repeat_interleave(size, 1)


@torch.library.custom_op("tvmq::integer_linear", mutates_args=())
def integer_linear(q: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Exact int32 sums of products."""
    return (q.double() @ weight.double().t()).to(torch.int32)


@integer_linear.register_fake
def _(q: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return q.new_empty((*q.shape[:-1], weight.shape[0]), dtype=torch.int32)


@torch.library.custom_op("tvmq::coded_linear", mutates_args=())
def coded_linear(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, size: int) -> torch.Tensor:
    """The product with the floats that the codes stand for."""
    return x @ _floats(weight, scales, size).t()


@coded_linear.register_fake
def _(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, size: int) -> torch.Tensor:
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


@torch.library.custom_op("tvmq::group_linear", mutates_args=())
def group_linear(
    q: torch.Tensor, scale: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, size: int
) -> torch.Tensor:
    """Sums of a group times its scale, summed, times the scale of the row."""
    return (q.float() @ _floats(weight, scales, size).t()) * scale


@group_linear.register_fake
def _(q: torch.Tensor, scale: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, size: int) -> torch.Tensor:
    return scale.new_empty((*q.shape[:-1], weight.shape[0]))
