"""The same question gives the same bytes, in every process: no hash of a text decides anything."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PROGRAM = """
from admission import Admitted, Policy, Refused, decide
from fixtures.ways_out import steps_of
from fixtures.worlds import any_world, some_pins
from lockfiles.pylock import dumps
from fixtures.evidence import evidence

for seed in range(240):
    world = any_world(seed)
    policy = Policy(prerelease=("default", "direct-opt-in")[seed % 2])
    question = world.question(policy=policy, pins=some_pins(world, seed))
    decision = decide(question, world.facts)
    print(dumps(decision.lock) if isinstance(decision, Admitted) else decision)
    print(steps_of(question, world.facts) if isinstance(decision, Refused) else decision.warnings)
    print(evidence(question, world.facts))
"""


def _printed(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _PROGRAM]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_two_processes_say_the_same_to_240_questions() -> None:
    first = _printed("1")
    assert first.count("\n") > 720
    assert _printed("2") == first
