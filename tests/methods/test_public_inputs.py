"""What a formal claim takes as public: a declaration is said of what a person declared, and of nothing else."""

import pytest

from engine.dp.groups import NAMED
from engine.methods import get_method, methods
from engine.methods.base import Facts, parse_parameters
from engine.methods.public_inputs import given

FORMAL = [method.spec.id for method in methods() if method.spec.kind == "dp" and method.spec.id != "dp-finetune"]
DECLARED = "which the custodian declared public"


def claim(name, labels, **values):
    method = get_method(name)
    return method.guarantee(parse_parameters(method.spec, values), Facts(900, 300, "source", cap=3, labels=labels))


@pytest.mark.parametrize("name", FORMAL)
def test_only_the_list_of_labels_is_said_to_be_declared(name):
    with_list, without = claim(name, 4).sentence, claim(name, 0)
    before, after = with_list.split(DECLARED)
    taken, declared = before.split("taken as public")[-1].rsplit("; and given ", 1)
    assert declared == "the list of the 4 labels, "
    assert "the number of outputs" not in after + declared
    assert "the number of outputs" in taken or "the number of outputs" in before.split("taken as public")[0]
    assert "declared public" not in " ".join([without.sentence, *without.assumptions])
    assert "taken as public" in " ".join(without.assumptions)
    assert "N = 300" not in declared


@pytest.mark.parametrize("name", [name for name in FORMAL if name != "public"])
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_sentence_says_that_the_number_of_units_is_not_hidden(name, adjacency):
    found = claim(name, 0, adjacency=adjacency)
    assert "the number of sources, N = 300" in found.sentence
    assert "N follows from the file and is not hidden" in found.sentence
    assert any("nobody declared it, and the bound does not hide it" in line for line in found.assumptions)


def test_shares_that_were_declared_are_named_with_the_list():
    facts = Facts(900, 900, labels=1)
    assert f"given the list of the one label and its shares, {DECLARED}" in given(facts, [], shares_public=True)
    assert f"given the list of the one label, {DECLARED}" in given(facts, [])


def test_a_person_with_several_records_is_said_not_to_be_protected_as_one():
    said = "a person with several records is not protected as one"
    assert said in given(Facts(900, 900, sources_named=True), [])
    assert said not in given(Facts(900, 900), [])
    assert said not in given(Facts(900, 300, "source", sources_named=True), [])


@pytest.mark.parametrize("name", FORMAL)
def test_every_claim_that_reads_text_says_what_it_is_worth_for_people_who_are_named(name):
    found = claim(name, 0)
    assert sum(line.startswith(NAMED) for line in found.assumptions) == (1 if found.epsilon else 0)
