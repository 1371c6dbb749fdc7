"""Whether this manager was installed into the environment of a host, where each would change the other's packages."""

from __future__ import annotations

import os
import sys

from pm.dist_info import ENDING
from pm.errors import PmError

_HOST = "hermes_agent-"


def require_own_environment() -> None:
    """Raise `PmError` (`managed-environment`) if the host's distribution lies beside this manager."""
    site = os.path.join(sys.prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")  # noqa: PTH118 - every start asks this
    try:
        names = os.listdir(site)  # noqa: PTH208 - names are enough
    except OSError:
        return
    if any(name.startswith(_HOST) and name.endswith(ENDING) for name in names):
        message = f"the manager is installed in the environment of `hermes-agent` itself, `{sys.prefix}`"
        hint = (
            "install it beside the host, with `uv tool install` or `pipx install`, and take it out here: "
            f"`{sys.executable} -m pip uninstall hermes-plugin-manager`"
        )
        raise PmError("managed-environment", f"{message}, where it does nothing", hint=hint)
