"""CommandApp: the commands of one module, with what each says of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_type_hints

from envsolve.record import record

Function = TypeVar("Function", bound=Callable[..., Any])


@record
class Command:
    """A function that a command line calls; `context` are settings for the library that reads such lines.

    `required` are the parameters without a default.
    """

    function: Callable[..., Any]
    name: str
    epilog: str
    context: Mapping[str, object]
    required: frozenset[str]

    def hints(self) -> dict[str, Any]:
        """The parameters by name: `Annotated[type, Declared]` each."""
        hints = get_type_hints(self.function, include_extras=True)
        hints.pop("return", None)
        return hints


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
            code, defaults = function.__code__, function.__defaults__ or ()
            one = Command(
                function=function,
                name=name or function.__name__.replace("_", "-"),
                epilog=epilog,
                context=context_settings or {},
                required=frozenset(code.co_varnames[: code.co_argcount - len(defaults)]),
            )
            self.commands.append(one)
            return function

        return made


def command_app(text: str | None = None, *, epilog: str | None = None) -> CommandApp:
    """An app for a command's module; `text` and `epilog` are for commands that have commands of their own."""
    return CommandApp(text, epilog)
