"""A table of plain Parquet or ORC files becomes a Hudi table (format notes, section 10)."""

from hoodie.services.bootstrap.execute import BootstrapResult, run_bootstrap
from hoodie.services.bootstrap.plan import BootstrapPlan
from hoodie.services.bootstrap.preflight import preflight
from hoodie.services.bootstrap.request import BootstrapRequest
from hoodie.services.bootstrap.validate import Validation, validate_bootstrap

__all__ = [
    "BootstrapPlan",
    "BootstrapRequest",
    "BootstrapResult",
    "Validation",
    "preflight",
    "run_bootstrap",
    "validate_bootstrap",
]
