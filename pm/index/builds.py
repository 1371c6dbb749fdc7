"""Build a wheel from a source distribution whose name the operator consented to."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.index.package_sources import Sources
from pm.names import marked_lines
from pm.redaction import redact
from pm.system.files import put_in_place, working_folder
from pm.system.processes import gave_up_on_a_full_disk, run, scrubbed_environment

_LONGEST_BUILD = 1800.0


class Workshop(NamedTuple):
    """What a build needs."""

    interpreter: Path
    """The target's."""
    sources: Sources
    """Where build requirements come from."""
    built: Path
    """Folder of finished wheels."""
    uv_cache: Path
    kept: Mapping[tuple[str, str], Path] = {}
    """Name and version → the wheel that was built before and is locked: as long as it is there it is the one."""


def build_wheel(sdist: Path, sha256: str, name: str, workshop: Workshop) -> Path:
    """Return the wheel of a source distribution; one that was built before is used again.

    Raise `PmError` (`build-failed`) with the end of what the build said.
    """
    folder = workshop.built / sha256
    done = next(folder.glob("*.whl"), None)
    if done is not None:
        return done
    with working_folder(workshop.built) as temporary:
        output, scratch = temporary / "wheel", temporary / "tmp"
        scratch.mkdir()
        _run_build(sdist, name, workshop, output=output, scratch=scratch)
        wheel = next(output.glob("*.whl"), None)
        if wheel is None:
            raise PmError("build-failed", f"the build of `{name}` ended well and left no wheel")
        return put_in_place(wheel, folder / wheel.name)


def _run_build(sdist: Path, name: str, workshop: Workshop, *, output: Path, scratch: Path) -> None:
    from uv import find_uv_bin

    command: list[str | Path] = [
        find_uv_bin(),
        "build",
        "--wheel",
        "--out-dir",
        output,
        "--python",
        workshop.interpreter,
    ]
    if not workshop.sources.indexes:
        command.append("--no-index")
    finished = run(
        [*command, "--no-create-gitignore", "--no-python-downloads", sdist],
        environment=scrubbed_environment()
        | workshop.sources.environment_for_uv()
        # many a build runs what it has just written, and from `/tmp` that is often forbidden
        | {"UV_CACHE_DIR": str(workshop.uv_cache), "TMPDIR": str(scratch)},
        directory=workshop.built,
        seconds=_LONGEST_BUILD,
    )
    if finished.status:
        told = finished.stdout + finished.stderr
        said = marked_lines(redact(told))
        if gave_up_on_a_full_disk(told):
            raise PmError(
                "no-space",
                f"`{sdist.name}` cannot be built, no space is left:{said}",
                hint=f"builds need room in `{workshop.built}`; free some and run it again",
            )
        raise PmError(
            "build-failed",
            f"`{sdist.name}` cannot be built:{said}",
            hint=f"withdraw the consent to build `{name}`, or install what its build asks for",
        )
