"""Guess what the next questions will need: the page of every requirement, and the newest version that fits.

A guess is worth a request, never a verdict: what is wrong here costs time only.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from admission import Candidate, Page, Question, Requirement

_MOST_TURNS = 8
"""How often the requirements of one package are followed again because another version became the best guess."""


class Wish(NamedTuple):
    """What a requirement wants of a package."""

    name: str
    specifier: str = ""
    extras: tuple[str, ...] = ()


class Guesses:
    """Follows requirements from package to package through what is known."""

    def __init__(self, question: Question | None) -> None:
        self.question = question
        """What it is about; what was followed for it is followed once, in however many rounds."""
        self._page: Callable[[str], Page | None] = _nothing
        self._candidate: Callable[[str, str], Candidate | None] = _nothing
        self._preferred = _preferences(question) if question else {}
        self._wishes: dict[str, dict[str, tuple[Wish, ...]]] = {}
        """Package → who wants something of it → what."""
        self._followed: dict[str, tuple[Wish, ...]] = {}
        self._turns: Counter[str] = Counter()
        self._decided: dict[str, str] = {}
        self._waiting: dict[str, None] = {}
        if question:
            self._want("", tuple(_root_wishes(question)))

    def reads(self, page: Callable[[str], Page | None], candidate: Callable[[str, str], Candidate | None]) -> None:
        """Look from now on at what these know."""
        self._page, self._candidate = page, candidate

    def decided(self, name: str, version: str) -> None:
        """Take over the version that the search itself looks at."""
        self._decided[name] = version
        self.look_at(name)

    def look_at(self, name: str) -> None:
        """Have a package considered (again), because something became known of it."""
        self._waiting[name] = None

    def unknown(self) -> Iterator[tuple[str, str]]:
        """Yield what is missing on the way: (name, "") for a page, (name, version) for a candidate."""
        while self._waiting:
            name = next(iter(self._waiting))
            del self._waiting[name]
            page = self._page(name)
            if page is None:
                yield name, ""
                continue
            version = self._guess(name, page)
            if version is None:
                continue
            candidate = self._candidate(name, version)
            if candidate is None:
                yield name, version
            else:
                self._follow(candidate)

    def _follow(self, candidate: Candidate) -> None:
        """Want what a candidate asks for, instead of what another version of it asked for before."""
        extras = {
            extra
            for options in self._wishes.get(candidate.name, {}).values()
            for wish in options
            for extra in wish.extras
        }
        options = tuple(
            Wish(edge.name, edge.specifier, edge.extras)
            for edge in candidate.requires
            if not edge.extra or edge.extra in extras
        )
        before = self._followed.get(candidate.name)
        if options == before or self._turns[candidate.name] >= _MOST_TURNS:
            return
        self._turns[candidate.name] += 1
        for wish in before or ():
            self._wishes[wish.name].pop(candidate.name, None)
        self._followed[candidate.name] = options
        self._want(candidate.name, options)

    def _want(self, origin: str, options: tuple[Wish, ...]) -> None:
        by_name: dict[str, tuple[Wish, ...]] = {}
        for wish in options:
            by_name[wish.name] = (*by_name.get(wish.name, ()), wish)
        for name, wanted in by_name.items():
            self._wishes.setdefault(name, {})[origin] = wanted
            self.look_at(name)

    def _guess(self, name: str, page: Page) -> str | None:
        """Return the newest version that all requirements seen so far let in, a preferred one first."""
        if name in self._decided:
            return self._decided[name]
        wanted = {wish.specifier for options in self._wishes.get(name, {}).values() for wish in options}
        usable = [version for position, version in enumerate(page.versions) if position not in page.excluded]
        preferred = self._preferred.get(name)
        best = _newest(usable, {*wanted, preferred}) if preferred else None
        return best or _newest(usable, wanted)


def _nothing(*_: str) -> None:
    """Know nothing."""


def _newest(versions: list[str], specifiers: Iterable[str]) -> str | None:
    try:
        specifier = SpecifierSet(",".join(sorted(text for text in specifiers if text)))
    except InvalidSpecifier:
        return None
    fitting = (version for version in reversed(versions) if specifier.contains(version, prereleases=True))
    last = None
    for version in fitting:
        if not Version(version).is_prerelease:
            return version
        last = last or version
    return last


def _root_wishes(question: Question) -> Iterator[Wish]:
    constraints = question.constraints
    declared = [requirement for member in constraints.members for requirement in member.declaration.requirements]
    environment = dict(constraints.target.environment)
    for requirement in (*constraints.core.requirements, *declared):
        if not requirement.url and _holds(requirement, environment):
            yield Wish(requirement.name, requirement.specifier, requirement.extras)


def _holds(requirement: Requirement, environment: dict[str, str]) -> bool:
    if not requirement.marker:
        return True
    from packaging.markers import Marker

    return Marker(requirement.marker).evaluate({**environment, "extra": ""})


def _preferences(question: Question) -> dict[str, str]:
    """Return the bound that is tried first for a package: the current lock's version, else the core's own."""
    pinned = {name: f"=={version}" for name, version in question.pins.items()}
    return {**question.constraints.core.preferences, **pinned}
