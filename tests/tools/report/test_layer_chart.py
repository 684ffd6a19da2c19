"""The chart of layers: heights that are in proportion, names that cannot write markup, nothing without figures."""

from __future__ import annotations

import xml.dom.minidom

import pytest

from tvmq.tools.report.layer_chart import HEIGHT, draw_layer_chart


def row(title, sqnr, seconds, key=None):
    return {"key": key or title, "title": title, "local": None if sqnr is None else {"sqnr": sqnr}, "seconds": seconds}


def bars(chart, kind):
    """{key: height of its bar}"""
    groups = xml.dom.minidom.parseString(chart).getElementsByTagName("g")
    chosen = [group for group in groups if kind in group.getAttribute("class").split()]
    return {g.getAttribute("data-key"): float(g.getElementsByTagName("rect")[1].getAttribute("height")) for g in chosen}


def test_heights_are_in_proportion():
    chart = draw_layer_chart([row("a", 30.0, 1e-6), row("b", 60.0, 2e-6), row("c", -5.0, None), row("d", None, 4e-6)])
    assert bars(chart, "error") == {"a": HEIGHT / 2, "b": 0, "c": HEIGHT, "d": 0}
    assert bars(chart, "time") == {"a": HEIGHT / 4, "b": HEIGHT / 2, "c": 0, "d": HEIGHT}
    assert "up to 4 us" in chart and "a, 30.0 dB, 1.0 us" in chart


def test_errors_alone_and_times_alone():
    errors = draw_layer_chart([row("a", 30.0, None), row("b", 20.0, None)])
    assert bars(errors, "error") and not bars(errors, "time")
    times = draw_layer_chart([row("a", None, 1e-6), row("b", None, 2e-6)])
    assert bars(times, "time") and not bars(times, "error")


@pytest.mark.parametrize("rows", [[], [row("a", 30.0, 1e-6)], [row("a", None, None), row("b", None, None)]])
def test_nothing_to_show(rows):
    assert draw_layer_chart(rows) == ""


def test_names_are_text():
    name = '"><script>pwned()</script>\x00&'
    chart = draw_layer_chart([row(name, 30.0, 1e-6), row("b", 20.0, 1e-6)])
    assert "<script" not in chart and len(xml.dom.minidom.parseString(chart).getElementsByTagName("g")) == 4
