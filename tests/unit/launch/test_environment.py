"""The variables of a launched command: what is set, what is taken away, and what of a PATH stays."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pm.generations.pointer import Pointer
from pm.launch.admitted import _PROJECT_SWITCH
from pm.launch.exec import launched_environment
from pm.places import GenerationNumber, Places
from pm.plugins.discovery import PROJECT_SWITCH

PLACES = Places(Path("/home/.hermes/profiles/work"), Path("/home/.hermes"))
# a generation that `disable` made: a record of its own on the environment of an earlier one
POINTER = Pointer(GenerationNumber(5), Path("/home/.hermes/pm/generations/3"), "hermes-embedded-core==0.1.0", (), "")
SET = {
    "HERMES_DISABLE_LAZY_INSTALLS": "1",
    "HERMES_HOME": "/home/.hermes/profiles/work",
    "HERMES_PM_GENERATION": "5",
    "PYTHONPYCACHEPREFIX": "/home/.hermes/pm/pycache/3",
    "VIRTUAL_ENV": "/home/.hermes/pm/generations/3",
}
OURS = "/home/.hermes/pm/generations/3/bin"
REMOVED = (
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "CONDA_PROMPT_MODIFIER",
    "HERMES_LAZY_INSTALL_TARGET",
    "HERMES_PM_ADMITTED",
    "PIP_PREFIX",
    "PIP_PYTHON",
    "PIP_ROOT",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONPLATLIBDIR",
    "UV_INTERNAL__PARENT_INTERPRETER",
    "UV_PROJECT",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
    "VIRTUAL_ENV_PROMPT",
    "__PYVENV_LAUNCHER__",
)
KEPT = {
    "CONDA_EXE": "/conda/bin/conda",
    "HERMES_SAFE_MODE": "0",
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PYTHONDONTWRITEBYTECODE": "1",
    "UV_CACHE_DIR": "/cache",
    "WITHOUT_A_VALUE": "",
}


def test_the_documented_variables_are_set_whatever_the_caller_says() -> None:
    assert launched_environment(PLACES, POINTER, dict.fromkeys(SET, "other")) == SET | {"PATH": f"{OURS}:/bin:/usr/bin"}


def test_what_leads_to_another_interpreter_is_taken_away_and_the_rest_stays() -> None:
    environ = dict.fromkeys(REMOVED, "other") | KEPT | {"PATH": "/bin"}
    assert launched_environment(PLACES, POINTER, environ) == KEPT | SET | {"PATH": f"{OURS}:/bin"}


def test_what_is_as_it_was_admitted_is_handed_over() -> None:
    standing = {"default": ["/home/.hermes/plugins/ash", "memory/mem0"], "work": ["/home/ü"]}
    given = launched_environment(PLACES, POINTER, {"HERMES_PM_ADMITTED": "other"}, standing=standing)
    assert given["HERMES_PM_ADMITTED"] == (
        '{"default": ["/home/.hermes/plugins/ash", "memory/mem0"], "work": ["/home/\\u00fc"]}'
    )


def test_of_more_than_a_variable_holds_the_own_profile_is_handed_over() -> None:
    standing = {f"{number}": [f"/home/.hermes/profiles/{number}/plugins/ash"] * 30 for number in range(200)}
    own = standing["work"] = ["/home/.hermes/profiles/work/plugins/ash"]
    given = launched_environment(PLACES, POINTER, {}, standing=standing)
    subprocess.run(["/bin/true"], env=given, check=True)
    assert json.loads(given["HERMES_PM_ADMITTED"]) == {"work": own}


def test_safe_mode_wins_over_what_the_caller_says() -> None:
    expected = KEPT | SET | {"PATH": f"{OURS}:/bin", "HERMES_SAFE_MODE": "1", "HERMES_IGNORE_RULES": "1"}
    assert launched_environment(PLACES, POINTER, KEPT | {"PATH": "/bin"}, safe=True) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/bin:/bin", f"{OURS}:/usr/bin:/bin"),
        (f"{OURS}:/bin", f"{OURS}:/bin"),
        ("/home/.hermes/pm/generations/2/bin:/bin", f"{OURS}:/bin"),
        ("/other/.hermes/pm/generations/2/bin:/bin", f"{OURS}:/other/.hermes/pm/generations/2/bin:/bin"),
        ("/bin::.", f"{OURS}:/bin::."),
        ("", OURS),
    ],
)
def test_the_generations_programs_come_first_and_those_of_another_generation_go(path: str, expected: str) -> None:
    assert launched_environment(PLACES, POINTER, {"PATH": path})["PATH"] == expected


DOOR = "/home/.hermes/pm/front"


@pytest.mark.parametrize("path", ["/bin", f"/bin:{DOOR}", f"{DOOR}:{OURS}:/bin"])
def test_the_front_door_comes_before_everything_and_once(path: str) -> None:
    given = launched_environment(PLACES, POINTER, {"PATH": path}, door=Path(DOOR, "hermes"))
    assert (given["PATH"], given["HERMES_BIN"]) == (f"{DOOR}:{OURS}:/bin", f"{DOOR}/hermes")


def test_the_switch_for_plugins_of_projects_is_the_one_that_reading_obeys() -> None:
    assert _PROJECT_SWITCH == PROJECT_SWITCH
