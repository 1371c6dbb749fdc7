"""Damaged bytes of what the manager reads: each is read or refused, within limits on time and memory."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from admission import Declaration
from fixtures.homes import new_home, write_plugin
from fixtures.limited import limited
from fixtures.mutations import mutations
from fixtures.sampling import seed_of_this_run
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe
from pm.cli.listings import details, look, plugins, status
from pm.config.edit import ConfigChange, Disable, Enable, Remove, Set, edit_config
from pm.config.reader import read_config
from pm.documents.files import Content, folder_files
from pm.errors import PmError
from pm.generations.drift import drift_of
from pm.generations.pointer import read_pointer
from pm.generations.records import read_selected
from pm.generations.transaction import recover
from pm.launch.admitted import unadmitted
from pm.operations.leftovers import sweep
from pm.places import Places
from pm.plugins.archive import unpack
from pm.plugins.declaration import assemble
from pm.receipts.receipt import InvalidReceipt
from pm.receipts.store import list_receipts, load
from pm.verdict.evidence import decided_again

COUNTS = pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
PLUGINS = Path(__file__).parents[2] / "fixtures" / "plugins"
CONFIG = """\
# what runs
model: {default: x, base: &base {a: 1, b: [2, 3]}}
plugins:
  enabled: [ash, memory/mem0]   # by hand
  disabled:
    - birch
  entries:
    ash: {<<: *base, c: 'x'}
memory:
  provider: mem0
security: {allow_lazy_installs: off}
pm:
  core: hermes-agent==0.19.0
  exclude_newer: 14 days
  keep_generations: 3
  indexes:
    - {url: "https://user:secret@index.invalid/simple", packages: ["torch*"], default: true}
  find_links: [./wheels]
"""


def within_limits(label: str, work: Callable[[], object], *, seconds: float = 120) -> None:
    ending = limited(work, seconds=seconds)
    assert ending.is_good, f"{label}: {ending}"


def expect(error: PmError, *codes: str) -> None:
    if error.code not in codes:
        raise AssertionError(error.code) from error


# -- what plugins and operators write


def declarations(count: int) -> Iterator[tuple[str, Declaration]]:
    """Yield what is read of the sample plugins with one of their files damaged."""
    names = ("plugin.yaml", "plugin.yml", "plugin.json", "pyproject.toml", "requirements.txt")
    files = sorted(path for name in names for path in PLUGINS.rglob(name))
    for file in files:
        for label, damaged in mutations(file.read_bytes(), count // len(files) + 1, str(file)):

            def fetch(name: str, damaged: bytes = damaged, file: Path = file) -> Content:
                return damaged if name == file.name else folder_files(file.parent)(name)

            yield label, assemble(fetch, key=None, fallback="p", core_names=frozenset({"hermes-agent"}))


@COUNTS
def test_damaged_declarations(count: int) -> None:
    within_limits("declarations", lambda: sum(len(found.problems) for _, found in declarations(count)))


def configs(folder: Path, count: int) -> None:
    """Read damaged configs, and change those that can be read."""
    file = folder / "config.yaml"
    changes: list[ConfigChange] = [
        Enable("cedar"),
        Disable("ash"),
        Remove("memory/mem0"),
        Set("pm.core", "x"),
        Set("pm.indexes", ()),
    ]
    for number, (_, damaged) in enumerate(mutations(CONFIG.encode(), count, "config")):
        file.write_bytes(damaged)
        try:
            read_config(damaged.decode(errors="replace"), "config.yaml")
            edit_config(file, [changes[number % len(changes)]])
        except PmError as error:
            expect(error, "config-unreadable")


@COUNTS
def test_damaged_configs(tmp_path: Path, count: int) -> None:
    within_limits("configs", lambda: configs(tmp_path, count))


# -- archives


def packed(kind: str) -> bytes:
    """Return an archive of a few plugins with files, folders, programs and links."""
    stream = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted((PLUGINS / "shared-state").rglob("*")):
                archive.write(path, f"top/{path.relative_to(PLUGINS)}")
    else:
        with tarfile.open(fileobj=stream, mode=f"w:{kind}", format=tarfile.PAX_FORMAT) as made:  # type: ignore[call-overload]  # each mode has a signature of its own
            made.add(PLUGINS / "shared-state", "top/shared-state")
            link = tarfile.TarInfo("top/link-" + "ü" * 120)
            link.type, link.linkname = tarfile.SYMTYPE, "shared-state/plugin.yaml"
            made.addfile(link)
    return stream.getvalue()


def unpacked(folder: Path, kind: str, count: int) -> None:
    for number, (_, damaged) in enumerate(mutations(packed(kind), count, kind)):
        archive = folder / f"archive.{kind or 'tar'}"
        archive.write_bytes(damaged)
        try:
            unpack(archive, folder / f"{kind}-{number}")
        except PmError as error:
            expect(error, "unsafe-archive", "not-writable")
            if (folder / f"{kind}-{number}").exists():
                raise AssertionError(number) from error


@COUNTS
@pytest.mark.parametrize("kind", ["zip", "", "gz", "bz2", "xz"])
def test_damaged_archives(tmp_path: Path, kind: str, count: int) -> None:
    within_limits(kind, lambda: unpacked(tmp_path, kind, count))


# -- the state of the manager itself


class _Kept:
    """A home with a generation, two plugins, receipts and a refusal."""

    def __init__(self, folder: Path) -> None:
        (folder / "wheels").mkdir()
        build_recipe(folder / "wheels", read_recipe(DEFAULT_RECIPE))
        self.home = new_home(folder / "home", wheels=folder / "wheels")
        self.home.install(self.home.plugin("ash", "demo-colors"))
        write_plugin(self.home.path / "plugins" / "birch", "demo-socket")
        self.home.ask("plugins", "enable", "birch")
        self.home.install(self.home.plugin("cedar", "demo-colors>=99"))
        self.home.ask("plugins", "check")
        self.home.say("run", "--", "true")
        self.places = Places(self.home.path, self.home.root)
        journal = {
            "schema": 1,
            "operation": "install",
            "committed": False,
            "pointer": {"before": "sha256:1", "after": "sha256:2"},
            "replacements": [
                {"path": str(folder / "x"), "kind": "file", "before": "", "after": "sha256:3", "staged": "", "kept": ""}
            ],
        }
        self.journal = json.dumps(journal).encode()

    def files(self) -> dict[str, tuple[Path, bytes]]:
        state = self.home.state
        receipts = sorted(state.glob("receipts/*-install-*.json"))
        found = {
            "pointer": state / "pointer.json",
            "record": max(state.glob("generations/*.json")),
            "installed trees": state / "trees" / "installed.json",
            "receipt": receipts[-1],
            "facts": next(state.glob("receipts/*.facts.json")),
            "declaration in the cache": max(state.glob("cache/read/*.json"), key=lambda path: path.stat().st_size),
            "start": next(state.glob("cache/starts/*.json")),
        }
        kinds = {name: (path, path.read_bytes()) for name, path in found.items()}
        return kinds | {"journal": (state / "journal.json", self.journal)}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> _Kept:
    return _Kept(tmp_path_factory.mktemp("kept"))


def listed(kept: _Kept) -> None:
    view = look(kept.places, kept.home.environ, None)
    status(view, kept.home.environ)
    plugins(view)
    for found in view.found:
        details(view, found)


def compared(kept: _Kept) -> None:
    pointer = read_pointer(kept.places)
    if pointer is not None:
        drift_of(kept.places, pointer)
        unadmitted(kept.places, pointer, kept.home.environ)


def loaded(kept: _Kept) -> None:
    for stored in list_receipts(kept.places.receipts):
        load(stored.path)


def decided(kept: _Kept) -> None:
    for path in kept.places.receipts.glob("*.facts.json"):
        decided_again(path.read_bytes().decode(errors="replace"))


def swept(kept: _Kept) -> None:
    read_selected(kept.places)
    sweep(kept.places)
    if kept.places.journal.exists():
        recover(kept.places)


def looked_at(kept: _Kept, kind: str) -> None:
    """Do what verbs do that only look, and what every change begins with; each may say that something is damaged."""
    works = (decided,) if kind == "facts" else (listed, compared, loaded, swept)
    for work in works:
        with suppress(PmError, InvalidReceipt):
            work(kept)


_ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**400,
    1.5,
    float("inf"),
    "",
    "x",
    "../..",
    "9" * 5000,
    [],
    {},
    [[]],
    {"a": None},
)


def odd_values(content: bytes, count: int, name: str) -> Iterator[bytes]:
    """Yield copies of a JSON text in which one value is another one, of any kind; a value may also be gone."""
    is_stamped = not content.startswith(b"{")
    text = content[65:] if is_stamped else content
    for number in range(count):
        chance = random.Random(f"{seed_of_this_run()} {name} {number}")
        value = json.loads(text)
        place = value
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = chance.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.8:
                place = place[key]
                continue
            if chance.random() < 0.2 and isinstance(place, dict):
                del place[key]
            else:
                place[key] = chance.choice(_ODD)
            break
        changed = json.dumps(value).encode()
        yield hashlib.sha256(changed).hexdigest().encode() + b"\n" + changed if is_stamped else changed


def damaged_state(kept: _Kept, kind: str, count: int) -> None:
    path, content = kept.files()[kind]
    for label, damaged in mutations(content, count // 2, kind):
        path.write_bytes(damaged)
        try:
            looked_at(kept, kind)
        except Exception as error:  # whatever it is: said together with the bytes that make it again
            raise AssertionError(label) from error
    for number, damaged in enumerate(odd_values(content, count // 2, kind)):
        path.write_bytes(damaged)
        try:
            looked_at(kept, kind)
        except Exception as error:  # as above
            raise AssertionError(f"{number}: {damaged[:3000]!r}") from error


KINDS = ("pointer", "record", "installed trees", "receipt", "facts", "declaration in the cache", "start", "journal")


@COUNTS
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_state(kept: _Kept, kind: str, count: int) -> None:
    path, content = kept.files()[kind]
    try:
        within_limits(kind, lambda: damaged_state(kept, kind, count), seconds=240)
    finally:
        if kind == "journal":
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content)
