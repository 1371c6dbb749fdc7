"""The verbs of the command line: from parsed arguments through an operation to what is shown."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pm.cli.console import ask, complain, table
from pm.cli.invocation import Call
from pm.errors import PmError
from pm.operations.run import OperationRun, Result
from pm.system.terminal import can_show, columns

if TYPE_CHECKING:
    from pm.generations.bundle import Bundle
    from pm.generations.records import Record
    from pm.receipts.receipt import Receipt

_USAGE = 2


# -- hermes plugins


def plugins_install(arguments: Namespace, words: Sequence[str]) -> int:
    """Install a plugin; on a terminal ask whether to enable it where nobody said so."""
    from pm.operations.install import InstallOptions, install

    call = Call(arguments, words)
    enable = arguments.enable
    if enable is None:
        enable = arguments.yes or ask(f"enable the plugin of `{arguments.source}` as well?")
    how = InstallOptions(enable=bool(enable), force=arguments.force, keep=arguments.keep)
    return call.change("install", arguments.source, lambda run: install(run, arguments.source, how, call.options()))


def plugins_remove(arguments: Namespace, words: Sequence[str]) -> int:
    """Remove a plugin."""
    from pm.operations.remove import remove

    call = Call(arguments, words)
    return call.change("remove", arguments.name, lambda run: remove(run, arguments.name, call.options()))


def plugins_enable(arguments: Namespace, words: Sequence[str]) -> int:
    """Switch a plugin on."""
    from pm.operations.enable import enable

    call = Call(arguments, words)
    return call.change("enable", arguments.name, lambda run: enable(run, arguments.name, call.options()))


def plugins_disable(arguments: Namespace, words: Sequence[str]) -> int:
    """Switch a plugin off."""
    from pm.operations.disable import disable

    return Call(arguments, words).change("disable", arguments.name, lambda run: disable(run, arguments.name))


def plugins_check(arguments: Namespace, words: Sequence[str]) -> int:
    """Judge without changing anything."""
    from pm.operations.check import check

    if fault := _fault_of_check(arguments):
        raise _misused("plugins check", fault)
    call = Call(arguments, words)
    if arguments.replay is not None:
        from pm.operations.replay import replay

        return call.show(call.look("check", "", lambda run: replay(run, arguments.replay)))
    argument = arguments.names[0] if len(arguments.names) == 1 else ""

    def work(run: OperationRun) -> Result:
        return check(run, arguments.names, call.options())

    if arguments.names or arguments.patch is not None or arguments.core is not None:
        receipt = call.look("check", argument, work)
        status = call.show(receipt)
        return status if arguments.patch is None else _write_patch(call, receipt) or status
    before = _inputs(call)
    receipt = call.look("check", argument, work)
    if receipt.outcome == "ready" and not receipt.generation.restart_required and _is_recorded(call, receipt):
        _remember(words, before, receipt, call.shown(receipt))
    return call.show(receipt)


def _fault_of_check(arguments: Namespace) -> str:
    """Return which words would not be heard; empty if all of them would be."""
    if arguments.patch_for and arguments.patch is None:
        return "`--patch-for` says whose bound `--patch` writes"
    if arguments.patch_at and arguments.patch is None:
        return "`--patch-at` says which bound `--patch` writes"
    if arguments.replay is not None and (arguments.names or (arguments.patch, arguments.core) != (None, None)):
        return "`--replay` goes with no plugin, and neither with `--patch` nor `--core`"
    return ""


def _is_recorded(call: Call, receipt: Receipt) -> bool:
    """Say whether the selected lock gave the answer; what was resolved rests on an index, which has no stamp."""
    from pm.generations.records import read_selected

    record = read_selected(call.places)
    return record is not None and record.fingerprint == receipt.inputs_fingerprint


def _write_patch(call: Call, receipt: Receipt) -> int:
    """Write the confirmed bound that a refusal shows; what fits needs none, and what was not judged shows none."""
    from pm.lint.patch import patch_text
    from pm.system.files import write_bytes

    if receipt.outcome != "refused":
        if receipt.outcome in ("admitted", "ready", "not-ready"):
            call.talk.say(f"nothing is written to {call.arguments.patch}: no bound stands in the way")
        return 0
    arguments = call.arguments
    try:
        text = patch_text(receipt, arguments.patch_for, arguments.patch_at)
        write_bytes(Path(arguments.patch).absolute(), text.encode())
    except PmError as error:  # the receipt is shown already
        return complain(error)
    folder = "the plugin's folder" if not call.arguments.patch_for else f"the folder of `{call.arguments.patch_for}`"
    call.talk.say(f"{call.arguments.patch} is written; `patch -p1 < {call.arguments.patch}` in {folder}")
    return 0


def plugins_validate(arguments: Namespace, words: Sequence[str]) -> int:
    """Judge a plugin's folder for its author."""
    from pm.operations.validate import validate

    call = Call(arguments, words)
    receipt = call.look("validate", arguments.path, lambda run: validate(run, arguments.path, call.options()))
    if arguments.format == "github" and not arguments.json:
        from pm.receipts.github import github_lines

        for line in github_lines(receipt, arguments.path):
            print(line)
        call.talk.say(receipt.summary)
        return receipt.exit_status
    return call.show(receipt)


def plugins_list(arguments: Namespace, words: Sequence[str]) -> int:
    """List every copy of every plugin."""
    from pm.cli.listings import plugins, safe
    from pm.cli.listings_text import PLUGIN_COLUMNS

    call = Call(arguments, words)
    rows = [safe(row) for row in plugins(call.view())]
    return call.print(
        {"plugins": rows},
        lambda: (
            table(rows, PLUGIN_COLUMNS) if rows else "no plugin is there; `hermes plugins install FOLDER` brings one"
        ),
    )


def plugins_show(arguments: Namespace, words: Sequence[str]) -> int:
    """Show what is known of one plugin."""
    from pm.cli.listings import details, safe
    from pm.cli.listings_text import details_text
    from pm.operations.plugin_lookup import find_plugin

    call = Call(arguments, words)
    view = call.view()
    value = safe(details(view, find_plugin(view.found, arguments.name)))
    return call.print(value, lambda: details_text(value))


# -- hermes pm


def pm_init(arguments: Namespace, words: Sequence[str]) -> int:
    """Choose the core, and make a generation."""
    from pm.operations.init import initialise

    call = Call(arguments, words)
    bundle = _bundle(arguments) if arguments.bundle is not None else None
    return call.change("init", "", lambda run: initialise(run, call.options(), bundle))


def _bundle(arguments: Namespace) -> Bundle:
    """Read the bundle that a home is made from."""
    from pm.generations.bundle import NotABundle, read_bundle

    try:
        bundle = read_bundle(Path(arguments.bundle))
    except NotABundle as error:
        raise _misused("pm init", str(error)) from error
    if bundle.core is None and arguments.core is None:
        raise _misused("pm init", f"the core of `{bundle.folder}` is a project's folder: name it with `--core`")
    return bundle


def pm_bundle(arguments: Namespace, words: Sequence[str]) -> int:
    """Write the wheels of the selected generation into a folder."""
    from pm.operations.bundle import Order, bring_back, bundle, misplaced, ordered_output, unusable

    call = Call(arguments, words)
    output = ordered_output(arguments.output)
    fault = misplaced(output, call.places.state)
    if not fault and not arguments.dry_run:
        bring_back(output)
    if fault := fault or unusable(output, force=arguments.force):
        raise _misused("pm bundle", fault)
    order = Order(output, force=arguments.force, offline=arguments.offline)
    return call.inspect("bundle", lambda run: bundle(run, order), argument=arguments.output)


def _misused(verb: str, fault: str) -> SystemExit:
    """Say what is wrong with the words where the parser cannot know it, and return what ends the command."""
    from pm.redaction import redact

    print(redact(f"hermes {verb}: error: {fault}"), file=sys.stderr)
    return SystemExit(_USAGE)


def pm_verify(arguments: Namespace, words: Sequence[str]) -> int:
    """Compare the selected generation with its record."""
    from pm.operations.verify import verify

    return Call(arguments, words).inspect("verify", verify)


def pm_repair(arguments: Namespace, words: Sequence[str]) -> int:
    """Build the recorded lock again."""
    from pm.operations.repair import repair

    call = Call(arguments, words)
    return call.change("repair", "", lambda run: repair(run, call.options()))


def pm_rollback(arguments: Namespace, words: Sequence[str]) -> int:
    """Go back to an earlier generation."""
    from pm.operations.rollback import roll_back

    number, agreed = arguments.number, arguments.yes
    return Call(arguments, words).change("rollback", "", lambda run: roll_back(run, number, agreed=agreed))


def pm_gc(arguments: Namespace, words: Sequence[str]) -> int:
    """Delete what nobody needs any more."""
    from pm.operations.gc import collect

    return Call(arguments, words).change("gc", "", collect)


def pm_status(arguments: Namespace, words: Sequence[str]) -> int:
    """Show the selected generation and what is enabled."""
    from pm.cli.listings import safe, status
    from pm.cli.listings_text import status_text

    call = Call(arguments, words)
    value = safe(status(call.view()))
    return call.print(value, lambda: status_text(value))


def pm_receipts(arguments: Namespace, words: Sequence[str]) -> int:
    """List receipts, show one, or show the example of a code."""
    from pm.receipts.store import UnknownReceipt, find, load

    call = Call(arguments, words)
    if arguments.action == "list":
        return _list_receipts(call)
    if arguments.action == "example":
        return _show_example(call)
    try:
        receipt = load(find(call.places.receipts, arguments.id or "latest"))
    except UnknownReceipt as error:
        raise PmError("unknown-receipt", str(error), hint="`hermes pm receipts` lists them") from error
    call.show(receipt)
    return 0


def pm_why(arguments: Namespace, words: Sequence[str]) -> int:
    """Say who asks for a package, or why one cannot be had."""
    from pm.cli.dependency_tree import SIGNS, UnknownPackage, why_text, why_to_json

    call = Call(arguments, words)
    if arguments.wanted is not None:
        from pm.operations.why_not import why_not

        return call.show(call.look("why", arguments.wanted, lambda run: why_not(run, arguments.wanted, call.options())))
    try:
        value = why_to_json(_selected(call), arguments.package)
    except UnknownPackage as error:
        raise PmError("unknown-package", str(error)) from error
    return call.print(value, lambda: why_text(value, width=columns(sys.stdout), ascii=not can_show(sys.stdout, SIGNS)))


def pm_tree(arguments: Namespace, words: Sequence[str]) -> int:
    """Show what needs what."""
    from pm.cli.dependency_tree import SIGNS, UnknownPackage, tree_text, tree_to_json

    call = Call(arguments, words)
    try:
        value = tree_to_json(_selected(call), invert=arguments.invert, depth=arguments.depth)
    except UnknownPackage as error:
        raise PmError("unknown-package", str(error)) from error
    return call.print(value, lambda: tree_text(value, width=columns(sys.stdout), ascii=not can_show(sys.stdout, SIGNS)))


def _inputs(call: Call) -> tuple[list[str], list[list[int] | None]]:
    """Return what an answer about readiness will rest on, as it is before the answer is found."""
    from pm.index.package_sources import consulted_files
    from pm.system.stamps import inputs, stamps

    more = [*map(str, consulted_files(os.environ)), *_selected_paths(call)]
    paths = inputs(str(call.places.home), more)
    return paths, stamps(paths)


def _selected_paths(call: Call) -> list[str]:
    """Return the paths by which a change of the selected generation, of its core and its interpreter shows."""
    from pm.generations.distributions import site_packages
    from pm.generations.records import read_selected
    from pm.host.core import paths_of_core
    from pm.system.stamps import plugin_files

    try:
        record = read_selected(call.places)
        if record is None:
            return []
        folder = call.places.environment(record.environment)
        paths = [site_packages(folder), call.places.record(record.generation), Path(record.interpreter)]
        paths += paths_of_core(record.core)
    except PmError:
        return []
    # plugins of a project count wherever the operator works, and a core that is a project can bring some
    projects = {str(Path(member.root).parent) for member in record.members if member.source == "project"}
    projects |= {str(path) for path in paths if path.name == "plugins"}
    return [*map(str, paths), *(file for folder in sorted(projects) for file in plugin_files(folder))]


def _remember(
    words: Sequence[str], before: tuple[list[str], list[list[int] | None]], receipt: Receipt, shown: str
) -> None:
    """Keep a good answer, unless it rests on more files than those that every plugin has."""
    from contextlib import suppress

    from pm.cli import readiness_cache as quick

    facts = {name: str(getattr(receipt, name)) for name in ("id", "started_at", "finished_at", "duration_ms")}
    with suppress(PmError):  # a cache that cannot be written is no fault of the question
        quick.remember(list(words), before, shown, facts)


def _selected(call: Call) -> Record:
    from pm.generations.records import read_selected

    record = read_selected(call.places)
    if record is None:
        raise PmError("no-generation", "no generation was made yet", hint="`hermes pm init` makes one")
    return record


def _list_receipts(call: Call) -> int:
    from pm.receipts.store import list_receipts

    rows = [
        {"id": stored.id, "time": stored.stamp, "operation": stored.operation, **_outcome(stored.path)}
        for stored in list_receipts(call.places.receipts)
    ]
    columns = ("id", "time", "operation", "outcome", "summary")
    return call.print({"receipts": rows}, lambda: table(rows, columns) if rows else "no receipt is stored")


def _outcome(path: Path) -> dict[str, str]:
    from pm.receipts.receipt import InvalidReceipt
    from pm.receipts.store import load

    try:
        receipt = load(path)
    except (InvalidReceipt, PmError) as error:
        return {"outcome": "unreadable", "summary": str(error)}
    return {"outcome": receipt.outcome, "summary": receipt.summary}


def _show_example(call: Call) -> int:
    from pm.receipts.examples import NAMES, example

    if call.arguments.id not in NAMES:
        message = f"there is no code or outcome `{call.arguments.id or ''}`"
        raise PmError("unknown-receipt", message, hint=f"there are {', '.join(NAMES)}")
    call.show(example(call.arguments.id))
    return 0
