"""`python -m hudi_services`."""

import sys

from hudi_services.cli import main

sys.exit(main())
