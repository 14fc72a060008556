"""How prompts become tokens for a model folder: its chat template, the room its context leaves, the tokens that end.

Privacy posture: prompts stay in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from engine.models.folder.inspection import FolderFacts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SPARE_TOKENS = 4  # what a tokenizer may add around a prompt
Ends: TypeAlias = int | list[int] | None  # as a generation configuration names them


class Prompting:
    """Prompts for one tokenizer.

    Args:
        prompts: `instruct`, `plain` or `builtin`; a chat template is used with the first alone.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, facts: FolderFacts, prompts: str) -> None:
        self._tokenizer, self._prompts = tokenizer, prompts
        self._encoder_decoder, self.context = facts.kind == "seq2seq", facts.context
        self.chat = bool(tokenizer.chat_template) and prompts == "instruct"
        self._around = len(self.templated("")) if self.chat else SPARE_TOKENS

    def room(self, tokens: int, wanted: int) -> int:
        """Return how many tokens may follow a prompt; an encoder's prompt takes none of the decoder's places."""
        return max(1, min(wanted, self.context - (1 if self._encoder_decoder else tokens)))

    def encode(self, prompt: str, wanted: int) -> list[int]:
        """Return a prompt's tokens within the room that the outputs leave; one that is too long loses its middle."""
        room = max(1, self.context - self._around - 1)
        room -= 0 if self._encoder_decoder else min(wanted, self.context // 3)
        ids: list[int] = self._tokenizer.encode(prompt, add_special_tokens=False)
        if len(ids) > room:
            head = room * 3 // 4
            ids = ids[:head] + ids[len(ids) - (room - head) :]
            prompt = str(self._tokenizer.decode(ids))
        if self.chat:
            return self.templated(prompt)
        if self._prompts == "builtin":
            return ids
        return list(self._tokenizer.encode(prompt)) or self._start()

    def templated(self, prompt: str) -> list[int]:
        """Return the tokens of a prompt inside the model's chat template.

        Models that think aloud before they answer are asked not to; templates of others know no such word.
        """
        text = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False, enable_thinking=False
        )
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def ends(self, configured: Ends) -> tuple[int, ...]:
        """Return the tokens that end a text; the one that closes a turn of the chat template comes first."""
        found = configured if configured is not None else self._tokenizer.eos_token_id
        listed = [int(token) for token in (found if isinstance(found, list) else [found]) if token is not None]
        if self.chat and len(listed) > 1:
            turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
            text = self._tokenizer.apply_chat_template(turns, tokenize=False)
            tokens = self._tokenizer.encode(text, add_special_tokens=False)
            last = next((token for token in reversed(tokens) if token in listed), -1)
            listed.sort(key=lambda token: token != last)
        return tuple(listed)

    def pad(self) -> int:
        """Return the token that fills rows up."""
        found = (self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, 0)
        return next(int(token) for token in found if token is not None)

    def _start(self) -> list[int]:
        start = self._tokenizer.bos_token_id
        return [start if start is not None else self.pad()]
