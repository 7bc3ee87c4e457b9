"""The tables of a registry as a doctor's patients."""

from __future__ import annotations

from collections.abc import Mapping

from hoodie.config import laid_over
from hoodie.doctor import catalogue
from hoodie.doctor.finding import Diagnosis
from hudi_services.entry.retention import options_of
from hudi_services.entry.table import Table
from hudi_services.operations.doctor.rounds import SERVICES, Patient, TableDiagnosis
from hudi_services.operations.history.flag import recorded_table
from hudi_services.registry.load import Reading


def patients(reading: Reading, options: Mapping[str, str], *, deep: bool) -> tuple[list[Patient], list[TableDiagnosis]]:
    """Tables that can be looked at; one with a mistake in its entry cannot, and is reported as such."""
    mistaken = [
        (
            mistake.table or reading.registry.file,
            catalogue.UNREADABLE.finding(
                "its entry in the registry has a mistake",
                "correct it (`hudi-services registry check`)",
                found=str(mistake),
            ),
        )
        for mistake in reading.mistakes
    ]
    diagnoses = [TableDiagnosis(name, Diagnosis("", (finding,), {})) for name, finding in mistaken]
    return [patient(table, table.base_path, options, deep=deep) for table in reading.registry.tables], diagnoses


def patient(entry: Table | None, base_path: str, options: Mapping[str, str], *, deep: bool) -> Patient:
    """A table with the options that its entry has for its services and for its loads; what is typed wins."""
    loader = entry.loader if entry is not None else "ingest"
    options_by_service = {
        service: laid_over(options, options_of(entry, service) if entry is not None else {})
        for service in (*SERVICES, loader)
    }
    name, loads = (entry.name, entry.is_ingested) if entry is not None else (base_path, False)
    return Patient(name, base_path, options_by_service, deep, recorded_table(entry), loads)
