"""The text that tells the operator of a machine without a network what to do with a bundle."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lockfiles import Lock


class Carried(NamedTuple):
    """A plugin of the generation, and how it comes to the other machine."""

    key: str
    profile: str
    """Empty for the default one."""
    folder: str = ""
    """In the bundle; empty if the plugin is not in it."""
    source: str = "user"
    """`bundled`, `user` or `project`."""


class Summary(NamedTuple):
    """What a bundle is, beside its lock and its plugins."""

    manager: str
    """The version that wrote it."""
    size: int
    """Bytes of all wheels."""
    carries_core: bool
    """Whether the core is one of the wheels; that of a project is a folder somewhere."""


def readme(lock: Lock, plugins: Iterable[Carried], summary: Summary) -> str:
    """Return the text, the same for the same generation."""
    plugins = tuple(plugins)
    name, _, version = lock.core.partition("==")
    carries_core = summary.carries_core
    return _TEXT.format(
        manager=summary.manager,
        core=f"{name} {version}",
        target=lock.target,
        count=counted(len(lock.pins)),
        size=f"{summary.size / 1000:,.0f}",
        init="hermes pm init --bundle ." + ("" if carries_core else " --core FOLDER"),
        homes=_HOMES if any(plugin.profile for plugin in plugins) else "",
        plugins="".join(f"    {line}\n" for line in _commands(plugins)) or "    (no plugin was enabled)\n",
        missing="".join(f"* {line}\n" for line in _missing(name, plugins, carries_core=carries_core)),
    )


def counted(number: int) -> str:
    """Return how many wheels there are, in words."""
    return f"{number} wheel{'' if number == 1 else 's'}"


def _commands(plugins: Sequence[Carried]) -> Iterator[str]:
    for profile in sorted({plugin.profile for plugin in plugins if plugin.profile}):
        yield shlex.join(["mkdir", "-p", f"HOME/profiles/{profile}"])
    for plugin in plugins:
        words = ["enable", plugin.key] if not plugin.folder else ["install", plugin.folder, "--enable"]
        home = ["--home", f"HOME/profiles/{plugin.profile}"] if plugin.profile else []
        yield shlex.join(["hermes", "plugins", *words, *home])


def _missing(core: str, plugins: Iterable[Carried], *, carries_core: bool) -> Iterator[str]:
    yield "Python, and hermes-pm itself with what it needs."
    if not carries_core:
        yield f"The core {core}, which is a project's folder: carry it over, and name it as FOLDER in step 2."
    for plugin in plugins:
        if not plugin.folder and plugin.source != "bundled":
            yield f"The folder of the plugin {plugin.key}: carry it over, and install it with `hermes plugins install`."


_HOMES = ". HOME is the folder of the home, ~/.hermes if no other is named"

_TEXT = """\
Wheels for a Hermes home without a network
==========================================

Written by `hermes pm bundle` of hermes-pm {manager}. In here is every package of one generation:

    core      {core}
    target    {target}
    packages  {count}, {size} kB

What to do on the other machine, in this folder:

1. See whether everything has arrived:

    sha256sum --check --quiet SHA256SUMS

2. Make a home. Its packages come from this folder from then on, and no index is asked; so the folder has to stay where
   it is:

    {init}

3. Install and enable the plugins{homes}:

{plugins}
Not in here, and needed there:

{missing}
The packages alone, without Hermes:

    uv pip sync --offline pylock.toml
    pip install --no-index --find-links wheels --require-hashes -r requirements.txt
"""
