"""What a catalog lists: plugins at a pinned commit, and plugins that were withdrawn. Each entry stands by itself."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from pm.documents.nodes import ListNode, MappingNode, Node, ScalarNode, given
from pm.limits import CATALOG_ENTRIES
from pm.names import shown, visible
from pm.sources.spelling import CATALOG_NAME, Git, is_commit

_SUBDIR = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class CatalogEntry(NamedTuple):
    """One plugin of a catalog."""

    name: str
    repo: str
    sha: str
    """The full commit; nothing else of the repository is installed."""
    subdir: str = ""
    description: str = ""
    version: str = ""
    tier: str = "community"
    category: str = ""
    requires_hermes: str = ""
    known_issues: tuple[str, ...] = ()

    @property
    def source(self) -> Git:
        return Git(self.repo, self.subdir, self.sha)


class Withdrawn(NamedTuple):
    """A plugin that a catalog has withdrawn, by its name or its repository."""

    name: str
    repo: str
    reason: str = ""
    date: str = ""


class CatalogPage(NamedTuple):
    """What a catalog says, as far as it can be used."""

    entries: tuple[CatalogEntry, ...] = ()
    withdrawn: tuple[Withdrawn, ...] = ()
    problems: tuple[str, ...] = ()
    """Why entries cannot be used, a line each."""

    def entry(self, name: str) -> CatalogEntry | None:
        """Return the entry of a name."""
        return next((entry for entry in self.entries if entry.name == name), None)


def read_page(root: Node | None, place: str) -> CatalogPage:
    """Read `{entries: […], removed: […]}`, as an address answers."""
    if not isinstance(root, MappingNode):
        return CatalogPage(problems=(f"{place} holds no keys with values",))
    listed = given(root, "entries")
    nodes = listed.items if isinstance(listed, ListNode) else ()
    return joined([*(read_entry(node, f"{place}, entry {at}") for at, node in enumerate(nodes[:_MOST], 1)),
                   CatalogPage(withdrawn=read_withdrawn(root))])  # fmt: skip


_MOST = CATALOG_ENTRIES.value


def joined(pages: list[CatalogPage]) -> CatalogPage:
    """Return several parts of one catalog as a whole; of two entries of one name the first counts."""
    entries: dict[str, CatalogEntry] = {}
    for page in pages:
        for entry in page.entries:
            entries.setdefault(entry.name, entry)
    return CatalogPage(
        tuple(entries[name] for name in sorted(entries)),
        tuple(row for page in pages for row in page.withdrawn),
        tuple(problem for page in pages for problem in page.problems),
    )


def read_entry(node: Node | None, place: str) -> CatalogPage:
    """Read one entry; what is wrong with it makes it unusable, and no other."""
    if not isinstance(node, MappingNode):
        return CatalogPage(problems=(f"{place}: it holds no keys with values",))
    entry = CatalogEntry(
        name=_text(node, "name"),
        repo=_text(node, "repo"),
        sha=_text(node, "sha").lower(),
        subdir=_text(node, "subdir").strip("/"),
        description=visible(_text(node, "description")),
        version=_text(node, "version"),
        tier=_text(node, "tier") or "community",
        category=_text(node, "category"),
        requires_hermes=_text(node, "requires_hermes"),
        known_issues=_texts(node, "known_issues"),
    )
    fault = _fault(entry)
    return CatalogPage(problems=(f"{place}: {fault}",)) if fault else CatalogPage((entry,))


def _fault(entry: CatalogEntry) -> str:
    if CATALOG_NAME.fullmatch(entry.name) is None:
        return f"`name` is {shown(entry.name)}, and must be 1 to 64 of a-z, 0-9, `_` and `-`"
    if not _is_reachable(entry.repo):
        return f"`repo` of `{entry.name}` is {shown(entry.repo)}, and must be an https address"
    if not is_commit(entry.sha):
        return f"`sha` of `{entry.name}` must be a full commit of 40 hexadecimal digits"
    parts = entry.subdir.split("/") if entry.subdir else []
    if parts and (_SUBDIR.fullmatch(entry.subdir) is None or {".", ".."} & set(parts)):
        return f"`subdir` of `{entry.name}` is {shown(entry.subdir)}, which is no folder of a repository"
    return ""


def _is_reachable(repo: str) -> bool:
    """Say whether a catalog may name an address: what others run or read by theirs, it must not choose."""
    try:
        parts = urlsplit(repo)
        host, login = parts.hostname or "", parts.username or parts.password
    except ValueError:
        return False
    if login or not host or host.startswith("-") or any(sign.isspace() for sign in repo):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)


def read_withdrawn(root: Node | None) -> tuple[Withdrawn, ...]:
    """Read `removed: [{name, repo, reason, date}]`; rows without a name and an address say nothing."""
    listed = given(root, "removed") if isinstance(root, MappingNode) else None
    nodes = listed.items[:_MOST] if isinstance(listed, ListNode) else ()
    return tuple(row for row in map(_withdrawn, nodes) if row.name or row.repo)


def _withdrawn(node: Node) -> Withdrawn:
    if not isinstance(node, MappingNode):
        return Withdrawn("", "")
    reason, date = visible(_text(node, "reason")), visible(_text(node, "date"))
    return Withdrawn(_text(node, "name"), _text(node, "repo"), reason, date)


def _text(node: MappingNode, name: str) -> str:
    value = given(node, name)
    return value.text.strip() if isinstance(value, ScalarNode) else ""


def _texts(node: MappingNode, name: str) -> tuple[str, ...]:
    value = given(node, name)
    items = value.items if isinstance(value, ListNode) else ()
    return tuple(visible(item.text.strip()) for item in items if isinstance(item, ScalarNode))


# -- addresses that mean the same


def withdrawn_by(rows: tuple[Withdrawn, ...], names: set[str], repo: str) -> Withdrawn | None:
    """Return why a plugin is withdrawn that has some names, or came from a repository; `None` if it is not."""
    known = {name.lower() for name in names if name}
    return next(
        (row for row in rows if row.name.lower() in known or (row.repo and _plain(row.repo) == _plain(repo))), None
    )


def _plain(repo: str) -> str:
    return repo.partition("#")[0].lower().rstrip("/").removesuffix(".git").rstrip("/")
