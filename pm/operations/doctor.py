"""What commonly goes wrong around a home, each with what puts it right; nothing is changed, and no network is used."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.generations.records import read_record, recorded
from pm.index.package_sources import Sources
from pm.index.proxies import proxy_for
from pm.launch.front_door import NAME, is_door
from pm.names import shown
from pm.operations.service_units import naming_units
from pm.places import Places
from pm.plugins.discovery import is_plugin, plugin_folders
from pm.receipts.receipt import time_text
from pm.system.files import free_bytes, owner_hint, size_text
from pm.system.folders import walk

FINDINGS: Mapping[str, str] = {
    "config-unreadable": "a config cannot be read, so that only what was admitted last counts as enabled",
    "damaged": "something that the manager keeps here is not as it was left",
    "no-generation": "no generation was made yet",
    "plugin-not-found": "the config enables a plugin that is not there, and why it is not found",
    "plugin-too-deep": "a plugin lies too deep in `plugins/` to be found",
    "plugin-unreadable": "what a plugin declares cannot be read",
    "plugin-hidden": "a copy of a plugin is never used, because another copy hides it",
    "not-admitted": "an enabled plugin is not as it was admitted, or was never admitted",
    "variable-missing": "a plugin needs a variable that is set nowhere",
    "restart-needed": "a process still runs in an earlier environment",
    "service-names-generation": "a service starts in a generation by its path, and misses every later change",
    "several-hermes": "several programs `hermes` are on the PATH, and another one than the front door is found first",
    "clock-behind": "the clock is behind what was written here",
    "certificate-missing": "a variable names a file of certificates that is not there",
    "proxy-unusable": "a variable names a proxy that cannot be used",
    "little-space": "the disk has little space left",
    "foreign-owner": "files of the manager belong to another user",
}
"""What is looked for: name → what it means."""
_ENOUGH = 500 * 1024 * 1024
"""Bytes for an environment and what is fetched for it."""
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_DEPTH = 5
"""Of folders in `plugins/` that are looked at for one that lies too deep."""


class Symptom(NamedTuple):
    """One thing that is not as it should be."""

    name: str
    """Of `FINDINGS`."""
    message: str
    fix: str
    """A command in backticks, or what to do."""
    file: str = ""


def surroundings(places: Places, environ: Mapping[str, str]) -> Iterator[Symptom]:
    """Yield what is wrong around a home, whatever its config and its generations say."""
    yield from _too_deep(places.home / "plugins")
    yield from _services(places, environ)
    yield from _programs(environ)
    yield from _clock(places)
    yield from _certificates(environ)
    yield from _proxies(environ)
    yield from _space(places)
    yield from _owners(places)


def why_not_found(places: Places, written: str) -> Symptom:
    """Return why a plugin that a config enables is not found, as far as files tell."""
    plugins, name = places.home / "plugins", written.rpartition("/")[2]
    deep = next((folder for folder in _deep_folders(plugins) if folder.name == name), None)
    if deep is not None:
        return _deep_finding(deep, f"`{written}` is enabled, and lies too deep to be found, in {shown(str(deep))}")
    packed = next((path for path in _files(plugins) if path.name.partition(".")[0] == name), None)
    if packed is not None:
        fix = f"`hermes plugins install {packed} --enable` installs it"
        return Symptom("plugin-not-found", f"`{written}` is enabled, and only packed as {shown(str(packed))}", fix)
    fix = f"`hermes plugins disable {written}` takes it out of the config, or install it again from its source"
    return Symptom("plugin-not-found", f"`{written}` is enabled, and no plugin of this name is there", fix)


# -- plugins


def _too_deep(plugins: Path) -> Iterator[Symptom]:
    for folder in _deep_folders(plugins):
        yield _deep_finding(folder, f"the plugin in {shown(str(folder))} lies too deep to be found")


def _deep_finding(folder: Path, message: str) -> Symptom:
    fix = f"`hermes plugins install {folder} --enable` puts it where it is found"
    return Symptom("plugin-too-deep", message, fix, str(folder))


def _deep_folders(plugins: Path) -> Iterator[Path]:
    """Yield the folders of plugins that no reader finds: those below a category, or in a folder of their own."""
    try:
        found = {folder for folder, _ in plugin_folders(plugins)}
    except PmError:
        return
    for directory, folders, _ in walk(plugins):
        path = Path(directory)
        depth = len(path.relative_to(plugins).parts)
        if path in found or depth >= _DEPTH:
            folders.clear()
        elif depth > 1 and is_plugin(path):
            folders.clear()
            yield path
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:
        return []


# -- programs and services


def _services(places: Places, environ: Mapping[str, str]) -> Iterator[Symptom]:
    for unit in naming_units(places, environ):
        numbers = ", ".join(map(str, sorted(unit.numbers)))
        message = f"{shown(str(unit.file))} starts in the environment {numbers} by its path"
        yield Symptom("service-names-generation", message, "`hermes pm services --write` mends it", str(unit.file))


def _programs(environ: Mapping[str, str]) -> Iterator[Symptom]:
    folders = dict.fromkeys(filter(None, environ.get("PATH", "").split(os.pathsep)))
    found = [path for folder in folders if os.access(path := Path(folder, NAME), os.X_OK) and path.is_file()]
    different = {os.path.realpath(path) for path in found}
    doors = [path for path in found if is_door(path)]
    if len(different) > 1 and doors and not is_door(found[0]):
        listed = ", ".join(shown(str(path)) for path in found)
        message = f"{shown(str(found[0]))} is found first, and the front door is {shown(str(doors[0]))} (all: {listed})"
        fix = f'write `export PATH="{doors[0].parent}:$PATH"` into the file that your shell reads at its start'
        yield Symptom("several-hermes", message, fix, str(found[0]))


# -- the machine


def _clock(places: Places) -> Iterator[Symptom]:
    now = datetime.now(UTC)
    newest = max(_times(places), default="")
    if newest > time_text(now + timedelta(hours=1)):
        message = f"the newest generation is of {newest[:16]}, and the clock says {time_text(now)[:16]}"
        yield Symptom("clock-behind", message, "set the clock of this machine")


def _times(places: Places) -> Iterator[str]:
    """Yield when each generation was made; a record that cannot be read is told elsewhere."""
    for number in recorded(places):
        with suppress(PmError):
            yield read_record(places, number).created_at


def _certificates(environ: Mapping[str, str]) -> Iterator[Symptom]:
    for name in _CERTIFICATES:
        value = environ.get(name, "")
        if value and not os.path.exists(value):  # noqa: PTH110 - false for what may not be looked at, on each Python
            message = f"`{name}` names {shown(value)}, which is not there"
            yield Symptom("certificate-missing", message, f"name the file with your certificates, or unset `{name}`")


def _proxies(environ: Mapping[str, str]) -> Iterator[Symptom]:
    yield from dict.fromkeys(finding for scheme in ("https", "http") for finding in _proxy(scheme, environ))


def _proxy(scheme: str, environ: Mapping[str, str]) -> Iterator[Symptom]:
    try:
        proxy_for(f"{scheme}://index.invalid/simple/", Sources(), environ)
    except PmError as error:
        yield Symptom("proxy-unusable", error.message, error.hint)


def _space(places: Places) -> Iterator[Symptom]:
    free = free_bytes(places.root)
    if free < _ENOUGH:
        message = f"{size_text(free)} are free on the disk of {shown(str(places.root))}"
        yield Symptom("little-space", message, "`hermes pm gc --cache` makes room", str(places.root))


def _owners(places: Places) -> Iterator[Symptom]:
    try:
        owner = places.root.stat().st_uid
        paths = [places.state, *places.state.iterdir()]
        foreign = [path for path in paths if path.lstat().st_uid != owner]
    except OSError:
        return
    if foreign:
        message = f"{shown(str(foreign[0]))} belongs to another user than {shown(str(places.root))}"
        fix = owner_hint(foreign[0]) or f"`sudo chown -R --reference={places.root} {places.state}` gives it back"
        yield Symptom("foreign-owner", message, fix, str(foreign[0]))


def ordered(findings: Iterable[Symptom]) -> list[Symptom]:
    """Return findings in the order of the table, each once."""
    places = {name: position for position, name in enumerate(FINDINGS)}
    return sorted(dict.fromkeys(findings), key=lambda finding: places[finding.name])
