"""`hermes`: answer a verb, or hand the words to the core's own command."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from pm.errors import PmError

TYPE_CHECKING = False  # as in `typing`, whose import would cost the quickest answer a tenth of its time
if TYPE_CHECKING:
    from typing import NoReturn

FAILED = 3


def entry() -> NoReturn:
    """Be the program `hermes`: end at once, since taking all modules down again costs more than a quick answer."""
    import gc

    from pm.system.signals import listen, only_to_be_said

    # a dry run makes a hundred thousand values that live to its end: there is no garbage to look for
    gc.set_threshold(100_000, 50, 50)
    listen()
    try:
        status = main()
    except OSError as error:  # from saying what is wrong, to a terminal that is gone
        status = _unheard(error)
    only_to_be_said()
    os._exit(_flushed(status))


def _flushed(status: int) -> int:
    """Write what is still to be written, and return the status: with a disk that is full there is no answer."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            continue
        except OSError as error:
            status = _unheard(error)
    return status


def _unheard(error: OSError) -> int:
    """Say that the output is lost, if standard error is still there: a terminal that was closed is gone for both."""
    with suppress(OSError):
        os.write(2, f"hermes: the output cannot be written: {error.strerror}\n".encode())
    return FAILED


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (docs/reference/command-line.md)."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # a terminal that cannot show a character shows its escape
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _answer(words)
    except PmError as error:
        return _failed(error, as_json="--json" in words)
    except SystemExit as ended:
        from pm.cli.console import USAGE

        # standard error says already what is wrong with the words
        if ended.code == USAGE and "--json" in words:
            print('{"error": {"code": "usage", "message": "the command line is wrong; standard error says how"}}')
        raise
    except BrokenPipeError:
        # the reader of the output has closed it; nothing may be written to it any more
        sys.stdout = None
        return 0
    except OSError as error:
        return _failed(_refused_by_the_system(error), as_json="--json" in words)
    except KeyboardInterrupt:
        print("hermes: stopped", file=sys.stderr)
        return FAILED
    except Exception:  # noqa: BLE001 - a fault of ours must not look like a refusal, which is what status 1 says
        import traceback

        traceback.print_exc()
        print("hermes: this is a fault of the manager itself; nothing was decided", file=sys.stderr)
        return FAILED


def _answer(words: list[str]) -> int:
    if words[:2] == ["plugins", "check"]:
        from pm.cli import readiness_cache as quick

        status = quick.answer(words)
        if status is not None:
            return status
    from pm.cli.arguments import parser
    from pm.cli.console import USAGE, tell
    from pm.cli.verb_table import FAMILIES, LATER, VERBS

    first = words[0] if words else ""
    if first in LATER:
        tell(f"`{first}` is not part of this version of the manager")
        return USAGE
    if first not in FAMILIES and first not in ("-h", "--help", "--version"):
        from pm.cli.run_verb import hand_over

        hand_over(words)
    arguments = parser(first, words[1] if len(words) > 1 else "").parse_args(words)
    if arguments.version:
        from importlib.metadata import version

        print(f"hermes-pm {version('hermes-pm')}")
        return 0
    return VERBS[arguments.family, vars(arguments).get("verb", "")].function()(arguments, words)


def _refused_by_the_system(error: OSError) -> PmError:
    from pathlib import Path

    from pm.system.files import disk_error

    if error.filename is None:
        return PmError("not-writable", f"the system refused a call: {error.strerror or error}")
    return disk_error(error, Path(str(error.filename)), verb="used")


def _failed(error: PmError, *, as_json: bool) -> int:
    """Say what went wrong where no receipt does."""
    from pm.cli.console import complain

    if as_json:
        import json

        from pm.redaction import redact

        said = {name: getattr(error, name) for name in ("code", "message", "hint", "file", "line", "key")}
        print(redact(json.dumps({"error": said}, indent=2)))
    return complain(error)
