"""`python -m hudi_services`."""

import sys

from hudi_services.leaving import Leaving

leaving = Leaving()

from hudi_services.cli import main  # noqa: E402 - what it imports registers its own steps at exit

leaving.code = main()
sys.exit(leaving.code)
