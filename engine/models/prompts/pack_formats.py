"""Prompts as files: the batch formats of language-model services, plain JSON lines, and plain text to read.

Each format carries a prompt's name, by which its answer finds back. The name of a model is the caller's; no address of
a service stands in a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import UserError
from engine.json_types import JSON

TOKENS_A_WORD = 2.0  # room for the longest answer that is asked for


@dataclass(frozen=True)
class Line:
    """One prompt to be written: its name, the prompt, the words asked for, and what else plain formats may show."""

    id: str
    prompt: str
    words: int
    label: str | None = None
    votes: float | None = None

    @property
    def tokens(self) -> int:
        """Return the most tokens that an answer may take."""
        return int(max(self.words, 60) * TOKENS_A_WORD) + 64


def _openai(line: Line, model: str) -> JSON:
    body: JSON = {
        "model": model, "messages": [{"role": "user", "content": line.prompt}], "max_tokens": line.tokens,
        "temperature": 1.0,
    }  # fmt: skip
    return {"custom_id": line.id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def _anthropic(line: Line, model: str) -> JSON:
    body: JSON = {"model": model, "max_tokens": line.tokens, "messages": [{"role": "user", "content": line.prompt}]}
    return {"custom_id": line.id, "params": body}


def _gemini(line: Line, model: str) -> JSON:
    del model  # named where the job is started
    body: JSON = {
        "contents": [{"role": "user", "parts": [{"text": line.prompt}]}],
        "generationConfig": {"maxOutputTokens": line.tokens, "temperature": 1.0},
    }
    return {"key": line.id, "request": body}


def _plain(line: Line, model: str) -> JSON:
    del model
    return {"prompt_id": line.id, "prompt": line.prompt, "label": line.label, "words": line.words, "votes": line.votes}


FORMATS: dict[str, tuple[str, Callable[[Line, str], JSON] | None]] = {
    "openai": ("OpenAI batch, also vLLM and other servers that follow it", _openai),
    "anthropic": ("Anthropic message batches", _anthropic),
    "gemini": ("Gemini batch", _gemini),
    "jsonl": ("JSON lines, for a script of your own", _plain),
    "text": ("Plain text, to read or to paste", None),
}
NEEDS_MODEL = ("openai", "anthropic")
HEADING = "=== {name} ==="
TOLD = (
    "Answer each prompt below. Write each answer under the same heading line, so that it finds back:\n"
    "=== NAME OF THE PROMPT ===\n\n"
)


def written(lines: Sequence[Line], form: str, model: str = "") -> bytes:
    """Return a file's content.

    Raises:
        UserError: there is no such format, or it needs the name of a model.
    """
    if form not in FORMATS:
        raise UserError(f"format {form!r} does not exist; choose one of {', '.join(FORMATS)}")
    if form in NEEDS_MODEL and not model.strip():
        raise UserError(f"model: this format names the model in each line; say which, as the service calls it ({form})")
    make = FORMATS[form][1]
    if make is None:
        return (TOLD + "".join(f"{HEADING.format(name=line.id)}\n{line.prompt}\n\n" for line in lines)).encode()
    return "".join(json.dumps(make(line, model.strip()), ensure_ascii=False) + "\n" for line in lines).encode()


def suffix(form: str) -> str:
    """Return the ending of a file's name."""
    return ".txt" if form == "text" else ".jsonl"
