"""The entry point: runs a command line and turns every error into a message and an exit code."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import NoReturn

from envsolve.cli import talk
from envsolve.errors import EnvsolveError

INTERRUPTED = 130
# A disk that is full, broken or read-only is no bug of envsolve's, wherever it shows.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG)


def main(argv: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 the answer is no, 2 bad input, 3 outside failure, 130 interrupted."""
    # Imports make many objects and no garbage: looking for it costs a twentieth of a short command.
    gc.set_threshold(500_000, 20, 20)
    _leave(run(sys.argv[1:] if argv is None else argv))


def _leave(code: int) -> NoReturn:
    """End the process without taking it apart object by object, which costs a short command a tenth of its time.

    Nothing here waits for the end of the process: files, threads and locks are all closed where they were opened.
    """
    os._exit(_all_out(code))


def _all_out(code: int) -> int:
    """The exit code, once all that was printed is out: 3 where it can't be."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # closed by whoever started us
                stream.flush()
    except BrokenPipeError:  # nobody reads on
        return code
    except (OSError, ValueError) as error:
        return code or _cant_write(error)
    return code


def run(argv: list[str]) -> int:
    """The exit code of one command line; errors are printed, never raised."""
    try:
        code = _ran(argv or ["--help"])
        return _interrupted() if code == INTERRUPTED else code
    except EnvsolveError as error:
        talk.error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return _interrupted()
    except (BrokenPipeError, SystemExit):  # nobody reads on; typer makes an exit with 1 of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in _DISK:
            return _bug(error)
        return _cant_write(error)
    except Exception as bug:
        return _bug(bug)


def _ran(argv: list[str]) -> int:
    from envsolve.cli import quick

    plain = quick.read(argv)
    if plain is not None:
        return plain.run()
    from envsolve.cli.group import invoke

    return invoke(argv)


def _cant_write(error: OSError | ValueError) -> int:
    where = getattr(error, "filename", None) or "what was to be printed"
    talk.error(f"can't write {where}: {getattr(error, 'strerror', None) or error}", "")
    return 3


def _bug(bug: Exception) -> int:
    if talk.level() > 1:
        raise bug
    talk.error(
        f"this is a bug in envsolve: {type(bug).__name__}: {bug}",
        "run it again as `envsolve -v COMMAND …` and report what it says",
    )
    return 3


def _interrupted() -> int:
    """Say so once: typer makes an exit code of Ctrl-C, and a command may have told more already."""
    if not talk.told_error():
        talk.error("interrupted", "")
    return INTERRUPTED
