"""The tour of scripts/quickstart, which is not written yet."""

from __future__ import annotations

import sys


def main() -> int:
    """Say so and return an exit status that no caller takes for success."""
    print("the tour is not written yet: the manager is installed in `.venv`", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
