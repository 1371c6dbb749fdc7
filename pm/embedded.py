"""The embedded core: the wheel of a host that travels inside the manager's own distribution."""

from __future__ import annotations

from pathlib import Path

from pm.errors import PmError

_MANAGER = "hermes-pm"
_WHEELS = "hermes_embedded_core-*.whl"


def embedded_core_wheel() -> Path:
    """Return the embedded core's wheel as it lies in this installation of the manager.

    Raise `PmError` (`not-found-on-index`) if this installation has none.
    """
    # By the installer's record and not beside this file: an editable install imports `pm` from the checkout, while the
    # wheel, which a build made, lies in site-packages.
    from importlib.metadata import PackageNotFoundError, files

    try:
        recorded = files(_MANAGER) or []
    except PackageNotFoundError:
        recorded = []
    wheels = [Path(str(file.locate())) for file in recorded if file.match(_WHEELS)]
    present = [wheel for wheel in wheels if wheel.is_file()]
    if not present:
        raise PmError(
            "not-found-on-index",
            f"the embedded core's wheel is missing from this installation of `{_MANAGER}`",
            hint=f"install `{_MANAGER}` again, or name another core with `--core`",
        )
    return present[0].resolve()


def spoken_version(wheel: Path) -> str:
    """Return the version of the Hermes contract that an embedded core answers to `requires_hermes`."""
    import tomllib
    from zipfile import ZipFile

    name, version, *_ = wheel.name.split("-")
    with ZipFile(wheel) as archive:
        text = archive.read(f"{name}-{version}.dist-info/extra_metadata/pyproject.toml").decode()
    speaks: str = tomllib.loads(text)["tool"]["hermes-pm"]["speaks"]
    return speaks
