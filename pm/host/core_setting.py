"""What a setting of the core says: a requirement on a release, or the folder of a project, with extras."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from admission import Origin, Owner, Requirement
from pm.errors import PmError
from pm.names import EMBEDDED_NAME, HOST_NAME
from pm.redaction import redact


def core_names(setting: str) -> frozenset[str]:
    """Return the names that mean the core before it is read."""
    if not setting or is_project(setting):
        return frozenset({HOST_NAME, EMBEDDED_NAME})
    return frozenset({HOST_NAME, wanted_release(setting).name})


def is_project(setting: str) -> bool:
    """Say whether a setting of the core names a folder and not a release.

    By its spelling alone: a folder that happens to be called `hermes-agent` must not change what the setting means.
    """
    return setting.startswith(("/", ".", "~")) or ("/" in setting.partition("@")[0] and "://" not in setting)


def with_extras(setting: str, extras: Iterable[str]) -> str:
    """Return a setting of the core with just these extras; what else it says stays."""
    from pm.host.project_core import without_extras

    listed = ",".join(sorted(extras))
    listed = f"[{listed}]" if listed else ""
    if is_project(setting):
        return f"{without_extras(setting)}{listed}"
    wanted = wanted_release(setting)
    return f"{wanted.name}{listed}{wanted.specifier}"


def with_same_extras(setting: str, name: str, extras: Sequence[str]) -> str:
    """Return a setting with extras of the core of a name, unless it names some itself or is another core."""
    from pm.host.project_core import without_extras

    if not setting or not extras:
        return setting
    if is_project(setting):
        return with_extras(setting, extras) if without_extras(setting) == setting else setting
    wanted = wanted_release(setting)
    is_same = wanted.name in {name, HOST_NAME}
    return with_extras(setting, extras) if is_same and not wanted.extras else setting


class ChosenRelease(NamedTuple):
    """A setting of the core, and the version that it means."""

    setting: str
    version: str
    """Empty if no release is meant."""


def chosen_release(setting: str, versions: Iterable[str]) -> ChosenRelease:
    """Return what chooses the first of some versions: in the place of an exact one, else if the range holds it."""
    from packaging.specifiers import SpecifierSet

    from admission.universe import is_exact

    wanted = wanted_release(setting)
    extras = f"[{','.join(wanted.extras)}]" if wanted.extras else ""
    if is_exact(wanted.specifier):
        version = next(iter(versions), "")
        return ChosenRelease(f"{wanted.name}{extras}=={version}" if version else setting, version)
    held = SpecifierSet(wanted.specifier)
    return ChosenRelease(setting, next((version for version in versions if held.contains(version)), ""))


_VERSION_ALONE = re.compile(r"(?:[=<>~!]=?=?\s*)?v?\d[\w.!+*-]*(?:\s*,.*)?")


def wanted_release(setting: str) -> Requirement:
    """Return the requirement that a setting is; raise `PmError` (`invalid-declaration`) if it is none on a release."""
    from admission import InvalidRequirementText, parse_requirement

    if "://" in setting and "@" not in setting.partition("://")[0]:
        raise _no_release(setting, HOST_NAME)
    if _VERSION_ALONE.fullmatch(setting):
        meant = f"{HOST_NAME}{'' if setting[0] in '=<>~!' else '=='}{setting.removeprefix('v')}"
        text = f"the core is written with its name, and `{setting}` is a version"
        hint = f"did you mean `{meant}`?"
        raise PmError("invalid-declaration", text, hint=hint, key="pm.core", word=(setting, meant))
    try:
        wanted = parse_requirement(setting, Origin(Owner("core", "")))
    except InvalidRequirementText as error:
        text = f"the core is not a requirement: {error.message}"
        hint = f"write `{error.correction}`" if error.correction else "a folder is written with a `/`, as in `./hermes`"
        raise PmError("invalid-declaration", text, hint=hint, key="pm.core") from error
    if wanted.url or wanted.marker:
        raise _no_release(wanted.canonical, wanted.name)
    return wanted


def _no_release(written: str, name: str) -> PmError:
    text = f"the core must be a release of an index, and `{written}` is none"
    hint = f"write its name and version, such as `{name}==0.19.0`; for a checkout, write its folder"
    return PmError("invalid-declaration", redact(text), hint=hint, key="pm.core")
