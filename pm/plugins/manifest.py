"""Read a plugin's manifest: `plugin.yaml`, else `plugin.yml`, else `plugin.json`."""

from __future__ import annotations

from admission import ExternalDependency, InvalidRequirementText, Problem, parse_specifier
from pm.documents.files import MANIFEST_FILES, Fetch, text_of
from pm.documents.nodes import Document, ListNode, MappingNode, Node, ScalarNode, given, misread, named_kind
from pm.names import is_key, may_be_plugin, shown, visible
from pm.plugins.raw import LEGACY_LISTS, Manifest, Written
from pm.plugins.unread_keys import PACKAGES, field_meant
from pm.redaction import redact

NEWEST_VERSION = 2
"""The newest `manifest_version` that is understood."""
KINDS = ("standalone", "backend", "exclusive", "platform", "model-provider")
_READ = frozenset(
    {
        *("name", "version", "description", "kind", "manifest_version", "requires_hermes", "python_runtime"),
        *(*LEGACY_LISTS, "external_dependencies", "requires_env", "optional_env", "hooks"),
    }
)
_BELONGS = {
    "plugins": "no host installs other plugins: list packages that are needed in `python_dependencies`,"
    " and name the plugins in the README",
    "requires_hermes": "the host's version belongs to `requires_hermes`",
    "external_dependencies": "what is no Python package belongs to `external_dependencies`",
    "requires_env": "names of variables belong to `requires_env`",
}
"""Field that is meant → where its values belong; all others are packages."""


def read_manifest(fetch: Fetch) -> Manifest:
    """Read the first manifest there is."""
    for name in MANIFEST_FILES:
        text = text_of(fetch(name), name)
        if isinstance(text, Problem):
            return Manifest(name, problems=(text,))
        if text is not None:
            return _of_document(_parsed(text, name), name)
    return Manifest()


def _parsed(text: str, file: str) -> Document:
    if file.endswith(".json"):
        from pm.documents.json_nodes import read_json

        return read_json(text, file)
    from pm.documents.yaml_nodes import read_yaml

    return read_yaml(text, file)


def _of_document(document: Document, file: str) -> Manifest:
    if document.root is None:
        return Manifest(file, problems=document.problems)
    if not isinstance(document.root, MappingNode):
        message = f"the file holds {named_kind(document.root)}, not keys with values"
        problem = Problem("invalid-declaration", message, file, document.root.line, document.root.column)
        return Manifest(file, problems=(*document.problems, problem))
    fields = _ManifestFields(document.root, file)
    return Manifest(
        file=file,
        name=fields.name(),
        version=fields.text("version"),
        description=fields.shown_text("description"),
        kind=fields.kind(),
        requires_core=fields.requires_core(),
        requires_core_line=fields.line_of("requires_hermes"),
        external=fields.external(),
        texts=tuple(text for key in LEGACY_LISTS for text in fields.requirements(key)),
        external_dependencies=fields.external_dependencies(),
        requires_env=fields.names("requires_env"),
        hooks=fields.names("hooks"),
        list_problems=tuple(fields.list_problems),
        problems=(*document.problems, *fields.version_problems(), *fields.problems),
        notes=(*fields.notes, *fields.unread()),
    )


class _ManifestFields:
    """Takes the fields out of a mapping. A fault in what is decided on is a problem, in what is only shown a note."""

    def __init__(self, root: MappingNode, file: str) -> None:
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self.list_problems: list[Problem] = []
        self._root = root
        self._file = file

    def text(self, key: str) -> str:
        """Return a value that is decided on or shown as it is written; a number keeps its text."""
        node = given(self._root, key)
        if isinstance(node, ScalarNode):
            self._note_misread(node, key)
            return node.text
        if node is not None:
            self.problems.append(self._problem(node, key, f"`{key}` must be a text, not {named_kind(node)}"))
        return ""

    def shown_text(self, key: str) -> str:
        node = given(self._root, key)
        if isinstance(node, ScalarNode):
            self._note_misread(node, key)
            return node.text
        if node is not None:
            self.notes.append(self._problem(node, key, f"`{key}` is {named_kind(node)}, not a text, and is not shown"))
        return ""

    def name(self) -> str:
        name = self.text("name").strip()
        node = self._root.get("name")
        if node is not None and name and _leads_elsewhere(name):
            message = f"{shown(name)} cannot be the name of a plugin"
            self.problems.append(self._problem(node, "name", message, code="unsafe-name"))
        return name

    def kind(self) -> str:
        kind = self.text("kind").strip().lower()
        node = self._root.get("kind")
        if node is not None and kind and kind not in KINDS:
            known = ", ".join(f"`{name}`" for name in KINDS)
            message = f"{shown(kind)} is not a kind; the host treats the plugin as `standalone`"
            self.notes.append(self._problem(node, "kind", message, hint=f"kinds are {known}"))
        return kind

    def external(self) -> bool:
        node = given(self._root, "python_runtime")
        if isinstance(node, ScalarNode) and node.text == "external":
            return True
        if node is not None:
            message = "`python_runtime` has one value, `external`; anything else is ignored"
            self.notes.append(self._problem(node, "python_runtime", message))
        return False

    def line_of(self, key: str) -> int:
        """Return where a key's value is written; 0 if it is not."""
        node = given(self._root, key)
        return node.line if node is not None else 0

    def requires_core(self) -> str:
        key = "requires_hermes"
        node = given(self._root, key)
        if node is None:
            return ""
        if not isinstance(node, ScalarNode):
            self.problems.append(self._problem(node, key, f"`{key}` must be a text, not {named_kind(node)}"))
            return ""
        try:
            return parse_specifier(node.text.strip())
        except InvalidRequirementText as error:
            bounds = error.correction or f">={_version_in(node.text)}"
            hint = f'write `{key}: "{visible(bounds)}"`'
            message = f"{shown(node.text)} is not a set of version bounds"
            self.problems.append(self._problem(node, key, message, hint=hint))
            return ""

    def version_problems(self) -> tuple[Problem, ...]:
        key = "manifest_version"
        node = given(self._root, key)
        if node is None:
            return ()
        if not isinstance(node, ScalarNode) or node.kind != "integer" or not node.text.lstrip("+-").isdecimal():
            written = f"{shown(node.text)}, {named_kind(node)}" if isinstance(node, ScalarNode) else named_kind(node)
            message = f"`{key}` must be an integer, not {written}"
            return (self._problem(node, key, message, hint=f"write `{key}: {NEWEST_VERSION}`"),)
        if int(node.text) > NEWEST_VERSION:
            message = f"`{key}: {node.text}` is newer than this manager understands, which is {NEWEST_VERSION}"
            return (self._problem(node, key, message, code="unsupported-manifest-version", hint="update the manager"),)
        return ()

    def requirements(self, key: str) -> tuple[Written, ...]:
        """Return the items of a list of requirements. Each must be a text; what is not is a problem of its own."""
        node = given(self._root, key)
        if node is None:
            return ()
        if not isinstance(node, ListNode):
            message = f"`{key}` must be a list of texts, not {named_kind(node)}"
            self.list_problems.append(self._problem(node, key, message, hint=_as_list(key, node)))
            return ()
        texts: list[Written] = []
        for index, item in enumerate(node.items):
            if isinstance(item, ScalarNode) and item.kind == "text":
                before = texts[-1].text if texts else ""
                texts.append(Written(item.text, self._file, item.line, item.column, key, index, before))
            else:
                self.list_problems.append(self._not_a_text(item, f"{key}[{index}]"))
        return tuple(texts)

    def external_dependencies(self) -> tuple[ExternalDependency, ...]:
        key = "external_dependencies"
        found: list[ExternalDependency] = []
        for index, item in enumerate(self._items(key)):
            if isinstance(item, MappingNode):
                found.append(ExternalDependency(*(_scalar_text(item.get(part)) for part in ExternalDependency._fields)))
            else:
                message = f"`{key}[{index}]` must have `name`, `install` and `check`, and is not shown"
                self.notes.append(self._problem(item, f"{key}[{index}]", message))
        return tuple(found)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the names of a list whose items are names, or mappings with a `name`."""
        items = [item.get("name") if isinstance(item, MappingNode) else item for item in self._items(key)]
        for position, item in enumerate(items):
            if isinstance(item, ScalarNode):
                self._note_misread(item, f"{key}[{position}]")
        return tuple(name for item in items if (name := _scalar_text(item)))

    def unread(self) -> tuple[Problem, ...]:
        """Return a note for keys that look like a declaration and are none: one for each field that is meant."""
        meant: dict[str, list[ScalarNode]] = {}
        for key, value in self._root.entries:
            field = field_meant(key.text, _READ) if _says_something(value) else ""
            if field:
                meant.setdefault(field, []).append(key)
        return tuple(self._unread(field, keys) for field, keys in meant.items())

    def _unread(self, field: str, keys: list[ScalarNode]) -> Problem:
        named = ", ".join(shown(key.text) for key in keys)
        message = f"{named}: no host reads this, so nothing of it is prepared"
        field = PACKAGES if field in LEGACY_LISTS and len(keys) > 1 else field
        hint = _BELONGS.get(field, f"packages belong to `{field}` or to a `pyproject.toml`")
        return self._problem(keys[0], keys[0].text, message, code="dependencies-not-read", hint=hint)

    def _note_misread(self, node: ScalarNode, key: str) -> None:
        if node.kind not in {"text", "null"}:
            from pm.documents.yaml_nodes import as_hosts_read

            read = as_hosts_read(node)
            self.notes += [misread(self._file, key, node, read)] if read else []

    def _items(self, key: str) -> tuple[Node, ...]:
        node = given(self._root, key)
        if node is None:
            return ()
        if isinstance(node, ListNode):
            return node.items
        self.notes.append(self._problem(node, key, f"`{key}` is {named_kind(node)}, not a list, and is not shown"))
        return ()

    def _not_a_text(self, item: Node, key: str) -> Problem:
        if not isinstance(item, ScalarNode):
            return self._problem(item, key, f"`{key}` must be a text, not {named_kind(item)}", hint=_as_text(item))
        hint = "quote it if this is the name of a package" if item.text else "remove the empty item"
        written = shown(item.text) if item.text else "empty"
        return self._problem(
            item, key, f"`{key}` is {written}, which is read as {named_kind(item)}, not as a text", hint=hint
        )

    def _problem(
        self, node: Node, key: str, message: str, *, code: str = "invalid-declaration", hint: str = ""
    ) -> Problem:
        return Problem(code, redact(message), self._file, node.line, node.column, key, redact(hint))


def _says_something(node: Node) -> bool:
    if isinstance(node, ScalarNode):
        return node.kind != "null" and bool(node.text.strip())
    return bool(node.items if isinstance(node, ListNode) else node.entries)


def _leads_elsewhere(name: str) -> bool:
    """Say whether a name, joined to a folder, could mean anything but one folder or a category's folder below it."""
    if is_key(name):
        return False
    odd = name.startswith(("-", "~")) or any(one in "/\\:" or not one.isprintable() for one in name)
    return odd or not may_be_plugin(name)


def _scalar_text(node: Node | None) -> str:
    return node.text if isinstance(node, ScalarNode) and node.kind != "null" else ""


def _version_in(text: str) -> str:
    version = text.strip().removeprefix("v")
    return visible(version) if version[:1].isdigit() and len(version) <= len("0.19.0rc1.post1.dev1") else "0.19.0"


def _as_list(key: str, node: Node) -> str:
    first = node.text.split("\n", 1)[0].strip() if isinstance(node, ScalarNode) else _as_requirement(node)
    return f'write `{key}: ["{visible(first)}"]`' if first and len(first) <= len(_LONGEST_HINT) else "write a list"


_LONGEST_HINT = "a-distribution-with-a-long-name[and,some,extras]>=2026.1.1,<2027"


def _as_text(node: Node) -> str:
    text = _as_requirement(node)
    return f'write it as one text: `"{visible(text)}"`' if text else "write it as one text"


def _as_requirement(node: Node) -> str:
    """Return `requests>=2` for the mapping `requests: ">=2"`; empty where this is a guess."""
    if not isinstance(node, MappingNode) or len(node.entries) != 1:
        return ""
    key, value = node.entries[0]
    bounds = _scalar_text(value).strip()
    return f"{key.text}{bounds}" if bounds[:1] in _OPERATORS else ""


_OPERATORS = frozenset({"", "<", ">", "=", "!", "~"})
