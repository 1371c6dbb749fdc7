"""`Decision`: the verdict as a value, with everything a person or a program needs to check it."""

from typing import NamedTuple

from admission.requirement import Origin, Requirement
from lockfiles import Lock


class Demand(NamedTuple):
    """One requirement that takes part in a conflict, and how it arrives at the disputed package."""

    requirement: Requirement
    """As a root wrote it; its origin says whose it is and where it stands."""
    chain: tuple[str, ...] = ()
    """From the root's own text to the disputed package: `mem0ai==2.0.10`, `protobuf<7,>=5.29.6`."""


class Available(NamedTuple):
    """One version of the disputed package, or a run of versions with the same fate."""

    versions: str
    """`15.0.1`, or `1.0 … 1.9 (12 versions)`."""
    reason: str
    """Which demand or which fact excludes it."""


class Proof(NamedTuple):
    """How sure the refusal is: computed, never claimed."""

    minimal: bool
    """Leaving out any one demand makes the rest satisfiable, with what other members of the set open."""
    verified: bool
    """What the proof names was decided again, alone and with any other members of the set, and is impossible."""
    search: str
    """What the search said: `impossible`, `gave-up`, `crashed`; `unfinished` where the second needed fewer facts."""
    complete: str
    """What the complete second decision said: `impossible`."""


class Reason(NamedTuple):
    """Why a set is refused. One reason for each independent fault."""

    code: str
    message: str
    package: str = ""
    demands: tuple[Demand, ...] = ()
    available: tuple[Available, ...] = ()
    also: tuple[Demand, ...] = ()
    """Demands on the same package that are no part of the proof and that would conflict with the same demands."""
    opened_by: tuple[Demand, ...] = ()
    """Demands that open a pre-release or a yanked version which the proof goes through: they name a pre-release, pin it
    exactly, or lead to a release that pins it. They do not contradict."""
    proof: Proof | None = None
    file: str = ""
    line: int = 0
    column: int = 0
    key: str = ""
    hint: str = ""
    consents: tuple[str, ...] = ()
    """Actions with which a version of the package could be had that all of the demands accept: `allow-prerelease`,
    `allow-newer`, `allow-build`; or with which files may be written twice: `allow-collision`; or with which the plugin
    of the demand may name an address: `allow-direct-url`."""
    broken: str = ""
    """The version of the package whose file cannot be used, where that is what is wrong."""

    @property
    def holds_for_all_versions(self) -> bool:
        """Whether the bounds of the demands contradict each other, so that no version accepts them, published or not.

        Only bounds that roots wrote on the package itself count: what leads there by way of a release depends on the
        releases that there are.
        """
        from packaging.specifiers import SpecifierSet

        direct = [demand.requirement for demand in self.demands if len(demand.chain) == 1]
        bounds = ",".join(asked.specifier for asked in direct if asked.name == self.package and asked.specifier)
        return SpecifierSet(bounds, prereleases=True).is_unsatisfiable()


class Step(NamedTuple):
    """One way out of a refusal, as a value; `pm` renders its command."""

    action: str
    """`widen`, `update-core`, `allow-prerelease`, `allow-build`, `allow-newer`, `allow-collision`,
    `allow-direct-url`, `leave-out`, `repair`, `set-up`, `roll-back`, `re-enable`, `retry`, `reword`, `select`, or
    `together` for several of them of which none suffices alone."""
    subject: str
    """The plugin key, the package or the core requirement that the action is about."""
    explanation: str = ""
    """What only this step says to people; where it is empty, `pm` renders its sentence from the other fields."""
    value: str = ""
    """The version, instant or core requirement that the action would set."""
    origin: Origin | None = None
    """For `widen`: whose requirement is in the way with its bounds, and where it is written."""
    before: str = ""
    """For `widen`: that requirement as it is written."""
    after: str = ""
    """For `widen`: what to write instead; empty as long as it is not known which version would be chosen."""
    confirmed: bool = False
    """A dry run of the same engine admitted the set with this change."""
    effect: tuple[str, ...] = ()
    """What would change, one line each: `+ name version`, `- name version`, `name from → to`."""
    when: str = ""
    """What has to change first, for a step that cannot be confirmed."""
    parts: tuple["Step", ...] = ()
    """For `together`: what has to be done, all of it, and nothing of it is superfluous."""


class Notice(NamedTuple):
    """Something a person would want to know about a verdict."""

    code: str
    message: str
    package: str = ""
    owner: str = ""
    origin: Origin | None = None
    """Where what it is about is written; `None` where that is no line of a file."""
    hint: str = ""


class Admitted(NamedTuple):
    """The set holds together; the lock is what the environment must contain."""

    lock: Lock
    warnings: tuple[Notice, ...] = ()
    search: str = "found"
    """`found` by resolvelib, or `complete` when only the complete second decision found it."""


class Refused(NamedTuple):
    """The set cannot hold together, and this is proved."""

    reasons: tuple[Reason, ...]
    steps: tuple[Step, ...] = ()
    warnings: tuple[Notice, ...] = ()


class Undecided(NamedTuple):
    """Neither was shown within the budget. Never a conflict."""

    code: str
    message: str
    tried: tuple[str, ...] = ()
    package: str = ""
    """Where it stood: what the last conflicts were about, or what was waited for."""


class Need(NamedTuple):
    """Facts that must be known before the question can be answered."""

    pages: tuple[str, ...] = ()
    """Names, sorted."""
    candidates: tuple[tuple[str, str], ...] = ()
    """(name, version), sorted."""
    purpose: str = "verdict"
    """`verdict`, or `proof`: the verdict is clear and only its explanation could be better (`Question.frozen`)."""


Decision = Admitted | Refused | Undecided | Need
