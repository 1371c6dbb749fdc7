"""Dry run and installation agree on every wheel: one that cannot be installed right is refused by both, in one word."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, follow, new_home
from fixtures.mutations import mutations
from fixtures.server import IndexServer
from fixtures.wheel_bench import DATA, INFO, MODULE, Bench, is_agreed, judged
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, build_wheels, read_recipe, repack


class Case(NamedTuple):
    """A wheel that was changed, and what is said of it."""

    about: str
    flaw: str = ""
    """Empty: it is installed, and is what was recorded."""
    files: Mapping[str, str | bytes] = {}
    without: Sequence[str] = ()
    record: Callable[[str], str | bytes] = str
    method: int = zipfile.ZIP_DEFLATED
    warnings: Sequence[str] = ()


def line(number: int, text: str) -> Callable[[str], str]:
    """Return what puts another text in the place of a line of a RECORD."""

    def changed(record: str) -> str:
        lines = record.splitlines()
        lines[number] = text
        return "\n".join([*lines, ""])

    return changed


def points(text: str) -> dict[str, str]:
    return {f"{INFO}/entry_points.txt": text}


def own(path: str) -> str:
    return f"it writes `{path}`, which belongs to the environment itself"


SIZE, HASH = len(MODULE), "sha256=" + "A" * 43
TOO_LONG = "a longer name than systems take"

CASES = [
    Case("as it should be"),
    # RECORD
    Case("no RECORD", "it has no RECORD", without=[f"{INFO}/RECORD"]),
    Case("an empty RECORD", record=lambda _: ""),
    Case("a RECORD that leaves a file out", record=lambda text: text.split("\n", 1)[1]),
    Case(
        "a comma without quotes",
        "its RECORD cannot be read: `pkg/E=128,N=704.json,sha256=x,2` has 4 fields instead of 3",
        record=lambda text: f"pkg/E=128,N=704.json,sha256=x,2\n{text}",
    ),
    Case(
        "a comma in quotes",
        files={"pkg/E=128,N=704.json": "{}"},
        record=lambda text: text.replace("pkg/E=128,N=704.json", '"pkg/E=128,N=704.json"'),
    ),
    Case("two fields", "its RECORD cannot be read: `odd.py,` has 2 fields instead of 3", record=line(0, "odd.py,")),
    Case("a size that is none", "its RECORD cannot be read: `x` is no size", record=line(0, f"odd.py,{HASH},x")),
    Case("not UTF-8", f"`{INFO}/RECORD` is not UTF-8", record=lambda text: b"\xff\xfe,,\n" + text.encode()),
    Case("lines of Windows", record=lambda text: text.replace("\n", "\r\n")),
    Case("an empty line", record=lambda text: f"\n{text}\n"),
    Case("a separator of lines in a name", files={"a\u2028b.txt": "x"}),
    Case("its own line with a size", record=lambda text: text.replace("RECORD,,", "RECORD,,17")),
    Case("without its own line", record=lambda text: text.replace(f"{INFO}/RECORD,,\n", "")),
    Case("a folder is named", files={"pkg/a.py": ""}, record=lambda text: f"pkg/,,\n{text}"),
    Case(
        "a file that is not there",
        "its RECORD names `gone.py`, which is not in it",
        record=lambda text: f"gone.py,,\n{text}",
    ),
    Case("a file that was taken out", "its RECORD names `odd.py`, which is not in it", without=["odd.py"]),
    Case(
        "another case",
        "its RECORD names `ODD.py`, which is not in it",
        record=lambda text: text.replace("odd.py", "ODD.py"),
    ),
    Case(
        "another size",
        f"its RECORD says that `odd.py` has 9 bytes, and it has {SIZE}",
        record=line(0, f"odd.py,{HASH},9"),
    ),
    Case(
        "another hash", "`odd.py` in it has another hash than its RECORD gives", record=line(0, f"odd.py,{HASH},{SIZE}")
    ),
    Case(
        "another hash without a size",
        "`odd.py` in it has another hash than its RECORD gives",
        record=line(0, f"odd.py,{HASH},"),
    ),
    Case("no hash", record=line(0, f"odd.py,,{SIZE}")),
    Case("a hash with padding", record=lambda text: text.replace(f",{SIZE}\n", f"=,{SIZE}\n", 1)),
    Case("a file twice", record=lambda text: f"{text.splitlines()[0]}\n{text}"),
    Case("what an installer writes", files={f"{INFO}/INSTALLER": "pi", f"{INFO}/REQUESTED": ""}),
    # the archive
    Case(
        "a method of packing",
        "`odd.py` in it is packed in a way that uv does not unpack",
        method=zipfile.ZIP_BZIP2,
    ),
    Case("a path that leads out", "`../out.py` in it would not lie where it says", files={"../out.py": ""}),
    Case("a file and a folder", "`pkg` in it is a file and a folder", files={"pkg": "", "pkg/a.py": ""}),
    Case("a name that no file system has", f"`{'ß' * 130}.py` in it is {TOO_LONG}", files={f"{'ß' * 130}.py": ""}),
    Case("a long name", files={f"{'ß' * 120}.py": ""}),
    Case(
        "a path that no system opens",
        f"`{('folder/' * 200)[:200]}…` in it is {TOO_LONG}",
        files={f"{'folder/' * 200}x.py": ""},
    ),
    Case("no WHEEL", "it has no `WHEEL`", without=[f"{INFO}/WHEEL"]),
    Case("a WHEEL without version", "its `WHEEL` gives no version of the format", files={f"{INFO}/WHEEL": "Tag: x\n"}),
    Case(
        "a newer format",
        "it has version `2` of the format, which uv does not know",
        files={f"{INFO}/WHEEL": "Wheel-Version: 2.0\n"},
    ),
    # its data
    Case("an unknown kind of data", f"it is not known where `{DATA}/x/a` belongs", files={f"{DATA}/x/a": ""}),
    Case(
        "a folder of scripts",
        f"it is not known where `{DATA}/scripts/x/a` belongs",
        files={f"{DATA}/scripts/x/a": "#!python\n"},
    ),
    Case(
        "the metadata of another distribution",
        f"`{DATA}/purelib/evil-1.0.dist-info/METADATA` would be written over the metadata of a distribution",
        files={f"{DATA}/purelib/evil-1.0.dist-info/METADATA": ""},
    ),
    Case(
        "back and out",
        f"`{DATA}/purelib/../../out.py` in it would not lie where it says",
        files={f"{DATA}/purelib/../../out.py": ""},
    ),
    # scripts
    Case(
        "a script that is also an entry point",
        files={f"{DATA}/scripts/frobnicate": "#!python\n", **points("[console_scripts]\nfrobnicate = odd:x\n")},
    ),
    Case(
        "a script that calls nothing",
        "its script `frob` calls `not an object`, which is no object of a module",
        files=points("[console_scripts]\nfrob = not an object\n"),
    ),
    Case(
        "a script elsewhere",
        "its script `../frob` would not lie among the scripts",
        files=points("[console_scripts]\n../frob = odd:x\n"),
    ),
    Case(
        "a script of Windows",
        files={f"{DATA}/scripts/odd-tool": "#!/usr/bin/env python3\r\nprint()\r\n"},
        warnings=["invalid-script"],
    ),
    Case("a script of Windows that is mended", files={f"{DATA}/scripts/odd-tool": "#!python\r\nprint()\r\n"}),
    # what belongs to the environment
    Case("an interpreter", own("../../../bin/python"), files={f"{DATA}/scripts/python": "#!python\n"}),
    Case("a newer interpreter", own("../../../bin/python3.11"), files={f"{DATA}/data/bin/python3.11": ""}),
    Case(
        "an entry point python3",
        own("../../../bin/python3"),
        files=points("[console_scripts]\npython3 = odd:x\n"),
    ),
    Case("activate", own("../../../bin/activate"), files={f"{DATA}/scripts/activate": ""}),
    Case("activate of a shell", own("../../../bin/activate.fish"), files={f"{DATA}/data/bin/activate.fish": ""}),
    Case(
        "its settings",
        own("../../../pyvenv.cfg"),
        files={f"{DATA}/data/pyvenv.cfg": "include-system-site-packages = true\n"},
    ),
    Case("its settings in capitals", own("../../../PyVEnv.cfg"), files={f"{DATA}/data/PyVEnv.cfg": ""}),
    Case("its lock", own("../../../pylock.toml"), files={f"{DATA}/data/pylock.toml": ""}),
    Case("its record", own("../../../_hermes_pm.RECORD"), files={f"{DATA}/data/_hermes_pm.RECORD": ""}),
    Case("its module", own("_hermes_pm.py"), files={"_hermes_pm.py": ""}),
    Case("its module by a detour", own("_hermes_pm.py"), files={f"{DATA}/platlib/_hermes_pm.py": ""}),
    Case(
        "its module by a longer one",
        own("_hermes_pm.py"),
        files={f"{DATA}/data/lib/python3.11/site-packages/_hermes_pm.py": ""},
    ),
    Case("its folder of modules", own("../../../lib64"), files={f"{DATA}/data/lib64": ""}),
    Case("names that only begin so", files={f"{DATA}/scripts/python-argcomplete-check": "#!python\n"}),
    Case("a name that begins with activate", files={f"{DATA}/scripts/activate-global-completion": "#!python\n"}),
    # what runs by itself
    Case("sitecustomize", files={"sitecustomize.py": ""}, warnings=["runs-at-start"]),
    Case("usercustomize as a package", files={"usercustomize/__init__.py": ""}, warnings=["runs-at-start"]),
    Case("a .pth with code", files={"odd.pth": "# one\nimport os\n"}, warnings=["runs-at-start"]),
    Case("a .pth with code by a detour", files={f"{DATA}/purelib/odd.pth": "import\tos\n"}, warnings=["runs-at-start"]),
    Case("a .pth with a folder", files={"odd.pth": "important\n", "deep/odd.pth": "import os\n"}),
]


REFUSED = [case for case in CASES if case.flaw]
ADMITTED = [case for case in CASES if not case.flaw]


def name_of(case: Case) -> str:
    """Return the name of the distribution whose wheel is changed; the texts of a case call it `odd`."""
    return f"odd{CASES.index(case):02}"


def offer(wheels: Path, case: Case) -> None:
    name = name_of(case)
    (wheel,) = build_wheels(wheels, Distribution(name, "1.0", files={f"{name}.py": MODULE}))

    def record(text: str) -> str | bytes:
        changed = case.record(text.replace(name, "odd"))
        return changed.replace("odd", name) if isinstance(changed, str) else changed

    files = {path.replace("odd", name): named(text, name) for path, text in case.files.items()}
    without = [path.replace("odd", name) for path in case.without]
    repack(wheel, files=files, without=without, record=record, method=case.method)


def named(text: str | bytes, name: str) -> str | bytes:
    return text.replace("odd", name) if isinstance(text, str) else text


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home for which all of these wheels are offered."""
    folder = tmp_path_factory.mktemp("invalid-wheels")
    build_recipe(folder / "wheels", read_recipe(DEFAULT_RECIPE))
    for case in CASES:
        offer(folder / "wheels", case)
    home = new_home(folder / "home", wheels=folder / "wheels")
    home.ask("pm", "init")
    return home


@pytest.mark.parametrize("case", REFUSED, ids=[case.about for case in REFUSED])
def test_a_wheel_that_cannot_be_installed_right_is_refused_by_dry_run_and_installation(home: Home, case: Case) -> None:
    """Case invalid-wheel-record-01 among others."""
    name = name_of(case)
    plugin = home.plugin(f"needs-{name}", name)
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    checked, installed = home.ask("plugins", "check", plugin), home.install(plugin)
    message = f"the wheel of `{name}` cannot be installed: {case.flaw.replace('odd', name)}"
    assert (checked.gist, installed.gist) == ("1 refused invalid-wheel", "1 refused invalid-wheel")
    assert [answer.value["reasons"][0]["message"] for answer in (checked, installed)] == [message, message]
    assert installed.demands == [f"plugin needs-{name}: {name} at plugin.yaml:4"]
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_a_wheel_that_only_looks_odd_is_installed_and_is_what_was_recorded(home: Home) -> None:
    """Case script-and-entry-point-01 among others."""
    plugins = {case.about: home.plugin(f"needs-{name_of(case)}", name_of(case)) for case in ADMITTED}
    checked = {about: home.ask("plugins", "check", plugin) for about, plugin in plugins.items()}
    assert {about: (one.gist, one.warnings) for about, one in checked.items()} == {
        case.about: ("0 admitted", [*case.warnings]) for case in ADMITTED
    }
    together = home.install(home.plugin("needs-all", *map(name_of, ADMITTED)))
    expected = [(code, name_of(case)) for case in ADMITTED for code in case.warnings]
    told = [(warning["code"], warning["message"].split("`")[1]) for warning in together.value["warnings"]]
    assert (together.gist, sorted(told)) == ("0 admitted", sorted(expected))
    assert home.ask("pm", "verify").gist == "0 verified"
    assert home.ask("plugins", "remove", "needs-all").gist == "0 removed"


@pytest.mark.parametrize(
    ("asked", "instead"),
    [("fresh", "fresh!=2.0"), ("fresh>=1, <3", "fresh>=1, <3, !=2.0"), ("Fresh (==2.0)", "Fresh (!=2.0)")],
)
def test_an_older_release_is_not_taken_unasked_and_the_step_to_it_works(
    tmp_path: Path, asked: str, instead: str
) -> None:
    wheels = tmp_path / "wheels"
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), Distribution("fresh", "1.0"), Distribution("fresh", "2.0")])
    repack(wheels / "fresh-2.0-py3-none-any.whl", record=lambda text: f"gone.py,,\n{text}")
    home = new_home(tmp_path / "home", wheels=wheels)
    plugin = home.plugin("ash", asked)
    refused = home.install(plugin)
    assert refused.gist == "1 refused invalid-wheel"
    step = refused.value["steps"][0]
    told = (step["action"], step["before"], step["after"], step["confirmed"], "+ fresh 1.0" in step["effect"])
    assert told == ("widen", asked, instead, True, True)
    looked = follow(home, step["command"])
    assert instead in looked.stdout.replace("\n", " "), (step["command"], looked)
    manifest = plugin / "plugin.yaml"
    manifest.write_text(manifest.read_text().replace(asked, instead))
    assert home.install(plugin).gist == "0 admitted"
    assert home.locked["fresh"] == "1.0"


def test_a_broken_release_that_another_package_asks_for_is_passed_over_by_a_line_of_ones_own(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    part = Distribution("part", "1.0", requires=["fresh"])
    build_recipe(
        wheels, [*read_recipe(DEFAULT_RECIPE), Distribution("fresh", "1.0"), Distribution("fresh", "2.0"), part]
    )
    repack(wheels / "fresh-2.0-py3-none-any.whl", record=lambda text: f"gone.py,,\n{text}")
    home = new_home(tmp_path / "home", wheels=wheels)
    refused = home.install(home.plugin("ash", "part"))
    assert (refused.gist, [step["action"] for step in refused.value["steps"]]) == ("1 refused invalid-wheel", ["retry"])
    assert home.install(home.plugin("ash", "part", "fresh!=2.0")).gist == "0 admitted"


# -- what only the whole wheel tells

NOISE = {
    f"big/noise_{n}.bin": b"".join(hashlib.sha256(b"%d %d" % (n, m)).digest() for m in range(9000)) for n in range(4)
}
"""More than a dry run unpacks, and than it asks of an index."""


@pytest.mark.parametrize("served", [False, True], ids=["folder", "index"])
@pytest.mark.parametrize(
    ("damage", "flaw"),
    [
        ("hash", "`big.py` in it has another hash than its RECORD gives"),
        ("bytes", "it is not a readable wheel"),
    ],
)
def test_what_only_all_of_a_large_wheel_tells_is_refused_before_anything_is_selected(
    tmp_path: Path, damage: str, flaw: str, *, served: bool
) -> None:
    folder = tmp_path / "files"
    with IndexServer(folder, read_recipe(DEFAULT_RECIPE)) as server:
        server.offer(Distribution("big", "1.0", files={"big.py": MODULE, **NOISE}))
        wheel = next(folder.glob("big-1.0*"))
        if damage == "hash":
            repack(wheel, record=line_about("big.py", f"big.py,{HASH},{SIZE}"))
        else:
            content = bytearray(wheel.read_bytes())
            content[content.find(b"big/noise_2.bin") + 5000] ^= 1
            wheel.write_bytes(content)
        home = new_home(tmp_path / "home", wheels=None if served else folder, indexes=[server.url] if served else [])
        checked, installed = (
            home.ask("plugins", "check", plugin := home.plugin("ash", "big")),
            home.install(plugin),
        )
        again = home.ask("plugins", "check", plugin)
    message = f"the wheel of `big` cannot be installed: {flaw}"
    assert (checked.gist, installed.gist, home.pointer) == ("0 admitted", "1 refused invalid-wheel", None)
    assert installed.value["reasons"][0]["message"] == message
    # what was learnt is known to the dry run as well
    assert (again.gist, again.value["reasons"][0]["message"]) == ("1 refused invalid-wheel", message)


def line_about(path: str, text: str) -> Callable[[str], str]:
    """Return what puts another text in the place of the line about a file."""
    return lambda record: "".join(f"{text if line.startswith(f'{path},') else line}\n" for line in record.splitlines())


# -- damage

COUNTS = [pytest.param(100, id="some"), pytest.param(2000, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", COUNTS)
def test_a_damaged_wheel_is_refused_just_where_uv_does_not_install_it(tmp_path: Path, count: int) -> None:
    bench = Bench(tmp_path)
    original = bench.prepare()
    for label, damaged in mutations(original, count, "wheel"):
        bench.wheel.write_bytes(damaged)
        agreed, flaw = is_agreed(bench)
        assert agreed, (label, flaw)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["WHEEL", "entry_points.txt"])
def test_a_wheel_with_a_damaged_member_is_refused_just_where_uv_does_not_install_it(
    tmp_path: Path, name: str, count: int
) -> None:
    bench = Bench(tmp_path)
    original = bench.prepare()
    path = f"{INFO}/{name}"
    for label, damaged in mutations(bench.member(path), count // 4, name):
        bench.wheel.write_bytes(original)
        repack(bench.wheel, files={path: damaged}, record=partial(without_second, path))
        agreed, flaw = is_agreed(bench)
        assert agreed, (label, flaw)


@pytest.mark.parametrize("count", COUNTS)
def test_a_wheel_with_a_damaged_record_is_admitted_only_where_it_is_installed_right(tmp_path: Path, count: int) -> None:
    bench = Bench(tmp_path)
    original = bench.prepare()
    for label, damaged in mutations(bench.member(f"{INFO}/RECORD"), count // 2, "RECORD"):
        bench.wheel.write_bytes(original)
        repack(bench.wheel, record=lambda _, damaged=damaged: damaged)  # type: ignore[misc]  # the text of this round
        admitted, right, flaw = judged(bench)
        assert right or not admitted, (label, flaw)


class Spot(NamedTuple):
    """A field of the archive in which each bit is changed."""

    about: str
    within: str
    """`before` a member, of its line in the `directory`, of the `last` one, or at the `end`."""
    place: int
    length: int = 2


SPOTS = [
    Spot("the version that is needed", "before", 4),
    Spot("flags", "before", 6),
    Spot("method", "before", 8),
    Spot("length of the name", "before", 26),
    Spot("length of the extra fields", "before", 28),
    Spot("the version that is needed, in the directory", "directory", 6),
    Spot("flags in the directory", "directory", 8),
    Spot("method in the directory", "directory", 10),
    Spot("checksum and sizes in the directory", "directory", 16, 12),
    Spot("checksum and sizes in the last line of the directory", "last", 16, 12),
    Spot("lengths in the last line of the directory", "last", 28, 6),
    Spot("number of the disk", "end", 4, 4),
    Spot("number of members", "end", 8, 4),
    Spot("size of the directory", "end", 12, 2),
    Spot("length of the comment", "end", 20),
]


@pytest.mark.parametrize("spot", SPOTS, ids=[spot.about for spot in SPOTS])
def test_each_bit_of_a_field_of_the_archive_is_judged_as_uv_does(tmp_path: Path, spot: Spot) -> None:
    bench = Bench(tmp_path)
    original = bench.prepare()
    begin = (
        spot.place
        + {
            "before": original.index(f"{INFO}/METADATA".encode()) - 30,
            "directory": original.rindex(f"{INFO}/METADATA".encode()) - 46,
            "last": original.rindex(f"{INFO}/RECORD".encode()) - 46,
            "end": original.rindex(b"PK\x05\x06"),
        }[spot.within]
    )
    for bit in range(spot.length * 8):
        damaged = bytearray(original)
        damaged[begin + bit // 8] ^= 1 << bit % 8
        bench.wheel.write_bytes(damaged)
        agreed, flaw = is_agreed(bench)
        assert agreed, (bit, flaw)


def without_second(path: str, record: str) -> str:
    """Return a RECORD without the line that a changed file had before."""
    first, *others = record.splitlines()
    return "\n".join([first, *(line for line in others if not line.startswith(f"{path},")), ""])
