"""uv is called with what the sources say and nothing else, and nothing secret of it reaches a message."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.server import IndexServer, Shape
from fixtures.wheels import Distribution
from lockfiles import Artifact, Lock, Pin, pylock
from pm.errors import PmError
from pm.generations import uv
from pm.generations.distributions import site_packages
from pm.index.package_sources import Sources, index_address
from pm.places import Places

DEMO = Distribution("demo", "1.0")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path / "home", tmp_path / "home")
    places.state.mkdir(parents=True)
    return places


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    with IndexServer(tmp_path / "files", [DEMO], Shape(userinfo="somebody:s3cret")) as running:
        yield running


def install(places: Places, server: IndexServer, userinfo: str) -> list[str]:
    """Install what a server offers, and return which distributions are there then."""
    (offer,) = server.offers
    artifact = Artifact(offer.path.name, offer.sha256, f"http://{server.host}/files/{offer.path.name}")
    lock = places.state / "pylock.toml"
    lock.write_text(pylock.dumps(Lock((Pin("demo", "1.0", artifact, index=server.url),))))
    folder = places.state / "environment"
    uv.create_environment(places, folder, Path(sys.executable))
    address = index_address(server.url.replace("http://", f"http://{userinfo}"))
    uv.sync(places, folder, lock, Sources(indexes=(address,)))
    return [path.name for path in site_packages(folder).glob("*.dist-info")]


def test_the_credentials_of_an_index_reach_uv(places: Places, server: IndexServer) -> None:
    assert install(places, server, "somebody:s3cret@") == ["demo-1.0.dist-info"]


@pytest.mark.parametrize("userinfo", ["somebody:wr0ng-s3cret@", "t0ken-s3cret@", ""])
def test_a_refused_credential_is_in_no_message(places: Places, server: IndexServer, userinfo: str) -> None:
    with pytest.raises(PmError) as caught:
        install(places, server, userinfo)
    said = f"{caught.value.message} {caught.value.hint} {caught.value.file}"
    assert (caught.value.code, "s3cret" in said, "401" in said) == ("install-failed", False, True)


def test_an_environment_cannot_be_made_where_a_file_is(places: Places) -> None:
    (places.state / "file").write_text("")
    with pytest.raises(PmError) as caught:
        uv.create_environment(places, places.state / "file", Path(sys.executable))
    assert (caught.value.code, (places.state / "file").read_text()) == ("no-interpreter", "")


def test_a_manager_without_uv_says_so(tmp_path: Path) -> None:
    (tmp_path / "uv.py").write_text("def find_uv_bin():\n    raise FileNotFoundError\n")
    program = (
        "from pm.host.pythons import uv_binary\n"
        "try:\n    uv_binary()\nexcept Exception as e:\n    print(e.code, e, e.hint)"
    )
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parent.parent.parent)])
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "not-writable the program `uv` is missing install `hermes-plugin-manager` again\n"
