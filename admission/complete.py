"""Decide completely whether roots can hold together: the second opinion that every refusal needs.

Conflict-driven search with learned rules, in the manner of PubGrub, over one variable for each package (its value: one
of its versions, or absent) and one for each extra (present or absent). A *rule* is a set of (variable, values) that may
not all be true at once. Values are bits; the lowest bit is *absent*. Every rule learned is a resolvent of rules before
it, so an end without solution carries its derivation, and the derivation's leaves are a sufficient explanation.

Rules come in lazily. A candidate whose metadata is unknown contributes none: *impossible* then still holds, because an
unread dependency can only take solutions away. A solution that rests on such a candidate is reported with it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from admission.assignment import Assignment, reachable
from admission.reading import PlannedReading, Readings
from admission.rules import ABSENT, PRESENT, Leaf, Rule, Rulebook
from admission.universe import Arc, Root, Universe, Unknown
from admission.versions import bits

__all__ = ["CompleteAnswer", "Leaf", "Solver", "decide_completely", "roots_of"]


class CompleteAnswer(NamedTuple):
    """What the complete decision said."""

    outcome: str
    """`found`, `impossible`, `gave-up` or `unknown` (a solution that rests on unread metadata)."""
    chosen: Assignment
    leaves: tuple[Leaf, ...] = ()
    """For `impossible`: what the derivation rests on; sufficient, not minimal."""
    unknown: tuple[tuple[str, str], ...] = ()
    """For `unknown`: (name, version) of the candidates that must be read."""
    pages: tuple[str, ...] = ()
    """For `unknown`: names whose pages must be read."""
    hoped: tuple[tuple[str, str], ...] = ()
    """For `unknown`: candidates besides, one of which might vouch for what the roots do not open themselves."""
    effort: int = 0
    stood_at: str = ""
    """For `gave-up`: the package that most of the latest conflicts were about."""


def decide_completely(
    universe: Universe,
    roots: Sequence[Root],
    budget: int,
    may_go_on: Callable[[], bool] = lambda: True,
    *,
    optional: Sequence[Root] = (),
) -> CompleteAnswer:
    """Decide on what is known whether a solution exists, in at most `budget` decisions and conflicts.

    With `optional` roots: whether one exists for the roots and for any of these, which may open what the roots do not.
    Never raises `Unknown`. It gives up as soon as `may_go_on` says no.
    """
    return Solver(universe, roots, budget, may_go_on, optional=optional).solve()


class _Reach(NamedTuple):
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


class Solver:
    """One complete decision under way.

    `reading`, it takes in only what it reads itself, step by step, and ends with `unknown` at the first gap; it goes on
    from there once more is known. So what it finds does not depend on what else happens to be known. Otherwise it takes
    in all that is known, and goes on as if what is not known had no demands.
    """

    def __init__(
        self,
        universe: Universe,
        roots: Sequence[Root],
        budget: int,
        may_go_on: Callable[[], bool] = lambda: True,
        *,
        reading: bool = False,
        optional: Sequence[Root] = (),
    ) -> None:
        self._universe = universe
        self._roots = roots
        self._optional = optional
        self._opening: dict[str, tuple[Root, Arc]] = {}
        """Variable of an optional root → that root; none as long as everything is open that is chosen."""
        self._left = budget
        self._budget = budget
        self._may_go_on = may_go_on
        self._readings = Readings(universe) if reading else None
        self._is_begun = False
        self._rules = Rulebook()
        self._expanded: set[str] = set()
        self._extras: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """Package → its extras that have a variable."""
        self._wanted: set[tuple[str, int, str]] = set()
        """Reading: what was asked of a version, or of an extra of it, and was not taken yet."""
        self._unread_pages: dict[tuple[str, int, str], str] = {}
        self._unread_roots: set[str] = set()
        self._supporting: set[frozenset[tuple[str, int]]] = set()
        """The rules about support that were posted."""
        self._hoped: set[tuple[str, int]] = set()
        """Unread versions that might vouch, or lead to what does."""
        self._direct = universe.constraints.policy.prerelease == "direct-opt-in"

    def solve(self) -> CompleteAnswer:
        """Decide, or go on deciding where the last answer was `unknown`."""
        rules = self._rules
        if (unread := self._begin()) is not None:
            return unread
        while rules.failure is None:
            if self._left <= 0 or not self._may_go_on():
                return CompleteAnswer("gave-up", {}, effort=self._budget - self._left, stood_at=self._stood_at())
            conflict = rules.propagate()
            if conflict is not None:
                self._left -= 1
                rules.learn(conflict)
            elif rules.narrowed:
                if (unread := self._take_in()) is not None:
                    return unread
            elif (variable := rules.next()) is not None:
                self._left -= 1
                self._decide(variable)
            elif (verdict := self._finish()) is not None:
                return verdict
            else:
                self._left -= 1
        return CompleteAnswer("impossible", {}, leaves=_leaves(rules.failure), effort=self._budget - self._left)

    def _stood_at(self) -> str:
        return self._rules.most_disputed or next((root.requirement.name for root in self._roots), "")

    # -- variables and rules

    def _begin(self) -> CompleteAnswer | None:
        """Post the demands of the roots; reading, say which pages must be known for that."""
        if self._is_begun:
            return None
        arcs: dict[Root, Arc] = {}
        for root in self._roots:
            try:
                arcs[root] = self._universe.root_arc(root)
            except Unknown as unknown:
                self._unread_roots.add(unknown.page)
        if self._readings is not None and self._unread_roots:
            pages, self._unread_roots = self._unread_roots, set()
            return self._unknown(set(), pages)
        self._is_begun = True
        for root, arc in arcs.items():
            self._post_root(root, arc)
        return None

    def _post_root(self, root: Root, arc: Arc) -> None:
        leaf = Leaf(root=root, arc=arc)
        self._rules.post(Rule({arc.name: self._outside(arc)}, leaf))
        for extra in arc.extras:
            self._rules.post(Rule({self._extra(arc.name, extra): ABSENT}, leaf))

    def _variable(self, name: str) -> int:
        """Return the current values of a package's variable, opened with its choosable versions."""
        domain = self._rules.domains.get(name)
        if domain is None:
            package = self._universe.package(name)
            conditional = package.conditional & (self._openable(name) if self._direct else -1)
            domain = (package.free | conditional) << 1 | ABSENT
            self._rules.open(name, domain)
        return domain

    def _extra(self, name: str, extra: str) -> str:
        """Return the variable of an extra, opened."""
        variable = f"{name}[{extra}]"
        if variable not in self._rules.domains:
            self._rules.open(variable, ABSENT | PRESENT)
            self._extras[name][extra] = None
        return variable

    def _outside(self, arc: Arc) -> int:
        """Return the values of an arc's package that do not meet it: the other versions, and absence."""
        self._variable(arc.name)
        return self._rules.full[arc.name] & ~(arc.mask << 1)

    def _take_in(self) -> CompleteAnswer | None:
        """Post the demands of what cannot be absent any more; reading, say what must be known for that."""
        if self._readings is not None:
            return self._read(self._readings)
        narrowed = tuple(self._rules.narrowed)
        self._rules.narrowed.clear()
        for variable in narrowed:
            self._expand(variable)
        return None

    def _expand(self, variable: str) -> None:
        """Post the demands of every version that is known, one rule for all versions that make the same demand."""
        if variable in self._expanded:
            return
        self._expanded.add(variable)
        name, _, extra = variable.rstrip("]").partition("[")
        if not name:
            return  # an optional root
        grouped: dict[Arc, int] = {}
        positions = self._universe.package(name).sets.positions
        for version in self._universe.facts.candidates.get(name, {}):
            position = positions.get(version)
            if position is None:
                continue
            try:
                arcs = self._universe.arcs(name, position, extra)
            except Unknown as unknown:
                self._unread_pages[name, position, extra] = unknown.page
                arcs = tuple(self._universe.arcs_on(self._universe.facts.pages, name, position, extra))
            for arc in arcs:
                grouped[arc] = grouped.get(arc, 0) | 1 << position
        for arc, versions in sorted(grouped.items()):
            self._post_demand(name, versions, extra, arc)

    def _post_demand(self, name: str, versions: int, extra: str, arc: Arc) -> None:
        leaf = Leaf(name=name, arc=arc, versions=versions, extra=extra)
        self._variable(name)
        condition = {name: versions << 1}
        if extra:
            condition[self._extra(name, extra)] = PRESENT
        outside = self._outside(arc)
        # a demand of a package on itself: those versions that do not meet it can never be chosen
        target = condition.get(arc.name, -1) & outside
        self._rules.post(Rule(condition | {arc.name: target}, leaf))
        for other in arc.extras:
            variable = self._extra(arc.name, other)
            if variable not in condition:
                self._rules.post(Rule(condition | {variable: ABSENT}, leaf))

    def _read(self, readings: Readings) -> CompleteAnswer | None:
        """Post the demands of the versions that are left alone; say what must be known for that, and post nothing."""
        plans = [plan for name in self._left_alone() if (plan := self._plan(readings, name)).unread]
        unread = self._post_readings(readings, plans)
        if unread is None:
            self._rules.narrowed.clear()
        return unread

    def _post_readings(self, readings: Readings, plans: Sequence[PlannedReading]) -> CompleteAnswer | None:
        candidates, pages = readings.missing(plans)
        if candidates or pages:
            return self._unknown(candidates | self._next_to_read(), pages)
        for plan in plans:
            for extra, arc, versions in readings.take(plan, self._rules.domains):
                self._post_demand(plan.name, versions, extra, arc)
        return None

    def _next_to_read(self) -> set[tuple[str, str]]:
        """Return the unread candidates that will be tried next if nothing comes in between: to be read by the way."""
        found = set()
        for name, domain in self._rules.domains.items():
            if not domain & ABSENT and domain & (domain - 1) and not name.endswith("]"):
                position = next(iter(self._universe.in_order(name, domain >> 1)))
                if self._universe.candidate(name, position) is None:
                    found.add((name, self._universe.package(name).page.versions[position]))
        return found

    def _read_wanted(self) -> CompleteAnswer | None:
        """Post the demands of versions that may vouch for others; say what must be known for that, and post nothing."""
        wanted = sorted(self._wanted)
        self._wanted.clear()
        if self._readings is None or not wanted:
            return None
        plans = [PlannedReading(name, position, (extra,), (extra,), 0) for name, position, extra in wanted]
        return self._post_readings(self._readings, plans)

    def _left_alone(self) -> list[str]:
        """Return the packages that were narrowed, or are asked for an extra, and of which one version is left."""
        names = {variable.partition("[")[0] for variable in self._rules.narrowed}
        left = ((name, self._rules.domains.get(name, ABSENT)) for name in sorted(names))
        return [name for name, domain in left if not domain & ABSENT and not domain & (domain - 1)]

    def _plan(self, readings: Readings, name: str) -> PlannedReading:
        domains = self._rules.domains
        present = (extra for extra in self._extras[name] if domains[f"{name}[{extra}]"] == PRESENT)
        others = self._rules.domain_of_all(name) >> 1
        return readings.plan(name, domains[name].bit_length() - 2, ("", *sorted(present)), others)

    def _unknown(self, candidates: Iterable[tuple[str, str]], pages: Iterable[str]) -> CompleteAnswer:
        effort = self._budget - self._left
        return CompleteAnswer(
            "unknown", {}, unknown=tuple(sorted(candidates)), pages=tuple(sorted(pages)), effort=effort
        )

    # -- decisions

    def _decide(self, name: str) -> None:
        position = next(iter(self._universe.in_order(name, self._rules.domains[name] >> 1)))
        self._rules.decide(name, 2 << position)

    def _finish(self) -> CompleteAnswer | None:
        """Accept the assignment, or post the rules it breaks and go on."""
        chosen = {
            variable: domain.bit_length() - 2
            for variable, domain in self._rules.domains.items()
            if not domain & ABSENT and not variable.endswith("]")
        }
        if self._post_unvouched(chosen):
            return self._read_wanted()
        reach = self._reach(chosen)
        if reach.candidates or reach.pages:
            return self._unknown(reach.candidates, reach.pages)._replace(chosen=chosen, hoped=self._still_hoped())
        if self._post_unneeded(chosen, reach):
            return None
        reached = reachable(self._with_optional(), chosen)
        if reached is None:
            message = "an assignment that breaks no rule does not hold"
            raise AssertionError(message)
        final = {name: chosen[name] for name in sorted(reached)}
        return CompleteAnswer("found", final, effort=self._budget - self._left)

    # -- support: what is there is needed by the roots, and what may only be taken under a pin is pinned by a candidate
    # that is needed for another reason. An assignment that lacks that has walls: what the roots reach in it, and beyond
    # them what they would have to reach. Some version within would have to be another one, one that leads out. Who may
    # vouch is found along leading versions only, of which there are few, so that all of them can be read.

    def _post_unvouched(self, chosen: Assignment) -> bool:
        """Rule out versions that no candidate pins which is needed without them; an unread one may pin anything."""
        found = []
        for name, position in chosen.items():
            conditional = self._universe.package(name).conditional
            if conditional >> position & 1 and (shut := conditional & ~self._opened(name)) >> position & 1:
                self._let_in_optional()
                reach = self._reach(chosen, closed=name)
                if not reach.is_open and (self._direct or not _pins(reach.arcs, name, position)):
                    terms = self._never_pinned(name, position, shut)
                    terms = terms or {name: 2 << position, **self._walls(reach, name, position)}
                    found.append(terms)
                    if not self._wanted:  # else it can be said better, with fewer versions of which nothing is known
                        self._post_support(terms, Leaf(name=name, versions=terms[name] >> 1))
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
        pinned, walls = self._openable(closed), dict[str, int]()
        seen: dict[tuple[str, str], int] = {}
        pending = [self._universe.root_arc(root) for root in self._roots if self._is_read(root)]
        pending += [arc for _, arc in self._opening.values()]
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
                for demands in (self._demands(arc.name, place, extra) for place in bits(new)):
                    pinned = -1 if demands is None else pinned
                    pending.extend(demands or ())
        return pinned, walls

    def _post_support(self, terms: dict[str, int], leaf: Leaf) -> None:
        """Post a rule, once: as long as it is not known which optional roots are there it forbids nothing."""
        key = frozenset(terms.items())
        if key not in self._supporting:
            self._supporting.add(key)
            self._rules.post(Rule(dict(terms), leaf))

    def _still_hoped(self) -> tuple[tuple[str, str], ...]:
        """Return the unread candidates that might vouch and that no root excludes: all of them, to be read at once."""
        accepted: dict[str, int] = {}
        for root in self._roots if self._hoped else ():
            if self._is_read(root):
                arc = self._universe.root_arc(root)
                accepted[arc.name] = accepted.get(arc.name, -1) & arc.mask
        hoped = ((name, i) for name, i in self._hoped if accepted.get(name, -1) >> i & 1)
        return tuple(sorted((name, self._universe.package(name).page.versions[i]) for name, i in hoped))

    def _post_unneeded(self, chosen: Assignment, reach: _Reach) -> bool:
        """Rule out packages and extras that only rules asked for, and no demand."""
        unneeded = {name: self._rules.full[name] & ~ABSENT for name in chosen if name not in reach.extras}
        for variable, domain in self._rules.domains.items():
            name, _, extra = variable.rstrip("]").partition("[")
            if name and extra and domain == PRESENT and extra not in reach.extras.get(name, {}):
                unneeded[variable] = PRESENT
        walls = self._walls(reach) if unneeded else {}
        self._wanted.clear()
        for variable, values in unneeded.items():
            leaf = Leaf(name=variable.partition("[")[0], versions=values >> 1)
            self._post_support({variable: values, **walls}, leaf)
        self._try_optional([walls])
        return bool(unneeded)

    # -- optional roots: one that is there is met, and leads on and opens as a root does

    def _let_in_optional(self) -> None:
        for root in self._optional if not self._opening else ():
            try:
                arc = self._universe.root_arc(root)
            except Unknown as unknown:
                self._unread_roots.add(unknown.page)
                continue
            variable = f"[{root.position}]"
            self._rules.open(variable, ABSENT | PRESENT)
            self._opening[variable] = (root, arc)
            leaf = Leaf(root=root, arc=arc, optional=True)
            self._rules.post(Rule({variable: PRESENT, arc.name: self._outside(arc)}, leaf))
            for extra in arc.extras:
                self._rules.post(Rule({variable: PRESENT, self._extra(arc.name, extra): ABSENT}, leaf))

    def _try_optional(self, ruled_out: Iterable[dict[str, int]]) -> None:
        """Let one optional root in that may make possible what is ruled out without it."""
        for variable in (variable for terms in ruled_out for variable in terms if variable in self._opening):
            if self._rules.domains[variable] == ABSENT | PRESENT:
                self._rules.decide(variable, PRESENT)
                return

    def _present(self) -> list[tuple[Root, Arc]]:
        return [opening for variable, opening in self._opening.items() if self._rules.domains[variable] == PRESENT]

    def _with_optional(self) -> Universe:
        present = [root for root, _ in self._present()]
        return self._universe.restricted([*self._roots, *present]) if present else self._universe

    # -- what the roots reach

    def _reach(self, chosen: Assignment, closed: str = "") -> _Reach:
        """Follow the demands from the roots through an assignment.

        With a closed package, follow what may lead to a pin of it: neither its own demands nor those of old versions.
        """
        reach = _Reach({}, [], set(), set(self._unread_roots))
        pending = [self._universe.root_arc(root) for root in self._roots if self._is_read(root)]
        pending += [arc for _, arc in self._present()]
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
                demands = self._demands(arc.name, position, extra)
                if demands is not None:
                    pending.extend(demands)
                elif (page := self._unread_pages.get((arc.name, position, extra))) is not None:
                    reach.pages.add(page)
                else:
                    reach.candidates.add((arc.name, self._universe.package(arc.name).page.versions[position]))
        return reach

    def _followed(self, arc: Arc, closed: str) -> int:
        """Return the versions whose demands matter where an arc leads to them."""
        return self._universe.package(arc.name).leading(arc.mask) if closed else -1

    def _is_read(self, root: Root) -> bool:
        return root.requirement.name not in self._unread_roots

    def _demands(self, name: str, position: int, extra: str) -> Sequence[Arc] | None:
        """Return the demands of a version, `None` if not all of them are known, or read where only that counts."""
        if self._readings is not None and not self._readings.taken(name, extra) >> position & 1:
            if self._rules.domain_of_all(name) & 2 << position:
                self._wanted.add((name, position, extra))
            return None
        if self._universe.candidate(name, position) is None or (name, position, extra) in self._unread_pages:
            return None
        try:
            return self._universe.arcs(name, position, extra)
        except Unknown as unknown:
            self._unread_pages[name, position, extra] = unknown.page
            return None

    def _walls(self, reach: _Reach, closed: str = "", position: int = -1) -> dict[str, int]:
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
                asked = [self._demands(name, place, extra) for extra in followed]
                known = [arc for demands in asked if demands is not None for arc in demands]
                if closed and self._universe.candidate(name, place) is None:
                    self._hoped.add((name, place))
                leads_out = None in asked or any(self._leads_out(arc, reach, closed) for arc in known)
                if leads_out or _pins(known, closed, position):
                    walls[name] &= ~(2 << place)
        return walls

    def _helps(self, root: Root, arc: Arc, reach: _Reach, *, closed: str, position: int) -> bool:
        if arc.name == closed:
            return bool(self._universe.opens(root) >> position & 1)
        return not (closed and self._direct) and self._leads_out(arc, reach, closed)

    def _leads_out(self, arc: Arc, reach: _Reach, closed: str) -> bool:
        """Return whether an arc leads to what is not reached, or to versions of it whose demands did not matter."""
        extras, versions = reach.extras.get(arc.name, {}), self._followed(arc, closed)
        return any(extra not in extras or versions & ~extras[extra] for extra in ("", *arc.extras))

    def _opened(self, name: str) -> int:
        """Return the versions of a package that the roots open, and the optional ones that are there."""
        return self._opened_by(name, [*self._roots, *(root for root, _ in self._present())])

    def _openable(self, name: str) -> int:
        return self._opened_by(name, [*self._roots, *self._optional])

    def _opened_by(self, name: str, roots: Iterable[Root]) -> int:
        return reduce(or_, (self._universe.opens(root) for root in roots if root.requirement.name == name), 0)


def _pins(demands: Iterable[Arc], name: str, position: int) -> bool:
    return any(arc.name == name and arc.exact and arc.mask >> position & 1 for arc in demands)


def _leaves(failure: Rule) -> tuple[Leaf, ...]:
    """Return what a derivation rests on, in a stable order."""
    seen: set[int] = set()
    leaves: dict[Leaf, None] = {}
    pending: list[Rule] = [failure]
    while pending:
        rule = pending.pop()
        if id(rule) in seen:
            continue
        seen.add(id(rule))
        if rule.leaf is not None:
            leaves[rule.leaf] = None
        if rule.parents is not None:
            pending.extend(rule.parents)
    return tuple(leaves)


def roots_of(leaves: Iterable[Leaf]) -> tuple[Root, ...]:
    """Return the roots among leaves that have to be there, in their order."""
    return tuple(sorted({leaf.root for leaf in leaves if leaf.root is not None and not leaf.optional}))
