"""The embedded core's own `hermes` command, which so far says what it is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.metadata import version

_DISTRIBUTION = "hermes-embedded-core"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; like argparse, leave with 2 when it was misused."""
    parser = _parser()
    parser.parse_args(arguments)
    parser.error("this core has no commands; it answers `--version`")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hermes", description="The core that travels with hermes-pm.")
    parser.add_argument("-V", "--version", action="version", version=f"{_DISTRIBUTION} {version(_DISTRIBUTION)}")
    return parser
