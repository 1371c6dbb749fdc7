"""What of an environment is another one in a second environment, or gone: a rule that both sides of a start share."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pm.inside._hermes_pm import Changed, changed

RECORD = ("demo.py,sha256=a,1", "demo-1.0.dist-info/METADATA,sha256=b,2", "demo-1.0.dist-info/RECORD,,")


def environment(folder: Path, distributions: Mapping[str, Iterable[str] | None], python: str = "3.11.7") -> str:
    """Write an environment of distributions, each with the lines of its RECORD, and return its site-packages."""
    site = folder / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion_info = {python}\n")
    for name, lines in distributions.items():
        (site / f"{name}.dist-info").mkdir()
        if lines is not None:
            (site / f"{name}.dist-info" / "RECORD").write_text("".join(f"{line}\n" for line in lines))
    return str(site)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"demo-1.0": RECORD}, {"demo-1.0": RECORD}, [], id="the same"),
        pytest.param({"demo-1.0": RECORD}, {"demo-1.0": RECORD, "new-1": ()}, [], id="something new beside it"),
        pytest.param({"demo-1.0": RECORD}, {"demo-2.0": RECORD}, ["demo 1.0 → 2.0"], id="another version"),
        pytest.param({"demo-1.0": RECORD}, {}, ["demo 1.0 is gone"], id="gone"),
        pytest.param(
            {"demo-1.0": RECORD}, {"demo-1.0": ("demo.py,sha256=z,1",)}, ["demo 1.0, another file"], id="other content"
        ),
        pytest.param(
            {"demo-1.0": RECORD}, {"demo-1.0": (*RECORD, "more.py,sha256=c,3")}, ["demo 1.0, another file"], id="a file"
        ),
        pytest.param(
            {"demo-1.0": RECORD},
            {
                "demo-1.0": (
                    "../../../bin/demo,sha256=s,9",
                    '"../../../bin/a,b",sha256=s,9',
                    "demo.py,sha256=a,1",
                    "demo-1.0.dist-info/direct_url.json,sha256=t,9",
                    "__pycache__/demo.cpython-311.pyc,,",
                )
            },
            [],
            id="other scripts, metadata and bytecode",
        ),
        pytest.param({"demo-1.0": RECORD}, {"demo-1.0": reversed(RECORD)}, [], id="the same lines in another order"),
        pytest.param({"demo-1.0": RECORD}, {"demo-1.0": None}, ["demo 1.0, another file"], id="a RECORD that is lost"),
        pytest.param({"demo-1.0": None}, {"demo-1.0": None}, [], id="no RECORD on either side"),
        pytest.param(
            {"Ruamel.Yaml_Clib-1.0": ()}, {"ruamel_yaml.clib-1.1": ()}, ["ruamel-yaml-clib 1.0 → 1.1"], id="a spelling"
        ),
        pytest.param({"b-1": (), "a-1": ()}, {}, ["a 1 is gone", "b 1 is gone"], id="several"),
        pytest.param({"nonsense": ()}, {}, [], id="a folder without a version"),
    ],
)
def test_a_distribution_is_the_same_by_its_version_and_the_digests_of_what_can_be_imported(
    tmp_path: Path, before: Mapping[str, Iterable[str]], after: Mapping[str, Iterable[str]], expected: list[str]
) -> None:
    site, other = environment(tmp_path / "1", before), environment(tmp_path / "2", after)
    assert [str(change) for change in changed(site, other)] == expected


def test_another_interpreter_is_a_change_too(tmp_path: Path) -> None:
    site = environment(tmp_path / "1", {}, "3.11.7")
    other = environment(tmp_path / "2", {}, "3.12.1")
    assert changed(site, other) == (Changed("python", "3.11.7", "3.12.1"),)


def test_an_environment_that_does_not_say_its_interpreter_is_not_said_to_have_another(tmp_path: Path) -> None:
    site, other = environment(tmp_path / "1", {}), environment(tmp_path / "2", {})
    (tmp_path / "2" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert changed(site, other) == ()
    (tmp_path / "2" / "pyvenv.cfg").unlink()
    assert changed(site, other) == ()


def test_an_environment_that_is_not_there_cannot_be_compared(tmp_path: Path) -> None:
    site = environment(tmp_path / "1", {})
    with pytest.raises(FileNotFoundError):
        changed(site, str(tmp_path / "2"))
