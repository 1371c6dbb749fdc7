"""`hermes pm`: from parsed arguments through an operation to what is shown."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pm.cli.console import misused
from pm.cli.invocation import Call
from pm.errors import PmError
from pm.system.terminal import can_show, columns

if TYPE_CHECKING:
    from pm.cli.dependency_tree import Why
    from pm.generations.bundle import Bundle
    from pm.generations.records import Record


def set_up(arguments: Namespace, words: Sequence[str]) -> int:
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
        raise misused("pm init", str(error)) from error
    if bundle.core is None and arguments.core is None:
        raise misused("pm init", f"the core of `{bundle.folder}` is a project's folder: name it with `--core`")
    return bundle


def write_bundle(arguments: Namespace, words: Sequence[str]) -> int:
    """Write the wheels of the selected generation into a folder."""
    from pm.operations.bundle import Order, bring_back, bundle, misplaced, ordered_output, unusable

    call = Call(arguments, words)
    output = ordered_output(arguments.output)
    fault = misplaced(output, call.places.state)
    if not fault and not arguments.dry_run:
        bring_back(output)
    if fault := fault or unusable(output, force=arguments.force):
        raise misused("pm bundle", fault)
    order = Order(output, force=arguments.force, offline=arguments.offline)
    return call.inspect("bundle", lambda run: bundle(run, order), argument=arguments.output)


def verify_generation(arguments: Namespace, words: Sequence[str]) -> int:
    """Compare the selected generation with its record."""
    from pm.operations.verify import verify

    everything = arguments.everything
    return Call(arguments, words).inspect("verify", lambda run: verify(run, everything=everything))


def repair_generation(arguments: Namespace, words: Sequence[str]) -> int:
    """Build the recorded lock again."""
    from pm.operations.repair import repair

    call = Call(arguments, words)
    return call.change("repair", "", lambda run: repair(run, call.options()))


def go_back(arguments: Namespace, words: Sequence[str]) -> int:
    """Go back to an earlier generation."""
    from pm.operations.rollback import roll_back

    call, number, agreed = Call(arguments, words), arguments.number, arguments.yes
    return call.change("rollback", "", lambda run: roll_back(run, number, call.options(), agreed=agreed))


def delete_generations(arguments: Namespace, words: Sequence[str]) -> int:
    """Delete what is not needed any more."""
    from pm.operations.gc import collect

    cache, keep = arguments.cache, arguments.keep
    return Call(arguments, words).change("gc", "", lambda run: collect(run, cache=cache, keep=keep))


def list_generations(arguments: Namespace, words: Sequence[str]) -> int:
    """List the generations."""
    from pm.cli.generations import generations, generations_text

    call = Call(arguments, words)
    return call.print(generations(call.places), generations_text)


def compare_generations(arguments: Namespace, words: Sequence[str]) -> int:
    """Show what differs between two generations."""
    from pm.cli.generations import difference, difference_text

    call = Call(arguments, words)
    return call.print(difference(call.places, arguments.before, arguments.after), difference_text)


def show_status(arguments: Namespace, words: Sequence[str]) -> int:
    """Show the selected generation and what is enabled."""
    from pm.cli.listings import status
    from pm.cli.listings_text import status_text

    call = Call(arguments, words)
    view = call.view()
    return call.print(status(view, os.environ) | call.damages(view), status_text)


def explain_package(arguments: Namespace, words: Sequence[str]) -> int:
    """Say what requires a package, or why a requirement cannot be met."""
    from pm.cli.dependency_tree import SIGNS, UnknownPackage, why_text, why_to_json

    call = Call(arguments, words)
    if arguments.wanted is not None:
        from pm.operations.why_not import why_not

        return call.show(call.look("why", arguments.wanted, lambda run: why_not(run, arguments.wanted, call.options())))
    record = _selected(call)
    try:
        value = why_to_json(record, arguments.package)
    except UnknownPackage as error:
        raise PmError("unknown-package", str(error)) from error
    ascii_only = not can_show(sys.stdout, SIGNS)
    told: Why = {**value, "path": _in_place(call, record, value["path"])}
    return call.print(value, lambda _: why_text(told, width=columns(sys.stdout), ascii=ascii_only))


def _in_place(call: Call, record: Record, path: str) -> str:
    """Return the path of a wheel, which a lock has relative to its environment, as it is from everywhere."""
    return os.path.normpath(call.places.environment(record.environment) / path) if path else ""


def draw_tree(arguments: Namespace, words: Sequence[str]) -> int:
    """Show what requires what."""
    from pm.cli.dependency_tree import SIGNS, UnknownPackage, tree_text, tree_to_json

    call = Call(arguments, words)
    try:
        value = tree_to_json(_selected(call), invert=arguments.invert, depth=arguments.depth)
    except UnknownPackage as error:
        raise PmError("unknown-package", str(error)) from error
    ascii_only = not can_show(sys.stdout, SIGNS)
    return call.print(value, lambda _: tree_text(value, width=columns(sys.stdout), ascii=ascii_only))


def _selected(call: Call) -> Record:
    from pm.generations.records import read_selected
    from pm.generations.set_up import no_generation

    record = read_selected(call.places)
    if record is None:
        raise no_generation(call.places)
    return record
