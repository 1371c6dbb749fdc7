"""The published schema says what receipts are: every example fits it, and it has the fields of the values only."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import pytest
from jsonschema import Draft202012Validator

from pm.receipts import receipt as rows
from pm.receipts.codes import CODES, OUTCOMES
from pm.receipts.examples import NAMES, example
from pm.receipts.receipt import Receipt, from_json, receipt_text, to_json
from pm.system.processes import run
from scripts.reference import documents, schema_text

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
SCHEMA: dict[str, Any] = json.loads(schema_text())


def closed(schema: object) -> object:
    """Return the schema with every object closed, so that a field it does not know is a fault."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if "required" in schema else inner


VALIDATOR = Draft202012Validator(cast("dict[str, Any]", closed(SCHEMA)))


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_there_is_an_example_for_every_code_and_every_outcome() -> None:
    assert set(NAMES) == set(CODES) | set(OUTCOMES)


EXIT_OF_ITS_OWN = {
    "busy": 4,
    "invalid-source": 2,
    "unknown-generation": 2,
    "unknown-package": 2,
    "unknown-plugin": 2,
    "unknown-profile": 2,
    "unknown-receipt": 2,
}


@pytest.mark.parametrize("name", NAMES)
def test_the_example_fits_the_schema_and_shows_what_it_is_named_for(name: str) -> None:
    receipt = example(name)
    assert [error.message for error in VALIDATOR.iter_errors(to_json(receipt))] == []
    assert name in {receipt.outcome, *(reason.code for reason in receipt.reasons)}


@pytest.mark.parametrize("name", NAMES)
def test_the_example_reads_back_from_its_json(name: str) -> None:
    assert from_json(json.loads(receipt_text(example(name)))) == example(name)


@pytest.mark.parametrize("name", sorted(CODES))
def test_an_operation_that_ends_with_one_code_has_the_outcome_of_its_table(name: str) -> None:
    assert (example(name).outcome, example(name).exit_status) == (
        CODES[name].outcome,
        EXIT_OF_ITS_OWN.get(name, OUTCOMES[CODES[name].outcome].exit_status),
    )


@pytest.mark.parametrize("field", ["reasons", "steps"])
def test_a_refusal_without_reasons_or_without_steps_does_not_fit(field: str) -> None:
    assert not VALIDATOR.is_valid(to_json(example("refused")) | {field: []})


@pytest.mark.parametrize(
    ("definition", "kind"),
    [
        (SCHEMA, Receipt),
        (SCHEMA["$defs"]["owner"], rows.OwnerRow),
        (SCHEMA["$defs"]["place"], rows.PlaceRow),
        (SCHEMA["$defs"]["plugin"], rows.Plugin),
        (SCHEMA["$defs"]["plugin"]["properties"]["source"], rows.SourceRow),
        (SCHEMA["$defs"]["demand"], rows.DemandRow),
        (SCHEMA["$defs"]["reason"], rows.ReasonRow),
        (SCHEMA["$defs"]["step"], rows.StepRow),
        (SCHEMA["$defs"]["part"], rows.Part),
        (SCHEMA["$defs"]["change"], rows.ChangeRow),
        (SCHEMA["$defs"]["warning"], rows.WarningRow),
        (SCHEMA["$defs"]["copy"], rows.Copy),
        (SCHEMA["$defs"]["finding"], rows.Finding),
        (SCHEMA["properties"]["changes"], rows.ChangesRow),
        (SCHEMA["properties"]["generation"], rows.Transition),
    ],
)
def test_the_schema_has_the_fields_of_the_values(definition: dict[str, Any], kind: type) -> None:
    fields = {field.removesuffix("_") for field in get_type_hints(kind)}
    assert set(definition["properties"]) == set(definition["required"]) == fields


def test_the_schema_lists_the_outcomes() -> None:
    assert SCHEMA["properties"]["outcome"]["enum"] == list(OUTCOMES)


def test_what_may_be_null_may_be_null_in_both() -> None:
    optional = {field for field, hint in get_type_hints(Receipt).items() if type(None) in get_args(hint)}
    nullable = {name for name, value in SCHEMA["properties"].items() if '"null"' in json.dumps(value)}
    assert optional == nullable - {"generation"}


def test_the_reference_has_the_examples_of_the_code_and_no_others() -> None:
    written = {name.removeprefix("receipts/") for name in documents() if name.startswith("receipts/")}
    assert {path.name for path in (REFERENCE / "receipts").iterdir()} == written


def test_building_and_storing_a_receipt_loads_nothing_heavy() -> None:
    heavy = "{'dataclasses', 'inspect', 'jsonschema', 'logging', 'rich', 'tomlkit', 'tomllib', 'urllib3', 'yaml'}"
    program = f"import sys, pm.receipts.store; print(sorted({heavy} & set(sys.modules)))"
    done = run([sys.executable, "-c", program], directory=REFERENCE.parents[1])
    assert (done.stdout, done.status) == ("[]\n", 0), done.stderr
