"""What a registry may say of the doctor, which looks at all of its tables."""

from __future__ import annotations

from typing import Literal

from hudi_services.entry.dag import DAG_PREFIX
from hudi_services.entry.rounds import Rounds

DOCTOR_DAG = f"{DAG_PREFIX}_doctor"


class Doctor(Rounds):
    """Whether the doctor reads data files, and from which severity on its run fails."""

    deep: bool = False
    fails_on: Literal["damage", "warning"] = "damage"
