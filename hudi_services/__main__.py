"""`python -m hudi_services`, and the program `hudi-services` of an installation."""

import sys
from typing import NoReturn

from hudi_services.cli.process_exit import Leaving


def run() -> NoReturn:
    """Run the program and end the process."""
    leaving = Leaving()
    from hudi_services.cli.program import main  # what it imports registers its own steps at exit

    leaving.code = main()
    sys.exit(leaving.code)


if __name__ == "__main__":
    run()
