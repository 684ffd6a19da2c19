"""Groups that go one after the other: each is asked again only when something near it has gone."""

from __future__ import annotations

from collections import Counter

from tests.support.models.networks import block
from tvmq.graph.view import View
from tvmq.passes.families.base import Group
from tvmq.passes.partition.dropping import Dropping

LENGTH = 40


def chain(*, passes: bool) -> tuple[View, dict[str, Group]]:
    """v0 = relu(x), v1 = relu(v0), ...: each a group that reads the one before."""
    lines = [f"v{i} = R.nn.relu({f'v{i - 1}' if i else 'x'})" for i in range(LENGTH)]
    view = View(block('x: R.Tensor((2, 3), "float32")', "\n".join(lines)))
    inputs = {f"v{i}": f"v{i - 1}" if i else "x" for i in range(LENGTH)}
    return view, {name: Group("relu", name, [name], [source], passes=passes) for name, source in inputs.items()}


def test_a_chain_falls_with_few_questions() -> None:
    view, groups = chain(passes=False)
    reasons: dict[str, str] = {}
    dropping = Dropping(view, groups, reasons)
    asked: Counter[str] = Counter()

    def why(group: Group) -> str | None:
        asked[group.output] += 1
        return None if group.inputs[0] in groups else "its input is float"

    dropping.until_stable(why)
    assert not groups
    assert set(reasons.values()) == {"its input is float"}
    assert max(asked.values()) == 2  # once with all, once when its input has gone


def test_what_is_near() -> None:
    view, groups = chain(passes=False)
    assert Dropping(view, groups, {}).neighbours(["v5"]) == ["v5", "v6", "v4"]
    view, groups = chain(passes=True)
    assert set(Dropping(view, groups, {}).neighbours(["v35"])) == {"v34", "v35", "v36", "v37", "v38", "v39"}


def test_who_reads_a_result() -> None:
    view, groups = chain(passes=False)
    dropping = Dropping(view, groups, {})
    assert dropping.all_read(groups["v3"])
    assert not dropping.all_read(groups[f"v{LENGTH - 1}"])  # a result of the model
    assert dropping.remove({"v4": "gone"}) == ["v5", "v3"]
    assert not dropping.all_read(groups["v3"])
