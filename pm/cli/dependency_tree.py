"""Say why a package is in a generation, and what needs what in it: `hermes pm why` and `hermes pm tree`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypedDict, cast

from admission import Owner, canonical_name
from lockfiles import Artifact, Lock, Pin
from lockfiles.graph import Branch, active_edges, chains, owners, tree
from pm.generations.records import Record
from pm.host.core import HostedCore, core_from_json
from pm.names import safe_text, shown
from pm.receipts.plain import to_plain

__all__ = ["SIGNS", "Tree", "UnknownPackage", "Why", "tree_text", "tree_to_json", "why_text", "why_to_json"]


class UnknownPackage(ValueError):
    """A name that is no package of the generation; the message says which names are near."""


class OwnerRow(TypedDict):
    """Who asks for something."""

    kind: str
    """`core`, `core-extra` or `plugin`."""
    name: str


class Why(TypedDict):
    """Why one package is there."""

    package: str
    version: str
    index: str
    """Address of the index that it comes from; empty for a file of a folder."""
    path: str
    """Where that file lies, relative to the lock, or the folder of a core that is a project; empty for an index's."""
    owners: list[OwnerRow]
    """On whose behalf it is there, the shortest chain first; empty when nobody asks for it any more."""
    chains: list[list[str]]
    """For each of the owners one shortest chain: its own requirement, then what each package on the way asks for."""
    extras: list[str]
    """The extras of it that somebody asks for."""
    requires_python: str
    generation: int


class Asking(OwnerRow):
    """An owner with what it asks for."""

    requirement: str


class Node(TypedDict):
    """One package of a tree."""

    name: str
    version: str
    requirement: str
    """What joins it to the node that it hangs on, as the one who needs says it."""
    owners: list[Asking]
    """Of an inverted tree: who asks for it by a requirement of its own."""
    branches: "list[Node]"
    repeated: bool
    """Shown in full somewhere before."""
    deeper: bool
    """More hangs on it, below the depth that was asked for."""


class Group(OwnerRow):
    """What one owner asks for."""

    version: str
    """Of the core or the plugin; empty where there is none."""
    demands: list[Node]


class Tree(TypedDict):
    """What needs what."""

    generation: int
    owners: list[Group]
    """The core, its extras, the plugins; empty for an inverted tree."""
    rest: list[Node]
    """What nobody asks for any more, for example since a plugin was switched off; the next build leaves it out."""
    inverted: Node | None
    """The package whose dependants were asked for."""


def why_to_json(record: Record, package: str) -> Why:
    """Return why a package is in a generation, without credentials; the name of the core means the core.

    Raise `UnknownPackage`.
    """
    asked = _Asked(record)
    pin = asked.pin(package)
    found = chains(asked.lock, pin.name)
    value = {
        "package": pin.name,
        "version": pin.version,
        "index": pin.index,
        "path": pin.artifact.path,
        "owners": tuple({"kind": chain.owner.kind, "name": chain.owner.name} for chain in found),
        "chains": tuple(
            (asked.text(chain.owner, chain.links[0].name), *(link.requirement for link in chain.links[1:]))
            for chain in found
        ),
        "extras": pin.extras,
        "requires_python": pin.requires_python,
        "generation": record.generation,
    }
    return cast("Why", to_plain(value))


def tree_to_json(record: Record, *, invert: str | None = None, depth: int | None = None) -> Tree:
    """Return what each owner of a generation asks for and what that needs; with `invert`, what needs that package.

    Each package is shown in full once, down to `depth` levels. Raise `UnknownPackage`.
    """
    asked = _Asked(record)
    value: Tree = {"generation": record.generation, "owners": [], "rest": [], "inverted": None}
    if invert:
        name = asked.pin(invert).name
        [branch] = tree(asked.lock, [name], inverted=True, depth=depth)
        value["inverted"] = _inverted(branch, asked, depth)
    else:
        value["owners"], value["rest"] = _forest(asked, depth)
    return cast("Tree", to_plain(_with_tuples(value)))


# -- who asks


class _Asked:
    """What the core and the members of a record ask for, as it is written."""

    def __init__(self, record: Record) -> None:
        self.hosted: HostedCore = core_from_json(record.core)
        self.lock: Lock = _with_core(record.lock, self.hosted)
        self.owners: dict[Owner, str] = {Owner("core", self.hosted.core.name): self.hosted.core.version}
        """Owner → version, in the order in which they are told."""
        self.owners |= {Owner("core-extra", extra): "" for extra in self.hosted.core.extras}
        for member in record.members:
            owner = Owner("plugin", member.key)
            # in two profiles one plugin may have two contents, which ask for different things
            versions = dict.fromkeys(filter(None, (self.owners.get(owner), member.declaration.version)))
            self.owners[owner] = ", ".join(versions)
        written: dict[tuple[Owner, str], dict[str, None]] = {}
        of_members = (requirement for member in record.members for requirement in member.declaration.requirements)
        for requirement in (*self.hosted.core.requirements, *of_members):
            texts = written.setdefault((requirement.origin.owner, requirement.name), {})
            texts[requirement.text or requirement.canonical] = None
        self._written = {key: ", ".join(texts) for key, texts in written.items()}

    @property
    def core(self) -> str:
        """The name of the core's own pin."""
        return self.hosted.core.name

    def text(self, owner: Owner, name: str) -> str:
        """Return what an owner asks of a package."""
        if name == self.core:
            return f"{name}=={self.hosted.core.version}"
        return self._written.get((owner, name), name)

    def pin(self, package: str) -> Pin:
        """Return the pin of a package, however its name is spelled; raise `UnknownPackage`."""
        name = canonical_name(package.strip())
        pin = self.lock.pin(self.core if name in self.hosted.names else name)
        if pin is None:
            raise UnknownPackage(_unknown(package, name, self.lock))
        return pin

    def demands(self, owner: Owner) -> list[str]:
        """Return the names that an owner asks for; the core is no demand of itself."""
        return [pin.name for pin in self.lock.pins if owner in pin.owners and pin.name != self.core]


def _with_core(lock: Lock, hosted: HostedCore) -> Lock:
    """Return a lock that holds the core too: one that is a project's folder is on the path and not installed."""
    core = hosted.core
    if lock.pin(core.name) is not None:
        return lock
    pin = Pin(
        core.name,
        core.version,
        Artifact("", "", path=hosted.folder),
        requires_python=core.requires_python,
        extras=core.extras,
        owners=(Owner("core", core.name),),
    )
    return lock._replace(pins=tuple(sorted((*lock.pins, pin))))


def _unknown(package: str, name: str, lock: Lock) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [pin.name for pin in lock.pins])
    meant = f"; did you mean {' or '.join(f'`{other}`' for other in near)}?" if near else ""
    return f"no package {shown(package)} is in the selected generation{meant}"


# -- trees


def _forest(asked: _Asked, depth: int | None) -> tuple[list[Group], list[Node]]:
    lock = asked.lock
    demands = {owner: asked.demands(owner) for owner in asked.owners}
    rest = _rest(asked)
    begin = dict.fromkeys([*(name for names in demands.values() for name in names), *rest])
    full = {branch.name: branch for branch in tree(lock, tuple(begin), depth=depth)} if begin else {}
    groups: list[Group] = []
    for owner, version in asked.owners.items():
        # what is not left in `full` was shown before, under another owner or another package
        nodes = [
            _node(full.pop(name) if name in full else _repeated(lock, name, depth), asked.text(owner, name))
            for name in demands[owner]
        ]
        groups.append({"kind": owner.kind, "name": owner.name, "version": version, "demands": nodes})
    return groups, [_node(branch) for branch in full.values()]


def _rest(asked: _Asked) -> list[str]:
    """Return of what nobody asks for any more the packages from which the others can be reached."""
    everybody = owners(asked.lock)
    pins = [pin for pin in asked.lock.pins if not everybody[pin.name] and pin.name != asked.core]
    needed = {edge.name for pin in pins for edge in active_edges(pin)}
    first = sorted((pin.name for pin in pins), key=lambda name: (name in needed, name))
    return [branch.name for branch in tree(asked.lock, first)] if first else []


def _repeated(lock: Lock, name: str, depth: int | None) -> Branch:
    """Return a package that was shown before: in full, unless the depth shows nothing in full."""
    [branch] = tree(lock, [name], depth=1)
    return branch if depth == 1 else branch._replace(repeated=branch.deeper, deeper=False)


def _node(branch: Branch, requirement: str = "") -> Node:
    return {
        "name": branch.name,
        "version": branch.version,
        "requirement": requirement or branch.requirement,
        "owners": [],
        "branches": [_node(further) for further in branch.branches],
        "repeated": branch.repeated,
        "deeper": branch.deeper,
    }


def _inverted(branch: Branch, asked: _Asked, depth: int | None) -> Node:
    """Return a branch of an inverted tree; the core is told as an owner and not as a package besides."""
    node = _node(branch._replace(branches=()))
    pin = asked.lock.pin(branch.name)
    asking = pin.owners if pin is not None and not branch.repeated else ()
    if depth == 1:
        node["deeper"] = branch.deeper or bool(asking)
        return node
    node["owners"] = [
        {"kind": owner.kind, "name": owner.name, "requirement": asked.text(owner, branch.name)} for owner in asking
    ]
    further = depth - 1 if depth is not None else None
    node["branches"] = [_inverted(other, asked, further) for other in branch.branches if other.name != asked.core]
    return node


def _with_tuples(value: object) -> object:
    """Return JSON values with tuples for lists, which is how `to_plain` wants them."""
    if isinstance(value, list):
        return tuple(_with_tuples(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _with_tuples(item) for key, item in value.items()}
    return value


# -- text


def why_text(value: Why, *, width: int, ascii: bool = False) -> str:  # noqa: A002 - the word for what it asks
    """Return the text for a terminal of `width` columns, without a line feed at its end; nothing is cut."""
    sheet = _Sheet(width, _ASCII if ascii else _UNICODE)
    sheet.write(f"{value['package']} {value['version']}")
    if source := value["index"] or value["path"]:
        sheet.write(f"from {source}", 2)
    if value["requires_python"]:
        sheet.write(f"for Python {value['requires_python']}", 2)
    if value["extras"]:
        sheet.write(f"with the extras {', '.join(value['extras'])}", 2)
    sheet.write("asked for by" if value["owners"] else _NOBODY, 2)
    for owner, (first, *further) in zip(value["owners"], value["chains"], strict=True):
        sheet.write(_owner(owner), 4)
        sheet.write(first, 6)
        for link in further:
            sheet.write(f"→ {link}", 6)
    sheet.write(f"in generation {value['generation']}", 2)
    return sheet.text


def tree_text(value: Tree, *, width: int, ascii: bool = False) -> str:  # noqa: A002 - the word for what it asks
    """Return the text for a terminal of `width` columns, without a line feed at its end; nothing is cut."""
    sheet = _Sheet(width, _ASCII if ascii else _UNICODE)
    trees = list(_drawn(value))
    sheet.narrow(max((_height(items) for _, items in trees), default=0))
    for title, items in trees:
        sheet.write(title)
        sheet.draw(items)
    nodes = [node for _, items in trees for node in _all(items)]
    if any(node.mark == _SEEN for node in nodes):
        sheet.write(f"{_SEEN} shown in full above")
    if any(node.mark == _MORE for node in nodes):
        sheet.write(f"{_MORE} more hangs on it, below this depth")
    return sheet.text


_NOBODY = "asked for by nobody any more: the next build leaves it out"
_SEEN = "(*)"
_MORE = "(+)"


class _Item(NamedTuple):
    """One line of a tree, with what hangs on it."""

    text: str
    items: "tuple[_Item, ...]" = ()
    mark: str = ""


def _drawn(value: Tree) -> Iterator[tuple[str, tuple[_Item, ...]]]:
    """Yield each tree with its title."""
    if value["inverted"] is not None:
        top = _dependants(value["inverted"])
        yield f"{top.text} {top.mark}".rstrip(), top.items
    for group in value["owners"]:
        title = f"{_owner(group)} {group['version']}".rstrip()
        yield (title if group["demands"] else f"{title}: asks for no package"), tuple(map(_needed, group["demands"]))
    if value["rest"]:
        yield _NOBODY, tuple(map(_needed, value["rest"]))


def _needed(node: Node) -> _Item:
    """Return a package with what it needs; a requirement that is the mere name says nothing."""
    said = f" for {node['requirement']}" if node["requirement"] not in ("", node["name"]) else ""
    return _Item(f"{node['name']} {node['version']}{said}", tuple(map(_needed, node["branches"])), _mark(node))


def _dependants(node: Node) -> _Item:
    """Return a package with who asks for it and what needs it."""
    said = f" needs {node['requirement']}" if node["requirement"] else ""
    asking = (_Item(f"{_owner(owner)} asks for {owner['requirement']}") for owner in node["owners"])
    items = (*asking, *map(_dependants, node["branches"]))
    return _Item(f"{node['name']} {node['version']}{said}", items, _mark(node))


def _mark(node: Node) -> str:
    return _SEEN if node["repeated"] else _MORE if node["deeper"] else ""


def _owner(owner: OwnerRow) -> str:
    return f"{owner['kind']} {owner['name']}"


def _height(items: Iterable[_Item]) -> int:
    return max((1 + _height(item.items) for item in items), default=0)


def _all(items: Iterable[_Item]) -> Iterator[_Item]:
    for item in items:
        yield item
        yield from _all(item.items)


class _Signs(NamedTuple):
    """What lines are drawn with."""

    branch: str
    last: str
    through: str
    blank: str
    cut: str
    """In the place of rails for which there is no room."""
    arrow: str


_UNICODE = _Signs("├── ", "└── ", "│   ", "    ", "…", "→")
SIGNS = "".join(_UNICODE)
"""What a terminal must be able to show, or trees are drawn with ASCII."""
_ASCII = _Signs("|-- ", "`-- ", "|   ", "    ", "~", "->")
_LEAST_WIDTH = 40
_NARROW = 2


class _Sheet:
    """Lines of at most some columns; what others wrote can neither command the terminal nor show a credential."""

    def __init__(self, width: int, signs: _Signs) -> None:
        self._width = max(width, _LEAST_WIDTH)
        self._signs = signs
        self._step = len(signs.branch)
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def narrow(self, height: int) -> None:
        """Draw narrower rails if trees of that height would not leave half of the width to the texts."""
        if height * self._step > self._width // 2:
            self._step = _NARROW

    def write(self, text: str, indent: int = 0) -> None:
        """Write a text, broken where it must be."""
        self._put(text, " " * indent, " " * (indent + 2))

    def draw(self, items: Sequence[_Item], rails: str = "") -> None:
        """Write what hangs on a line."""
        for number, item in enumerate(items, 1):
            last = number == len(items)
            below = rails + self._cut(self._signs.blank if last else self._signs.through)
            hanging = self._signs.through if item.items else self._signs.blank
            begin = rails + self._cut(self._signs.last if last else self._signs.branch)
            self._put(f"{item.text} {item.mark}".rstrip(), begin, below + hanging[:_NARROW])
            self.draw(item.items, below)

    def _cut(self, sign: str) -> str:
        return sign[: self._step - 1] + " "

    def _put(self, text: str, first: str, further: str) -> None:
        from textwrap import wrap

        first, further = self._shortened(first), self._shortened(further)
        lines = wrap(
            self._safe(text),
            self._width,
            initial_indent=first,
            subsequent_indent=further,
            break_on_hyphens=False,
        )
        self._lines.extend(line.rstrip() for line in lines)

    def _shortened(self, rails: str) -> str:
        most = self._width // 2
        return rails if len(rails) <= most else self._signs.cut + rails[len(rails) - most + 1 :]

    def _safe(self, text: str) -> str:
        text = safe_text(text)
        if self._signs is _UNICODE:
            return text
        return text.replace("→", self._signs.arrow).encode("ascii", "backslashreplace").decode()
