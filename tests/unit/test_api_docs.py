"""The reference of the library: every public name has a docstring, and types."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import hoodie.engine
from tests.support.faults import assert_no_faults
from tests.support.scripts import script

MAKE = script("docs/make_api.py")


def public() -> Iterator[tuple[str, object]]:
    """Functions, classes and their members, of the pages."""
    for page in MAKE.PAGES:
        module = importlib.import_module(page)
        names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        for name in names:
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)) or not thing.__module__.startswith("hoodie"):
                continue
            if "__all__" not in vars(module) and thing.__module__ != page:
                continue
            yield f"{page}.{name}", thing
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
                    if getattr(plain, "__name__", member) != member:  # a field's default
                        continue
                    if not member.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
                        yield f"{page}.{name}.{member}", plain


PUBLIC = dict(public())


def test_there_are_names_to_check():
    assert {"hoodie.table.HoodieTable.write", "hoodie.spark.read", "hoodie.errors.StorageError"} <= set(PUBLIC)
    assert len(PUBLIC) > 100


def test_every_public_name_says_what_it_is():
    assert_no_faults(name for name, thing in PUBLIC.items() if not (inspect.getdoc(thing) or _overrides(name)))


def test_every_public_function_has_types():
    assert_no_faults(f"{name}: {missing}" for name, thing in PUBLIC.items() if (missing := _without_type(thing)))


def _without_type(thing: object) -> set[str]:
    """Return the parameters of a function or property that have no type, and `return` without a type of its result."""
    function = thing.fget if isinstance(thing, property) else thing
    if not inspect.isfunction(function):
        return set()
    bare = inspect.unwrap(function)
    return {*inspect.signature(bare).parameters, "return"} - {"self", "cls", *bare.__annotations__}


def _overrides(name: str) -> bool:
    """Says whether a method belongs to a protocol, which documents it."""
    owner, _, member = name.rpartition(".")
    protocol = hoodie.engine.Engine if owner.endswith("Engine") else hoodie.engine.Split
    return owner.startswith(("hoodie.engine.", "hoodie.spark.")) and bool(inspect.getdoc(vars(protocol).get(member)))
