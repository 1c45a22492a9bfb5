"""record: a frozen, slotted, keyword-only dataclass that is cheap to define.

`dataclass` writes and compiles six functions for each class, half a millisecond: with the hundred classes of one
command that was a third of its start-up. Here one is compiled, when the first object is made, and the others are
shared. What comes out is a dataclass for `replace`, `fields`, `asdict` and type checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_set = object.__setattr__


@dataclass(kw_only=True)
class _Pattern:
    """What dataclasses notes of a field and of a class is taken from this one."""

    field: int


_FIELD_TYPE: Any = _Pattern.__dataclass_fields__["field"]._field_type  # type: ignore[attr-defined]
_PARAMS: Any = _Pattern.__dataclass_params__  # type: ignore[attr-defined]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a record: as `@dataclass(frozen=True, slots=True, kw_only=True)`, without inheritance."""
    fields = [_field(cls, name, kind) for name, kind in cls.__annotations__.items() if not _is_class_var(kind)]
    made: Any = _slotted(cls, [one.name for one in fields])
    made.__dataclass_fields__ = {one.name: one for one in fields}
    made.__dataclass_params__ = _PARAMS
    _give(made, "__init__", _first_init(made, fields))
    _give(made, "__repr__", _repr_of([one.name for one in fields if one.repr]))
    names = [one.name for one in fields if one.compare]
    compared: Callable[[Any], Any] = attrgetter(*names) if names else type
    _give(made, "__eq__", lambda self, other: self is other or compared(self) == compared(other)
          if other.__class__ is self.__class__ else NotImplemented)  # fmt: skip
    _give(made, "__hash__", lambda self: hash(compared(self)))
    made.__setattr__, made.__delattr__ = _refuse, _refuse
    made.__getstate__, made.__setstate__ = _getstate, _setstate
    result: type[T] = made
    return result


def _is_class_var(kind: object) -> bool:
    return str(kind).removeprefix("typing.").startswith("ClassVar")


def _field(cls: type, name: str, kind: Any) -> Field[Any]:
    given = cls.__dict__.get(name, MISSING)
    one: Any = given if isinstance(given, Field) else field(default=given)
    one.name, one.type, one.kw_only, one._field_type = name, kind, True, _FIELD_TYPE
    found: Field[Any] = one
    return found


def _slotted(cls: type, names: list[str]) -> type:
    """The class again, with slots: they can't be added to one that is there."""
    left_out = {*names, "__dict__", "__weakref__"}
    content = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    made = type(cls)(cls.__name__, cls.__bases__, {**content, "__slots__": tuple(names), "__match_args__": ()})
    made.__qualname__ = cls.__qualname__
    return made


def _first_init(made: Any, fields: list[Field[Any]]) -> Callable[..., None]:
    """An __init__ that puts the real one in its place: of many records a command makes no object."""

    def __init__(self: Any, *args: Any, **values: Any) -> None:
        if made.__init__ is __init__:
            made.__init__ = _init_of(made, fields)
        made.__init__(self, *args, **values)

    return __init__


def _give(made: Any, name: str, function: Callable[..., Any]) -> None:
    """Set a method, unless the class has written its own."""
    if name not in made.__dict__ or made.__dict__[name] is None:
        setattr(made, name, function)


def _init_of(made: Any, fields: list[Field[Any]]) -> Callable[..., None]:
    """An __init__ that takes each field by its name."""
    values: dict[str, Any] = {"_set": _set, "_absent": MISSING}
    head, body = [], []
    for one in fields:
        name, value = one.name, one.name
        if one.default_factory is not MISSING:
            values[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}() if {name} is _absent else {name}"
            head.append(f"{name}=_absent")
        elif one.default is not MISSING:
            values[f"_default_{name}"] = one.default
            head.append(f"{name}=_default_{name}")
        else:
            head.append(name)
        body.append(f" _set(self, {name!r}, {value})")
    if hasattr(made, "__post_init__"):
        body.append(" self.__post_init__()")
    comma = ", *, " if head else ""
    exec(f"def __init__(self{comma}{', '.join(head)}):\n" + ("\n".join(body) or " pass"), values)  # noqa: S102
    init: Callable[..., None] = values["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    return init


def _repr_of(names: list[str]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _refuse(self: Any, name: str, value: object = None) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        _set(self, name, value)
