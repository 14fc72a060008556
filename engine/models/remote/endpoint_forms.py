"""The forms in which servers are held to given answers, and kept from tokens.

An answer among given ones: `structured_outputs` (vLLM from 0.12 on) and `guided_choice` (vLLM before) take the list;
`grammar` (llama.cpp) takes a grammar in GBNF; `json_schema` (OpenAI's `response_format`, TGI, Ollama) has it written as
JSON. Tokens: OpenAI's `logit_bias`, a number for each token id; ids come from the server's own `/tokenize`, which wants
the text under `prompt` (vLLM) or `content` (llama.cpp). A server that knows a form takes it, one that does not may
refuse it or pass over it, so a form counts only where `engine.models.remote.endpoint_probe` saw it hold.

Privacy posture: builds requests and reads replies; keeps nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.json_types import JSON, JSONObject

CHOICE_FORMS = ("structured_outputs", "guided_choice", "grammar", "json_schema")
TOKEN_FORMS = ("prompt", "content")
LEAST_BIAS = -100.0  # of OpenAI's range; servers that add it to a logit never draw the token
MOST_BIASED = 300  # entries that a request may have at OpenAI and vLLM
ANSWER = "answer"


def held_to(form: str, choices: Sequence[str]) -> dict[str, JSON]:
    """Return what a request has besides to be answered with one of these texts."""
    if form == "structured_outputs":
        return {"structured_outputs": {"choice": list(choices)}}
    if form == "guided_choice":
        return {"guided_choice": list(choices)}
    if form == "grammar":
        return {"grammar": f"root ::= {' | '.join(map(_quoted, choices))}"}
    schema: JSONObject = {
        "type": "object",
        "properties": {ANSWER: {"type": "string", "enum": list(choices)}},
        "required": [ANSWER],
        "additionalProperties": False,
    }
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": ANSWER, "strict": True, "schema": schema}}
    }


def chosen(form: str, reply: str, choices: Sequence[str]) -> str | None:
    """Return the one of these texts that a reply is, or None where it is none of them."""
    if form == "json_schema":
        try:
            body = json.loads(reply)
        except ValueError:
            return None
        reply = str(body.get(ANSWER, "")) if isinstance(body, dict) else ""
    return next((choice for choice in choices if choice.strip() == reply.strip()), None)


def tokens_of(form: str, model: str, text: str) -> dict[str, JSON]:
    """Return what a server is asked for a text's token ids."""
    if form == "prompt":
        return {"model": model, "prompt": text, "add_special_tokens": False}
    return {"content": text, "add_special": False}


def token_ids(answer: JSONObject) -> list[int]:
    """Return the token ids of a reply; none where it holds no list of whole numbers."""
    found = answer.get("tokens")
    numbers = [token for token in found if isinstance(token, int)] if isinstance(found, list) else []
    return numbers if isinstance(found, list) and len(numbers) == len(found) else []


def biased(ids: Sequence[int], by: float = LEAST_BIAS) -> dict[str, JSON]:
    """Return what a request has besides to bias these tokens."""
    return {"logit_bias": {str(token): by for token in list(dict.fromkeys(ids))[:MOST_BIASED]}} if ids else {}


def _quoted(choice: str) -> str:
    """Return a text as a literal of GBNF."""
    escaped = choice.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
