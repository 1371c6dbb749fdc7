"""What docs/reference holds that the code knows: pages, the schema of receipts, and an example for each code."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from pm.receipts.examples import NAMES, example
from pm.receipts.receipt import receipt_text
from pm.receipts.render import render
from scripts.reference.codes import codes_page
from scripts.reference.command_line import VARIABLES, command_line_page
from scripts.reference.exit_codes import exit_codes_page
from scripts.reference.limits import limits_page

__all__ = ["VARIABLES", "documents", "schema_text", "write"]


def documents() -> Mapping[str, str]:
    """Return what is written: path below docs/reference → text."""
    examples = {name: example(name) for name in NAMES}
    return {
        "command-line.md": command_line_page(),
        "exit-codes.md": exit_codes_page(),
        "codes.md": codes_page(),
        "limits.md": limits_page(),
        "receipt.schema.json": schema_text(),
        **{f"receipts/{name}.json": receipt_text(receipt) for name, receipt in examples.items()},
        **{f"receipts/{name}.txt": render(receipt, width=80) for name, receipt in examples.items()},
    }


def schema_text() -> str:
    """Return the JSON Schema of receipts."""
    return (files("pm.receipts") / "schema.json").read_text(encoding="utf-8")


def write(folder: Path) -> None:
    """Write all of it below a folder."""
    for name, text in documents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
