"""CommandApp: the commands of one module, with what each says of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args, get_type_hints

from envsolve.cli.declared import Declared
from envsolve.record import record

Function = TypeVar("Function", bound=Callable[..., Any])


@record
class Parameter:
    """One parameter of a command line: its type, how it is said, and the group of options that holds it, if any.

    `default` is `...` where it must be said.
    """

    name: str
    kind: Any
    said: Declared
    default: Any
    group: str = ""


@record
class Command:
    """A function that a command line calls; `context` are settings for the library that reads such lines.

    A parameter of the function that is a record of options, `Annotated` each, stands for all of them.
    """

    function: Callable[..., Any]
    name: str
    epilog: str
    context: Mapping[str, object]
    defaults: Mapping[str, Any]

    def parameters(self) -> list[Parameter]:
        """What the command line can say, in its order."""
        hints = self._hints().items()
        return [one for name, hint in hints for one in _parameters(name, hint, self.defaults.get(name, ...))]

    def call(self, words: Mapping[str, Any]) -> Any:
        """Call the function with values by parameter; what is not among them has its default."""
        groups: dict[str, dict[str, Any]] = {}
        own: dict[str, Any] = {}
        for one in self.parameters():
            if one.name in words:
                (groups.setdefault(one.group, {}) if one.group else own)[one.name] = words[one.name]
        hints = self._hints()
        return self.function(**own, **{name: hints[name](**said) for name, said in groups.items()})

    def _hints(self) -> dict[str, Any]:
        hints = get_type_hints(self.function, include_extras=True)
        hints.pop("return", None)
        return hints


def _parameters(name: str, hint: Any, default: Any, group: str = "") -> list[Parameter]:
    match get_args(hint):
        case (kind, Declared() as said):
            return [Parameter(name=name, kind=kind, said=said, default=default, group=group)]
    inside = get_type_hints(hint, include_extras=True)
    return [one for part, its in inside.items() for one in _parameters(part, its, getattr(default, part), name)]


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    code, values = function.__code__, function.__defaults__ or ()
    return dict(zip(code.co_varnames[code.co_argcount - len(values) : code.co_argcount], values, strict=True))


class CommandApp:
    """The commands of a module: one that bears the module's name, or several below it, with a text of their own."""

    def __init__(self, text: str | None, epilog: str | None) -> None:
        self.text = text
        self.epilog = epilog
        self.commands: list[Command] = []

    @property
    def several(self) -> bool:
        """Whether a second word names the command."""
        return self.text is not None

    def command(
        self, name: str = "", *, epilog: str, context_settings: Mapping[str, object] | None = None
    ) -> Callable[[Function], Function]:
        """Make a function a command, by its own name unless another is given."""

        def made(function: Function) -> Function:
            one = Command(
                function=function,
                name=name or function.__name__.replace("_", "-"),
                epilog=epilog,
                context=context_settings or {},
                defaults=_defaults(function),
            )
            self.commands.append(one)
            return function

        return made


def command_app(text: str | None = None, *, epilog: str | None = None) -> CommandApp:
    """An app for a command's module; `text` and `epilog` are for commands that have commands of their own."""
    return CommandApp(text, epilog)
