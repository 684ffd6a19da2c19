"""What a value that was read from JSON has to be, down to the names and numbers in it, and where it is not that.

A form is
    a type              an instance of it; bool is no number
    a range             one of these whole numbers
    a frozenset         one of these texts
    MISSING             the entry may be absent
    a tuple             any of these forms
    [form, ...]         a list of any length; without the dots: one of these items
    {name: form}        a dictionary with these entries. Further ones are ignored, unless the key `str` has a form for
                        all of them, or a frozenset one for those that it names: then there are no others
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MISSING = object()
Wrong = tuple[str, Any]  # the path of an entry and what stands there


def first_wrong(value: Any, form: Any, path: str = "") -> Wrong | None:
    """The first entry that does not have its form, with its path; None if all have.

    >>> first_wrong({"size": [1, -2]}, {"size": [range(9), ...]})
    ('size[1]', -2)
    >>> first_wrong({"batch": "n"}, {"batch": frozenset(["m", "n"])}) is None
    True
    """
    if isinstance(form, tuple):
        found = [first_wrong(value, one, path) for one in form]
        return None if None in found else found[0]
    if isinstance(form, list) and isinstance(value, list) and (form[-1:] == [...] or len(form) == len(value)):
        parts = _items(value, form, path)
    elif isinstance(form, dict) and isinstance(value, dict):
        parts = _entries(value, form, path)
    else:
        return None if _fits(value, form) else (path, value)
    wrong = (first_wrong(*part) for part in parts)
    return next((one for one in wrong if one is not None), None)


def _fits(value: Any, form: Any) -> bool:
    """True if a value has a form that has no parts."""
    if value is MISSING or form is MISSING or isinstance(form, list | dict):
        return value is form
    if form is object:
        return True
    kind = form if isinstance(form, type) else int if isinstance(form, range) else str
    return isinstance(value, kind) and not isinstance(value, bool) and (kind is form or value in form)


def _items(values: list[Any], form: list[Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    forms = form[:1] * len(values) if form[-1:] == [...] else form
    return ((value, one, f"{path}[{i}]") for i, (value, one) in enumerate(zip(values, forms, strict=True)))


def _entries(values: dict[str, Any], form: dict[Any, Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    fixed = {name: one for name, one in form.items() if isinstance(name, str)}
    forms = dict(fixed)
    for names, others in ((key, one) for key, one in form.items() if key not in fixed):
        forms |= {
            name: others if names is str or name in names else frozenset() for name in values if name not in fixed
        }
    return ((values.get(name, MISSING), one, f"{path}.{name}".lstrip(".")) for name, one in forms.items())
