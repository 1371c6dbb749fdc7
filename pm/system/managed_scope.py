"""The folder of what an administrator sets for every home of a machine."""

import os
from collections.abc import Mapping

USUAL = "/etc/hermes"


def managed_scope(environ: Mapping[str, str]) -> str:
    """Return the folder, as the host finds it: that of `HERMES_MANAGED_DIR` if it is there, else the usual one."""
    named = environ.get("HERMES_MANAGED_DIR", "").strip()
    # `Path` takes longer to import than this takes
    return os.path.abspath(named) if named and os.path.isdir(named) else USUAL  # noqa: PTH100, PTH112
