"""Build hook: the embedded core's wheel is built from core/ and travels inside the manager's wheel.

It holds for a normal and for an editable install alike, needs no network and starts no process: hatchling, which runs
this hook, builds the second wheel too. `pm.host.embedded` finds the result by what the installer recorded.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilder

FOLDER_IN_WHEEL = "pm/embedded_core"


class EmbeddedCoreHook(BuildHookInterface[BuilderConfig]):
    """Adds core/'s wheel to the files of the manager's wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the same for every version
        """Build the core's wheel and name it for inclusion."""
        self._staging = TemporaryDirectory(prefix="hermes-pm-build-")
        wheel = _build_wheel(Path(self.root) / "core", Path(self._staging.name))
        build_data["force_include"][str(wheel)] = f"{FOLDER_IN_WHEEL}/{wheel.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - the interface
        """Remove the staged wheel, which is inside the finished one now."""
        self._staging.cleanup()


def _build_wheel(project: Path, directory: Path) -> Path:
    [wheel] = WheelBuilder(str(project)).build(directory=str(directory), versions=["standard"])
    return Path(wheel)
