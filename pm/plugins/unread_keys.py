"""Keys of a manifest that authors take for a declaration and no host reads; and which field they mean by them."""

from __future__ import annotations

import re
from collections.abc import Iterable

PACKAGES = "python_dependencies"
_PACKAGE_LISTS = ("pip_dependencies", PACKAGES)
_HOST = "requires_hermes"
_FIELDS = (*_PACKAGE_LISTS, _HOST, "external_dependencies", "requires_env")
_NAMES = {
    PACKAGES: (
        "dependencies", "depends", "depends_on", "deps", "install_requires", "optional_dependencies", "optional_deps",
        "packages", "pip", "pip_packages", "pip_requirements", "pip_requires", "python_packages", "python_requirements",
        "requirements", "requires", "requires_packages", "requires_pip",
    ),
    _HOST: ("hermes_version", "hermes_min_version", "min_hermes_version", "minimum_hermes_version", "requires_core"),
    "plugins": (
        "depends_plugins", "plugin_dependencies", "plugin_requirements", "required_plugins", "requires_plugins",
    ),
}  # fmt: skip
"""Meaning → what is written for it, as `_plain` returns it."""
_MEANT = {name: field for field, names in _NAMES.items() for name in names}
_FARTHEST = 2
"""Letters that are written otherwise in a misspelling."""


def field_meant(key: str, known: Iterable[str]) -> str:
    """Return the field that is meant by a key that no host reads; `plugins` where it is other plugins; else empty."""
    if key in known:
        return ""
    plain = _plain(key)
    return _MEANT.get(plain, "") or next((field for field in _FIELDS if _is_near(plain, field)), "")


def _plain(key: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.strip())
    return re.sub(r"[-_. ]+", "_", words).lower()


def _is_near(one: str, other: str) -> bool:
    """Say whether two words differ in no more than two letters."""
    if abs(len(one) - len(other)) > _FARTHEST:
        return False
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, start=1):
        before, row[0] = row[0], number
        for place, another in enumerate(other, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != another))
    return row[-1] <= _FARTHEST
