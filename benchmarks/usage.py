"""The command line of a module that is run by itself: `--help`, and arguments by their place."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable


def run(main: Callable[..., None], doc: str | None) -> None:
    """Call `main` with the arguments of the process, in order; their names are those of its parameters."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(inspect.signature(main).parameters)
    for name in names:
        parser.add_argument(name)
    args = parser.parse_args()
    main(*(getattr(args, name) for name in names))
