"""Parameters of AUG-PE and DPGA-TextSyn, and how many texts a run of DPGA makes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from engine.methods.parameters import PrivateParameters

_SUN = "Sun et al. 2025"
SHARES = {"elite": 0.2, "mutate": 0.4, "cross": 0.2, "generate": 0.2}
"""Parts of a new population: 2,000, 4,000, 2,000 and 2,000 of 10,000."""
MUTATION_BLANKS = 0.5


class DpgaParameters(PrivateParameters):
    """Budget shares, rounds, population, and what may be left out."""

    rounds: int = Field(
        3, ge=1, le=50,
        description=f"Rounds T of voting and breeding. {_SUN} has 10, for a large model; with a small one each further "
        "round adds more noise to the votes than breeding adds to the texts.",
    )  # fmt: skip
    sampling_rate: float = Field(
        0.8, gt=0, le=1, description=f"Chance that a unit votes in a round (Poisson sampling; {_SUN}, figure 7)."
    )
    population: int | None = Field(
        None, ge=5, le=20000,
        description="Candidates a round; empty: five for each output, so that the elite is the output. The paper has "
        "10,000, an hour and more a round on a small machine.",
    )  # fmt: skip
    length: bool = Field(True, description="Buy the length range and a histogram of 100 lengths (ablation: off).")
    keywords: bool = Field(True, description="Buy votes for key words of each label (ablation: off).")
    suppression: Literal["near-duplicates", "as printed", "off"] = Field(
        "near-duplicates",
        description="near-duplicates: votes decide, copies of a kept text are held back. as printed: the paper's rule, "
        "measured to keep no more votes than chance. off: votes alone.",
    )
    tau: float | None = Field(
        None, ge=0, le=1,
        description="Public cosine from which a text is held back; empty: the first candidates' median similarity to "
        "their nearest neighbour, or, as printed, the mean similarity of private texts, bought.",
    )  # fmt: skip
    tau_share: float = Field(0.02, gt=0, lt=0.3, description="Share of ε for τ, as printed, where it is bought.")
    search_share: float = Field(0.2, gt=0, lt=0.9, description=f"Share of ε for the two length searches ({_SUN}, D.3).")
    attribute_share: float = Field(
        0.3, gt=0, lt=0.9, description=f"Share of ε for the three histograms: labels, lengths, key words ({_SUN}, D.3)."
    )
    longest: int = Field(400, ge=20, le=2000, description="Longest length asked about (words): a public bound.")
    keyword_count: int = Field(50, ge=4, le=200, description=f"Key words a label ({_SUN}).")
    keyword_temperature: float = Field(1.4, gt=0, le=5, description=f"Randomness of making key words ({_SUN}, D.1).")
    keyword_choice: Literal["votes", "softmax"] = Field(
        "votes",
        description="Chance of a key word: in proportion to its votes above the noise; or the paper's softmax of votes "
        "(standardised), which is flatter.",
    )

    @model_validator(mode="before")
    @classmethod
    def _first_edition(cls, values: object) -> object:
        """Read settings of the first edition, whose suppression was as printed, bought or not, as what they were."""
        if not isinstance(values, dict) or not isinstance(values.get("suppression"), bool | None):
            return values
        values = dict(values)
        on, tau = values.pop("suppression", None), values.get("tau")
        if tau == "paid":
            values["tau"] = None
        if on is False:
            values["suppression"] = "off"
        elif tau == "paid" or (on and "tau" in values):
            values["suppression"] = "as printed"
        return values

    def buys_tau(self) -> bool:
        """Return whether the threshold is bought from private text."""
        return self.suppression == "as printed" and self.tau is None


def sizes_of(parameters: DpgaParameters, count: int) -> dict[str, int]:
    """Return the population and its parts: the paper's shares of a population scaled to `count`."""
    population = max(parameters.population or 5 * count, 5)
    elite = max(count, round(SHARES["elite"] * population))
    sizes = {name: round(share * population) for name, share in SHARES.items() if name != "elite"}
    return {"population": elite + sum(sizes.values()), "elite": elite, **sizes}


def texts_written(parameters: DpgaParameters, count: int) -> int:
    """Return how many texts a run writes, without the samples that key words are taken from."""
    sizes = sizes_of(parameters, count)
    return sizes["population"] + (parameters.rounds - 1) * (sizes["population"] - sizes["elite"])


_XIE = "Xie et al. 2024"


class AugPeParameters(PrivateParameters):
    """Rounds, selection and variation."""

    rounds: int = Field(10, ge=1, le=50, description=f"Rounds of voting ({_XIE}).")
    variations: int = Field(
        7, ge=2, le=20, description=f"L: candidates for each output; 7 for local models, 4 for endpoints ({_XIE})."
    )
    selection: Literal["rank", "sample"] = Field(
        "rank", description=f"Keep the top 1/L by votes (rank), or draw in proportion to votes (sample; {_XIE})."
    )
    variation: Literal["fill", "rephrase"] = Field(
        "fill", description=f"Blank out words and fill them, or rephrase in a random style ({_XIE})."
    )
    degree_low: float = Field(0.5, gt=0, lt=1, description=f"Least share of words blanked out ({_XIE}).")
    degree_high: float = Field(0.6, gt=0, lt=1, description=f"Largest share of words blanked out ({_XIE}).")
    lookahead: int = Field(
        0, ge=0, le=8, description=f"Variations whose mean embedding stands for a candidate; 0: its own ({_XIE})."
    )
    votes: Literal["nearest", "dense"] = Field(
        "nearest",
        description="What a unit says: which candidate is nearest, a vote for each record; or dense, how near all of "
        "them are, standardised and cut to length 1 (Hou et al. 2025), however many records it has; those are kept "
        "that together would have voted alike.",
    )
    votes_for: Literal["candidates", "clusters"] = Field(
        "candidates", description="Votes for each candidate, or for coarse clusters of them: less noise, small corpora."
    )
    clusters: int = Field(50, ge=2, le=500, description="Clusters of candidates in all, where votes are for clusters.")
    label_share: float = Field(
        0.05, gt=0, lt=1, description="Share of the budget (of μ², the squared Gaussian parameter) for label shares."
    )

    @model_validator(mode="after")
    def _one_kind_of_votes(self) -> AugPeParameters:
        if self.votes == "dense" and self.votes_for == "clusters":
            raise ValueError("dense votes score every candidate; votes for clusters are for the nearest one")
        return self
