"""Judge written requirement texts one by one: each is a requirement, a gate on the core, or a problem."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from admission import InvalidRequirementText, Origin, Owner, Problem, Requirement, canonical_name, parse_requirement
from admission.address import PUBLISH, pinned_digest, wheel_name
from pm.limits import REQUIREMENTS
from pm.names import MARK, safe_text, shown, visible
from pm.plugins.raw import Written


class Reading(NamedTuple):
    """Whose requirements are read, and which names are not requirements of theirs."""

    owner: Owner
    core_names: frozenset[str]
    """Canonical names of the core's distribution."""
    own_name: str = ""
    """Canonical name of the plugin's own distribution; empty when it has none."""
    takes_addresses: bool = False
    """Whether the address of a wheel that its digest pins is a requirement; a gate judges whether it was allowed."""


class ReadRequirements(NamedTuple):
    """What a list of texts came to."""

    requirements: tuple[Requirement, ...]
    gates: tuple[Requirement, ...]
    problems: tuple[Problem, ...]
    unwanted: tuple[Problem, ...]
    """Those of the problems that are about what was understood, and may not be asked for."""
    notes: tuple[Problem, ...]


def judge(texts: Iterable[Written], reading: Reading) -> ReadRequirements:
    """Judge the texts in their order; what says the same twice is kept once, at its first place."""
    requirements: dict[str, Requirement] = {}
    gates: dict[str, Requirement] = {}
    problems: list[Problem] = []
    unwanted: list[Problem] = []
    notes: list[Problem] = []
    for count, written in enumerate(texts):
        if count == REQUIREMENTS.value:
            more = _problem(written, f"the plugin has more than {REQUIREMENTS.value:,} {REQUIREMENTS.unit}")
            return ReadRequirements((), (), (more,), (), ())
        if not written.text.strip():
            notes.append(_problem(written, "the item is blank, and is ignored"))
            continue
        found = _judged(written, reading)
        if isinstance(found, Problem):
            problems.append(found)
        elif isinstance(found, _Unwanted):
            unwanted.append(found.problem)
            problems.append(found.problem)
        else:
            kept = gates if found.name in reading.core_names else requirements
            kept.setdefault(found.canonical, found)
    return ReadRequirements(
        requirements=tuple(requirements.values()),
        gates=tuple(gates.values()),
        problems=tuple(problems),
        unwanted=tuple(unwanted),
        notes=tuple(notes),
    )


class _Unwanted(NamedTuple):
    """What was understood, and may not be asked for."""

    problem: Problem


_OPERATOR = re.compile(r"\s*(?:[<>=!~]=?=?|\^)\s*[0-9*]")
_ADDRESS = re.compile(r"\.{0,2}[/\\]|[A-Za-z]:[/\\]|~/|[A-Za-z][A-Za-z0-9+.-]*://|file:|git\+|(?:-e|--editable)\b")
_OPTION = re.compile(r"-{1,2}[A-Za-z]")


def _judged(written: Written, reading: Reading) -> Requirement | Problem | _Unwanted:
    text = written.text.strip()
    if _OPERATOR.match(text):
        return _cut_off(written)
    if _ADDRESS.match(text):
        return _Unwanted(_bare(written, text))
    if _OPTION.match(text):
        message = f"{_told(text)} is an option of a requirements file, not a requirement"
        return _problem(written, message, hint="write one requirement for each package")
    try:
        requirement = parse_requirement(text, Origin(reading.owner, written.file, written.line, written.key))
    except InvalidRequirementText as error:
        return _unparsed(written, error)
    return _admissible(written, requirement, reading)


def _admissible(written: Written, requirement: Requirement, reading: Reading) -> Requirement | Problem | _Unwanted:
    if requirement.url:
        return _direct(written, requirement, reading)
    if requirement.name in reading.core_names:
        return requirement
    if requirement.name == reading.own_name:
        message = f"{_told(requirement.text)} requires the plugin's own distribution"
        hint = "leave it out, or give the project another name"
        return _Unwanted(_problem(written, message, code="self-dependency", hint=hint))
    if requirement.name == "python":
        return _problem(written, "`python` is not a package of an index", hint=_python_hint(requirement))
    return requirement


def _python_hint(requirement: Requirement) -> str:
    return f'use `requires-python = "{requirement.specifier or ">=3.11"}"` in `[project]` of `pyproject.toml`'


_PUBLISH = "publish it to an index and name it with a version, or put its code inside of the plugin's folder"
_REMOTE = r"(?i:(?:git\+)?(?:https?|ssh)://)"
_COMMIT = r"(?P<repository>(?i:git\+)\S+@[0-9a-fA-F]{40})(?:#(?:egg=)?(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*))?.*"
_WITH_USER = r"://[^/\s?#@:]*:[^/\s?#@]*@|https?://[^/\s?#@]+@"


def _bare(written: Written, text: str) -> Problem:
    """Say how an address that names no package would be written, and what can be installed instead."""
    message = f"{_told(text)} is an address and names no package"
    commit = re.fullmatch(_COMMIT, text)
    name = canonical_name(commit["name"] or "") if commit else wheel_name(text)
    if name and commit:
        repository = commit["repository"]
        message += f"; with one it is {_told(f'{name} @ {repository}')}"
        return _problem(written, message, code="direct-url", hint=PUBLISH.format(name=name))
    if name and re.match(_REMOTE, text) and not re.search(_WITH_USER, text):
        hint = f"write {_told(f'{name} @ {text}')}" if pinned_digest(text) else _pin(name, text)
        return _problem(written, message, code="direct-url", hint=hint)
    return _problem(written, message, code="direct-url", hint=_PUBLISH)


def _direct(written: Written, requirement: Requirement, reading: Reading) -> Requirement | _Unwanted:
    refusal = _direct_refusal(requirement, reading)
    if refusal is None:
        return requirement
    message, hint = refusal
    return _Unwanted(_problem(written, f"{_told(requirement.text)} {message}", code="direct-url", hint=hint))


def _direct_refusal(requirement: Requirement, reading: Reading) -> tuple[str, str] | None:
    """Return why an address is refused, and what to write instead; `None` if it may stand."""
    url, name = requirement.url, requirement.name
    if name in reading.core_names:
        return "requires another copy of the core", f"require a version of it: `{name}>=…`, or `requires_hermes`"
    if re.match(r"v?[0-9][0-9a-zA-Z.]*$", url):
        return "has an `@` before a version", f"write `{name}=={url.removeprefix('v')}`"
    if not re.match(_REMOTE, url):
        return "points to a file or folder", _PUBLISH
    fault = _address_fault(name, url)
    if fault is None and not reading.takes_addresses:
        return "points to an address instead of an index", _PUBLISH
    return fault


def _address_fault(name: str, url: str) -> tuple[str, str] | None:
    """Return why nothing can be installed from an address, and what to write instead."""
    if re.search(_WITH_USER, url):
        return "carries a credential", PUBLISH.format(name=name)
    if wheel_name(url) != name or url.lower().startswith(("git+", "ssh")):
        return _no_wheel(name, url)
    return None if pinned_digest(url) else ("can change under the same address", _pin(name, url))


def _no_wheel(name: str, url: str) -> tuple[str, str]:
    """Return why nothing is installed from an address: what lies there would have to be built, or is something else."""
    other = wheel_name(url)
    if url.lower().startswith(("git+", "ssh")):
        return "points to a repository, which would have to be built", PUBLISH.format(name=name)
    if other:
        return f"points to a wheel of `{other}`", f"write {_told(f'{other} @ {url}')}"
    return "points to something else than a wheel, which would have to be built", PUBLISH.format(name=name)


def _pin(name: str, url: str) -> str:
    address = url.partition("#")[0]
    return f"add the file's digest, {_told(f'{name} @ {address}#sha256=DIGEST')}, and allow it: `--allow-direct-urls`"


def _cut_off(written: Written) -> Problem:
    text, before = written.text.strip(), written.before.strip()
    whole = f"{before},{text}" if before else f"name{text}"
    message = f"{_told(text)} starts with an operator and names no package"
    return _problem(written, message, hint=f'quote the requirement: `"{safe_text(whole)}"`')


def _unparsed(written: Written, error: InvalidRequirementText) -> Problem:
    text = safe_text(error.text)
    message = f"{_told(error.text)} is not a requirement: {error.message}"
    place = len(visible(error.text[: error.column - 1])) if error.column else 0
    # A redacted text has other columns than the written one, so nothing is pointed at in it.
    if error.column and text == visible(error.text) and len(text) <= _WIDEST:
        message += f"\n{MARK}{text}\n{MARK}{' ' * place}^"
    hint = f"write `{safe_text(error.correction)}`" if error.correction else ""
    return _problem(written, message, hint=hint, offset=error.column)


_WIDEST = 200
"""A text that is longer is not shown with a caret under it: no line of a terminal would hold both."""


def _problem(
    written: Written, message: str, *, code: str = "invalid-declaration", hint: str = "", offset: int = 0
) -> Problem:
    leading = len(written.text) - len(written.text.lstrip())
    column = written.column + leading + max(offset - 1, 0) if written.column else 0
    return Problem(code, message, written.file, written.line, column, written.item, hint)


def _told(text: str) -> str:
    return shown(text)
