"""`hermes plugins`: from parsed arguments through an operation to what is shown."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial

from pm.cli.console import ask
from pm.cli.invocation import Call
from pm.errors import PmError
from pm.names import shown


def install_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Install a plugin; on a terminal ask whether to enable it, where the words do not say so."""
    from pm.operations.install import InstallOptions, install

    call = Call(arguments, words)
    enable = arguments.enable
    if enable is None:
        enable = arguments.yes or (_is_there(arguments.source) and ask(f"enable {shown(arguments.source)} as well?"))
    how = InstallOptions(enable=bool(enable), force=arguments.force, commit=arguments.ref or "", keep=arguments.keep)
    return call.change("install", arguments.source, lambda run: install(run, arguments.source, how, call.options()))


def _is_there(source: str) -> bool:
    """Say whether a word names a source: about what is none nothing is asked."""
    from pm.sources.spelling import read_source

    try:
        read_source(source)
    except (PmError, OSError):
        return False
    return True


def remove_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Remove a plugin."""
    from pm.operations.remove import remove

    call = Call(arguments, words)
    return call.change("remove", arguments.name, lambda run: remove(run, arguments.name, call.options()))


def enable_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Enable plugins, all of them or none."""
    from pm.operations.enable import enable

    call = Call(arguments, words)
    names = list(dict.fromkeys(arguments.names))
    return call.change("enable", ", ".join(names), lambda run: enable(run, names, call.options()))


def disable_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Disable a plugin."""
    from pm.operations.disable import disable

    return Call(arguments, words).change("disable", arguments.name, lambda run: disable(run, arguments.name))


def list_plugins(arguments: Namespace, words: Sequence[str]) -> int:
    """List the plugins, but for those of the core that are not enabled."""
    from pm.cli.listings import is_enabled, of_the_core_unused, plugins, with_config_problem
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
    left_out = sum(map(of_the_core_unused, rows)) if not arguments.everything else 0
    text = plain_text if arguments.plain else partial(plugins_text, left_out=left_out)
    return call.print(listing, text)


def show_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Show what is known of one plugin."""
    from pm.cli.listings import details, with_config_problem
    from pm.cli.listings_text import details_text
    from pm.operations.plugin_lookup import find_plugin

    call = Call(arguments, words)
    view = call.view()
    shown = with_config_problem(details(view, find_plugin(view.found, arguments.name)), view)
    return call.print(shown | call.damages(view), details_text)
