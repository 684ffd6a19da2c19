"""`tvmq.search`: which layer gets which precision, so that the model is fastest or smallest within a bound.

    goal.py         what is to be minimized, and what must hold
    space.py        options of a layer, options of the network; a recipe is one choice of each
    scores.py       scores of single samples
    sequential.py   paired sequential test: a trial ends when it is decided
    problem.py      all that a trial depends on, as plain data with a content hash
    trials.py       what a worker measures: errors of single layers, costs, whole recipes
    propose.py      proposals by integer programming
    journal.py      results that are known, in a file
    workers.py      who measures: this process, others, a cluster
    loop.py         rounds of proposals
    front.py        the answer: Pareto front, files

A result depends on the problem alone, not on who measured it or when: the journal may be carried on elsewhere, and any
number of workers gives the same answer.
"""

from __future__ import annotations

from tvmq.quantization.search.front import Point, SearchResult
from tvmq.quantization.search.goal import Goal
from tvmq.quantization.search.loop import search
from tvmq.quantization.search.space import Recipe, SearchSpace

__all__ = ["Goal", "Point", "Recipe", "SearchResult", "SearchSpace", "search"]
