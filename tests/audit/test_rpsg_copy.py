"""Why RPSG is not differentially private: a model that copies carries a record through any noise on the choice."""

import numpy as np
import pandas as pd

from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from engine.models.contracts import Generation
from tests.audit.bounds import epsilon_lower_bound
from tests.audit.toy import Models, corpus, weakened, without

PLANTED = "w7 w8 w9 w7 w8 w9"


class Copying(Models):
    """A model that repeats what it is shown, as language models do with rare text now and then."""

    def generate(self, prompts, sampling, constraints=None):
        return [Generation(" ".join(prompt.split()[:40]), 40, "stop") for prompt in prompts]

    def prompt(self, name, **inputs):
        return str(inputs.get("text", "w1 w2 w3 w4"))

    def detect(self, texts):
        return [[] for _ in texts]


def written(records, noise):
    """Return the texts that a run writes up to its filters; `noise` multiplies the noise of the choice."""
    method, models = get_method("rpsg"), Copying()
    parameters = parse_parameters(
        method.spec, {"epsilon": 1.0, "oversampling": 2, "candidates": 2, "minimum_tokens": 4, "retry": False}
    )
    facts = Facts(len(records), len(records))
    context = Context(
        records=records,
        spans=pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"]),
        count=len(records),
        parameters=parameters,
        seed=5,
        generator=models,
        embedder=models,
        detector=models,
        operators=models,
        mechanisms=Mechanisms(None, MemoryOutputs()),
        facts=facts,
        guarantee=weakened(method.guarantee(parameters, facts), 1 / noise),
    )
    texts = []
    for step in method.run(context):
        texts = [entry["text"] for entry in step.state.get("made", [])] or texts
        if step.state["stage"] == "comparing":
            break
    return texts


def test_a_planted_copy_comes_through_at_any_noise():
    assert get_method("rpsg").spec.kind == "selection-only"
    everybody = corpus().drop_duplicates("source_id").reset_index(drop=True)
    others = without(everybody)
    for noise in (1.0, 1000.0):
        found = [
            np.array([any(PLANTED in text for text in written(records, noise)) for _ in range(120)], dtype=float)
            for records in (everybody, others)
        ]
        # Declared beforehand: the planted words are in a text that would be released.
        assert epsilon_lower_bound(*found, delta=1e-3) > 1.0
