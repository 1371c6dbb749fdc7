"""The table of verbs: every entry is parsed as it says, and leads to a function that carries it out."""

from __future__ import annotations

import inspect
import re
import shlex

import pytest

from pm.cli.arguments import parse, parser
from pm.cli.help_examples import EXAMPLES
from pm.cli.verb import COMMON, CONSENTS, Argument, Verb, words_again
from pm.cli.verb_table import FAMILIES, LATER, VERBS, verb_of
from pm.receipts import commands

EVERY_VERB = pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: "-".join(verb.words))
EVERY_ARGUMENT = pytest.mark.parametrize(
    ("verb", "argument"),
    [(verb, argument) for verb in VERBS.values() for argument in verb.arguments],
    ids=lambda value: value.names[0] if isinstance(value, Argument) else "-".join(value.words),
)
SAMPLES = {
    "text": ("some text", "some text"),
    "count": ("3", 3),
    "number": ("3", 3),
    "seconds": ("2.5", 2.5),
    "package": ("some.package", "some.package"),
    "instant": ("14 days", "14 days"),
}


def attribute(argument: Argument) -> str:
    """Return the name under which the value of an argument is found."""
    return argument.stored_as or argument.names[-1].lstrip("-").replace("-", "_")


def sample(argument: Argument) -> tuple[list[str], object]:
    """Return words that give an argument, and the value that they mean."""
    if argument.kind == "switch":
        return [argument.names[-1]], argument.stores
    word, value = (argument.choices[-1],) * 2 if argument.choices else SAMPLES[argument.kind]
    several = argument.is_repeatable or argument.how_many in ("*", "+", "...")
    return [argument.names[-1], word] if argument.is_option else [word], [value] if several else value


def after(verb: Verb, argument: Argument) -> list[str]:
    """Return words for what must stand behind an argument that is known by its place."""
    if argument.is_option:
        return []
    behind = verb.arguments[verb.arguments.index(argument) + 1 :]
    given = [other for other in behind if not other.is_option and other.how_many in ("", "+") and not other.one_of]
    return [word for other in given for word in sample(other)[0]]


def needed(verb: Verb, argument: Argument) -> list[str]:
    """Return words without which an argument of a verb is not understood."""
    others = [other for other in verb.arguments if other != argument and not other.one_of]
    given = [other for other in others if other.is_required or not (other.is_option or other.how_many not in ("", "+"))]
    if not argument.is_option:  # it is known by what stands before it
        before = verb.arguments[: verb.arguments.index(argument)]
        given = [other for other in others if (other in given and other.is_option) or (other in before)]
        given = [other for other in given if other.is_required or not other.is_option]
    choice = next((other for other in verb.arguments if other.one_of and other.is_required), None)
    given += [choice] if choice and not argument.is_required else []
    return [word for other in given for word in sample(other)[0]]


@EVERY_VERB
def test_every_verb_leads_to_a_function_of_the_arguments_and_the_words(verb: Verb) -> None:
    signature = inspect.signature(verb.function())
    assert list(signature.parameters) == ["arguments", "words"]
    assert signature.return_annotation in ("int", "NoReturn")


@EVERY_VERB
def test_what_a_function_asks_of_its_arguments_is_there(verb: Verb) -> None:
    given = {attribute(argument) for argument in verb.arguments}
    asked = set(re.findall(r"\barguments\.(\w+)", inspect.getsource(verb.function())))
    assert asked - given == set()


@EVERY_ARGUMENT
def test_every_argument_is_understood_as_the_table_says(verb: Verb, argument: Argument) -> None:
    words, value = sample(argument)
    said = [*verb.words, *needed(verb, argument), *words, *after(verb, argument)]
    parsed = parser(verb.family, verb.name).parse_args(said)
    assert (getattr(parsed, attribute(argument)), type(getattr(parsed, attribute(argument)))) == (value, type(value))


@EVERY_VERB
def test_an_option_that_is_not_given_has_its_default(verb: Verb) -> None:
    options = [argument for argument in verb.arguments if argument.is_option and not argument.is_required]
    first = next((argument for argument in verb.arguments if argument.is_required), options[0])
    parsed = parser(verb.family, verb.name).parse_args([*verb.words, *needed(verb, first), *sample(first)[0]])
    expected = {attribute(option): [] if option.is_repeatable else option.default for option in options[::-1]}
    given = attribute(first)
    assert {name: getattr(parsed, name) for name in expected if name != given} == {
        name: value for name, value in expected.items() if name != given
    }


@EVERY_VERB
def test_no_flag_of_a_verb_means_two_things(verb: Verb) -> None:
    flags = [flag for argument in verb.arguments for flag in argument.names if argument.is_option]
    assert sorted(flags) == sorted({*flags} - {"-h", "--help"})


def test_a_verb_that_changes_something_can_be_tried_and_one_that_only_looks_cannot() -> None:
    changing = {" ".join(verb.words) for verb in VERBS.values() if verb.changes}
    assert changing == {
        *(f"plugins {name}" for name in ("install", "update", "use", "remove", "enable", "disable")),
        *(f"pm {name}" for name in ("init", "extras", "repair", "rollback", "gc", "services", "bundle")),
        *("update", "link", "unlink", "uninstall"),
    }
    with pytest.raises(SystemExit):
        parser("pm", "status").parse_args(["pm", "status", "--dry-run"])


def test_the_parser_of_one_verb_knows_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["plugins", "list"], ["pm", "status"]):
        with pytest.raises(SystemExit):
            parser("plugins", "check").parse_args(words)
    assert "(choose from 'check')" in capsys.readouterr().err


def test_a_word_that_is_no_verb_is_answered_with_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser("pm", "statsu").parse_args(["pm", "statsu"])
    said = capsys.readouterr().err
    assert [verb.name for verb in VERBS.values() if verb.family == "pm" and f"'{verb.name}'" not in said] == []


def test_a_first_word_is_the_managers_now_or_later() -> None:
    assert {family for family, _ in VERBS} == set(FAMILIES)
    assert set(FAMILIES) & LATER == set()


def test_the_same_again_is_said_without_what_only_says_how_it_is_shown() -> None:
    words = ["plugins", "install", "./a", "--enable", "--json", "-q", "--dry-run", "--yes", "--allow-build", "b"]
    expected = ("hermes", "plugins", "install", "./a", "--enable", "--allow-build", "b")
    assert words_again(VERBS["plugins", "install"], words) == expected


def test_steps_name_the_limits_and_consents_that_the_verbs_take() -> None:
    with_value = {argument.names[0] for argument in CONSENTS if argument.kind != "switch"}
    alone = {argument.names[0] for argument in (*COMMON, *CONSENTS) if argument.kind == "switch"}
    assert set(commands._WITH_VALUE) == with_value  # noqa: SLF001 - what the rooms below the command line know of it
    assert set(commands._ALONE) <= alone  # noqa: SLF001 - the same


@EVERY_ARGUMENT
def test_a_default_that_help_names_is_the_default(verb: Verb, argument: Argument) -> None:
    named = re.findall(r"\(default: ([\w.]+)\)", argument.help)
    assert all(str(argument.default) in (value, f"{value}.0") for value in named), verb.words


@EVERY_VERB
def test_the_examples_of_every_verb_are_understood(verb: Verb) -> None:
    examples = EXAMPLES[verb.family, verb.name]
    assert examples
    for example in examples:
        program, *words = shlex.split(example.partition(" > ")[0])
        assert program in {"hermes", "hermes-pm"}
        assert verb_of(parse(words)) == verb
    assert set(EXAMPLES) == set(VERBS)


@pytest.mark.parametrize("width", ["60", "200"])
def test_the_help_of_a_verb_ends_with_its_examples(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    with pytest.raises(SystemExit):
        parse(["pm", "why", "--help"])
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "examples:",
        "  hermes-pm pm why httpx",
        "  hermes-pm pm why --not 'httpx>=0.29'",
    ]
