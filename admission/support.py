"""Support: what is there is needed by the roots, and what may only be taken under a pin is pinned for another reason.

The pin must be one of a candidate that is needed without what it pins. An assignment that lacks that has walls: what
the roots reach in it, and beyond them what they would have to reach. Some version within would have to be another one,
one that leads out. Who may vouch is found along leading versions only, of which there are few, so that all can be read.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from admission.assignment import Assignment
from admission.demands import Demands
from admission.rules import ABSENT, PRESENT, Leaf, Rule, Rulebook
from admission.universe import Arc, Root, Universe, Unknown
from admission.variables import Variables, package_and_extra
from admission.versions import bits

__all__ = ["Reach", "Support"]


class Reach(NamedTuple):
    """What the roots reach in an assignment."""

    extras: dict[str, dict[str, int]]
    """Package → the extras that are asked for, and the empty one for itself → the versions that are followed."""
    arcs: list[Arc]
    candidates: set[tuple[str, str]]
    """What was reached and is not read yet."""
    pages: set[str]

    @property
    def is_open(self) -> bool:
        """Whether more may be reached, through what is not read yet."""
        return bool(self.candidates or self.pages)


class Support:
    """Follows what the roots reach, and rules out what lacks support."""

    def __init__(
        self,
        universe: Universe,
        roots: Sequence[Root],
        optional: Sequence[Root],
        *,
        rules: Rulebook,
        variables: Variables,
        demands: Demands,
    ) -> None:
        self._universe = universe
        self._roots = roots
        self._optional = optional
        self._rules = rules
        self._variables = variables
        self._demands = demands
        self._opening: dict[str, tuple[Root, Arc]] = {}
        """Variable of an optional root → that root; none as long as everything is open that is chosen."""
        self._supporting: set[frozenset[tuple[str, int]]] = set()
        """The rules about support that were posted."""
        self._hoped: set[tuple[str, int]] = set()
        """Unread versions that might vouch, or lead to what does."""
        self._hoped_pages: set[str] = set()
        """Pages that are missing for the demands of what might vouch."""
        self._unsettled = 0
        """How often it could not be told whether anything pins a version, since not everything is read."""
        self._direct = universe.constraints.policy.prerelease == "direct-opt-in"
        self.unread_roots: set[str] = set()
        """Packages of roots whose pages are not known."""

    # -- what no candidate pins

    def rule_out_unvouched(self, chosen: Assignment) -> bool:
        """Rule out versions that no candidate pins which is needed without them; an unread one may pin anything."""
        found = []
        for name, position in chosen.items():
            conditional = self._universe.package(name).conditional
            if conditional >> position & 1 and (shut := conditional & ~self._opened(name)) >> position & 1:
                self._let_in_optional()
                reach = self.reach(chosen, closed=name)
                if not reach.is_open and (self._direct or not _pins(reach.arcs, name, position)):
                    terms = self._never_pinned(name, position, shut)
                    self._unsettled += not terms
                    terms = terms or {name: 2 << position, **self._walls(reach, name, position)}
                    found.append(terms)
                    if not self._demands.wanted:  # else it can be said better, with fewer versions not known
                        self._post(terms, Leaf(name=name, versions=terms[name] >> 1))
        self._try_optional(found)
        return bool(found)

    def _never_pinned(self, name: str, position: int, shut: int) -> dict[str, int]:
        """Return all shut versions that nothing can pin that the roots lead to; nothing if this one is not among them.

        A package can have hundreds of pre-releases, and what might pin them be asked for in many combinations.
        """
        pinned, walls = self._ever_pinned(name)
        never = shut & ~pinned
        return {name: never << 1, **walls} if never >> position & 1 else {}

    def _ever_pinned(self, closed: str) -> tuple[int, dict[str, int]]:
        """Return the versions that anything pins that the roots can lead to, and what shuts some of that out.

        They are all where not everything is known. An optional root may always be there.
        """
        pinned = self._universe.opened_by(closed, [*self._roots, *self._optional])
        walls: dict[str, int] = {}
        seen: dict[tuple[str, str], int] = {}
        pending = [*self._root_arcs(), *(arc for _, arc in self._opening.values())]
        while pending and not self._direct:
            arc = pending.pop()
            if arc.name == closed:
                pinned |= arc.mask if arc.exact else 0
                continue
            followed, left = self._followed(arc, closed), self._rules.domain_of_all(arc.name)
            if followed & ~(left >> 1):
                walls[arc.name] = left
            for extra in ("", *arc.extras):
                new = followed & left >> 1 & ~seen.get((arc.name, extra), 0)
                seen[arc.name, extra] = new | seen.get((arc.name, extra), 0)
                for place in bits(new):
                    demands = self._demands.of(arc.name, place, extra)
                    if demands is None:
                        pinned = -1
                        self._note_hoped(arc.name, place, extra)
                    pending.extend(demands or ())
        return pinned, walls

    def _note_hoped(self, name: str, place: int, extra: str) -> None:
        if self._universe.candidate(name, place) is None:
            self._hoped.add((name, place))
        elif page := self._demands.unread_page(name, place, extra):
            self._hoped_pages.add(page)

    def waited_for(self) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
        """Return the candidates and the pages to read before more is tried; none as long as few tries did without.

        What might vouch can be combined in very many ways, and each is a try; once it is read, one rule excludes all.
        """
        if self._unsettled <= _TRIES:
            return (), ()
        return self.still_hoped(), tuple(sorted(self._hoped_pages))

    def still_hoped(self) -> tuple[tuple[str, str], ...]:
        """Return the unread candidates that might vouch and that no root excludes: all of them, to be read at once."""
        accepted: dict[str, int] = {}
        for arc in self._root_arcs() if self._hoped else ():
            accepted[arc.name] = accepted.get(arc.name, -1) & arc.mask
        hoped = ((name, i) for name, i in self._hoped if accepted.get(name, -1) >> i & 1)
        return tuple(sorted((name, self._universe.package(name).page.versions[i]) for name, i in hoped))

    # -- what no demand asks for

    def rule_out_unneeded(self, chosen: Assignment, reach: Reach) -> bool:
        """Rule out packages and extras that only rules asked for, and no demand."""
        unneeded = {name: self._rules.full[name] & ~ABSENT for name in chosen if name not in reach.extras}
        for variable, domain in self._rules.domains.items():
            name, extra = package_and_extra(variable)
            if name and extra and domain == PRESENT and extra not in reach.extras.get(name, {}):
                unneeded[variable] = PRESENT
        walls = self._walls(reach) if unneeded else {}
        self._demands.wanted.clear()
        for variable, values in unneeded.items():
            leaf = Leaf(name=variable.partition("[")[0], versions=values >> 1)
            self._post({variable: values, **walls}, leaf)
        self._try_optional([walls])
        return bool(unneeded)

    def _post(self, terms: dict[str, int], leaf: Leaf) -> None:
        """Post a rule, once: as long as it is not known which optional roots are there it forbids nothing."""
        key = frozenset(terms.items())
        if key not in self._supporting:
            self._supporting.add(key)
            self._rules.post(Rule(dict(terms), leaf))

    # -- optional roots: one that is there is met, and leads on and opens as a root does

    def _let_in_optional(self) -> None:
        for root in self._optional if not self._opening else ():
            try:
                arc = self._universe.root_arc(root)
            except Unknown as unknown:
                self.unread_roots.add(unknown.page)
                continue
            variable = f"[{root.position}]"
            self._rules.open(variable, ABSENT | PRESENT)
            self._opening[variable] = (root, arc)
            self._variables.post_root(root, arc, variable)

    def _try_optional(self, ruled_out: Iterable[dict[str, int]]) -> None:
        """Let one optional root in that may make possible what is ruled out without it."""
        for variable in (variable for terms in ruled_out for variable in terms if variable in self._opening):
            if self._rules.domains[variable] == ABSENT | PRESENT:
                self._rules.decide(variable, PRESENT)
                return

    def _present(self) -> list[tuple[Root, Arc]]:
        return [opening for variable, opening in self._opening.items() if self._rules.domains[variable] == PRESENT]

    def with_optional(self) -> Universe:
        """Return the universe with the optional roots that are there."""
        present = [root for root, _ in self._present()]
        return self._universe.restricted([*self._roots, *present]) if present else self._universe

    def _opened(self, name: str) -> int:
        """Return the versions of a package that the roots open, and the optional ones that are there."""
        return self._universe.opened_by(name, [*self._roots, *(root for root, _ in self._present())])

    # -- what the roots reach

    def reach(self, chosen: Assignment, closed: str = "") -> Reach:
        """Follow the demands from the roots through an assignment.

        With a closed package, follow what may lead to a pin of it: neither its own demands nor those of old versions.
        """
        reach = Reach({}, [], set(), set(self.unread_roots))
        pending = [*self._root_arcs(), *(arc for _, arc in self._present())]
        while pending:
            arc = pending.pop()
            reach.arcs.append(arc)
            position, versions = chosen[arc.name], self._followed(arc, closed)
            known = reach.extras.setdefault(arc.name, {})
            for extra in ("", *arc.extras):
                before = known.get(extra, 0)
                known[extra] = before | versions
                if arc.name == closed or not versions & ~before & 1 << position:
                    continue
                demands = self._demands.of(arc.name, position, extra)
                if demands is not None:
                    pending.extend(demands)
                elif page := self._demands.unread_page(arc.name, position, extra):
                    reach.pages.add(page)
                else:
                    reach.candidates.add((arc.name, self._universe.package(arc.name).page.versions[position]))
        return reach

    def _root_arcs(self) -> list[Arc]:
        read = (root for root in self._roots if root.requirement.name not in self.unread_roots)
        return [self._universe.root_arc(root) for root in read]

    def _followed(self, arc: Arc, closed: str) -> int:
        """Return the versions whose demands matter where an arc leads to them."""
        return self._universe.package(arc.name).leading(arc.mask) if closed else -1

    # -- walls

    def _walls(self, reach: Reach, closed: str = "", position: int = -1) -> dict[str, int]:
        """Return the values of what is reached that lead to nothing else, and do not pin a version of the closed.

        An unread candidate may ask for anything. The walls end where an optional root would lead out or open it.
        """
        walls = {}
        for variable, (root, arc) in self._opening.items():
            is_there = self._rules.domains[variable] == PRESENT
            if not is_there and self._helps(root, arc, reach, closed=closed, position=position):
                walls[variable] = ABSENT
        for name, extras in reach.extras.items() if not (closed and self._direct) else ():
            if name == closed:
                continue
            walls[name] = self._rules.full[name]
            for place in bits(self._rules.full[name] >> 1 & reduce(or_, extras.values())):
                followed = [extra for extra, versions in extras.items() if versions >> place & 1]
                asked = [self._demands.of(name, place, extra) for extra in followed]
                known = [arc for demands in asked if demands is not None for arc in demands]
                if closed and self._universe.candidate(name, place) is None:
                    self._hoped.add((name, place))
                leads_out = None in asked or any(self._leads_out(arc, reach, closed) for arc in known)
                if leads_out or _pins(known, closed, position):
                    walls[name] &= ~(2 << place)
        return walls

    def _helps(self, root: Root, arc: Arc, reach: Reach, *, closed: str, position: int) -> bool:
        if arc.name == closed:
            return bool(self._universe.opens(root) >> position & 1)
        return not (closed and self._direct) and self._leads_out(arc, reach, closed)

    def _leads_out(self, arc: Arc, reach: Reach, closed: str) -> bool:
        """Return whether an arc leads to what is not reached, or to versions of it whose demands did not matter."""
        extras, versions = reach.extras.get(arc.name, {}), self._followed(arc, closed)
        return any(extra not in extras or versions & ~extras[extra] for extra in ("", *arc.extras))


_TRIES = 16
"""How often another assignment is tried before everything is read that might pin a version."""


def _pins(demands: Iterable[Arc], name: str, position: int) -> bool:
    return any(arc.name == name and arc.exact and arc.mask >> position & 1 for arc in demands)
