"""Errors of HFiles."""

from __future__ import annotations

from hoodie.errors import CorruptFileError, UnsupportedTableError


def corrupt(where: str, detail: str) -> CorruptFileError:
    """The HFile at `where` is torn or damaged."""
    return CorruptFileError(
        f"HFile {where} cannot be read",
        found=detail,
        fix="restore the file from a copy; a metadata table can also be switched off and on, which builds it again",
    )


def unsupported(where: str, detail: str) -> UnsupportedTableError:
    """The HFile at `where` is not of a kind that Hudi writes."""
    return UnsupportedTableError(
        f"HFile {where} is of an unsupported kind",
        found=detail,
        fix="write it again with Apache Hudi's defaults: codec GZ or NONE, Hudi's comparator, no encryption",
    )
