"""A further generation costs what differs: every other file of a distribution is the file that is there already."""

from __future__ import annotations

from pathlib import Path

from fixtures.homes import Home

# what an installer writes for each environment
WRITTEN = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"}


def files(generation: Path) -> dict[str, int]:
    """Return the inodes of what distributions brought to a generation."""
    site = next(generation.glob("lib/python3.*/site-packages"))
    paths = (path for info in site.glob("*.dist-info") for path in recorded(site, info))
    return {path.relative_to(site).as_posix(): path.stat().st_ino for path in paths}


def recorded(site: Path, info: Path) -> list[Path]:
    lines = (info / "RECORD").read_text(encoding="utf-8").splitlines()
    paths = [site / line.partition(",")[0] for line in lines]
    return [path for path in paths if path.name not in WRITTEN and ".." not in path.parts]


def test_a_generation_that_differs_in_one_package_shares_the_files_of_all_others(home: Home) -> None:
    home.install(home.plugin("ash", "demo-transport"))
    before = files(home.generation)
    home.install(home.plugin("birch", "demo-colors"))
    after = files(home.generation)
    assert {path: inode for path, inode in after.items() if not path.startswith("demo_colors")} == before
