"""What `hermes pm init` makes where no generation can be read, and what has to be put right before it can."""

from pathlib import Path

from pm.config.profiles import Profile, read_profiles
from pm.errors import PmError
from pm.places import Places


def no_generation(places: Places, where: str = "") -> PmError:
    """Return that nothing was selected yet, with what makes a generation."""
    return PmError("no-generation", f"no generation was made yet{where}", hint=set_up_hint(places, "one"))


def unreadable_state(places: Places, message: str, file: Path) -> PmError:
    """Return that the file cannot be read which tells of the selected generation, with what makes a new one."""
    hint = set_up_hint(places, "a new generation")
    return PmError("drift", message, file=str(file), hint=hint, step=("set-up", ""), when=set_up_when(places))


def set_up_hint(places: Places, makes: str) -> str:
    """Return the hint of an error that a new generation mends, with what is in the way of making it."""
    config = unreadable_config(places)
    first = f" once {_readable(config)}: {config.message}" if config is not None else ""
    return f"`hermes pm init` makes {makes}{first}"


def set_up_when(places: Places) -> str:
    """Return what has to change before a generation can be made; empty if nothing has to."""
    config = unreadable_config(places)
    return _readable(config) if config is not None else ""


def unreadable_config(places: Places) -> PmError | None:
    """Return what is wrong with the first config without which no generation is made where none can be read.

    Those of the root and of this profile are needed. Where generations were made, all are: what another profile had
    admitted is not known.
    """
    try:
        profiles = read_profiles(places.root, places.cache / "read")
    except OSError:  # what needs the folder tells that
        return None
    used = places.pointer.exists() or any(places.generations.glob("*.json"))
    needed = (profile for profile in profiles if used or profile.home in (places.root, places.home))
    faults = (_fault(profile, is_root=profile.home == places.root) for profile in needed)
    return next((fault for fault in faults if fault is not None), None)


def _fault(profile: Profile, *, is_root: bool) -> PmError | None:
    """Return what is wrong with a config; of the manager's own settings only those of the root count."""
    if profile.selection is None or not is_root:
        return profile.error
    try:
        _ = profile.selection.settings
    except PmError as error:
        return error
    return None


def _readable(config: PmError) -> str:
    return f"`{config.file}`{f':{config.line}' if config.line else ''} can be read"
