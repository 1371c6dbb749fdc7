"""The embedded core's own `hermes` command, which so far says what it is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.metadata import version

_DISTRIBUTION = "hermes-embedded-core"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; like argparse, leave with 2 when it was misused."""
    parser = _parser()
    _, words = parser.parse_known_args(arguments)
    unknown = f"`{words[0]}` is no command: " if words else ""
    parser.error(f"{unknown}this core answers `--version` only; the manager answers `plugins`, `pm` and `run`")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hermes", description="The core that travels with hermes-pm.")
    parser.add_argument("-V", "--version", action="version", version=f"{_DISTRIBUTION} {version(_DISTRIBUTION)}")
    return parser
