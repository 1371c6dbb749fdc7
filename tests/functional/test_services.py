"""Services that name a generation: found, told, and made to start what is selected."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from fixtures.homes import Home

UNIT = """[Unit]
Description=Hermes gateway

[Service]
ExecStartPre=/bin/true
ExecStart=-{root}/pm/generations/1/bin/python -m hermes_cli.main --profile x \\
    gateway run
ExecStopPost="{root}/pm/generations/1/bin/python" -m hermes_cli.main gateway cleanup
Environment=PATH={root}/pm/generations/1/bin:/usr/bin
Environment=VIRTUAL_ENV={root}/pm/generations/1
"""


@pytest.fixture
def unit(home: Home) -> Path:
    """Return the unit of a service that the host has made inside of a generation."""
    home.configure("  keep_generations: 1\n")
    home.install(home.plugin("ash", "demo-colors<2"))
    file = home.user / ".config" / "systemd" / "user" / "hermes-gateway.service"
    file.parent.mkdir(parents=True)
    file.write_text(UNIT.format(root=home.path))
    return file


def test_a_service_that_names_a_generation_is_found_with_what_to_write(home: Home, unit: Path) -> None:
    drop_in = unit.with_name("hermes-gateway.service.d") / "hermes-plugin-manager.conf"
    door = home.state / "front" / "hermes"
    assert home.ask("pm", "services").value["services"] == [
        {
            "file": str(unit),
            "environments": [1],
            "drop_in": str(drop_in),
            "commands": [
                {
                    "key": "ExecStart",
                    "value": f"-{door} run -- python -m hermes_cli.main --profile x      gateway run",
                },
                {"key": "ExecStopPost", "value": f"{door} run -- python -m hermes_cli.main gateway cleanup"},
            ],
            "written": "",
        }
    ]
    assert "`hermes pm services --write` writes" in home.say("pm", "services").stdout
    assert not drop_in.exists()
    home.say("pm", "services", "--write", "--dry-run")
    assert not drop_in.exists()


def test_with_its_drop_in_a_service_starts_what_is_selected_and_keeps_no_generation(home: Home, unit: Path) -> None:
    before = unit.read_bytes()
    assert home.say("pm", "services", "--write").status == 0
    drop_in = unit.with_name("hermes-gateway.service.d") / "hermes-plugin-manager.conf"
    lines = drop_in.read_text().splitlines()
    assert [line for line in lines if line.startswith("Exec")][0::2] == ["ExecStart=", "ExecStopPost="]
    assert unit.read_bytes() == before
    assert home.say("pm", "services").stdout == "no service starts by the path of a generation\n"
    home.install(home.plugin("birch", "demo-transport"))
    assert not (home.state / "generations" / "1").exists()
    command = next(line for line in lines if line.startswith("ExecStart=-")).removeprefix("ExecStart=-")
    words = shlex.split(command.partition(" -m ")[0])
    done = subprocess.run(
        [*words, "-c", "import sys; print(sys.prefix)"], env=home.environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{home.state}/generations/2\n"


def test_a_unit_that_the_host_wrote_anew_is_told_again(home: Home, unit: Path) -> None:
    home.say("pm", "services", "--write")
    unit.write_text(unit.read_text().replace("gateway run", "gateway run --verbose"))
    assert len(home.ask("pm", "services").value["services"]) == 1
    home.say("pm", "services", "--write")
    assert home.ask("pm", "services").value["services"] == []


def test_what_takes_no_drop_in_says_what_to_do(home: Home, unit: Path) -> None:
    unit.unlink()
    plist = home.user / "Library" / "LaunchAgents" / "ai.hermes.gateway.plist"
    plist.parent.mkdir(parents=True)
    plist.write_text(f"<string>{home.state}/generations/1/bin/python</string>\n")
    answer = home.say("pm", "services", "--write")
    assert (answer.status, "or change the path by hand" in answer.stdout) == (0, True)


def test_status_counts_the_services_that_will_miss_the_next_change(home: Home, unit: Path) -> None:
    status = home.ask("pm", "status").value
    assert status["services"] == [{"file": str(unit), "environments": [1]}]
    assert "starts by the path of a generation; `hermes pm services` says what to write" in (
        " ".join(home.say("pm", "status").stdout.split())
    )


def test_leaving_takes_the_drop_in_away_and_tells_of_the_unit(home: Home, unit: Path) -> None:
    home.say("pm", "services", "--write")
    answer = home.ask("uninstall", "--yes")
    assert (answer.gist, unit.with_name("hermes-gateway.service.d").exists()) == ("0 removed", False)
    assert [one["code"] for one in answer.value["warnings"]].count("service-left") == 1
    assert unit.read_text() == UNIT.format(root=home.path)
