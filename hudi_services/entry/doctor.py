"""The `doctor` section of a registry: the DAG that checks all of its tables."""

from __future__ import annotations

from typing import Literal

from hudi_services.entry.dag import DAG_PREFIX
from hudi_services.entry.rounds import Rounds

DOCTOR_DAG = f"{DAG_PREFIX}_doctor"


class Doctor(Rounds):
    """Settings of the doctor: whether it reads data files (`deep`), and the severity from which its run fails."""

    deep: bool = False
    fails_on: Literal["damage", "warning"] = "damage"
