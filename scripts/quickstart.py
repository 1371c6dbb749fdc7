"""The tour: the real `hermes` command with the embedded core, two sample plugins and a folder of small wheels."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe  # noqa: E402 - a program's folder is not on the path
from pm.system.folders import remove_tree  # noqa: E402 - the same

FAILED = 3
MARK = "made-by-the-tour"
"""A file that says: this folder may be removed by the next tour."""


class NotAsTold(Exception):
    """Something is not as the tour says."""


def main(arguments: Sequence[str]) -> int:
    """Take the tour, in a folder that may be named; return an exit status."""
    try:
        take_tour(Path(arguments[0]).absolute() if arguments else default_folder())
    except (NotAsTold, OSError) as surprise:
        print(f"\nthe tour ends here: {surprise}", file=sys.stderr)
        return FAILED
    return 0


def default_folder() -> Path:
    """Return a temporary folder for this user and this checkout.

    Not one of the checkout: folders of a generation are read-only, and `rm -rf` would stumble over them.
    """
    mark = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    return Path(tempfile.gettempdir()) / f"hermes-pm-tour-{os.getuid()}-{mark}"


def take_tour(folder: Path) -> None:
    """Show an admission, what it is good for, a refusal and the status."""
    tour = Tour(prepared(folder))
    say(f"""
        This is the tour of hermes-pm. `hermes` is its front door in {tour.programs}.
        All of it happens in {folder}, which is made anew each time; no other home is touched.
        A folder of small invented packages stands in for a package index, so no network is needed.""")
    print(f'\n$ export HERMES_HOME={shlex.quote(str(tour.home))}\n$ cat "$HERMES_HOME/config.yaml"', flush=True)
    print(tour.config.read_text(encoding="utf-8").rstrip())

    say("1. Make the first generation: an environment with the embedded core and nothing else.")
    tour.hermes("pm", "init")
    tour.is_selected(1, plugins=[])

    say("""
        2. Install a plugin. It asks for `demo-colors>=1,<2`: that fits, so a second generation is built beside the
        first one, and folder, config and pointer change together.""")
    tour.hermes("plugins", "install", "fixtures/plugins/admitted-simple", "--enable")
    tour.is_selected(2, plugins=["admitted-simple"])

    say("3. Use it: what the plugin asked for can be imported in the selected generation.")
    tour.hermes("run", "--", "python", "-c", "import demo_colors; print(demo_colors.__version__)")

    say("""
        4. Install a plugin that cannot run beside the core: it asks for `PyYAML<6`, and the core for `>=6.0.2`.
        It is refused, with the proof and what can be done; the exit status is 1, and nothing else has changed.""")
    tour.hermes("plugins", "install", "fixtures/plugins/conflicts-with-core", "--enable", status=1)
    tour.was_refused("conflicts-with-core", code="core-conflict")
    tour.is_selected(2, plugins=["admitted-simple"])

    say("5. Look at what is there now.")
    tour.hermes("pm", "status")

    say(f"""
        That was the tour. To look around in it: {tour.entrance}
        What to read next:
          docs/tutorial/first-plugin.md       write, check, install and mend a plugin of your own, in ten minutes
          docs/reference/command-line.md      every command with its options
          docs/reference/receipt.md           what a receipt says: `hermes pm receipts show latest --json`""")


class Tour:
    """A home, and the command at work in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.config = self.home / "config.yaml"
        self.programs = folder / "programs"
        manager = Path(sys.executable).with_name("hermes-pm")
        if not manager.exists():
            message = f"there is no `{manager}`; `scripts/quickstart` installs it and starts the tour"
            raise NotAsTold(message)
        print(f"$ {shlex.join((str(manager), 'link', '--bin', str(self.programs)))}", flush=True)
        subprocess.run([manager, "link", "--quiet", "--bin", self.programs], check=True)

    @property
    def entrance(self) -> str:
        """What to type to use the same command in the same home."""
        return f'export PATH={shlex.quote(str(self.programs))}:"$PATH" HERMES_HOME={shlex.quote(str(self.home))}'

    def hermes(self, *words: str, status: int = 0) -> None:
        """Show a command and run it as a person would."""
        print(f"\n$ {shlex.join(('hermes', *words))}", flush=True)
        done = subprocess.run([self.programs / "hermes", *words], cwd=ROOT, env=self._environment(), check=False)
        if done.returncode != status:
            message = f"`hermes {shlex.join(words)}` ended with status {done.returncode}, and {status} was expected"
            raise NotAsTold(message)

    def is_selected(self, generation: int, *, plugins: list[str]) -> None:
        """Make sure which generation is selected, and which plugins it was admitted with."""
        pointer = _read_json(self.home / "pm" / "pointer.json")
        found = pointer["generation"], [member["key"] for member in pointer["admitted"]]
        if found != (generation, plugins):
            message = f"generation {generation} with {plugins} should be selected, and the pointer says {found}"
            raise NotAsTold(message)

    def was_refused(self, key: str, *, code: str) -> None:
        """Make sure that the last installation was refused with a proof and a way out, and left nothing behind."""
        receipt = _read_json(self.home / "pm" / "receipts" / "latest-install.json")
        reasons = [(reason["code"], (reason["proof"] or {}).get("verified")) for reason in receipt["reasons"]]
        if (receipt["outcome"], reasons) != ("refused", [(code, True)]) or not receipt["steps"]:
            message = f"`{key}` should be refused as `{code}` with a proof and steps, and the receipt says {reasons}"
            raise NotAsTold(message)
        if (self.home / "plugins" / key).exists():
            message = f"`{key}` was refused, and its folder is there all the same"
            raise NotAsTold(message)

    def _environment(self) -> dict[str, str]:
        """Return the variables of this process, without those that would lead to another home or policy."""
        theirs = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
        path = os.pathsep.join((str(self.programs), theirs.get("PATH", os.defpath)))
        return theirs | {"HERMES_HOME": str(self.home), "PATH": path}


def prepared(folder: Path) -> Path:
    """Return a fresh folder with a home and the wheels of the sample index."""
    _clear(folder)
    folder.mkdir(mode=0o700, parents=True)
    (folder / MARK).touch()
    build_recipe(folder / "wheels", read_recipe(DEFAULT_RECIPE))
    home = folder / "home"
    home.mkdir()
    # JSON's texts are YAML's, whatever the path holds
    links = json.dumps([str(folder / "wheels")], ensure_ascii=False)
    config = f"pm:\n  indexes: []  # ask no index\n  find_links: {links}\n"
    (home / "config.yaml").write_text(config, encoding="utf-8")
    return folder


def _clear(folder: Path) -> None:
    """Remove what an earlier tour left; anything else is not ours to remove."""
    if not os.path.lexists(folder):
        return
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != os.getuid() or not (folder / MARK).is_file():
        message = f"`{folder}` is in the way and was not made by an earlier tour; name another folder as argument"
        raise NotAsTold(message)
    remove_tree(folder)


def _read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def say(text: str) -> None:
    """Tell a person something."""
    print("\n" + "\n".join(line.removeprefix(" " * 8) for line in text.strip("\n").splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
