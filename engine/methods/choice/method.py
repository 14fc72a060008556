"""paid-choice: of several runs with a proof, the one whose texts stand nearest to most people, chosen with noise.

Looking at findings and taking the best run is a choice that private records took part in, and no claim covers it
(Liu and Talwar 2019; Papernot and Steinke 2022). Here the records choose under the exponential mechanism (McSherry and
Talwar 2007): points by rank (`engine.dp.noise.choice`), one draw, one line in the ledger. The output is the chosen
run's text. Nothing of the runs that lost leaves, but all of them count in the claim: they were read to choose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from pydantic import BaseModel

from engine.dp.accounting.accountant import Accountant
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.dp.noise.choice import most, moved
from engine.errors import InternalError, UserError
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord
from engine.methods.choice.parameters import PaidChoiceParameters
from engine.methods.dp_claim import dp_claim
from engine.methods.evolution import claim as pe_claim
from engine.methods.evolution import common as pe
from engine.methods.public_inputs import listed, settings_taken, size_taken

WHAT, LEAST = "choice of a run", 2
READING, CHOOSING, CHOSEN = "reading the runs' texts", "choosing", "chosen"
PICKED = (
    "The runs to choose among were picked, or their settings chosen, after a look at findings about them, at records "
    "or at anything else computed from private text."
)


class PaidChoiceMethod:
    """Choose one of several runs by noisy points of private records."""

    spec = MethodSpec(
        id="paid-choice",
        title="The best of several runs (paid choice)",
        summary="Private records choose, with noise, the run whose texts are nearest to theirs; its texts are the "
        "output, and the choice is paid for instead of being made by looking.",
        origin="Each record is an output of an earlier run with a formal guarantee. Original texts only took part in "
        "that run, and in one noisy choice among such runs.",
        citation="exponential mechanism: McSherry and Talwar 2007; why choosing must be paid for: Liu and Talwar 2019, "
        "Papernot and Steinke 2022",
        kind="dp",
        needs=("embedder", "runs"),
        parameters=PaidChoiceParameters,
        good_for="Taking the better of several runs without losing their proof.",
        bad_for="Runs that are alike, or few people: the noise then chooses.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the claim of the choice, the runs given; what they spent is added where their marks are counted."""
        del accountant  # one pure mechanism: there is nothing to compute
        p = parameters
        assert isinstance(p, PaidChoiceParameters)
        event = Event("pure", WHAT, epsilon=p.epsilon, sensitivity=1.0, unit=facts.unit, adjacency=p.adjacency)
        pe_claim.check_scales({WHAT: event})
        runs = p.promise.runs if p.promise is not None else ()
        among = listed([f"run {run}" for run in runs]) if runs else "runs that are not chosen yet"
        cap = pe_claim.cap_of(facts)
        capped = f", each {facts.unit} ranking them by at most {cap} records" if facts.unit == "source" else ""
        claim = dp_claim(
            facts,
            epsilon=p.epsilon,
            delta=0.0,
            adjacency=p.adjacency,
            events=(event,),
            read=f"one noisy choice among the outputs of {among} only{capped}",
            inputs=(
                "the list of runs to choose among",
                "what each of them takes as public",
                "the settings of this plan",
            ),
            labels_public=False,
            list_event=None,
            public=(
                size_taken(facts),
                settings_taken("the list of runs to choose among", "the settings of this plan"),
                pe_claim.ENCODER,
            ),
            assumptions=(
                "Every run that could have been chosen counts, whether its text leaves or not: all of them were read "
                "to choose.",
                *(p.promise.assumptions if p.promise is not None else ()),
            ),
            voided_by=(PICKED, *(p.promise.voided_by if p.promise is not None else ())),
            noise={
                WHAT: {
                    "epsilon": p.epsilon,
                    "sensitivity": 1.0,
                    "noise_multiplier": scale(p.epsilon, p.adjacency),
                    "sigma": scale(p.epsilon, p.adjacency),
                }
            },
            accounting={"epsilon_pld": p.epsilon, "epsilon_pld_low": p.epsilon, "epsilon_rdp": p.epsilon},
        )
        return replace(
            claim,
            assumptions=tuple(dict.fromkeys(claim.assumptions)),
            voided_by=tuple(dict.fromkeys(claim.voided_by)),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return seconds for a choice between the first `count` outputs of each run; nothing is written."""
        p = parameters
        assert isinstance(p, PaidChoiceParameters)
        runs = len(p.promise.runs) if p.promise is not None else LEAST
        return Plan(
            model_calls=0,
            tokens=0,
            seconds=round((runs * count + facts.read) * pe.SECONDS_A_TEXT, 2),
            outputs=count,
            ledger=pe_claim.ledger_preview(self.guarantee(p, facts)),
            notes=("No language model is asked: the texts are there.",),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield a step a run that was embedded, then one with the outputs of the chosen run."""
        p, given = context.parameters, context.runs
        assert isinstance(p, PaidChoiceParameters)
        if context.mechanisms is None or context.embedder is None or context.guarantee is None or p.promise is None:
            raise InternalError("the choice was started without mechanisms, an embedder, a guarantee or runs")
        if context.state and context.state["phase"] == "done":
            return
        if len(given) < LEAST or any(len(texts) < context.count for texts in given):
            raise UserError("the runs to choose among are not what they were; ask for the choice again")
        compared = [texts[: context.count] for texts in given]
        sets, total, done = [], len(given) + 1, int((context.state or {}).get("done", 0))
        for number, texts in enumerate(compared, 1):
            if context.cancelled():
                return
            sets.append(context.embedder.embed([text for text, _ in texts]))
            if number > done:
                yield Step({"phase": "read", "done": number}, (), {"made": 0, "kept": 0}, READING, number, total)
        if context.cancelled():
            return
        winner = context.mechanisms.noisy_choice(
            "choice",
            sets,
            fingerprint=pe.fingerprint([pair for texts in compared for pair in texts]),
            epsilon=float(context.guarantee.noise[WHAT]["epsilon"]),
            what=WHAT,
        )
        known = set(context.labels)
        records = tuple(SyntheticRecord(text, label if label in known else None) for text, label in compared[winner])
        yield Step(
            state={"phase": "done", CHOSEN: p.promise.runs[winner]},
            records=records,
            funnel={"made": len(records), "kept": len(records)},
            stage=CHOOSING,
            done=total,
            total=total,
            diagnostics={"choices": [{"chosen": p.promise.runs[winner], "among": list(p.promise.runs)}]},
        )


def scale(epsilon: float, adjacency: str) -> float:
    """Return the scale of the noise on a run's points, each unit giving it 0 to 1; see `engine.dp.noise.choice`."""
    return 2.0 * moved(LEAST, adjacency) / most(LEAST) / epsilon


def behind(runs: int, epsilon: float, adjacency: str, chance: float = 0.05) -> float:
    """Return how many points of people the chosen run may stand behind the best, but for this chance.

    Source: McSherry and Talwar 2007, theorem 8 (Dwork and Roth 2014, theorem 3.11): the noise's scale times
    (ln K + ln 1/chance), where each unit gives a run 0 to 1 points.
    """
    return scale(epsilon, adjacency) * (math.log(runs) + math.log(1.0 / chance))


def blockers(parameters: BaseModel, count: int) -> list[str]:
    """Return why a choice of `count` outputs cannot be made; public facts alone."""
    if not isinstance(parameters, PaidChoiceParameters):
        return []
    promise = parameters.promise
    if promise is None or len(promise.runs) < LEAST:
        return ["A choice needs at least two finished runs of this corpus that have a proof of their own."]
    if promise.outputs < count:
        return [
            f"The smallest of these runs holds {promise.outputs:,} outputs and {count:,} are wanted: ask for at most "
            f"{promise.outputs:,}."
        ]
    return []
