"""Which distribution has its file at a path that several write, and where that is open after a build."""

from __future__ import annotations

from pm.dist_info import RecordLine
from pm.generations.shared_paths import contested, winners


def line(path: str, digest: str = "sha256=x") -> RecordLine:
    return RecordLine(path, digest, 1)


def test_the_last_one_by_name_has_its_file_there_whatever_the_order() -> None:
    records = {"b": [line("x.py"), line("b.py")], "c": [line("./x.py")], "a": [line("x.py")]}
    assert winners(records) == {
        "x.py": ("c", line("./x.py")),
        "b.py": ("b", line("b.py")),
    }
    assert winners(dict(reversed(records.items()))) == winners(records)


def test_a_path_that_leads_into_the_site_packages_by_a_detour_is_the_same_path() -> None:
    detour = line("../../../lib/python3.11/site-packages/x.py")
    assert winners({"a": [line("x.py")], "b": [detour]}) == {"x.py": ("b", detour)}


def test_paths_are_contested_unless_all_bring_the_same_file() -> None:
    files = {
        "c": {"same.py": "sha256=1", "other.py": "sha256=1", "unknown.py": "", "third.py": "sha256=1", "c.py": ""},
        "a": {"same.py": "sha256=1", "other.py": "sha256=2", "unknown.py": "", "third.py": "sha256=1"},
        "b": {"third.py": ""},
    }
    assert contested(files) == {"other.py": ("a", "c"), "unknown.py": ("a", "c"), "third.py": ("a", "b", "c")}
    assert contested({}) == {}
