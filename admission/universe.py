"""`Universe`: the facts of one question as version sets, shared by both solvers, the proof and the steps."""

from collections.abc import Container, Iterable, Mapping
from functools import reduce
from itertools import islice
from operator import or_
from typing import NamedTuple

from admission.address import Addresses
from admission.core_gate import HOST, core_fault
from admission.facts import Candidate, Facts, Page
from admission.question import ConstraintSet
from admission.requirement import Requirement
from admission.versions import VersionSets, bits
from lockfiles import Artifact, Edge
from lockfiles.graph import requirement_of

__all__ = ["INVALID", "Arc", "PackageSets", "Root", "Universe", "Unknown", "is_exact", "roots_of"]


INVALID = "(unreadable metadata)"
"""The package that a candidate with unreadable metadata demands; it has no versions."""


class Root(NamedTuple):
    """One requirement of the union that takes part in the search."""

    position: int
    """Place in `Universe.roots`, which are in the order of `roots_of`, so that the order of plugins never matters."""
    requirement: Requirement
    text: str
    """The requirement as one normalised line."""


class Arc(NamedTuple):
    """A demand on one package: the versions it accepts."""

    name: str
    extras: tuple[str, ...]
    mask: int
    exact: bool
    """Whether it may take a yanked file, or a pre-release without opt-in: it pins one version exactly, and it is a
    root's or of a version that may vouch (`PackageSets.leading`)."""
    text: str
    """The requirement as a person reads it."""


class Unknown(Exception):
    """Facts are missing; `decide` turns it into `Need`."""

    def __init__(self, *, page: str = "", candidates: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(page or candidates)
        self.page = page
        self.candidates = candidates


def is_exact(specifier: str) -> bool:
    """Return whether a specifier set pins one version (`==` without wildcard, or `===`)."""
    return any(part.lstrip().startswith("==") and not part.endswith(".*") for part in specifier.split(","))


class PackageSets:
    """One package: its versions and which of them may be chosen."""

    __slots__ = (
        "_leading",
        "_locked",
        "conditional",
        "free",
        "name",
        "page",
        "prereleases",
        "quarantined",
        "sets",
        "settled",
        "spared",
        "vouching",
        "withheld",
        "yanked",
    )

    def __init__(self, page: Page, sets: VersionSets, *, opted_in: bool, not_after: str, kept: str = "") -> None:
        self.name = page.name
        self.page = page
        self.sets = sets
        self.prereleases = self.sets.prereleases()
        unusable = self.yanked = 0
        for position, exclusion in page.excluded.items():
            if exclusion.code == "yanked-only":
                self.yanked |= 1 << position
            else:
                unusable |= 1 << position
        self._locked = 1 << sets.positions[kept] if kept in sets.positions else 0
        young = _later_than(page, not_after) if not_after else 0
        self.spared = young & self._locked
        """The locked version, if the quarantine would exclude it."""
        self.quarantined = young & ~self._locked
        usable = self.sets.every & ~unusable & ~self.quarantined
        no_final = self.prereleases == self.sets.every
        self.withheld = self.yanked & ~self._locked
        """Yanked, and not locked: what is locked stays admissible when its authors yank it."""
        shut = self.withheld if opted_in or no_final else self.withheld | self.prereleases
        self.free = usable & ~shut
        """May be chosen under any demand."""
        self.conditional = usable & shut
        """Yanked, or a pre-release without opt-in: only under an exact pin (docs/explanation/how-it-decides.md)."""
        self.settled = usable & ~self.yanked & ~self.prereleases
        """May be chosen whatever is opted into."""
        self._leading: dict[int, int] = {}
        self.vouching = self.leading(sets.every)
        """The versions whose own exact pins may open another package's conditional versions."""

    def open(self, mask: int) -> None:
        """Let versions be chosen freely that needed a reason."""
        self.free |= self.conditional & mask
        self.conditional &= ~mask

    def leading(self, mask: int) -> int:
        """Return the newest versions that a demand accepts, and the locked one: only they lead to what may vouch.

        They are the newest eight that are usable at all, and the newest eight of which none is yanked or a pre-release:
        nightly builds push no release out. What was opted into or is read makes no difference.
        """
        found = self._leading.get(mask)
        if found is None:
            usable = mask & (self.free | self.conditional)
            found = self._leading[mask] = _newest_few(usable) | _newest_few(mask & self.settled) | usable & self._locked
        return found


_FEW = 8
"""Versions of a package that are read to learn whether they pin a pre-release or a yanked version."""


def _newest_few(mask: int) -> int:
    few = 0
    for position in islice(bits(mask), _FEW):
        few |= 1 << position
    return few


def _later_than(page: Page, not_after: str) -> int:
    return sum(1 << i for i, moment in enumerate(page.uploaded) if moment and moment > not_after)


_ANY = ("0",)
"""The version that stands for whatever an index may have."""


class Universe:
    """The facts that one question is decided on."""

    def __init__(
        self,
        facts: Facts,
        constraints: ConstraintSet,
        roots: Iterable[Root],
        kept: Mapping[str, str],
        *,
        sets: dict[str, VersionSets] | None = None,
        addresses: Addresses | None = None,
    ) -> None:
        self.facts = facts
        """Those of packages that come from an address lie under the package's name."""
        self.constraints = constraints
        self.core_names = frozenset({constraints.core.name, HOST})
        self.roots = tuple(Root(i, root.requirement, root.text) for i, root in enumerate(roots))
        self._addresses = Addresses(root.requirement for root in self.roots) if addresses is None else addresses
        self._open = self._addresses.names() - {
            root.requirement.name for root in self.roots if self._addresses.is_meant_by(root.requirement)
        }
        """Packages whose address fell away with its root: what an index has of them is not known, and counts as fit."""
        self.address_roots = frozenset(root for root in self.roots if self._addresses.is_meant_by(root.requirement))
        """What makes an address the only release of its name, so that a proof about one of these may need it."""
        self.kept = kept
        """Name → version of the current lock: preferred, and never quarantined."""
        self._opted_in = frozenset(constraints.policy.allow_prerelease) | {
            root.requirement.name for root in self.roots if _names_a_prerelease(root.requirement.specifier)
        }
        self._held = {r.name for r in constraints.core.requirements if is_exact(r.specifier)}
        self._sets = {} if sets is None else sets
        self._opened: Mapping[str, int] = {}
        self._packages: dict[str, PackageSets] = {}
        self._candidates: dict[tuple[str, int], Candidate] = {}
        self._arcs: dict[tuple[str, int, str], tuple[Arc, ...]] = {}
        self._preferred: dict[str, int] = {}

    def learns(self, facts: Facts) -> bool:
        """Take over what is known now; no if it contradicts what was looked at before."""
        if any(
            package.page != facts.pages.get(name) for name, package in self._packages.items() if name in facts.pages
        ):
            return False
        self.facts = facts
        return True

    def restricted(self, roots: Iterable[Root]) -> "Universe":
        """Return the universe of fewer roots: what a dropped root had opted into is not opted into any more."""
        fewer = sorted(roots, key=lambda root: root.position)
        return Universe(self.facts, self.constraints, fewer, self.kept, sets=self._sets, addresses=self._addresses)

    def opening(self, versions: Mapping[str, int]) -> "Universe":
        """Let versions be chosen freely that need a reason, of packages that were not looked at yet; return itself."""
        self._opened = versions
        return self

    def package(self, name: str) -> PackageSets:
        """Return a package's sets; raise `Unknown` if its page is."""
        package = self._packages.get(name)
        if package is None and name in self._open:
            anything = Page(name, _ANY)
            package = self._packages[name] = PackageSets(anything, VersionSets(_ANY), opted_in=True, not_after="")
        elif package is None:
            # the core and unreadable metadata are packages without any version: a demand on them cannot be met
            page = Page(name, ()) if name in self.core_names or name == INVALID else self.facts.pages.get(name)
            if page is None:
                raise Unknown(page=name)
            sets = self._sets.get(name)
            if sets is None:
                sets = self._sets[name] = VersionSets(page.versions)
            package = self._packages[name] = PackageSets(
                page,
                sets,
                opted_in=name in self._opted_in,
                not_after=self._not_after(name),
                kept=self.kept.get(name, ""),
            )
            package.open(self._opened.get(name, 0))
        return package

    def _not_after(self, name: str) -> str:
        not_after = self.constraints.policy.not_after
        if not_after and (name in self._held or any(name in exempt for exempt in self._exempt_names())):
            return ""
        return not_after

    def _exempt_names(self) -> Iterable[frozenset[str]]:
        """Yield what each plugin may exempt from quarantine: exactly pinned requirements of its own."""
        for member in self.constraints.members:
            if member.declaration.exempt:
                pinned = {r.name for r in member.declaration.requirements if is_exact(r.specifier)}
                yield frozenset(member.declaration.exempt) & pinned

    def root_arc(self, root: Root) -> Arc:
        """Return the demand that a root makes."""
        requirement = root.requirement
        mask = self._accepted(requirement.name, requirement.specifier)
        if requirement.url and not (requirement.name in self._open or self._addresses.is_meant_by(requirement)):
            mask = 0  # the file of another address
        exact = bool(requirement.url) or is_exact(requirement.specifier)
        return Arc(requirement.name, requirement.extras, mask, exact, root.text)

    def _accepted(self, name: str, specifier: str) -> int:
        sets = self.package(name).sets
        return sets.every if name in self._open else sets.select(specifier)

    def opens(self, root: Root) -> int:
        """Return the versions that a root accepts and opens: what it pins exactly, or pre-releases if it names one."""
        arc = self.root_arc(root)
        if arc.exact:
            return arc.mask
        if not _names_a_prerelease(root.requirement.specifier):
            return 0
        package = self.package(arc.name)
        return arc.mask & package.prereleases & ~package.withheld

    def opened_by(self, name: str, roots: Iterable[Root]) -> int:
        """Return the versions of a package that any of some roots opens."""
        return reduce(or_, (self.opens(root) for root in roots if root.requirement.name == name), 0)

    def candidate(self, name: str, position: int) -> Candidate | None:
        """Return what is known of one version."""
        candidate = self._candidates.get((name, position))
        if candidate is None and name in self._open:
            candidate = self._candidates[name, position] = Candidate(name, _ANY[0], Artifact("", ""))
        elif candidate is None:
            candidate = self.facts.candidate(name, self.package(name).page.versions[position])
            if candidate is not None:
                candidate = candidate if candidate.name == name else candidate._replace(name=name)
                self._candidates[name, position] = candidate
        return candidate

    def arcs(self, name: str, position: int, extra: str = "") -> tuple[Arc, ...]:
        """Return the demands of one version, plain or of one extra.

        Raise `Unknown` when its metadata, or a page it names, is unknown.
        """
        key = (name, position, extra)
        arcs = self._arcs.get(key)
        if arcs is None:
            candidate = self.candidate(name, position)
            if candidate is None:
                raise Unknown(candidates=((name, self.package(name).page.versions[position]),))
            arcs = self._arcs[key] = tuple(self._demands(candidate, extra))
        return arcs

    def arcs_on(self, names: Container[str], name: str, position: int, extra: str = "") -> Iterable[Arc]:
        """Yield those demands of a version that is known which are on packages among `names`, or can never be met."""
        candidate = self.candidate(name, position)
        return self._demands(candidate, extra, names) if candidate is not None else ()

    def _demands(self, candidate: Candidate, extra: str, names: Container[str] | None = None) -> Iterable[Arc]:
        if candidate.invalid:
            yield Arc(INVALID, (), 0, exact=False, text=candidate.invalid)
        for broken, why in candidate.broken:
            if broken == extra:
                yield Arc(INVALID, (), 0, exact=False, text=why)
        position = self.package(candidate.name).sets.positions[candidate.version]
        for edge in candidate.requires:
            if edge.extra != extra or not (names is None or edge.name in names or edge.name in self.core_names):
                continue
            if edge.name not in self.core_names:
                yield self._demand(edge, vouches=bool(self.package(candidate.name).vouching >> position & 1))
            elif core_fault(self.constraints.core, edge.name, edge.specifier, edge.extras) is not None:
                yield Arc(edge.name, (), 0, exact=False, text=requirement_of(edge))

    def _demand(self, edge: Edge, *, vouches: bool) -> Arc:
        package = self.package(edge.name)
        mask = self._accepted(edge.name, edge.specifier)
        # where nothing has to be vouched for, new and old versions make the same demand
        exact = is_exact(edge.specifier) and (vouches or not mask & (package.yanked | package.prereleases))
        return Arc(edge.name, edge.extras, mask, exact, requirement_of(edge))

    def preferred(self, name: str) -> int:
        """Return the versions that the core's extras or its lock prefer, for the whole set and never binding."""
        mask = self._preferred.get(name)
        if mask is None:
            specifier = self.constraints.core.preferences.get(name)
            mask = self._preferred[name] = self.package(name).sets.select(specifier) if specifier is not None else 0
        return mask

    def in_order(self, name: str, mask: int) -> Iterable[int]:
        """Yield a set in order: the current lock's version, the preferred, then newest first; conditional ones last."""
        package = self.package(name)
        kept = package.sets.positions.get(self.kept.get(name, ""), -1)
        if kept >= 0 and mask >> kept & 1:
            yield kept
            mask &= ~(1 << kept)
        preferred = mask & self.preferred(name)
        yield from bits(preferred & package.free)
        mask &= ~(preferred & package.free)
        yield from bits(mask & package.free)
        yield from bits(mask & ~package.free)


def roots_of(requirements: Iterable[Requirement]) -> tuple[Root, ...]:
    """Return each requirement once as a root, in an order of their own: by name, then by owner, text and place."""
    texts = {requirement: requirement.canonical for requirement in requirements}

    def order(requirement: Requirement) -> tuple[object, ...]:
        owner, *place = requirement.origin
        return (requirement.name, owner, texts[requirement], place)

    return tuple(Root(i, r, texts[r]) for i, r in enumerate(sorted(texts, key=order)))


def _names_a_prerelease(specifier: str) -> bool:
    if not any(letter.isalpha() for letter in specifier):
        return False
    from packaging.specifiers import SpecifierSet

    return bool(SpecifierSet(specifier).prereleases)
