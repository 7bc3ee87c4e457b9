"""Names of data files (format notes, section 4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hoodie.model.time import Time

PARTITION_METAFILE = ".hoodie_partition_metadata"
METADATA_TABLE = ".hoodie/metadata"
EXTERNAL = "_hudiext"  # end of a name in commits of a file that another program wrote: `<name>_<instant>_hudiext`
METADATA_BOOTSTRAP = Time.of("00000000000001")  # instant of a bootstrap that left the rows in the files of the source
FULL_BOOTSTRAP = Time.of("00000000000002")  # instant of a bootstrap that copied them

_BASE = re.compile(r"^([a-zA-Z0-9-]+)_([a-zA-Z0-9-]+)_([0-9]+)\.([a-zA-Z0-9]+)$")
_LOG = re.compile(r"^\.([^._]+)_([^.]*)\.(?:log|archive)\.(\d+)(?:_(\d+-\d+-\d+)(\.cdc)?)?$")


@dataclass(frozen=True, slots=True)
class BaseFileName:
    """`<fileId>_<writeToken>_<instant>.<extension>`."""

    file_id: str
    write_token: str
    instant: Time
    extension: str = "parquet"

    @staticmethod
    def parse(name: str) -> BaseFileName | None:
        match = _BASE.match(name)
        if match is None:
            return None
        file_id, write_token, instant, extension = match.groups()
        return BaseFileName(file_id, write_token, Time.of(instant), extension)

    def __str__(self) -> str:
        return f"{self.file_id}_{self.write_token}_{self.instant}.{self.extension}"


@dataclass(frozen=True, slots=True)
class LogFileName:
    """`.<fileId>_<time>.log.<version>_<writeToken>[.cdc]`; what `time` means depends on the table version."""

    file_id: str
    time: Time
    version: int
    write_token: str
    is_cdc: bool = False

    def __str__(self) -> str:
        return f".{self.file_id}_{self.time}.log.{self.version}_{self.write_token}{'.cdc' if self.is_cdc else ''}"

    @staticmethod
    def parse(name: str) -> LogFileName | None:
        match = _LOG.match(name)
        if match is None:
            return None
        file_id, time, version, write_token, cdc = match.groups()
        return LogFileName(file_id, Time.of(time), int(version), write_token or "", cdc is not None)


def is_data_file(name: str) -> bool:
    """Return whether a table may hold a base, log or CDC file of this name."""
    return BaseFileName.parse(name) is not None or LogFileName.parse(name) is not None
