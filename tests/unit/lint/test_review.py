"""What the files of a plugin tell its author, without anything of them being run."""

from __future__ import annotations

from pathlib import Path

import pytest

from admission import Problem
from pm.lint.review import HOST_MODULES, Provided, Review
from pm.plugins.declaration import read_declaration

PLUGINS = Path(__file__).parents[3] / "fixtures" / "plugins"
EVERYTHING = Provided(HOST_MODULES | {"demo_colors"})


def review(folder: Path) -> Review:
    return Review(folder, read_declaration(folder, core_names=frozenset({"hermes-agent"})))


def plugin(folder: Path, *, manifest: str = "name: p", readme: str = "README", **files: str) -> Path:
    """Write a plugin; `__` in the name of a Python file stands for a folder, `init` for `__init__`."""
    folder.mkdir(exist_ok=True)
    (folder / "plugin.yaml").write_text(manifest, encoding="utf-8")
    if readme:
        (folder / readme).write_text("Reads.")
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/').replace('init', '__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def found(folder: Path) -> list[tuple[str, str, int]]:
    return [(problem.code, problem.file, problem.line) for problem in review(folder).findings()]


# -- the fixtures, each with its one fault


_ALONE = {
    "missing-readme": Problem(
        "readme-missing",
        "there is no README that says what the plugin does before it is installed",
        hint="add a `README.md`",
    ),
    "missing-init": Problem(
        "init-missing",
        "there is no `__init__.py`: no host loads the plugin from its folder",
        hint="add an `__init__.py` with a function `register(ctx)`",
    ),
    "missing-register": Problem(
        "register-missing",
        "there is no `register` here: no host can start the plugin",
        "__init__.py",
        1,
        hint="add a function `register(ctx)`",
    ),
    "unknown-hook": Problem(
        "hook-unknown",
        "`post_tool_cal` is not a hook that any known host calls",
        "plugin.yaml",
        5,
        5,
        "hooks[0]",
        "did you mean `post_tool_call`?",
    ),
    "undefined-hook": Problem(
        "hook-undefined",
        "`on_session_start` is listed, and nothing in the source registers or defines it",
        "plugin.yaml",
        5,
        5,
        "hooks[0]",
        'take it out, or write `ctx.register_hook("on_session_start", …)` in `register`',
    ),
    "single-module-entry-point": Problem(
        "entry-point-single-module",
        "the entry point `single` names the single module `single_notes`, so no host reads `src/cli.py`",
        "pyproject.toml",
        7,
        key="project.entry-points.hermes_agent.memory_providers.single",
        hint="make `single_notes` a package with `cli.py` in it",
    ),
    "shared-state": Problem(
        "state-shared",
        "functions change `_HEARD`, which all profiles of a process share",
        "__init__.py",
        5,
        hint="keep it in an instance, or under a key that names the profile's home",
    ),
    "shared-provider": Problem(
        "provider-shared",
        "`_only` holds one `Only` for all profiles, and the host refuses it to the second one",
        "__init__.py",
        10,
        hint="make a new `Only` in each call of `register`",
    ),
    "home-at-import": Problem(
        "profile-read-at-import",
        "the home (`get_hermes_home()`) is read when the module is imported: one profile's value is then used for all",
        "__init__.py",
        5,
        hint="ask for it where it is used, or in `initialize`",
    ),
    "named-like-a-package": Problem(
        "external-unchecked",
        "`demo-tool` is not a Python package, and it was not checked whether it is there, and its `check` was not run",
        "plugin.yaml",
        5,
        5,
        "external_dependencies[0]",
    ),
}


@pytest.mark.parametrize("folder", _ALONE)
def test_each_fault_is_found_and_nothing_else(folder: str) -> None:
    assert review(PLUGINS / folder).findings() == (_ALONE[folder],)


def test_of_a_plugin_without_fault_nothing_is_said() -> None:
    looked_at = review(PLUGINS / "nothing-to-report")
    assert (looked_at.findings(), looked_at.imports(EVERYTHING)) == ((), ())


def test_nothing_of_a_plugin_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKER_FOLDER", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for folder in ("marker-files", "named-like-a-package"):
        looked_at = review(PLUGINS / folder)
        looked_at.findings()
        looked_at.imports(EVERYTHING)
    assert list(tmp_path.iterdir()) == []


# -- README


@pytest.mark.parametrize("name", ["README", "readme.MD", "ReadMe.rst", "README.txt"])
def test_a_readme_may_be_spelled_in_many_ways(tmp_path: Path, name: str) -> None:
    assert found(plugin(tmp_path, readme=name, init="def register(ctx): ...")) == []


def test_something_else_is_no_readme(tmp_path: Path) -> None:
    folder = plugin(tmp_path, readme="README.pdf", init="def register(ctx): ...")
    assert found(folder) == [("readme-missing", "", 0)]


# -- where a plugin starts


@pytest.mark.parametrize(
    "text",
    [
        "async def register(ctx): ...",
        "from .inner import register",
        "from .inner import *",
        "from inner import setup as register",
        "register = object()",
        "try:\n  from .inner import register\nexcept ImportError:\n  def register(ctx): ...",
        "if True:\n  def register(ctx): ...",
        "def __getattr__(name): ...",
        "from agent.memory_provider import MemoryProvider\nclass Notes(MemoryProvider): ...",
        "from .provider import Notes  # a MemoryProvider",
    ],
)
def test_a_plugin_can_be_started_in_many_ways(tmp_path: Path, text: str) -> None:
    assert found(plugin(tmp_path, init=text)) == []


@pytest.mark.parametrize("text", ["", "def setup(ctx):\n  def register(ctx): ...", "class Notes: ..."])
def test_a_plugin_that_cannot_be_started_is_named(tmp_path: Path, text: str) -> None:
    assert found(plugin(tmp_path, init=text)) == [("register-missing", "__init__.py", 1)]


def test_a_model_provider_registers_itself(tmp_path: Path) -> None:
    manifest = "name: p\nkind: model-provider"
    assert found(plugin(tmp_path, manifest=manifest, init="from providers import register_provider")) == []


def test_a_plugin_without_python_needs_no_start(tmp_path: Path) -> None:
    assert found(plugin(tmp_path)) == []


def test_a_package_is_started_by_its_entry_point(tmp_path: Path) -> None:
    folder = plugin(tmp_path, notes__init="def register(ctx): ...", notes__cli="")
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "notes"\nversion = "1"\n[project.entry-points]\n'
        '"hermes_agent.plugins" = {notes = "notes:register"}\n"hermes_agent.memory_providers".notes = "notes"\n'
    )
    assert found(folder) == []


def test_a_module_inside_of_a_package_is_a_single_module_too(tmp_path: Path) -> None:
    folder = plugin(tmp_path, notes__init="", notes__core="", notes__config_schema="")
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "notes"\nversion = "1"\nentry-points."hermes_agent.plugins".notes = "notes.core:register"\n'
    )
    assert found(folder) == [("entry-point-single-module", "pyproject.toml", 4)]


def test_a_project_that_cannot_be_read_is_for_the_declaration_to_report(tmp_path: Path) -> None:
    folder = plugin(tmp_path, init="def register(ctx): ...")
    (folder / "pyproject.toml").write_text("[project")
    assert found(folder) == []


# -- hooks


_HOOKED = "name: p\nhooks: [on_session_end]"


@pytest.mark.parametrize(
    "text",
    [
        'def register(ctx): ctx.register_hook("on_session_end", print)',
        'HOOKS = {"on_session_end": print}\ndef register(ctx):\n  for h, f in HOOKS.items(): ctx.register_hook(h, f)',
        "def register(ctx): ctx.on_session_end(print)",
        "from x import MemoryProvider\nclass P(MemoryProvider):\n  def on_session_end(self, m): ...",
        # what others bring cannot be seen from here
        "from notes import register",
        "from notes import *\ndef register(ctx): ...",
        "import notes\nclass P(notes.Provider): ...\ndef register(ctx): ...",
        'def register(ctx):\n  for when in ("start", "end"): ctx.register_hook(f"on_session_{when}", print)',
    ],
)
def test_a_hook_that_is_defined_or_may_be_is_not_reported(tmp_path: Path, text: str) -> None:
    assert found(plugin(tmp_path, manifest=_HOOKED, init=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        'def register(ctx):\n  """Listens to on_session_end."""',
        "from agent.memory_provider import MemoryProvider\nclass P(MemoryProvider): ...",
        "def register(ctx): ctx.register_hook('pre_llm_call', print)",
    ],
)
def test_a_hook_that_nothing_defines_is_reported(tmp_path: Path, text: str) -> None:
    assert found(plugin(tmp_path, manifest=_HOOKED, init=text)) == [("hook-undefined", "plugin.yaml", 2)]


def test_a_file_that_cannot_be_parsed_may_define_any_hook(tmp_path: Path) -> None:
    assert found(plugin(tmp_path, manifest=_HOOKED, init="def register(ctx): ...", more="def f(:")) == []


def test_both_lists_of_hooks_are_read_also_from_json(tmp_path: Path) -> None:
    folder = plugin(tmp_path, init="def register(ctx): ...")
    (folder / "plugin.yaml").unlink()
    (folder / "plugin.json").write_text(
        '{\n"name": "p", "hooks": ["pre_verify"],\n"provides_hooks": [{"name": "sync_turn"}, "x", 7]\n}'
    )
    assert found(folder) == [
        ("hook-undefined", "plugin.json", 2),
        ("hook-undefined", "plugin.json", 3),
        ("hook-unknown", "plugin.json", 3),
    ]


def test_a_hook_of_a_provider_is_a_method(tmp_path: Path) -> None:
    folder = plugin(tmp_path, manifest=_HOOKED, init="class P(MemoryProvider): ...")
    (problem,) = review(folder).findings()
    assert problem.hint == "take it out, or write `def on_session_end(self, …)` in the memory provider"


# -- isolation of profiles


def isolation(folder: Path, text: str, **files: str) -> list[tuple[str, str, int]]:
    manifest = "name: p\nrequires_env: [NOTES_ACCOUNT]"
    text = f"{text}\ndef register(ctx): ..."
    return found(plugin(folder, manifest=manifest, init=text, **files))


@pytest.mark.parametrize(
    "text",
    [
        "A = get_hermes_home()",
        "import hermes_constants as h\nA = str(h.get_hermes_home() / 'x')",
        "class A:\n  FILE = get_hermes_home()",
        "def f(home=get_hermes_home()): ...",
        "A = os.environ['HERMES_HOME']",
        "A = os.environ.get('HERMES_HOME', '')",
        "A = os.getenv('HERMES_HOME')",
        "A = os.path.expanduser('~/.hermes/notes')",
        "A = Path('~/.hermes').expanduser()",
        "A = Path.home() / '.hermes' / 'notes'",
        "A = [os.environ.get('NOTES_API_KEY')]",
        "A = os.environ['NOTES_ACCOUNT']",
        "A = get_secret('SOMETHING_TOKEN')",
        "if True:\n  try:\n    A = get_hermes_home()\n  except Exception: ...",
        "def home():\n  return get_hermes_home() / 'x'\nA = home()",
    ],
)
def test_what_a_profile_is_asked_for_at_import_is_reported(tmp_path: Path, text: str) -> None:
    assert [code for code, _, _ in isolation(tmp_path, text)] == ["profile-read-at-import"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(): return get_hermes_home()",
        "A = lambda: get_hermes_home()",
        "class A:\n  def f(self): self.home = get_hermes_home()",
        "def get_hermes_home(): return Path(os.environ['HERMES_HOME'])",
        "A = get_hermes_home",
        "A = get_default_hermes_root()",
        "A = os.environ.get('HOME')",
        "A = os.environ.get('NOTES_LOG_LEVEL', 'info')",
        "os.environ['NOTES_API_KEY'] = 'x'",
        "A = Path.home() / '.cache'",
        "if __name__ == '__main__':\n  A = get_hermes_home()",
        "if TYPE_CHECKING:\n  A = get_hermes_home()",
        "def f():\n  def inner():\n    return get_hermes_home()\n  return inner\nA = f()",
        "'''Reads get_hermes_home() and ~/.hermes.'''",
    ],
)
def test_what_is_asked_later_or_of_nobody_is_not_reported(tmp_path: Path, text: str) -> None:
    assert isolation(tmp_path, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "A = []\ndef f(x): A.append(x)",
        "A: list = []\nclass C:\n  def f(self, x): A.extend(x)",
        "A = deque()\ndef f(x):\n  def g(): A.appendleft(x)",
        "A = {}\ndef f(x): A['client'] = x",
        "A = dict()\ndef f(x): A.setdefault('client', x)",
        "A = {}\nasync def f(x): A.update(client=x)",
        "A = {}\ndef f(x): A.update({'client': x})",
        "class P(MemoryProvider):\n  A = {}\n  def f(self, x): self.A[x] = x",
        "class P(MemoryProvider):\n  A = []\n  def f(self, x): self.A.append(x)",
        "class B(MemoryProvider): ...\nclass P(B):\n  A = set()\n  def f(self, x): P.A.add(x)",
    ],
)
def test_state_that_no_key_tells_apart_is_reported(tmp_path: Path, text: str) -> None:
    assert [code for code, _, _ in isolation(tmp_path, text)] == ["state-shared"]


@pytest.mark.parametrize(
    "text",
    [
        "A = {}\ndef f(session, x): A[session] = x",
        "A = {}\ndef f(session, x): A.setdefault(session, x)",
        "A = {}\ndef f(session, x): A.update({session: x})",
        "A = {}\ndef f(): A['warned'] = True",
        "A = {'calls': 0}\ndef f(): A['calls'] += 1",
        "A = set()\ndef f(x): A.add(x)",
        "A = []\ndef f(A, x): A.append(x)",
        "A = []\ndef f(x):\n  A = []\n  A.append(x)",
        "A = []\ndef f(x):\n  A = []\n  def g(): A.append(x)",
        "A = []\nA.append(1)",
        "A = []\ndef tool(f):\n  A.append(f)\n  return f\n@tool\ndef g(): ...",
        "A = []\ndef tool(f): A.append(f)\ntool(print)",
        "A = ()\ndef f(x): A.append(x)",
        "class P:\n  A = []\n  def f(self, x): self.A.append(x)",
        "class P(MemoryProvider):\n  A = []\n  def __init__(self): self.A = []\n  def f(self, x): self.A.append(x)",
        "class P(MemoryProvider):\n  A = ['x']\n  def f(self): return self.A[0]",
        "class P(MemoryProvider):\n  A = ['x']\n  def f(self, other): other.A.append(1)",
    ],
)
def test_state_that_may_well_be_meant_is_not_reported(tmp_path: Path, text: str) -> None:
    assert isolation(tmp_path, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "class P(MemoryProvider): ...\np = P()",
        "class P(agent.memory_provider.MemoryProvider): ...\np: P = P('x')",
        "class P(MemoryProvider): ...\np = None\ndef get():\n  global p\n  if p is None: p = P()\n  return p",
        "class P(MemoryProvider): ...\nclass Holder:\n  p = P()",
        "from .base import Base\nclass P(Base): ...\np = P()",
    ],
)
def test_one_provider_for_all_is_reported(tmp_path: Path, text: str) -> None:
    base = "from agent.memory_provider import MemoryProvider\nclass Base(MemoryProvider): ..."
    assert [code for code, _, _ in isolation(tmp_path, text, base=base)] == ["provider-shared"]


@pytest.mark.parametrize(
    "text",
    [
        "class P(MemoryProvider): ...\ndef get(): return P()",
        "class P(MemoryProvider): ...\ndef get():\n  p = P()\n  return p",
        "class P: ...\np = P()",
        "class P(MemoryProvider): ...\np = P",
    ],
)
def test_a_provider_of_its_own_for_each_is_not_reported(tmp_path: Path, text: str) -> None:
    assert isolation(tmp_path, text) == []


def test_only_what_a_host_imports_is_judged(tmp_path: Path) -> None:
    names = ("used", "deep__used", "cli", "sidecar", "scripts__run", "tests__helper", "late")
    files = dict.fromkeys(names, "A = get_hermes_home()")
    text = "from . import used\ndef f():\n  from p.deep.used import A\n  import late"
    folder = tmp_path / "p"
    assert isolation(folder, text, deep__init="", **files) == [
        ("profile-read-at-import", "deep/used.py", 1),
        ("profile-read-at-import", "late.py", 1),
        ("profile-read-at-import", "used.py", 1),
    ]


def test_a_package_below_src_is_followed_from_its_entry_point(tmp_path: Path) -> None:
    folder = plugin(
        tmp_path,
        src__notes__init="from ..notes.inner.more import A",
        src__notes__inner__init="",
        src__notes__inner__more="A = get_hermes_home()",
    )
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "notes"\nversion = "1"\nentry-points."hermes_agent.plugins".notes = "notes:register"\n'
    )
    assert found(folder) == [("profile-read-at-import", "src/notes/inner/more.py", 1)]


def test_a_deep_source_is_looked_through_like_any_other(tmp_path: Path) -> None:
    branches = "".join(f"elif x == {number}:\n  A{number} = []\n" for number in range(900))
    calls = f"x{'.f()' * 900}\ny = {'+'.join('1' * 900)}\n"
    functions = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(90)) + " " * 90 + "return 1\n"
    text = f"x = 1\nif x:\n  A = []\n{branches}{calls}{functions}def g(): A.append(1)"
    assert isolation(tmp_path, text) == [("state-shared", "__init__.py", 3)]


# -- what nobody brings


def imports(folder: Path, provided: Provided) -> list[tuple[str, str]]:
    return [(problem.code, problem.message) for problem in review(folder).imports(provided)]


def test_an_import_that_nobody_brings_is_a_warning_and_a_guarded_one_information() -> None:
    expected = (
        Problem(
            "undeclared-import",
            "no requirement of core or plugin provides `demo_colors`",
            "__init__.py",
            5,
            hint="list the package that has it among the requirements",
        ),
        Problem(
            "import-optional",
            "`demo_transport` is imported if it is there; no requirement of core or plugin provides it",
            "__init__.py",
            10,
        ),
    )
    assert review(PLUGINS / "undeclared-import").imports(Provided(frozenset())) == expected


def test_where_contents_are_not_known_nothing_is_claimed() -> None:
    provided = Provided(frozenset({"demo_transport"}), ("one", "two", "three", "four"))
    assert imports(PLUGINS / "undeclared-import", provided) == [
        ("import-not-judged", "it is not known whether `one`, `two`, `three` and 1 more provide `demo_colors`")
    ]


def test_a_module_of_the_host_that_the_core_lacks_is_named_as_that() -> None:
    assert imports(PLUGINS / "host-module", Provided(frozenset())) == [
        ("core-module-missing", "this core has no module `acp_adapter`; `hermes-agent` has")
    ]


def test_a_file_that_cannot_be_parsed_is_reported_if_a_host_would_load_it() -> None:
    problem = Problem("source-not-parsed", "Python 3.11 cannot parse this: expected ':'", "later.py", 3, 16)
    found_problem, *others = review(PLUGINS / "unparsed-source").imports(EVERYTHING)
    assert (found_problem._replace(message=problem.message), others) == (problem, [])


@pytest.mark.parametrize(
    "text",
    [
        "from contextlib import suppress\nwith suppress(ImportError):\n  import x",
        "import contextlib\nwith contextlib.suppress(OSError, ModuleNotFoundError):\n  import x",
    ],
)
def test_a_suppressed_failure_is_prepared_for(tmp_path: Path, text: str) -> None:
    folder = plugin(tmp_path, init=text)
    assert [code for code, _ in imports(folder, Provided(frozenset()))] == ["import-optional"]


def test_only_what_a_host_loads_is_compared_with_the_requirements(tmp_path: Path) -> None:
    folder = plugin(tmp_path, init="import a", cli="import b", config_schema="import c", setup="import setuptools")
    assert [message[-3:] for _, message in imports(folder, Provided(frozenset()))] == ["`a`", "`b`", "`c`"]
