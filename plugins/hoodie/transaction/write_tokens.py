"""Write tokens of a writer that shares the table: in table version 6 two writers may append to one slice at once, and a log's
name shows neither of them (format notes, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hoodie.model.time import Time


@dataclass(frozen=True)
class OwnTokens:
    """The engine's tokens `<task>-<stage>-<attempt>`, with the writer's number for the stage. It travels to the workers."""

    token: Callable[[int], str]
    writer: int

    def __call__(self, task: int) -> str:
        number, _, attempt = self.token(task).split("-")
        return f"{number}-{self.writer}-{attempt}"


def own_tokens(token: Callable[[int], str], instant: Time) -> OwnTokens:
    """Tokens by which no other writer names a file of the same slice: the number is the time of day of the instant in ms digits
    (HHmmssSSS), which an int of 32 bits holds, as Hudi reads each part of a token."""
    return OwnTokens(token, int(instant[-9:]))
