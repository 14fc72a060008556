"""Answers of language-model services in their batch formats: which prompt, and which texts.

Forms that are read, one JSON object a line: OpenAI's (also vLLM's and other servers' that follow it): `custom_id` and
`response.body` with `choices` or `output`; Anthropic's: `custom_id` and `result.message.content`; Gemini's: `key` and
`response.candidates`; Amazon Bedrock's: `recordId` and `modelOutput`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.json_types import JSON, as_list, as_object

NAMES = ("custom_id", "key", "recordId", "id")
REPLIES = ("response", "result", "modelOutput", "error")


@dataclass(frozen=True)
class Answer:
    """One line of a batch output: the prompt's name, and its texts, none where the service reports a failure."""

    prompt: str
    texts: tuple[str, ...]


def answer_of(line: Mapping[str, JSON]) -> Answer | None:
    """Return a line of a batch output as an answer, or None where it is something else."""
    name = next((line[key] for key in NAMES if isinstance(line.get(key), str)), None)
    replies = [key for key in REPLIES if isinstance(line.get(key), Mapping)]
    if not replies:
        return None
    texts: list[str] = []
    for key in replies:
        texts += _texts(as_object(line[key]))
    return Answer(str(name or ""), tuple(texts))


def _texts(reply: Mapping[str, JSON]) -> list[str]:
    """Return the texts of a reply, whatever service's form it has."""
    body = reply.get("body", reply.get("message", reply))
    if not isinstance(body, Mapping):
        return []
    if isinstance(body.get("choices"), list):
        return [text for choice in _objects(body["choices"]) for text in _choice(choice)]
    if isinstance(body.get("candidates"), list):
        parts = [
            as_object(one["content"]).get("parts") for one in _objects(body["candidates"]) if _is_map(one, "content")
        ]
        return ["".join(_parts(part)) for part in parts if isinstance(part, list)]
    if isinstance(body.get("output"), list):
        found = [
            "".join(_parts(one["content"])) for one in _objects(body["output"]) if isinstance(one.get("content"), list)
        ]
        return [text for text in found if text]
    if isinstance(body.get("content"), list):
        return ["".join(_parts(body["content"]))]
    for key in ("generation", "completion", "outputText", "text"):
        if isinstance(body.get(key), str):
            return [str(body[key])]
    return []


def _choice(choice: Mapping[str, JSON]) -> list[str]:
    message = choice.get("message")
    content = message.get("content") if isinstance(message, Mapping) else choice.get("text")
    if isinstance(content, list):
        return ["".join(_parts(content))]
    return [content] if isinstance(content, str) else []


def _parts(content: JSON) -> list[str]:
    """Return the texts of content in parts; thoughts and calls of tools are no text."""
    return [
        str(part["text"])
        for part in _objects(content)
        if isinstance(part.get("text"), str)
        and not part.get("thought")
        and part.get("type") in (None, "text", "output_text")
    ]


def _objects(values: JSON) -> list[Mapping[str, JSON]]:
    return [as_object(value) for value in as_list(values) if isinstance(value, Mapping)]


def _is_map(value: Mapping[str, JSON], key: str) -> bool:
    return isinstance(value.get(key), Mapping)
