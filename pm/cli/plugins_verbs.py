"""`hermes plugins`: from parsed arguments through an operation to what is shown."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from pm.cli.console import ask, misused
from pm.cli.invocation import Call
from pm.errors import PmError
from pm.names import shown

if TYPE_CHECKING:
    from pm.cli.listings import View


def install_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Install a plugin; on a terminal ask whether to enable it, where the words do not say so."""
    from pm.operations.install import InstallOptions, install
    from pm.operations.install_several import install_several

    call = Call(arguments, words)
    sources = list(dict.fromkeys(arguments.sources))
    if len(sources) > 1 and (arguments.ref or arguments.keep):
        option = "--ref" if arguments.ref else "--keep"
        raise misused("plugins install", f"`{option}` is about one source, and several are named")
    how = InstallOptions(
        enable=_wants_enabled(arguments, sources),
        force=arguments.force,
        commit=arguments.ref or "",
        keep=arguments.keep,
    )
    if len(sources) > 1:
        said = ", ".join(sources)
        return call.change("install", said, lambda run: install_several(run, sources, how, call.options()))
    return call.change("install", sources[0], lambda run: install(run, sources[0], how, call.options()))


def _wants_enabled(arguments: Namespace, sources: Sequence[str]) -> bool:
    if arguments.enable is not None:
        return bool(arguments.enable)
    if arguments.yes:
        return True
    named = ", ".join(map(shown, sources))
    return all(map(_is_there, sources)) and bool(ask(f"enable {named} as well?"))


def _is_there(source: str) -> bool:
    """Say whether a word names a source: about what is none nothing is asked."""
    from pm.sources.spelling import read_source

    try:
        read_source(source)
    except (PmError, OSError):
        return False
    return True


def update_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Update plugins; without a name only say which ones have something newer."""
    from pm.operations.update_plugins import PluginUpdate, update_plugins

    names = list(dict.fromkeys(arguments.names))
    if not names and not arguments.everything and not arguments.ref:
        return list_outdated(arguments, words)
    if names and arguments.everything:
        raise misused("plugins update", "`--all` means every plugin, and some are named")
    if arguments.ref and len(names) != 1:
        raise misused("plugins update", "`--ref` is about one plugin")
    call = Call(arguments, words)

    def agree(said: str) -> bool:
        call.talk.clear()
        return arguments.yes or bool(ask(f"{said}: update all the same?"))

    how = PluginUpdate(commit=arguments.ref or "", everything=arguments.everything, agree=agree)
    said = ", ".join(names)
    return call.change("update-plugins", said, lambda run: update_plugins(run, names, how, call.options()))


def list_outdated(arguments: Namespace, words: Sequence[str]) -> int:
    """List the installed plugins, each as it stands to its source."""
    from pm.cli.outdated import outdated_rows, outdated_text

    call = Call(arguments, words)
    view = call.view()
    rows = outdated_rows(view, arguments.names, offline=arguments.offline)
    return call.print({"plugins": rows}, outdated_text)


def use_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Select a memory provider or a context engine."""
    from pm.operations.use import Wanted, use

    call, wanted = Call(arguments, words), Wanted(arguments.kind, arguments.name)
    argument = "" if wanted.is_built_in else arguments.name
    return call.change("use", argument, lambda run: use(run, wanted, call.options()))


def remove_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Remove plugins, all of them by one commit."""
    from pm.operations.remove import remove

    call = Call(arguments, words)
    names = list(dict.fromkeys(arguments.names))
    return call.change("remove", ", ".join(names), lambda run: remove(run, names, call.options()))


def enable_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Enable plugins, all of them or none."""
    from pm.operations.enable import enable

    call = Call(arguments, words)
    names = list(dict.fromkeys(arguments.names))
    return call.change("enable", ", ".join(names), lambda run: enable(run, names, call.options()))


def disable_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Disable plugins, all of them by one commit."""
    from pm.operations.disable import disable

    names = list(dict.fromkeys(arguments.names))
    return Call(arguments, words).change("disable", ", ".join(names), lambda run: disable(run, names))


def list_plugins(arguments: Namespace, words: Sequence[str]) -> int:
    """List the plugins, but for those of the core that are not enabled."""
    from pm.cli.listings import administrator, is_enabled, of_the_core_unused, plugins, with_config_problem
    from pm.cli.listings_text import plain_text, plugins_text

    call = Call(arguments, words)
    view = call.view()
    rows = plugins(view)
    shown_rows = [
        row
        for row in rows
        if (arguments.everything or not of_the_core_unused(row))
        and (not arguments.enabled or is_enabled(row))
        and (not arguments.user or row["source"] != "bundled")
    ]
    listing = with_config_problem({"plugins": shown_rows}, view) | call.damages(view)
    if view.selection.decided:
        listing["administrator"] = administrator(view.selection)
    left_out = sum(map(of_the_core_unused, rows)) if not arguments.everything else 0
    text = plain_text if arguments.plain else partial(plugins_text, left_out=left_out)
    return call.print(listing, text)


def show_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Show what is known of one plugin."""
    from pm.cli.listings import details, with_config_problem
    from pm.cli.listings_text import details_text
    from pm.cli.search_verb import entry_text
    from pm.operations.plugin_lookup import find_plugin

    call = Call(arguments, words)
    view = call.view()
    try:
        found = find_plugin(view.found, arguments.name)
    except PmError:
        entry = _listed(call, view)
        if entry is None:
            raise
        return call.print({"catalog_entry": entry}, entry_text)
    shown = with_config_problem(details(view, found), view)
    return call.print(shown | call.damages(view), details_text)


def _listed(call: Call, view: View) -> dict[str, object] | None:
    """Return the entry of the catalog that has a name which is not installed; `None` if there is none."""
    from pm.cli.search_verb import entry_row
    from pm.operations.catalog_lookup import catalog_of

    catalog = catalog_of(call.places, os.environ, offline=call.arguments.offline)
    entry = catalog.entry(call.arguments.name) if catalog is not None else None
    return entry_row(entry, view, catalog) if entry is not None and catalog is not None else None
