"""Receipts on disk: private, whole or not there, the latest beside them, the newest two hundred kept."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pm.errors import PmError
from pm.places import GenerationNumber
from pm.receipts.build import build
from pm.receipts.receipt import Done, InvalidReceipt, Operation, Receipt, Transition, receipt_text, to_json
from pm.receipts.store import KEPT, Stored, UnknownReceipt, facts_name, find, list_receipts, load, store

ONE, TWO = GenerationNumber(1), GenerationNumber(2)
FIRST = datetime(2026, 1, 31, 10, 15, 30, 123000, UTC)


def receipt(number: int = 0, *, name: str = "install", generation: Transition | None = None) -> Receipt:
    started = FIRST + timedelta(seconds=number)
    operation = Operation(name, f"{number:010x}", started, ("hermes",), generation=generation or Transition())
    return build(operation, Done("unchanged"), finished_at=started)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_receipt_is_stored_with_the_latest_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "pm" / "receipts"
    path = store(receipt(), folder)
    assert path.name == "20260131T101530.123Z-install-0000000000.json"
    assert names_in(folder) == [path.name, "latest-install.json", "latest.json"]
    assert [load(folder / name) for name in names_in(folder)] == [receipt()] * 3


def test_only_its_owner_reads_a_receipt(tmp_path: Path) -> None:
    folder = tmp_path / "receipts"
    store(receipt(), folder, facts="{}")
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in names_in(folder)} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_each_kind_of_operation_has_its_own_latest(tmp_path: Path) -> None:
    for number, name in enumerate(("install", "enable", "install")):
        store(receipt(number, name=name), tmp_path)
    assert load(tmp_path / "latest.json") == load(tmp_path / "latest-install.json") == receipt(2)
    assert load(tmp_path / "latest-enable.json") == receipt(1, name="enable")


def test_the_list_is_newest_first(tmp_path: Path) -> None:
    paths = [store(receipt(number), tmp_path, facts="{}") for number in (1, 0, 2)]
    assert list_receipts(tmp_path) == (
        Stored(paths[2], "20260131T101532.123Z", "install", "0000000002"),
        Stored(paths[0], "20260131T101531.123Z", "install", "0000000001"),
        Stored(paths[1], "20260131T101530.123Z", "install", "0000000000"),
    )
    assert list_receipts(tmp_path / "not there") == ()


def test_what_is_older_than_the_newest_two_hundred_goes_with_its_facts(tmp_path: Path) -> None:
    for number in range(KEPT + 2):
        store(receipt(number), tmp_path, facts="{}" if number < 2 else "")
    assert len(list_receipts(tmp_path)) == KEPT
    assert list_receipts(tmp_path)[-1].id == receipt(2).id
    assert [name for name in names_in(tmp_path) if name.endswith(".facts.json")] == []


def test_the_receipt_of_a_kept_generation_stays(tmp_path: Path) -> None:
    made = [Transition(None, ONE), Transition(ONE, TWO), Transition(TWO, TWO)]
    for number, generation in enumerate(made):
        store(receipt(number, generation=generation), tmp_path, facts="{}")
    for number in range(3, KEPT + 3):
        store(receipt(number), tmp_path, kept_generations={TWO})
    assert [stored.id for stored in list_receipts(tmp_path)][KEPT:] == [receipt(1).id]
    assert (tmp_path / facts_name(receipt(1).id)).read_text() == "{}"


def test_a_broken_receipt_that_is_too_old_goes(tmp_path: Path) -> None:
    broken = store(receipt(0), tmp_path)
    broken.write_text("{")
    for number in range(1, KEPT + 1):
        store(receipt(number), tmp_path, kept_generations={ONE})
    assert not broken.exists()


def test_a_receipt_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    paths = [store(receipt(number), tmp_path) for number in (0, 1)]
    assert find(tmp_path, "0000000001") == find(tmp_path, "latest") == paths[1]
    with pytest.raises(UnknownReceipt, match=r"^2 receipts begin with `000`$"):
        find(tmp_path, "000")
    with pytest.raises(UnknownReceipt, match=r"^there is no receipt `f`$"):
        find(tmp_path, "f")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "[" * 100_000,
        "\udc80",
        json.dumps(to_json(receipt()) | {"schema": 2}),
        json.dumps(to_json(receipt()) | {"steps": 1}),
        json.dumps(to_json(receipt()) | {"plugin": {"name": "no key"}}),
        json.dumps({key: value for key, value in to_json(receipt()).items() if key != "id"}),
    ],
)
def test_whatever_is_no_receipt_is_an_invalid_receipt(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidReceipt, match=r"^`x\.json` "):
        load(path)


def test_a_receipt_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(PmError) as caught:
        load(tmp_path / "x.json")
    assert (caught.value.code, caught.value.message) == (
        "not-writable",
        "the receipt `x.json` cannot be read: No such file or directory",
    )


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PmError) as caught:
        store(receipt(), tmp_path / "file" / "receipts")
    assert (caught.value.code, caught.value.message) == (
        "not-writable",
        f"`{tmp_path}/file/receipts` cannot be written: Not a directory",
    )


def test_the_text_of_a_receipt_is_ascii() -> None:
    operation = Operation("install", "0a", FIRST, ("hermes", "plugins", "install", "größe ☂"))
    text = receipt_text(build(operation, Done("not-ready"), finished_at=FIRST))
    assert text.isascii()
    assert json.loads(text)["steps"][0]["command"] == "hermes plugins install 'größe ☂'"
