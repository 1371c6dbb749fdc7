"""`_hermes_pm` in a generation: a process asks for its lease, how it stands, and whether it must be started again."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest

from fixtures.homes import PLUGINS, Home, new_home, snapshot, write_plugin
from fixtures.running import ANSWERS, Running
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, build_wheels, read_recipe
from pm.generations.distributions import stamp
from pm.generations.leases import leased
from pm.inside import _hermes_pm, module_source

ASK = "__import__('_hermes_pm')"
NOTHING: list[Any] = [False, [], ""]
SHARED = [
    Distribution(f"shared-{name}", version, files={f"shared/{name}.py": f"version = '{version}'\n"})
    for name in ("alpha", "beta")
    for version in ("1.0", "2.0")
]
WIREKIT = [Distribution("wirekit", version) for version in ("1.0", "2.0")]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), *WIREKIT, *SHARED])
    return folder


@pytest.fixture
def home(tmp_path: Path, wheels: Path) -> Home:
    return new_home(tmp_path / "home", wheels=wheels)


def restart(process: Running) -> Any:  # noqa: ANN401 - whatever JSON it is: the test compares it as a whole
    """Return what a process answers as `[required, [[name, before, after], …], note]`."""
    return json.loads(process.says(f"__import__('json').dumps({ASK}.restart_required())"))


def standing(process: Running) -> Any:  # noqa: ANN401 - as above
    """Return what a process knows as `[generation, environment, selected, selected environment, admitted, behind]`."""
    return json.loads(process.says(f"(lambda s: __import__('json').dumps([*s[:5], s.behind]))({ASK}.status())"))


def update(home: Home, name: str, *requires: str) -> None:
    """Install a plugin of this name again, with other requirements."""
    answer = home.install(write_plugin(home.work / "newer" / name, *requires, version="2.0.0"), "--force")
    assert answer.gist == "0 admitted"


def site(home: Home, number: int = 1) -> Path:
    return home.state / "generations" / str(number) / "lib" / "python3.11" / "site-packages"


# -- what a process has imported


def test_a_module_that_was_imported_and_moves_takes_a_restart_with_both_versions(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        process.imports("wirekit", "__version__")
        before = restart(process)
        update(home, "ash", "wirekit>=2")
        assert [before, restart(process)] == [NOTHING, [True, [["wirekit", "1.0", "2.0"]], ""]]


def test_a_person_reads_in_the_status_what_a_running_process_lacks(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home):
        update(home, "ash", "wirekit>=2")
        assert home.say("pm", "status").stdout.splitlines()[4:6] == [
            "restart     a running process still uses an earlier environment; restart it to use this one",
            "            wirekit 1.0 → 2.0",
        ]


def test_what_moves_and_was_not_imported_takes_none_until_it_is(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        update(home, "ash", "wirekit>=2")
        before = restart(process)
        assert process.imports("wirekit", "__version__") == "1.0"
        assert [before, restart(process)] == [NOTHING, [True, [["wirekit", "1.0", "2.0"]], ""]]


def test_what_was_imported_and_goes_is_named(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    home.install(home.plugin("birch", "demo-colors"))
    with Running(home) as process:
        process.imports("wirekit", "__version__")
        process.imports("demo_colors", "__version__")
        home.ask("plugins", "remove", "ash")
        assert restart(process) == [True, [["wirekit", "1.0", ""]], ""]


def test_what_is_only_added_takes_no_restart_and_shows_as_being_behind(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        process.imports("wirekit", "__version__")
        before = standing(process)
        home.install(home.plugin("birch", "demo-colors"))
        assert restart(process) == NOTHING
        assert [before, standing(process)] == [[1, 1, 1, 1, ["ash"], False], [1, 1, 2, 2, ["ash", "birch"], True]]


def test_of_a_namespace_that_several_share_the_files_that_were_imported_count(home: Home) -> None:
    home.install(home.plugin("ash", "shared-alpha<2"))
    home.install(home.plugin("birch", "shared-beta<2"))
    with Running(home) as process:
        process.imports("shared.alpha", "version")
        update(home, "birch", "shared-beta>=2")
        other = restart(process)
        update(home, "ash", "shared-alpha>=2")
        assert [other, restart(process)] == [NOTHING, [True, [["shared-alpha", "1.0", "2.0"]], ""]]


def test_another_file_of_the_same_version_is_another_distribution(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), *WIREKIT])
    home = new_home(tmp_path / "home", wheels=folder)
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        process.imports("wirekit", "__version__")
        rebuilt = {"wirekit.py": "__version__ = '1.0'\nrebuilt = True\n"}
        build_wheels(folder, Distribution("wirekit", "1.0", files=rebuilt))
        home.ask("plugins", "remove", "ash")
        assert home.install(home.plugin("ash", "wirekit<2")).gist == "0 admitted"
        assert restart(process) == [True, [["wirekit", "1.0", "1.0"]], ""]


def test_a_file_that_no_distribution_brought_does_not_count(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    site(home).chmod(0o755)
    (site(home) / "stray.py").write_text("here = True\n")
    with Running(home) as process:
        assert process.imports("stray", "here") == "True"
        update(home, "ash", "wirekit>=2")
        assert restart(process) == NOTHING


def test_a_distribution_that_does_not_say_what_belongs_to_it_counts_as_imported(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        update(home, "ash", "wirekit>=2")
        information = site(home) / "wirekit-1.0.dist-info"
        information.chmod(0o755)
        (information / "RECORD").unlink()
        assert restart(process) == [True, [["wirekit", "1.0", "2.0"]], ""]


def test_a_core_that_is_a_folder_is_no_distribution(home: Home) -> None:
    project = home.work / "core"
    (project / "agent").mkdir(parents=True)
    (project / "agent" / "__init__.py").write_text("version = '1.0'\n")
    text = '[project]\nname = "hermes-agent"\nversion = "1.0"\ndependencies = ["wirekit"]\n'
    (project / "pyproject.toml").write_text(text)
    home.configure(f"  core: {project}\n")
    assert home.install(home.plugin("ash", "demo-colors<2")).gist == "0 admitted"
    with Running(home) as process:
        process.imports("agent", "version")
        process.imports("demo_colors", "__version__")
        (project / "pyproject.toml").write_text(text.replace('"1.0"', '"1.1"').replace('"wirekit"', '"wirekit<2"'))
        (project / "agent" / "__init__.py").write_text("version = '1.1'\n")
        assert home.install(home.plugin("birch", "demo-socket")).gist == "0 admitted"
        core_alone = restart(process)
        update(home, "ash", "demo-colors>=2")
        assert home.pins["wirekit"] == "1.0"
        assert [core_alone, restart(process)] == [NOTHING, [True, [["demo-colors", "1.2", "2.0"]], ""]]


def test_asking_imports_nothing_that_waits_to_be_imported(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2", "demo-colors"))
    lazy = (
        "(lambda u, s: [s.loader.__class__, (l := u.LazyLoader(s.loader)), setattr(s, 'loader', l), "
        "(m := u.module_from_spec(s)), __import__('sys').modules.__setitem__('wirekit', m), l.exec_module(m)][0])"
        "(__import__('importlib.util').util, __import__('importlib.util').util.find_spec('wirekit'))"
    )
    with Running(home) as process:
        process.says(lazy)
        update(home, "ash", "wirekit>=2", "demo-colors")
        kind = "object.__getattribute__(__import__('sys').modules['wirekit'], '__class__').__name__"
        assert [restart(process), process.says(kind)] == [[True, [["wirekit", "1.0", "2.0"]], ""], "_LazyModule"]


# -- which generation


def test_generations_that_share_an_environment_take_no_restart(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as early:
        early.imports("wirekit", "__version__")
        assert home.ask("plugins", "disable", "ash").gist == "0 disabled"
        with Running(home) as late:
            late.imports("wirekit", "__version__")
            assert [restart(early), restart(late)] == [NOTHING, NOTHING]
            assert [standing(early), standing(late)] == [[1, 1, 2, 1, [], False], [2, 1, 2, 1, [], False]]
        home.install(home.plugin("birch", "demo-colors"))
        assert restart(early) == [True, [["wirekit", "1.0", ""]], ""]
        assert standing(early) == [1, 1, 3, 3, ["birch"], True]


def test_a_plugin_that_several_profiles_have_is_named_once(home: Home) -> None:
    for profile in (home, home.profile("work")):
        profile.install(profile.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        assert standing(process)[4] == ["ash"]


def test_a_process_that_was_not_started_by_us_counts_by_its_environment(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    home.ask("plugins", "disable", "ash")
    code = "import _hermes_pm, sys; print(_hermes_pm.status()[:5])"
    directly = home.generation / "bin" / "python"
    program = f"import subprocess; subprocess.run([{str(directly)!r}, '-c', {code!r}], env={{}}, check=True)"
    assert home.say("run", "--", "python", "-c", program).stdout == "(1, 1, 2, 1, ())\n"
    home.install(home.plugin("birch", "demo-colors"))
    # the variables of the generation that it was started from do not speak of its own
    below = f"import subprocess; subprocess.run([{str(directly)!r}, '-c', {code!r}], check=True)"
    assert home.say("run", "--", "python", "-c", below).stdout == "(1, 1, 3, 3, ('birch',))\n"


def test_what_was_imported_by_another_name_of_the_folder_counts(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        other = home.generation / "lib64" / "python3.11" / "site-packages"
        process.says(ASK)
        process.says(f"__import__('sys').path.insert(0, {str(other)!r})")
        assert process.imports("wirekit", "__file__") == str(other / "wirekit.py")
        update(home, "ash", "wirekit>=2")
        assert restart(process) == [True, [["wirekit", "1.0", "2.0"]], ""]


def test_another_name_of_the_home_changes_no_answer(home: Home, tmp_path: Path) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    (tmp_path / "link").symlink_to(home.path)
    linked = Home(tmp_path / "link", surroundings=tmp_path)
    with Running(linked) as process:
        process.imports("wirekit", "__version__")
        update(home, "ash", "wirekit>=2")
        assert restart(process) == [True, [["wirekit", "1.0", "2.0"]], ""]


# -- what cannot be told


DAMAGED = (
    "",
    "[]",
    '{"generation": 2}',
    '{"generation": 2, "path": 3, "admitted": []}',
    '{"generation": Infinity, "path": "/pm/generations/1", "admitted": []}',
    "[" * 100_000,
)


def test_a_pointer_that_is_gone_or_damaged_is_an_answer(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    pointer = home.state / "pointer.json"
    with Running(home) as process:
        process.imports("wirekit", "__version__")
        answers = []
        for text in DAMAGED:
            pointer.write_text(text)
            answers.append(restart(process))
        pointer.unlink()
        assert answers == [[False, [], f"the pointer `{pointer}` cannot be read"]] * len(DAMAGED)
        assert restart(process) == [False, [], f"the pointer `{pointer}` is not there"]
        assert standing(process) == [1, 1, None, None, [], False]


def test_a_selected_environment_that_is_gone_takes_no_restart_since_nothing_starts_there(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        process.imports("wirekit", "__version__")
        update(home, "ash", "wirekit>=2")
        home.generation.rename(home.work / "taken-away")
        assert restart(process) == [False, [], "the environment of generation 2 is gone"]


def test_an_environment_that_is_gone_under_a_process_takes_a_restart(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    with Running(home) as process:
        process.says(ASK)
        update(home, "ash", "wirekit>=2")
        (home.state / "generations" / "1").rename(home.work / "taken-away")
        assert restart(process) == [True, [], "the environment of generation 1 is gone"]
        assert home.ask("plugins", "check").value["generation"]["restart_reasons"] == [
            "the environment of generation 1 is gone"
        ]
        lock = home.state / "locks" / "generation-1"
        lock.unlink()
        said = "Lease(held=False, inherited=False, environment=1, note='the environment of generation 1 is gone')"
        assert (process.says(f"{ASK}.lease()"), lock.exists()) == (said, False)


def test_outside_of_a_generation_every_question_has_an_answer() -> None:
    note = "this process does not run in a generation"
    nothing = _hermes_pm.RestartRequired(required=False, note=note)
    assert (_hermes_pm.lease(), _hermes_pm.restart_required(), _hermes_pm.status()) == (
        _hermes_pm.Lease(held=False, note=note),
        nothing,
        _hermes_pm.Status(None, None, None, None, (), nothing),
    )


# -- the lease

LEASED = "Lease(held=True, inherited={inherited}, environment=1, note='')"
OPEN = "len(__import__('os').listdir('/proc/self/fd'))"


class Direct(Running):
    """A Python of the first generation that was started without `hermes run`."""

    @staticmethod
    def _begin(home: Home, stdin: IO[str], stdout: IO[str], stderr: IO[str]) -> subprocess.Popen[str]:
        command: list[str | Path] = [home.state / "generations" / "1" / "bin" / "python", "-c", ANSWERS]
        return subprocess.Popen(command, env=home.environ, stdin=stdin, stdout=stdout, stderr=stderr, text=True)


def test_a_lease_that_came_with_the_start_is_found_and_no_second_is_taken(home: Home) -> None:
    home.ask("pm", "init")
    with Running(home) as process:
        before = process.says(OPEN)
        answers = [process.says(f"{ASK}.lease()") for _ in range(2)]
        assert (answers, process.says(OPEN)) == ([LEASED.format(inherited=True)] * 2, before)


def test_a_process_without_a_lease_takes_one_once_and_holds_it_until_it_ends(home: Home) -> None:
    home.ask("pm", "init")
    with Direct(home) as process:
        before = leased(home.state / "locks")
        answers = [process.says(f"{ASK}.lease()") for _ in range(2)]
        during = leased(home.state / "locks")
        lowest = process.says(f"({ASK}._taken[0] >= 10, __import__('os').get_inheritable({ASK}._taken[0]))")
    assert (before, during, leased(home.state / "locks")) == ((), (1,), ())
    assert (answers, lowest) == ([LEASED.format(inherited=False)] * 2, "(True, True)")


def test_a_service_that_closed_what_it_inherited_takes_a_lease_of_its_own(home: Home) -> None:
    home.ask("pm", "init")
    with Running(home) as process:
        process.says("__import__('os').closerange(3, 1000)")
        before = leased(home.state / "locks")
        taken = process.says(f"{ASK}.lease()")
        process.says("__import__('os').closerange(3, 1000)")
        again = process.says(f"{ASK}.lease()")
        assert (before, leased(home.state / "locks")) == ((), (1,))
        assert [taken, again] == [LEASED.format(inherited=False)] * 2


def test_a_lock_file_that_somebody_deleted_is_made_again(home: Home) -> None:
    home.ask("pm", "init")
    with Running(home) as process:
        (home.state / "locks" / "generation-1").unlink()
        assert process.says(f"{ASK}.lease()") == LEASED.format(inherited=False)
        assert leased(home.state / "locks") == (1,)


def test_a_state_in_which_no_lock_can_be_made_is_an_answer(home: Home) -> None:
    home.ask("pm", "init")
    with Direct(home) as process:
        locks = home.state / "locks"
        locks.rename(home.work / "locks")
        locks.write_text("a file")
        said = f"no lease can be taken: [Errno 17] File exists: '{locks}'"
        expected = f"Lease(held=False, inherited=False, environment=1, note={said!r})"
        assert process.says(f"{ASK}.lease()") == expected
        locks.unlink()


def test_an_environment_that_something_leases_by_itself_is_not_collected(home: Home) -> None:
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "wirekit<2"))
    with Direct(home) as process:
        process.says(f"{ASK}.lease()")
        update(home, "ash", "wirekit>=2")
        home.ask("pm", "gc")
        assert process.imports("wirekit", "__version__") == "1.0"
    home.ask("pm", "gc")
    assert not site(home).exists()


# -- the file


def test_every_generation_has_the_module_and_asking_changes_no_file_of_it(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    before = snapshot(home.generation)
    with Running(home) as process:
        update(home, "ash", "wirekit>=2")
        restart(process)
        standing(process)
        process.says(f"{ASK}.lease()")
    files = [site(home, number) / "_hermes_pm.py" for number in (1, 2)]
    assert [file.read_bytes() for file in files] == [module_source()] * 2
    assert len({file.stat().st_ino for file in files}) == 2
    assert snapshot(home.state / "generations" / "1") == before


def test_an_edited_module_is_drift_and_repair_restores_it(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    module = site(home) / "_hermes_pm.py"
    content = module_source()
    module.write_bytes(b"#" + content[1:])
    found = home.ask("pm", "verify")
    message = "`lib/python3.11/site-packages/_hermes_pm.py` of the manager was changed"
    assert (found.gist, [reason["message"] for reason in found.value["reasons"]]) == ("1 drift drift", [message])
    assert (home.ask("pm", "repair").gist, home.ask("pm", "verify").gist) == ("0 repaired", "0 verified")
    assert (site(home, 2) / "_hermes_pm.py").read_bytes() == content


def test_a_module_that_was_deleted_is_drift_and_repair_restores_it(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    site(home).chmod(0o755)
    (site(home) / "_hermes_pm.py").unlink()
    found = home.ask("pm", "verify")
    message = "`lib/python3.11/site-packages/_hermes_pm.py` of the manager is missing"
    assert (found.gist, [reason["message"] for reason in found.value["reasons"]]) == ("1 drift drift", [message])
    assert (home.ask("pm", "repair").gist, home.ask("pm", "verify").gist) == ("0 repaired", "0 verified")


def test_a_generation_of_an_older_manager_is_verified_with_its_own_module_and_without_any(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    module, record = site(home) / "_hermes_pm.py", home.generation / "_hermes_pm.RECORD"
    older = b"# what an older manager put there\n"
    module.write_bytes(older)
    digest = base64.urlsafe_b64encode(hashlib.sha256(older).digest()).decode().rstrip("=")
    record.write_text(f"lib/python3.11/site-packages/_hermes_pm.py,sha256={digest},{len(older)}\n")
    module.parent.chmod(0o755)
    (module.parent / ".install_method").unlink()
    restamp(home)
    answers = [home.ask("pm", "verify").gist]
    for file in (module, record):
        file.parent.chmod(0o755)
        file.unlink()
    restamp(home)
    answers.append(home.ask("pm", "verify").gist)
    assert answers == ["0 verified", "0 verified"]


def restamp(home: Home) -> None:
    """Make the environment, as it is now, the one that was selected."""
    file = home.state / "pointer.json"
    pointer = json.loads(file.read_text())
    file.write_text(json.dumps(pointer | {"site_packages_stamp": stamp(home.generation)}))


@pytest.mark.parametrize(
    "file",
    ["_hermes_pm.py", "_hermes_pm/__init__.py", "_hermes_pm.cpython-311-x86_64-linux-gnu.so"],
)
def test_a_distribution_with_a_module_of_that_name_is_refused_before_anything_is_built(
    tmp_path: Path, file: str
) -> None:
    folder = tmp_path / "wheels"
    greedy = Distribution("greedy", "1.0", files={file: "mine = True\n"})
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), greedy])
    home = new_home(tmp_path / "home", wheels=folder)
    home.ask("pm", "init")
    plugin = home.plugin("ash", "greedy")
    answers = [home.ask("plugins", "check", plugin), home.install(plugin)]
    message = f"the wheel of `greedy` cannot be installed: it writes `{file}`, which belongs to the environment itself"
    assert [answer.gist for answer in answers] == ["1 refused invalid-wheel"] * 2
    assert [answer.value["reasons"][0]["message"] for answer in answers] == [message] * 2
    assert answers[1].demands == ["plugin ash: greedy at plugin.yaml:4"]
    assert sorted(path.name for path in home.state.glob("generations/*")) == ["1", "1.json"]


# -- what it costs


def test_a_start_neither_imports_nor_reads_the_module(home: Home) -> None:
    home.ask("pm", "init")
    home.say("run", "--", "true")
    answer = home.say("run", "--", "python", "-c", "pass", PYTHONPROFILEIMPORTTIME="1")
    imported = {line.rpartition("|")[2].strip() for line in answer.stderr.splitlines()}
    assert (answer.status, imported & {"_hermes_pm", "pm.inside", "pm.inside._hermes_pm"}) == (0, set())
