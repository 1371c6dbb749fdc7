"""`hermes run`, and every word that is not the manager's: become a command in the selected generation."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import NoReturn

from pm.cli.console import misused, tell
from pm.errors import PmError
from pm.places import find_places


def run_command(arguments: Namespace, words: Sequence[str]) -> NoReturn:  # noqa: ARG001 - the signature of all verbs
    """Become the command that was named."""
    from pm.launch.exec import launch

    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise misused("run", "name a command: `hermes run -- CMD …`")
    launch(find_places(arguments.home, os.environ), command, safe=arguments.safe, environ=os.environ, tell=tell)


def hand_over(words: Sequence[str]) -> NoReturn:
    """Become the core's own `hermes` with these words."""
    from pm.cli.host_words import meant_places
    from pm.launch.exec import hand_over

    try:
        hand_over(meant_places(words, os.environ), words, environ=os.environ, tell=tell)
    except PmError as error:
        from pm.cli.wrong_words import near_command

        meant = near_command(words[0]) if words else ""
        error.hint = f"{error.hint}; or did you mean `{meant}`?" if meant else error.hint
        raise
