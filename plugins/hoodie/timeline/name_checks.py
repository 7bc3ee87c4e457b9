"""Names in the bodies of metadata files, checked before they become paths: instants, partitions, files.

A body may be of any writer, or damaged, or made up: nothing in it may lead out of the table or into its metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.errors import CorruptTableError, HoodieError, UnsafePathError
from hoodie.model.time import BEGINNING, Time

_LONGEST = 32  # digits; Hudi's instants have 14 or 17, those of its metadata table three more


def named_instant(text: object, where: str) -> Time:
    """An instant, as it becomes part of file and folder names. Raises UnsafePathError unless it is digits."""
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= _LONGEST:
        return Time.of(text)
    raise _unsafe("instant", text, where, "an instant is digits only")


def named_watermark(text: object, where: str) -> Time:
    """An instant, or nothing, which is ""."""
    return named_instant(text, where) if text else BEGINNING


def named_path(text: object, where: str) -> str:
    """A partition path or the path of a file, relative to the table; one slash before it is dropped, as Hudi does.

    Raises UnsafePathError when it leads out of the table or into `.hoodie`.
    """
    if text is None or text == "":
        return ""
    if not isinstance(text, str):
        raise _unsafe("path", text, where, "it is not text")
    path = text.removeprefix("/")
    if path.startswith("/") or "\0" in path or (".." in path and ".." in path.split("/")):
        raise _unsafe("path", text, where, "it leads out of the table")
    if path == ".hoodie" or path.startswith(".hoodie/"):
        raise _unsafe("path", text, where, "it lies in the table's metadata")
    return path


def named_part(text: object, where: str) -> str:
    """A file id or the name of a file. Raises UnsafePathError when it is more than one part of a path."""
    if text is None or text == "":
        return ""
    if not isinstance(text, str) or "/" in text or "\0" in text or text in (".", ".."):
        raise _unsafe("name", text, where, "it is more than one part of a path")
    return text


@contextmanager
def reading(where: str, kind: str) -> Iterator[None]:
    """Context of the decoding of a body: raises CorruptTableError naming `where` when the record is not of a `kind`."""
    try:
        yield
    except HoodieError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise CorruptTableError(
            f"Cannot read {where}",
            found=f"a record that is not that of a {kind} ({error!r})",
            fix="restore the file from a backup; nothing was changed",
        ) from error


def _unsafe(role: str, text: object, where: str, detail: str) -> UnsafePathError:
    return UnsafePathError(
        f"{where} names the {role} {str(text)[:200]!r}",
        found=detail,
        fix="nothing was changed; find the writer of this file before it is moved away or anything else is run",
    )
