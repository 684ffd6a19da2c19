"""`python -m tvmq.tools.cli` is `tvmq`, for where the console script is not on the path."""

from __future__ import annotations

from tvmq.__main__ import main

if __name__ == "__main__":
    main()
