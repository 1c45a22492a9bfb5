"""record: a frozen, slotted, keyword-only dataclass that is cheap to define.

`dataclass` writes and compiles six functions for each class, half a millisecond: with the hundred classes of one
command that was a third of its start-up; and its module takes as long to load as `python -c pass`. Here one function
is compiled, when the first object is made, and the others are shared. What comes out is a dataclass for `fields`,
`asdict` and type checkers, and the module `dataclasses` is loaded when one of them asks.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")

_set = object.__setattr__
_ABSENT: Any = object()


class _Given:
    """What a class says of one of its fields: the terms of `dataclasses.field` that records use."""

    def __init__(
        self, *, default: Any = _ABSENT, default_factory: Any = _ABSENT, repr: bool = True, compare: bool = True
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.compare = compare


if TYPE_CHECKING:
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    field = _Given

    def replace(one: T, /, **changes: Any) -> T:
        """A record again, with some fields changed; of any other dataclass too."""
        names = getattr(one, "__slots__", None)
        if names is None:
            from dataclasses import replace as replace_fields

            return replace_fields(one, **changes)
        return type(one)(**{name: getattr(one, name) for name in names} | changes)


def names_of(one: Any) -> tuple[str, ...]:
    """The names of the fields of a record, or of a class of records."""
    found: tuple[str, ...] = one.__slots__
    return found


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a record: as `@dataclass(frozen=True, slots=True, kw_only=True)`, without inheritance."""
    given = {name: _given(cls, name) for name, kind in cls.__annotations__.items() if not _is_class_var(kind)}
    made: Any = _slotted(cls, list(given))
    made.__dataclass_fields__, made.__dataclass_params__ = _Fields(given), _Params()
    _give(made, "__init__", _first_init(made, given))
    _give(made, "__repr__", _repr_of([name for name, one in given.items() if one.repr]))
    names = [name for name, one in given.items() if one.compare]
    compared: Callable[[Any], Any] = attrgetter(*names) if names else type
    _give(made, "__eq__", lambda self, other: self is other or compared(self) == compared(other)
          if other.__class__ is self.__class__ else NotImplemented)  # fmt: skip
    _give(made, "__hash__", lambda self: hash(compared(self)))
    made.__setattr__, made.__delattr__ = _refuse, _refuse
    made.__getstate__, made.__setstate__ = _getstate, _setstate
    made.__replace__ = replace
    result: type[T] = made
    return result


def _is_class_var(kind: object) -> bool:
    return str(kind).removeprefix("typing.").startswith("ClassVar")


def _given(cls: type, name: str) -> _Given:
    said = cls.__dict__.get(name, _ABSENT)
    if type(said).__module__ == "dataclasses":
        raise TypeError(f"{cls.__name__}.{name}: field comes from envsolve.record, not from dataclasses")
    return said if isinstance(said, _Given) else _Given(default=said)


def _slotted(cls: type, names: list[str]) -> type:
    """The class again, with slots: they can't be added to one that is there."""
    left_out = {*names, "__dict__", "__weakref__"}
    content = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    made = type(cls)(cls.__name__, cls.__bases__, {**content, "__slots__": tuple(names), "__match_args__": ()})
    made.__qualname__ = cls.__qualname__
    return made


class _Fields:
    """The fields as the module `dataclasses` notes them, made when it asks for them."""

    def __init__(self, given: dict[str, _Given]) -> None:
        self._given = given

    def __get__(self, _: object, owner: type) -> dict[str, Any]:
        from dataclasses import dataclass

        # Classes of the same fields: what is noted of a field has no public maker.
        noted: Any = type(owner.__name__, (), {"__annotations__": owner.__annotations__, **self._defaults()})
        found: dict[str, Any] = dataclass(kw_only=True)(noted).__dataclass_fields__
        return {name: found[name] for name in self._given}

    def _defaults(self) -> dict[str, Any]:
        from dataclasses import MISSING, field

        def term(value: Any) -> Any:
            return MISSING if value is _ABSENT else value

        return {
            name: field(
                default=term(one.default),
                default_factory=term(one.default_factory),
                repr=one.repr,
                compare=one.compare,
            )
            for name, one in self._given.items()
        }


class _Params:
    """What `dataclass` was told of the class, made when it asks for it."""

    def __get__(self, _: object, owner: type) -> Any:
        from dataclasses import dataclass

        return dataclass(frozen=True, kw_only=True)(type("Pattern", (), {})).__dataclass_params__  # type: ignore[attr-defined]


def _first_init(made: Any, given: dict[str, _Given]) -> Callable[..., None]:
    """An __init__ that puts the real one in its place: of many records a command makes no object."""

    def __init__(self: Any, *args: Any, **values: Any) -> None:
        if made.__init__ is __init__:
            made.__init__ = _init_of(made, given)
        made.__init__(self, *args, **values)

    return __init__


def _give(made: Any, name: str, function: Callable[..., Any]) -> None:
    """Set a method, unless the class has written its own."""
    if name not in made.__dict__ or made.__dict__[name] is None:
        setattr(made, name, function)


def _init_of(made: Any, given: dict[str, _Given]) -> Callable[..., None]:
    """An __init__ that takes each field by its name."""
    values: dict[str, Any] = {"_set": _set, "_absent": _ABSENT}
    head, body = [], []
    for name, one in given.items():
        value = name
        if one.default_factory is not _ABSENT:
            values[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}() if {name} is _absent else {name}"
            head.append(f"{name}=_absent")
        elif one.default is not _ABSENT:
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
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        _set(self, name, value)
