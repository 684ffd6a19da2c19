"""The `tvmq` command: the console script, and `python -m tvmq`; Ctrl-C while it is still imported is a sentence."""

from __future__ import annotations

import sys
import warnings


def main() -> None:
    """Entry point; what is imported takes longer than some people wait."""
    try:
        from tvmq.tools.cli.console import warning_printer
        from tvmq.tools.cli.main import main as run

        warnings.showwarning = warning_printer()
        run()
    except KeyboardInterrupt:
        print("tvmq: interrupted; no partly written files are left", file=sys.stderr)
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
