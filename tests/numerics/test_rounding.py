"""Rounding with feedback: against a plain definition that solves for the remaining taps, and its bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmq.numerics.rounding import DAMPING, round_weights

SEEDS = st.integers(0, 2**32 - 1)


def case(seed: int, *, groups: int = 2, filters: int = 3, taps: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """A weight in steps and the moments of correlated inputs."""
    random = np.random.default_rng(seed)
    weight = random.normal(0, 20, (groups, filters, taps))
    inputs = random.normal(0, 1, (groups, 50, taps)) @ random.normal(0, 1, (groups, taps, taps))
    return weight, inputs.transpose(0, 2, 1) @ inputs / 50


def damped(moments: np.ndarray) -> np.ndarray:
    extra = np.trace(moments, axis1=1, axis2=2) / moments.shape[1] * DAMPING
    return moments + extra[:, None, None] * np.eye(moments.shape[1])


def errors(weight: np.ndarray, codes: np.ndarray, moments: np.ndarray) -> np.ndarray:
    left = weight - codes
    return np.einsum("gfk,gkl,gfl->gf", left, damped(moments), left)


def solved(weight: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Round one filter: the tap of the largest moment left, then solve for all others, which compensate its error."""
    order = np.argsort(np.diag(moments), kind="stable")[::-1]
    best = weight.copy()
    for step, tap in enumerate(order):
        best[tap] = np.rint(best[tap])
        done, rest = order[: step + 1], order[step + 1 :]
        pull = moments[np.ix_(rest, done)] @ (weight[done] - best[done])
        best[rest] = weight[rest] + np.linalg.solve(moments[np.ix_(rest, rest)], pull)
    return best


@pytest.mark.slow
@given(SEEDS)
def test_each_code_makes_up_for_those_before(seed: int) -> None:
    """Codes are those of solving for all taps left after each tap, or the nearest ones where these are better."""
    weight, moments = case(seed)
    codes = round_weights(weight, moments, qmin=-127, qmax=127)
    for g, f in itertools.product(range(weight.shape[0]), range(weight.shape[1])):
        walked = solved(weight[g, f], damped(moments)[g])
        nearest = np.rint(weight[g, f])
        assert np.array_equal(codes[g, f], walked) or np.array_equal(codes[g, f], nearest)


@pytest.mark.slow
@given(SEEDS, st.integers(1, 8), st.sampled_from([2, 7, 127]))
def test_never_worse_than_nearest(seed: int, taps: int, qmax: int) -> None:
    weight, moments = case(seed, taps=taps)
    codes = round_weights(weight, moments, qmin=-qmax, qmax=qmax)
    assert np.array_equal(codes, np.rint(codes)) and np.abs(codes).max() <= qmax
    nearest = np.clip(np.rint(weight), -qmax, qmax)
    assert (errors(weight, codes, moments) <= errors(weight, nearest, moments) * (1 + 1e-9)).all()


def test_it_pays_on_correlated_inputs() -> None:
    """Half of the error at most, over many filters."""
    weight, moments = case(1, groups=4, filters=50, taps=16)
    codes = round_weights(weight, moments, qmin=-127, qmax=127)
    assert errors(weight, codes, moments).sum() < 0.5 * errors(weight, np.rint(weight), moments).sum()


@pytest.mark.parametrize("moments", [np.eye(5)[None] * 3, np.zeros((1, 5, 5))])
def test_inputs_that_have_nothing_to_do_with_each_other_round_to_nearest(moments: np.ndarray) -> None:
    weight = np.random.default_rng(0).normal(0, 40, (1, 4, 5))
    codes = round_weights(weight, moments, qmin=-127, qmax=127)
    np.testing.assert_array_equal(codes, np.clip(np.rint(weight), -127, 127))


def test_codes_stand_still() -> None:
    """Weights that are codes already have no error to compensate."""
    weight, moments = case(3)
    codes = np.clip(np.rint(weight), -127, 127)
    np.testing.assert_array_equal(round_weights(codes, moments, qmin=-127, qmax=127), codes)


def test_groups_are_independent() -> None:
    weight, moments = case(5, groups=3)
    together = round_weights(weight, moments, qmin=-127, qmax=127)
    for g in range(3):
        alone = round_weights(weight[g : g + 1], moments[g : g + 1], qmin=-127, qmax=127)
        np.testing.assert_array_equal(together[g : g + 1], alone)


def test_the_arguments_are_left_alone_and_shapes_checked() -> None:
    weight, moments = case(7)
    before = weight.copy(), moments.copy()
    round_weights(weight, moments, qmin=-127, qmax=127)
    np.testing.assert_array_equal(weight, before[0])
    np.testing.assert_array_equal(moments, before[1])
    with pytest.raises(ValueError, match=r"moments \(2, 5, 5\) do not fit a weight \(2, 3, 6\)"):
        round_weights(weight, moments[:, 1:, 1:], qmin=-127, qmax=127)


def test_empty_weights() -> None:
    assert round_weights(np.zeros((1, 0, 4)), np.zeros((1, 4, 4)), qmin=-7, qmax=7).shape == (1, 0, 4)
    assert round_weights(np.zeros((1, 3, 0)), np.zeros((1, 0, 0)), qmin=-7, qmax=7).shape == (1, 3, 0)


@given(SEEDS)
@settings(max_examples=10)
def test_one_step_for_all_taps_is_that_of_a_weight_in_steps(seed: int) -> None:
    weight, moments = case(seed)
    plain = round_weights(weight, moments, qmin=-8, qmax=7)
    for step in (0.25, -0.25):  # of which products are exact
        steps = np.full_like(weight, abs(step))
        assert np.array_equal(round_weights(weight * abs(step), moments, qmin=-8, qmax=7, steps=steps), plain)
        mirrored = round_weights(weight * step, moments, qmin=-8, qmax=7, steps=np.full_like(weight, step))
        assert np.array_equal(mirrored, plain)


def test_taps_with_steps_of_their_own_make_up_for_each_other() -> None:
    weight, moments = case(3, groups=1, filters=200, taps=32)
    steps = np.repeat(np.random.default_rng(3).uniform(2, 9, (1, 200, 4)), 8, axis=2)
    codes = round_weights(weight, moments, qmin=-8, qmax=7, steps=steps)
    nearest = np.clip(np.rint(weight / steps), -8, 7)
    ours, theirs = (errors(weight, part * steps, moments) for part in (codes, nearest))
    assert (ours <= theirs * (1 + 1e-9)).all() and ours.sum() < 0.5 * theirs.sum()
