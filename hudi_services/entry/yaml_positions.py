"""YAML with its line numbers: plain values, and the line of every key and item."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from hudi_services.entry.yaml_remedy import remedy

Path = tuple[str | int, ...]

_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_DISGUISED = re.compile(r"[+-]?0[0-9_]+|.*[:_].*|[+-]?0[box].*", re.IGNORECASE)  # octal, sexagesimal, with underscores


@dataclass(frozen=True)
class Problem:
    """A mistake in the YAML itself, at a path and a line."""

    path: Path
    line: int
    message: str


@dataclass(frozen=True)
class Marked:
    """The values of a YAML file as dicts, lists and scalars, the line of each path, and what is wrong so far.

    `data` is None when the syntax is broken.
    """

    data: Any
    lines: dict[Path, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def line(self, path: Iterable[str | int]) -> int:
        """The line of `path`, or of the nearest thing around it."""
        result = tuple(path)
        while result and result not in self.lines:
            result = result[:-1]
        return self.lines.get(result, 1)


def read_marked(text: str) -> Marked:
    """Parse YAML. Broken syntax and a key that is given twice become problems; the first of two keys is kept."""
    try:
        loader = yaml.CSafeLoader(text)
        reader = _Reader(loader)
        root = loader.get_single_node()
        data = {} if root is None else reader.value(root, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        to_do = remedy(error.problem or "", text, line)
        message = f"cannot be read: {error.problem}{f'; {to_do}' if to_do is not None else ''}"
        return Marked(None, problems=(Problem(("YAML",), line, message),))
    except (yaml.YAMLError, ValueError) as error:
        return Marked(None, problems=(Problem(("YAML",), 1, f"cannot be read: {error}"),))
    except RecursionError:
        message = "cannot be read: it is nested too deeply, or an alias is inside what it names"
        return Marked(None, problems=(Problem(("YAML",), 1, message),))
    return Marked(data, reader.lines, tuple(reader.problems))


class _Reader:
    def __init__(self, loader: yaml.CSafeLoader) -> None:
        self._loader = loader
        self.lines: dict[Path, int] = {}
        self.problems: list[Problem] = []

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, position)) for position, item in enumerate(node.value)]
        try:
            value = self._loader.construct_object(node)
        except ValueError as error:  # a date that no calendar has, which other checks take for text
            message = f"{node.value} cannot be read: {error}; correct it, or put it into quotes if it is text"
            self.problems.append(Problem(path, node.start_mark.line + 1, message))
            return node.value
        if node.tag in _NUMBERS and _DISGUISED.fullmatch(node.value):
            message = f"{node.value} means {value} in YAML: write that, or '{node.value}' in quotes"
            self.problems.append(Problem(path, node.start_mark.line + 1, message))
        return value

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = str(key_node.value)
            if key in result:
                first = self.lines[(*path, key)]
                self.problems.append(Problem((*path, key), line, f"is given twice; first on line {first}"))
                continue
            self.lines[(*path, key)] = line
            result[key] = self.value(value_node, (*path, key))
        return result
