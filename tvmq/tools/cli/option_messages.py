"""Messages about the value of an option: typer's in the words of tvmq.

Tests: tests/tools/cli/test_command_help.py
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence


def say_plainly(message: str, flags: Sequence[str], words: Sequence[str]) -> str:
    """A message about the value of an option, as tvmq says it: with the value, and the choice that may be meant.

    flags   spellings of the option
    words   of the command line

    >>> say_plainly("Value error, 'imagnet' is not one of 'imagenet', 'raw'.", (), ())
    "'imagnet' is not one of 'imagenet', 'raw'. Did you mean 'imagenet'?"
    >>> unable = "Input should be a valid integer, unable to parse string as an integer"
    >>> say_plainly(unable, ("--batch",), ("--batch", "x"))
    "'x' is no whole number"
    """
    message = message.removeprefix("Value error, ")
    if "unable to parse string as" in message:
        value = _value_after(flags, words)
        return f"'{value}' is no {'whole number' if 'integer' in message else 'number'}"
    if choice := re.match(r"'(.+?)' is not one of (.+)", message):
        near = difflib.get_close_matches(choice[1], re.findall(r"'(.+?)'", choice[2]), n=1)
        return f"{message.rstrip('.')}. Did you mean '{near[0]}'?" if near else message
    return message


def _value_after(flags: Sequence[str], words: Sequence[str]) -> str:
    """Value of an option on the command line, "--batch 4" or "--batch=4"; "" without one."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        flag, equals, value = word.partition("=")
        if flag in flags:
            return value if equals else following
    return ""
