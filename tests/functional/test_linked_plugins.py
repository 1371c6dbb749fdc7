"""A plugin folder that is a link to a checkout: developed there, never replaced without a word, told if it changes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import Home


class Linked(NamedTuple):
    """A home with a plugin that is a link."""

    home: Home
    checkout: Path

    @property
    def link(self) -> Path:
        return self.home.path / "plugins" / "ash"

    @property
    def is_intact(self) -> bool:
        """Whether the link leads where it led, and the checkout holds what the operator has in it."""
        return self.link.is_symlink() and self.link.resolve() == self.checkout.resolve()

    def edit(self) -> None:
        """Change a file as its author does, and add one."""
        (self.checkout / "__init__.py").write_text("import os\n\n\ndef register(ctx): ...\n")
        (self.checkout / "later.py").write_text("")


@pytest.fixture
def linked(home: Home) -> Linked:
    """Return a home in which the plugin is a link, and enabled."""
    checkout = home.plugin("my work/ash", "demo-colors")
    linked = Linked(home, checkout)
    linked.link.parent.mkdir()
    linked.link.symlink_to(checkout)
    assert home.ask("plugins", "enable", "ash").gist == "0 admitted"
    return linked


def test_it_is_recorded_as_a_link_and_its_target_is_shown(linked: Linked) -> None:
    """Case plugin-folder-is-a-link-01."""
    record = (linked.home.state / "generations" / "1.json").read_text()
    assert f'"link": "{linked.checkout}"' in record.replace('":"', '": "')
    (row,) = linked.home.ask("plugins", "list").value["plugins"]
    assert (row["link"], row["ready"]) == (str(linked.checkout), "ready")
    assert f"`ash` leads to {linked.checkout}" in linked.home.say("plugins", "list").stdout
    assert f"link to          {linked.checkout}" in linked.home.say("plugins", "show", "ash").stdout
    assert list((linked.home.state / "trees").glob("*/plugin.yaml")) == []


def test_a_file_of_a_terabyte_behind_it_is_not_looked_through(linked: Linked) -> None:
    with (linked.checkout / "data.bin").open("wb") as stream:
        stream.truncate(1 << 40)
    for words in (("pm", "verify"), ("plugins", "check"), ("plugins", "disable", "ash"), ("plugins", "enable", "ash")):
        assert linked.home.ask(*words).status == 0
    assert linked.is_intact


def test_edits_are_told_as_such_and_are_no_drift(linked: Linked) -> None:
    before = linked.home.ask("pm", "verify")
    linked.edit()
    verified = linked.home.ask("pm", "verify")
    (warning,) = verified.value["warnings"]
    assert (before.gist, before.warnings, verified.gist) == ("0 verified", [], "0 verified")
    assert (warning["code"], warning["message"]) == (
        "linked-plugin-changed",
        f"`{linked.link}` of `ash` is a link to `{linked.checkout}`, where files were edited since",
    )
    assert warning["hint"] == "`hermes plugins check ash` judges it as it is now"
    assert linked.home.ask("plugins", "check", "ash").gist == "0 ready"
    assert (linked.home.ask("pm", "repair").gist, linked.is_intact) == ("0 unchanged", True)


def test_it_is_followed_by_digest_when_something_else_is_admitted(linked: Linked) -> None:
    linked.edit()
    assert linked.home.install(linked.home.plugin("birch", "demo-socket")).gist == "0 admitted"
    assert linked.home.ask("pm", "verify").warnings == []


def test_requirements_that_change_there_are_not_admitted_until_they_are_asked_for(linked: Linked) -> None:
    linked.home.plugin("my work/ash", "demo-transport")
    assert linked.home.ask("plugins", "check").gist == "1 not-ready not-admitted"
    assert linked.home.ask("plugins", "enable", "ash").gist == "0 admitted"
    assert ("demo-transport" in linked.home.pins, linked.is_intact) == (True, True)


def test_a_link_that_leads_elsewhere_is_told(linked: Linked) -> None:
    other = linked.home.plugin("other-ash", "demo-colors", name="ash")
    linked.link.unlink()
    linked.link.symlink_to(other)
    (warning,) = linked.home.ask("pm", "verify").value["warnings"]
    assert warning["message"].endswith(f"of `ash` led to `{linked.checkout}`, and leads to `{other}` now")


def test_it_is_not_replaced_without_force_and_with_it_not_without_a_word(linked: Linked) -> None:
    source = linked.home.plugin("new/ash", "demo-colors", version="2.0.0")
    refused = linked.home.install(source)
    assert (refused.gist, refused.value["reasons"][0]["message"]) == (
        "1 refused name-taken",
        f"`ash` 1.0.0 is already installed, as a link to `{linked.checkout}`",
    )
    assert linked.is_intact
    tried = linked.home.install(source, "--force", "--dry-run")
    assert (tried.gist, tried.warnings, linked.is_intact) == ("0 admitted", ["link-replaced"], True)
    replaced = linked.home.install(source, "--force")
    assert (replaced.gist, replaced.warnings, linked.link.is_symlink()) == ("0 admitted", ["link-replaced"], False)
    assert sorted(path.name for path in linked.checkout.iterdir()) == ["__init__.py", "plugin.yaml"]
    assert linked.home.ask("pm", "verify").gist == "0 verified"


def test_going_back_leaves_the_link_and_says_where_its_files_are_others(linked: Linked) -> None:
    linked.home.install(linked.home.plugin("birch", "demo-socket"))
    back = linked.home.ask("pm", "rollback")
    assert (back.gist, back.warnings, linked.is_intact) == ("0 rolled-back", ["profile-changes"], True)
    linked.edit()
    again = linked.home.ask("pm", "rollback", "1")
    assert (again.gist, again.warnings, linked.is_intact) == ("0 unchanged", ["link-stays"], True)
    assert (linked.checkout / "later.py").exists()


def test_going_back_to_before_a_folder_became_a_link_leaves_the_link(home: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    link = home.path / "plugins" / "ash"
    link.rename(home.work / "moved-away")
    link.symlink_to(source)
    home.install(home.plugin("birch", "demo-socket"))
    back = home.ask("pm", "rollback")
    assert ("link-stays" in back.warnings, back.gist, link.is_symlink()) == (True, "0 rolled-back", True)


def test_going_back_to_before_a_link_became_a_copy_leaves_the_copy_and_tells_of_the_link(linked: Linked) -> None:
    linked.home.install(linked.home.plugin("new/ash", "demo-colors", version="2.0.0"), "--force")
    back = linked.home.ask("pm", "rollback")
    (warning,) = back.value["warnings"]
    assert (back.gist, warning["code"], linked.link.is_symlink()) == ("0 rolled-back", "link-stays", False)
    shutil.rmtree(linked.link)
    subprocess.run(warning["hint"].split("`")[1], shell=True, check=True)  # noqa: S602 - a person pastes it like that
    assert linked.is_intact


def test_removing_it_leaves_the_checkout_untouched(linked: Linked) -> None:
    linked.edit()
    before = {path.name: path.read_bytes() for path in linked.checkout.iterdir()}
    removed = linked.home.ask("plugins", "remove", "ash")
    assert (removed.gist, removed.warnings, linked.link.is_symlink()) == ("0 removed", ["files-kept"], False)
    assert {path.name: path.read_bytes() for path in linked.checkout.iterdir()} == before
