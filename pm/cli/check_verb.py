"""`hermes plugins check`: check without changing anything, write a confirmed bound as a patch, keep a good answer."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pm.cli.console import complain, misused
from pm.cli.invocation import Call
from pm.errors import PmError

if TYPE_CHECKING:
    from pm.receipts.receipt import Receipt


def check_plugins(arguments: Namespace, words: Sequence[str]) -> int:
    """Check plugins and sources, or everything that is enabled, or repeat the decision of a receipt."""
    if fault := _misuse(arguments):
        raise misused("plugins check", fault)
    call = Call(arguments, words)
    if arguments.replay is not None:
        from pm.operations.replay import replay

        return call.show(call.look("check", "", lambda run: replay(run, arguments.replay)))
    if arguments.names or arguments.patch is not None or arguments.core is not None:
        receipt = _checked(call)
        status = call.show(receipt)
        return status if arguments.patch is None else _write_patch(call, receipt) or status
    from pm.cli.readiness import keep_answer, stamped_inputs

    before = stamped_inputs(call.places)
    receipt = _checked(call)
    keep_answer(call, words, before, receipt)
    return call.show(receipt)


def _misuse(arguments: Namespace) -> str:
    """Return which options would have no effect; empty if all of them have one."""
    if arguments.patch_for and arguments.patch is None:
        return "`--patch-for` requires `--patch`"
    if arguments.patch_at and arguments.patch is None:
        return "`--patch-at` requires `--patch`"
    if arguments.replay is not None and (arguments.names or (arguments.patch, arguments.core) != (None, None)):
        return "`--replay` cannot be used with a plugin, `--patch` or `--core`"
    return ""


def _checked(call: Call) -> Receipt:
    from pm.operations.check import check

    names = call.arguments.names
    argument = names[0] if len(names) == 1 else ""
    return call.look("check", argument, lambda run: check(run, names, call.options()))


def _write_patch(call: Call, receipt: Receipt) -> int:
    """Write the confirmed bound that a refusal shows; what fits, or could not be checked, shows none."""
    from pm.lint.patch import patch_text
    from pm.system.files import write_bytes

    if receipt.outcome != "refused":
        if receipt.outcome in ("admitted", "ready", "not-ready"):
            call.talk.say(f"{call.arguments.patch} is not written: no bound is in the way")
        return 0
    arguments = call.arguments
    try:
        text = patch_text(receipt, arguments.patch_for, arguments.patch_at)
        write_bytes(Path(arguments.patch).absolute(), text.encode())
    except PmError as error:  # the receipt is shown already
        return complain(error)
    folder = "the plugin's folder" if not arguments.patch_for else f"the folder of `{arguments.patch_for}`"
    call.talk.say(f"{arguments.patch} is written; run `patch -p1 < {arguments.patch}` in {folder}")
    return 0
