"""Say why a package is in a generation, and what requires what in it: `hermes pm why` and `hermes pm tree`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypedDict, cast

from admission import Owner, canonical_name
from lockfiles import Artifact, Lock, Pin
from lockfiles.graph import Branch, active_edges, chains, covering, owners, tree
from pm.generations.records import Record
from pm.host.core import HostedCore, core_from_json
from pm.limits import TREE_LEVELS
from pm.names import safe_text, shown
from pm.receipts.plain import to_plain

__all__ = ["SIGNS", "Tree", "UnknownPackage", "Why", "tree_text", "tree_to_json", "why_text", "why_to_json"]


class UnknownPackage(ValueError):
    """A name that is no package of the generation; the message says which names are near."""


class Requirer(TypedDict):
    """What requires something: the core, an extra of it, a plugin."""

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
    owners: list[Requirer]
    """What requires it, the shortest chain first; empty if nothing does any more."""
    chains: list[list[str]]
    """For each of the owners one shortest chain: its own requirement, then that of each package on the way."""
    extras: list[str]
    """Those of its extras that are required."""
    requires_python: str
    generation: int


class Requiring(Requirer):
    """An owner with the requirement that it wrote."""

    requirement: str


class Node(TypedDict):
    """One package of a tree."""

    name: str
    version: str
    requirement: str
    """The requirement that joins it to the node above it."""
    owners: list[Requiring]
    """Of an inverted tree: the owners that require it themselves."""
    branches: "list[Node]"
    repeated: bool
    """Shown in full somewhere before."""
    deeper: bool
    """It has branches below the depth that was asked for."""


class Group(Requirer):
    """What one owner requires."""

    version: str
    """Of the core or the plugin; empty where there is none."""
    demands: list[Node]


class Tree(TypedDict):
    """What requires what."""

    generation: int
    owners: list[Group]
    """The core, its extras, the plugins; empty for an inverted tree."""
    rest: list[Node]
    """What is no longer required, for example since a plugin was disabled; the next build leaves it out."""
    inverted: Node | None
    """The package whose dependants are shown; `None` without `invert`."""


def why_to_json(record: Record, package: str) -> Why:
    """Return why a package is in a generation, without credentials; the name of the core means the core.

    Raise `UnknownPackage`.
    """
    required = _Required(record)
    pin = required.pin(package)
    found = chains(required.lock, pin.name)
    value = {
        "package": pin.name,
        "version": pin.version,
        "index": pin.index,
        "path": pin.artifact.path,
        "owners": tuple({"kind": chain.owner.kind, "name": chain.owner.name} for chain in found),
        "chains": tuple(
            (required.text(chain.owner, chain.links[0].name), *(link.requirement for link in chain.links[1:]))
            for chain in found
        ),
        "extras": pin.extras,
        "requires_python": pin.requires_python,
        "generation": record.generation,
    }
    return cast("Why", to_plain(value))


def tree_to_json(record: Record, *, invert: str | None = None, depth: int | None = None) -> Tree:
    """Return what each owner of a generation requires, and so on; with `invert`, what requires that package.

    Each package is shown in full once, down to `depth` levels, and never deeper than `TREE_LEVELS`. Raise
    `UnknownPackage`.
    """
    depth = min(depth or TREE_LEVELS.value, TREE_LEVELS.value)
    required = _Required(record)
    value: Tree = {"generation": record.generation, "owners": [], "rest": [], "inverted": None}
    if invert:
        name = required.pin(invert).name
        [branch] = tree(required.lock, [name], inverted=True, depth=depth)
        value["inverted"] = _inverted(branch, required, depth)
    else:
        value["owners"], value["rest"] = _forest(required, depth)
    return cast("Tree", to_plain(_with_tuples(value)))


# -- owners


class _Required:
    """What the core and the members of a record require, as it is written."""

    def __init__(self, record: Record) -> None:
        self.hosted: HostedCore = core_from_json(record.core)
        self.lock: Lock = _with_core(record.lock, self.hosted)
        self.owners: dict[Owner, str] = {Owner("core", self.hosted.core.name): self.hosted.core.version}
        """Owner → version, in the order in which they are told."""
        self.owners |= {Owner("core-extra", extra): "" for extra in self.hosted.core.extras}
        for member in record.members:
            owner = Owner("plugin", member.key)
            # in two profiles one plugin may have two contents, with different requirements
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
        """Return the requirement of an owner on a package."""
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
        """Return the names that an owner requires; the core does not require itself."""
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


def _forest(required: _Required, depth: int) -> tuple[list[Group], list[Node]]:
    lock = required.lock
    demands = {owner: required.demands(owner) for owner in required.owners}
    rest = _rest(required)
    begin = dict.fromkeys([*(name for names in demands.values() for name in names), *rest])
    full = {branch.name: branch for branch in tree(lock, tuple(begin), depth=depth)} if begin else {}
    groups: list[Group] = []
    for owner, version in required.owners.items():
        # what is not left in `full` was shown before, under another owner or another package
        nodes = [
            _node(full.pop(name) if name in full else _repeated(lock, name, depth), required.text(owner, name))
            for name in demands[owner]
        ]
        groups.append({"kind": owner.kind, "name": owner.name, "version": version, "demands": nodes})
    return groups, [_node(branch) for branch in full.values()]


def _rest(required: _Required) -> list[str]:
    """Return of what is no longer required the packages from which the others can be reached."""
    found = owners(required.lock)
    pins = [pin for pin in required.lock.pins if not found[pin.name] and pin.name != required.core]
    needed = {edge.name for pin in pins for edge in active_edges(pin)}
    first = sorted((pin.name for pin in pins), key=lambda name: (name in needed, name))
    return covering(required.lock, first)


def _repeated(lock: Lock, name: str, depth: int) -> Branch:
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


def _inverted(branch: Branch, required: _Required, depth: int) -> Node:
    """Return a branch of an inverted tree; the core is told as an owner and not as a package besides."""
    node = _node(branch._replace(branches=()))
    pin = required.lock.pin(branch.name)
    requiring = pin.owners if pin is not None and not branch.repeated else ()
    if depth == 1:
        node["deeper"] = branch.deeper or bool(requiring)
        return node
    node["owners"] = [
        {"kind": owner.kind, "name": owner.name, "requirement": required.text(owner, branch.name)}
        for owner in requiring
    ]
    node["branches"] = [
        _inverted(other, required, depth - 1) for other in branch.branches if other.name != required.core
    ]
    return node


def _with_tuples(value: object) -> object:
    """Return JSON values with tuples for lists, which is how `to_plain` wants them."""
    if isinstance(value, list):
        return tuple(_with_tuples(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _with_tuples(item) for key, item in value.items()}
    return value


# -- text


def why_text(value: Why, *, width: int, ascii: bool = False) -> str:  # noqa: A002 - the word for what it says
    """Return the text for a terminal of `width` columns, without a line feed at its end; nothing is cut."""
    sheet = _Sheet(width, _ASCII if ascii else _UNICODE)
    sheet.write(f"{value['package']} {value['version']}")
    if source := value["index"] or value["path"]:
        sheet.write(f"from {source}", 2)
    if value["requires_python"]:
        sheet.write(f"for Python {value['requires_python']}", 2)
    if value["extras"]:
        sheet.write(f"with the extras {', '.join(value['extras'])}", 2)
    sheet.write("required by" if value["owners"] else _NO_LONGER, 2)
    for owner, (first, *further) in zip(value["owners"], value["chains"], strict=True):
        sheet.write(_owner(owner), 4)
        sheet.write(first, 6)
        for link in further:
            sheet.write(f"→ {link}", 6)
    sheet.write(f"in generation {value['generation']}", 2)
    return sheet.text


def tree_text(value: Tree, *, width: int, ascii: bool = False) -> str:  # noqa: A002 - the word for what it says
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
        sheet.write(f"{_MORE} has more below this depth")
    return sheet.text


_NO_LONGER = "no longer required: the next build leaves it out"
_SEEN = "(*)"
_MORE = "(+)"


class _Item(NamedTuple):
    """One line of a tree, with its branches."""

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
        yield (title if group["demands"] else f"{title}: requires no package"), tuple(map(_needed, group["demands"]))
    if value["rest"]:
        yield _NO_LONGER, tuple(map(_needed, value["rest"]))


def _needed(node: Node) -> _Item:
    """Return a package with what it requires; a requirement that is only the name is left out."""
    said = f" for {node['requirement']}" if node["requirement"] not in ("", node["name"]) else ""
    return _Item(f"{node['name']} {node['version']}{said}", tuple(map(_needed, node["branches"])), _mark(node))


def _dependants(node: Node) -> _Item:
    """Return a package with what requires it."""
    said = f" requires {node['requirement']}" if node["requirement"] else ""
    requirers = (_Item(f"{_owner(owner)} requires {owner['requirement']}") for owner in node["owners"])
    items = (*requirers, *map(_dependants, node["branches"]))
    return _Item(f"{node['name']} {node['version']}{said}", items, _mark(node))


def _mark(node: Node) -> str:
    return _SEEN if node["repeated"] else _MORE if node["deeper"] else ""


def _owner(owner: Requirer) -> str:
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
        """Write the branches of a line."""
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
