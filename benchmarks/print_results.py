"""Results as tables: those of benchmarks/results, or the documentation pages that hold them.

    python benchmarks/print_results.py [NAME ...]     # tables of these files, or of all
    python benchmarks/print_results.py --update       # write the tables of docs/*.md anew
    python benchmarks/print_results.py --check        # exit code 1 where a page is not what the files say

Every run without --quick writes a file of results: figures, tables, CPU, versions, date and commit.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

from harness.pages import filled_page, pages, result_text
from harness.report import RESULTS


def main() -> None:
    """Command line; see the head of this file."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="files of benchmarks/results, without .json")
    parser.add_argument("--update", action="store_true", help="write the tables of the pages anew")
    parser.add_argument("--check", action="store_true", help="exit code 1 where a page differs from the files")
    options = parser.parse_args()
    stale = [
        page for page in pages() if page.read_text(encoding="utf-8") != filled_page(page.read_text(encoding="utf-8"))
    ]
    for page in stale if options.update else ():
        page.write_text(filled_page(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote {page.name}")
    if options.check and stale:
        raise SystemExit(
            f"python benchmarks/print_results.py --update; stale: {', '.join(page.name for page in stale)}"
        )
    for name in (
        () if options.update or options.check else options.names or sorted(p.stem for p in RESULTS.glob("*.json"))
    ):
        print(f"{name}\n\n{result_text(name)}\n")


if __name__ == "__main__":
    main()
