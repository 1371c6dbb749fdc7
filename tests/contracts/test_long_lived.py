"""What runs for long finds every file of its own generation, whatever is installed and collected meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.homes import Home, new_home, snapshot, write_plugin
from fixtures.running import Running
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

MOST = 20


def lazy(version: str) -> Distribution:
    """Return a release of a package of many modules, of which nobody imports all at once."""
    parts = {f"lazy/part{number}.py": f'SAYS = f"{version} {{__file__}}"\n' for number in range(MOST + 2)}
    return Distribution("lazy", version, files={"lazy/__init__.py": "", **parts})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    wheels = tmp_path / "wheels"
    tiny = [Distribution(f"tiny{number}", "1.0") for number in range(MOST)]
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), lazy("1.0"), lazy("2.0"), *tiny])
    home = new_home(tmp_path / "home", wheels=wheels)
    home.configure("  keep_generations: 1\n")
    return home


def environments(home: Home) -> list[str]:
    return sorted(path.name for path in (home.state / "generations").iterdir() if path.is_dir())


@pytest.mark.parametrize("installs", [4, pytest.param(MOST, marks=pytest.mark.slow)])
def test_a_process_that_imports_as_it_goes_gets_everything_from_the_generation_that_it_started_in(
    home: Home, installs: int
) -> None:
    """Case removed-or-replaced-while-running-01."""
    home.install(home.plugin("ash", "lazy==1.0"))
    own = home.generation
    before = snapshot(own)
    site = next(own.glob("lib/python3*/site-packages"))
    with Running(home) as runs:
        home.install(write_plugin(home.work / "newer" / "ash", "lazy==2.0"), "--force")
        said = [runs.imports("lazy.part0", "SAYS")]
        for number in range(installs - 1):
            assert home.install(home.plugin(f"plugin{number}", f"tiny{number}")).gist == "0 admitted"
            said.append(runs.imports(f"lazy.part{number + 1}", "SAYS"))
        assert home.ask("pm", "gc").gist == "0 collected"
        said.append(runs.imports(f"lazy.part{installs}", "SAYS"))
        assert said == [f"1.0 {site}/lazy/part{number}.py" for number in range(installs + 1)]
        assert (environments(home), snapshot(own)) == (["1", str(installs + 1)], before)
        assert home.say("pm", "status", "--json").value["restart_required"] is True
    assert home.ask("pm", "gc").gist == "0 collected"
    assert environments(home) == [str(installs + 1)]
    started = home.say("run", "--", "python", "-c", "import lazy.part0; print(lazy.part0.SAYS.split()[0])")
    assert (started.status, started.stdout) == (0, "2.0\n")
