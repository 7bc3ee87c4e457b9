"""The plain-English check of `make lint`: `python -m tests.plain_english`.

Counts of today are in tests/words/baseline.toml. A file with more findings than there fails, and so does a new file with any.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.words import baseline, commits
from tests.words.findings import ROOT, Finding, commit_findings, counts, files, findings, is_checked

_SHOWN = 10  # findings of a rule in a file
_MOVED = "Did you move text between files? `python -m tests.plain_english --update` carries its counts along."


def main(arguments: list[str] | None = None) -> int:
    """Run the check. The result is the exit code."""
    options = _parser().parse_args(arguments)
    if options.message is not None:
        return _check_message(options.message)
    if options.files is not None:
        names = [_relative(path) for path in options.files]
        found = [finding for name in names if _is_there(name) for finding in findings(name)]
        return _check(found)
    found = [finding for name in files() for finding in findings(name)]
    subjects = commit_findings()
    if subjects is None:
        print(f"Commit subjects are not checked: {commits.BASE} is not in this clone.", file=sys.stderr)
    found += subjects or []
    if options.counts:
        _print_counts(found)
        return 0
    return _update(found) if options.update else _check(found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.plain_english", description=__doc__.partition("\n")[0])
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--update", action="store_true", help="write lower counts; no rule's total may have risen")
    mode.add_argument("--counts", action="store_true", help="print the counts by rule and place")
    mode.add_argument("--files", nargs="*", metavar="FILE", help="check these files only, such as those of a commit")
    mode.add_argument("--message", type=Path, metavar="FILE", help="check a commit message")
    return parser


def _check_message(path: Path) -> int:
    subject = commits.subject_of(path.read_text())
    faults = list(commits.faults(subject))
    for fault in faults:
        print(f"subject: {fault}\n    {subject}")
    return 1 if faults else 0


def _relative(path: str) -> str:
    full = Path(path).resolve()
    return full.relative_to(ROOT).as_posix() if full.is_relative_to(ROOT) else path


def _is_there(name: str) -> bool:
    return is_checked(name) and (ROOT / name).is_file()


def _check(found: list[Finding]) -> int:
    allowed = baseline.read()
    risen = baseline.risen(counts(found), allowed)
    for (path, rule), excess in sorted(risen.items()):
        of_rule = [finding for finding in found if finding.rule == rule and path in (finding.path, finding.place.value)]
        shown = _new(path, of_rule, excess)
        for finding in shown[:_SHOWN]:
            print(finding)
        if len(shown) > _SHOWN:
            print(f"… and {len(shown) - _SHOWN} more of them")
        print(f"{path}: {rule}: {len(of_rule)} found, {allowed[path, rule]} allowed.\n")
    if risen:
        print(_MOVED)
    return 1 if risen else 0


def _new(path: str, found: list[Finding], excess: int) -> list[Finding]:
    """The findings on lines that are newer than the baseline; all, where these are too few to be the cause."""
    added = commits.added_lines(ROOT, path, baseline.BASELINE)
    new = [finding for finding in found if finding.line in added]
    return new if len(new) >= excess else found


def _update(found: list[Finding]) -> int:
    current = counts(found)
    before = baseline.totals(baseline.read())
    after = baseline.totals(current)
    if after - before:
        _check(found)
        rules = ", ".join(f"{rule}: {before[rule]} to {after[rule]}" for rule in sorted(after - before))
        print(f"The baseline is not written: totals rose ({rules}).")
        return 1
    baseline.write(current)
    print(f"{baseline.BASELINE.relative_to(ROOT)}: {before.total():,} to {after.total():,} findings.")
    return 0


def _print_counts(found: Iterable[Finding]) -> None:
    table = Counter((finding.rule, finding.place.value) for finding in found)
    places = sorted({place for _, place in table})
    print(f"{'rule':<15}" + "".join(f"{place:>12}" for place in [*places, "all"]))
    for rule in sorted({rule for rule, _ in table}):
        row = [table[rule, place] for place in places]
        print(f"{rule:<15}" + "".join(f"{count:>12}" for count in [*row, sum(row)]))


if __name__ == "__main__":
    sys.exit(main())
