"""`hermes`: answer a verb, or hand the words to the core's own command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from pm.errors import PmError
from pm.system.program import called

TYPE_CHECKING = False  # as in `typing`, whose import would cost the quickest answer a tenth of its time
if TYPE_CHECKING:
    from typing import NoReturn

    from pm.receipts.receipt import Receipt
    from pm.system.streams import Output

FAILED = 3


def entry() -> NoReturn:
    """Be the program `hermes`: end at once, since taking all modules down again costs more than a quick answer."""
    import gc

    from pm.system.signals import listen, only_to_be_said
    from pm.system.streams import open_streams
    from pm.system.umask import keep_others_out

    # a dry run makes a hundred thousand values that live to its end: there is no garbage to look for
    gc.set_threshold(100_000, 50, 50)
    output, errors = open_streams()
    listen()
    keep_others_out()
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    only_to_be_said()
    status = _written(output, status)
    errors.flush()
    os._exit(status)


def _written(output: Output, status: int) -> int:
    """Write what is still to be written, and return the status.

    Where it cannot be written the status stays that of the operation; without one there was nothing but the output.
    """
    output.flush()
    if output.lost is None or output.has_no_reader:
        return status
    from pm.cli.answer import ended_operation

    ended = ended_operation()
    stored = "; `hermes pm receipts show latest` tells how it ended" if ended is not None and not ended.dry_run else ""
    print(f"hermes: the output cannot be written: {output.lost.strerror}{stored}", file=sys.stderr)
    return status if ended is not None else status or FAILED


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (docs/reference/command-line.md)."""
    from pm.cli import answer

    answer.begin()
    words = list(sys.argv[1:] if argv is None else argv)
    as_json = _wants_json(words)
    try:
        return _answer(words)
    except PmError as error:
        return _failed(error, as_json=as_json)
    except SystemExit as ended:
        from pm.cli.console import Misuse

        if isinstance(ended, Misuse) and as_json and not answer.is_given():
            said = {"code": "usage", "message": ended.fault, "hint": ended.hint}
            answer.give_json({"error": said | {"file": "", "line": 0, "key": ""}})
        raise
    except OSError as error:
        return _failed(_refused_by_the_system(error), as_json=as_json)
    except KeyboardInterrupt as stopped:
        by = f" by {stopped}" if str(stopped) else ""
        return _failed(PmError("interrupted", f"stopped{by}"), as_json=as_json)
    except Exception as error:  # noqa: BLE001 - a fault of ours must not look like a refusal, which is what status 1 says
        from pm.operations.manager_fault import manager_fault

        return _failed(manager_fault(error), as_json=as_json)


def _wants_json(words: list[str]) -> bool:
    """Say whether the manager is asked for JSON: what follows `--` is for another command."""
    own = words[: words.index("--")] if "--" in words else words
    return "--json" in own


def _answer(words: list[str]) -> int:
    if words[:1] not in (["plugins"], ["pm"]) or any(word.startswith(("-p", "--profile")) for word in words):
        from pm.cli.host_words import understood

        words = understood(words, os.environ)
    if words[:2] == ["plugins", "check"]:
        from pm.cli import readiness_cache as quick

        status = quick.answer(words)
        if status is not None:
            return status
    from pm.cli.arguments import parse
    from pm.cli.verb_table import ALIASES, is_own, verb_of

    if tuple(words[:2]) in ALIASES:
        words = [words[0], ALIASES[words[0], words[1]], *words[2:]]
    if words[:1] == ["completion"] and called() != "hermes":  # the host's own command completes itself
        words = ["pm", *words]
    if not words and called() != "hermes":
        words = ["--help"]  # the core's own command without words starts a chat, and is `hermes`
    if not is_own(words) and words[:1] not in (["-h"], ["--help"], ["--version"]):
        from pm.cli.run_verb import hand_over
        from pm.cli.wrong_words import meant_for_us

        if (misuse := meant_for_us(words)) is not None:
            raise misuse

        hand_over(words)
    arguments = parse(words)
    if arguments.version:
        print("\n".join(_versions()))
        return 0
    from pm.host.own_environment import require_own_environment

    require_own_environment()
    return verb_of(arguments).function()(arguments, words)


def _versions() -> Iterator[str]:
    """Yield the manager's version, and the core that is selected, if there is one: its own command is behind ours."""
    from importlib.metadata import version

    from pm.generations.pointer import read_pointer
    from pm.places import find_places

    yield f"hermes-pm {version('hermes-plugin-manager')}"
    try:
        pointer = read_pointer(find_places(None, os.environ))
    except PmError:  # every other verb tells it
        return
    if pointer is not None:
        yield f"{pointer.core} (generation {pointer.generation})"


def _refused_by_the_system(error: OSError) -> PmError:
    from pathlib import Path

    from pm.system.files import disk_error

    if error.filename is None:
        return PmError("not-writable", f"the system refused a call: {error.strerror or error}")
    return disk_error(error, Path(str(error.filename)), verb="used")


def _known(ended: Receipt | None) -> dict[str, object]:
    """Return what is known of the operation that has ended; nothing where none has."""
    if ended is None:
        return {}
    selected = ended.generation.after
    return {"receipt": ended.id, "outcome": ended.outcome, "summary": ended.summary, "generation": selected}


def _failed(error: PmError, *, as_json: bool) -> int:
    """Say what went wrong where no receipt does; of an operation that has ended the status stays what it was."""
    from pm.cli.answer import ended_operation, give_json, is_given
    from pm.cli.console import complain, tell

    ended = ended_operation()
    if as_json and not is_given():
        said = {name: getattr(error, name) for name in ("code", "message", "hint", "file", "line", "key")}
        give_json({"error": said} | _known(ended))
    status = complain(error)
    if ended is None:
        return status
    tell(f"this was after `{ended.operation}` had ended: {ended.summary}")
    return ended.exit_status
