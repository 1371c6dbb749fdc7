"""The variables of a complete decision, and the rules that demands make about them.

There is one variable for each package (its value: one of its versions, or absent), and one for each extra that is asked
for (present or absent). They are opened when the first demand is about them.
"""

from collections import defaultdict

from admission.rules import ABSENT, PRESENT, Leaf, Rule, Rulebook
from admission.universe import Arc, Root, Universe

__all__ = ["Variables", "package_and_extra"]


class Variables:
    """Opens variables in a rulebook, and posts what roots and versions demand."""

    def __init__(self, universe: Universe, rules: Rulebook, openers: tuple[Root, ...] | None) -> None:
        """Take a rulebook in; `openers` alone may open what needs a reason, `None` where releases may too."""
        self._universe = universe
        self._rules = rules
        self._openers = openers
        self._extras: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """Package → its extras that have a variable."""

    def extras_of(self, name: str) -> dict[str, None]:
        """Return the extras of a package that have a variable."""
        return self._extras[name]

    def of_package(self, name: str) -> None:
        """Open the variable of a package with its versions that may be chosen."""
        if name not in self._rules.domains:
            package = self._universe.package(name)
            openable = -1 if self._openers is None else self._universe.opened_by(name, self._openers)
            self._rules.open(name, (package.free | package.conditional & openable) << 1 | ABSENT)

    def of_extra(self, name: str, extra: str) -> str:
        """Return the variable of an extra, opened."""
        variable = f"{name}[{extra}]"
        if variable not in self._rules.domains:
            self._rules.open(variable, ABSENT | PRESENT)
            self._extras[name][extra] = None
        return variable

    def outside(self, arc: Arc) -> int:
        """Return the values of an arc's package that do not meet it: the other versions, and absence."""
        self.of_package(arc.name)
        return self._rules.full[arc.name] & ~(arc.mask << 1)

    def post_root(self, root: Root, arc: Arc, condition: str = "") -> None:
        """Post what a root demands; of one that need not be there, where a variable says that it is."""
        leaf = Leaf(root=root, arc=arc, optional=bool(condition))
        terms = {condition: PRESENT} if condition else {}
        self._rules.post(Rule(terms | {arc.name: self.outside(arc)}, leaf))
        for extra in arc.extras:
            self._rules.post(Rule(terms | {self.of_extra(arc.name, extra): ABSENT}, leaf))

    def post_demand(self, name: str, versions: int, extra: str, arc: Arc) -> None:
        """Post what versions of a package demand, plain or of one extra."""
        leaf = Leaf(name=name, arc=arc, versions=versions, extra=extra)
        self.of_package(name)
        condition = {name: versions << 1}
        if extra:
            condition[self.of_extra(name, extra)] = PRESENT
        outside = self.outside(arc)
        # a demand of a package on itself: those versions that do not meet it can never be chosen
        target = condition.get(arc.name, -1) & outside
        self._rules.post(Rule(condition | {arc.name: target}, leaf))
        for other in arc.extras:
            variable = self.of_extra(arc.name, other)
            if variable not in condition:
                self._rules.post(Rule(condition | {variable: ABSENT}, leaf))


def package_and_extra(variable: str) -> tuple[str, str]:
    """Return what a variable is about: the package, and the extra or an empty text."""
    name, _, extra = variable.rstrip("]").partition("[")
    return name, extra
