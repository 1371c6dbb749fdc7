"""Whose files are: what is replaced keeps owner, group and mode, and a mount of its own is named."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.homes import Answer, Home, new_home
from fixtures.volumes import Volume
from pm.errors import PmError
from pm.system.files import require_replaceable, require_writable
from pm.system.owners import user_name

SERVICE = 12345
"""A user and a group of a service."""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root works in a home of another user")


@pytest.fixture
def service(wheels: Path) -> Iterator[Home]:
    """Return the home of a service, which it can reach."""
    with tempfile.TemporaryDirectory(prefix="service-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        home = new_home(place / "home", wheels=wheels)
        home.config.chmod(0o600)
        for path in (home.path, *home.path.rglob("*")):
            os.chown(path, SERVICE, SERVICE)
        yield home
        subprocess.run(["/bin/chmod", "-R", "u+w", folder], check=False)


def of_root(home: Home) -> list[str]:
    """Return what of a home belongs to root, links aside."""
    found = (path for path in (home.path, *home.path.rglob("*")) if path.lstat().st_uid == 0)
    return sorted(path.relative_to(home.path).as_posix() for path in found)


def unusable(home: Home) -> list[str]:
    """Return what of a home its owner may not read."""
    paths = (path for path in (home.path, *home.path.rglob("*")) if not path.is_symlink())
    return sorted(str(path) for path in paths if not path.lstat().st_mode & stat.S_IRUSR)


def with_mask(home: Home, *words: str | Path) -> Answer:
    """Run a verb as root whose files no other user may read."""
    before = os.umask(0o077)
    try:
        process = home.start(*words, "--json")
        stdout, stderr = process.communicate(timeout=120)
        return Answer(process.returncode, stdout, stderr)
    finally:
        os.umask(before)


def test_what_root_makes_in_the_home_of_a_service_is_the_services(service: Home) -> None:
    """Case state-owned-by-root-01, row C22."""
    assert with_mask(service, "plugins", "install", service.plugin("ash", "demo-colors"), "--enable").status == 0
    assert with_mask(service, "plugins", "install", service.plugin("birch", "demo-transport"), "--enable").status == 0
    assert with_mask(service, "plugins", "disable", "birch").status == 0
    assert with_mask(service, "plugins", "check").status == 0
    assert with_mask(service, "pm", "status").status == 0
    assert with_mask(service, "pm", "gc").status == 0
    assert (of_root(service), unusable(service)) == ([], [])
    config = service.config.stat()
    assert (config.st_uid, config.st_gid, stat.S_IMODE(config.st_mode)) == (SERVICE, SERVICE, 0o600)


def test_what_is_replaced_keeps_a_group_of_its_own_and_its_mode(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    os.chown(home.config, 0, SERVICE)
    home.config.chmod(0o640)
    folder = home.path / "plugins" / "ash"
    os.chown(folder, SERVICE, SERVICE)
    folder.chmod(0o750)
    assert home.install(home.work / "ash", "--force").gist == "0 admitted"
    assert home.ask("plugins", "disable", "ash").gist == "0 disabled"
    states = [
        (path.stat().st_uid, path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) for path in (home.config, folder)
    ]
    assert states == [(0, SERVICE, 0o640), (SERVICE, SERVICE, 0o750)]
    assert {path.stat().st_uid for path in folder.iterdir()} == {SERVICE}


def as_service(call: Callable[[], None]) -> str:
    """Return what a call raises for the user of the service."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.setgroups([])
            os.setresgid(SERVICE, SERVICE, SERVICE)
            os.setresuid(SERVICE, SERVICE, SERVICE)
            call()
        except PmError as error:
            os.write(writer, f"{error.code}: {error.message}; {error.hint}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(process, 0)
    with os.fdopen(reader, encoding="utf-8") as stream:
        return stream.read()


def test_what_cannot_keep_its_owner_is_refused_and_the_hint_says_chown(service: Home) -> None:
    """Row C22."""
    assert as_service(lambda: require_replaceable(service.config)) == ""
    os.chown(service.config, 0, 0)
    name = user_name(SERVICE)
    assert as_service(lambda: require_replaceable(service.config)) == (
        f"not-writable: `{service.config}` belongs to `root` or to a group that you are not in, and would be yours once"
        f" replaced; it belongs to `root`: `sudo chown -R {name} {service.config}` gives it to you"
    )


def test_in_the_home_of_another_user_the_hint_says_to_run_it_as_that_user(service: Home) -> None:
    """Case read-only-dir-07: nothing around the home is the service's, so nothing there should be."""
    for path in (service.path, *service.path.rglob("*")):
        os.chown(path, 0, 0)
    assert as_service(lambda: require_writable(service.state)) == (
        f"not-writable: `{service.state}` cannot be written: Permission denied; it belongs to `root`: run this as"
        " that user, for example with `sudo -u root`"
    )


@pytest.mark.parametrize("name", ["config.yaml", "plugins/ash"])
def test_a_mount_of_its_own_is_named_with_what_to_do(
    home: Home, require_tool: Callable[[str], Path], name: str
) -> None:
    """Row G9: containers mount single files and folders into a home."""
    home.install(home.plugin("ash", "demo-colors"))
    other = home.work / "mounted"
    place = home.path / name
    before = home.snapshot(["pm/locks", "pm/receipts", "pm/cache"])
    subprocess.run(["cp", "-a", place, other], check=True)
    unshare = [
        str(require_tool("unshare")),
        "--mount",
        "sh",
        "-c",
        'mount --bind "$1" "$2" && shift 2 && exec "$@"',
        "sh",
    ]
    words: tuple[str | Path, ...] = ("plugins", "install", home.work / "ash", "--force", "--enable")
    if name == "config.yaml":
        words = ("plugins", "disable", "ash")
    process = home.start(*words, "--json", under=[*unshare, str(other), str(place)])
    stdout, stderr = process.communicate(timeout=120)
    answer = Answer(process.returncode, stdout, stderr)
    (reason,) = answer.value["reasons"]
    assert answer.gist == "3 failed not-writable"
    assert reason["message"].startswith(f"`{place}` is a mount of its own (of `")
    assert reason["hint"].startswith(f"mount the folder `{place.parent}` instead")
    assert home.snapshot(["pm/locks", "pm/receipts", "pm/cache"]) == before


def test_a_folder_of_plugins_that_is_mounted_is_no_obstacle(home: Home, require_tool: Callable[[str], Path]) -> None:
    with Volume(home.path / "plugins", "30m", require_tool) as volume:
        ash = volume.ask(home, "plugins", "install", home.plugin("ash", "demo-colors"), "--enable")
        assert (ash.gist, volume.ask(home, "plugins", "check").gist) == ("0 admitted", "0 ready")
