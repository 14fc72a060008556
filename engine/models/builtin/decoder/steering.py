"""Hold a text to what its prompt asks in so many words: the blanks of a template, a length, and key words.

The built-in model's prompts state both with control tokens, so they are read from there. A template's own words are
put down as they stand and the model writes into the blanks alone, each word of it after all that stands before
(Donahue et al. 2020, Enabling Language Models to Fill in the Blanks, fill by infilling; here with the left side
forced, so that nothing else can change). A length is held by refusing the end before it and taking the next end of
a sentence after it. A key word that is not there yet becomes likelier, the more so the longer the text grows (after
Pascual et al. 2021, A Plug-and-Play Method for Controlled Text Generation; without their word vectors).

Privacy posture: prompts hold (redacted) record text, in memory for the length of a call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from engine.models.builtin.format import BLANK, KEYS, LENGTH_EDGES, NO, OUT, TEXT, YES, control_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MOST_WORDS = 6  # in a blank, as in training
_OVER = 1.15  # of the longest length asked for: where a text ends even inside a sentence
_LIFT = 4.0  # of a missing key word's logit
_BEHIND = (6.0, 1.0)  # how far behind the likeliest token it may fall where a word can begin, at first and at last
_USUAL = 30  # words of a text that asks for no length
_UNHELD = ("<|op:abstract|>", "<|op:judge|>")  # their output's length is not the text's
_ENDS = (".", "!", "?", ";", '."', ".”", "\n")


@dataclass
class Steer:
    """What one output is held to.

    Args:
        least, most: words of the output, both included; 0 leaves an end free.
        keys: tokens of each key word that is not there yet.
        begun: tokens that the output begins with.
        segments: of each open gap, the blanks in a row that make it up, and the tokens that follow it; none at the end.
    """

    least: int = 0
    most: int = 0
    begun: list[int] = field(default_factory=list)
    segments: deque[tuple[int, list[int]]] = field(default_factory=deque)
    keys: list[list[int]] = field(default_factory=list)
    fills: bool = False
    words: int = 0  # in the gap, or in the output where nothing is filled
    inside: bool = False  # whether the last character belongs to a word
    ended: bool = False  # whether the last word ends a sentence


class Steering:
    """Reads what prompts ask for, and steers decoding by it.

    Args:
        tokenizer: of the model. pieces: the bytes each token stands for. end: the end token.
    """

    def __init__(self, tokenizer: Tokenizer, pieces: Sequence[bytes], end: int) -> None:
        self._tokenizer, self._end = tokenizer, end
        self._texts = [piece.decode("utf-8", "replace") for piece in pieces]
        number = tokenizer.token_to_id
        self._blank, self._text, self._out = number(BLANK), number(TEXT), number(OUT)
        self._fill, self._invent, self._keys = number("<|op:fill|>"), number("<|op:invent|>"), number(KEYS)
        self._fields = {number(token) for token in control_tokens()}
        self._unheld = {number(name) for name in _UNHELD}
        self._answers = np.array([number(YES), number(NO)])
        self._glued = np.array([not text[:1].isspace() for text in self._texts])
        edges = (0, *LENGTH_EDGES)
        self._lengths = {number(f"<|len:{high}|>"): (low + 1, high) for low, high in pairwise(edges)}
        self._lengths[number("<|len:more|>")] = (edges[-1] + 1, 0)

    def read(self, prompt: Sequence[int]) -> Steer | None:
        """Return what a prompt's output is held to, or None where it asks for neither."""
        if len(prompt) < 2 or prompt[-1] != self._out:
            return None
        if prompt[1] == self._fill:
            return self._template(prompt)
        asked = next((self._lengths[token] for token in prompt if token in self._lengths), None)
        keys = self._key_words(prompt) if prompt[1] == self._invent else []
        if (asked is None and not keys) or prompt[1] in self._unheld:
            return None
        return Steer(*(asked or (0, 0)), keys=keys)

    def _key_words(self, prompt: Sequence[int]) -> list[list[int]]:
        if self._keys not in prompt:
            return []
        start = prompt.index(self._keys) + 1
        end = next(i for i in range(start, len(prompt)) if prompt[i] in self._fields)
        words = self._tokenizer.decode(list(prompt[start:end])).split(";")
        return [self._tokens(" " + word.strip()) for word in words if word.strip()]

    def _template(self, prompt: Sequence[int]) -> Steer | None:
        if self._blank not in prompt or self._text not in prompt:
            return None
        body = list(prompt[prompt.index(self._text) + 1 : -1])
        parts: list[list[int]] = [[]]
        for token in body:
            if token == self._blank:
                parts.append([])
            else:
                parts[-1].append(token)
        texts = [" ".join(self._tokenizer.decode(part).split()) for part in parts]
        begun = self._tokens(texts[0])
        segments: deque[tuple[int, list[int]]] = deque()
        blanks = 0
        for number, text in enumerate(texts[1:], start=2):
            blanks += 1
            if text or number == len(texts):
                segments.append((blanks, self._tokens(" " + text) if text else []))
                blanks = 0
        return Steer(begun=begun, segments=segments, fills=True, inside=bool(begun))

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids) if text else []

    def mask(self, steer: Steer, logits: NDArray[np.float32]) -> None:
        """Refuse, in one row of logits (V,), what would end a text or a gap too early, and answers."""
        logits[self._answers] = -np.inf
        if steer.fills:
            blanks, following = steer.segments[0]
            if steer.words == 0 and steer.inside:
                logits[self._glued] = -np.inf  # nothing is added to the word before the gap
            if steer.words < blanks:
                logits[np.array([self._end, *following[:1]])] = -np.inf
            return
        if steer.words < steer.least or (steer.keys and steer.words < (steer.least or _USUAL)):
            logits[self._end] = -np.inf
        if steer.keys:
            self._lift(steer, logits)

    def _lift(self, steer: Steer, logits: NDArray[np.float32]) -> None:
        first = np.array([key[0] for key in steer.keys])
        lifted = logits[first] + _LIFT
        top = float(logits.max())
        weight = np.exp(logits - top)
        if weight[self._glued].sum() < 0.5 * weight.sum():  # a word may begin here
            progress = min(1.0, steer.words / (steer.least or _USUAL))
            lifted = np.maximum(lifted, top - (_BEHIND[0] + (_BEHIND[1] - _BEHIND[0]) * progress))
        logits[first] = lifted

    def completed(self, steer: Steer, token: int) -> list[int]:
        """Return the tokens that finish a key word whose first one was put down; it is not asked for again."""
        for key in steer.keys:
            if key[0] == token:
                steer.keys.remove(key)
                return key[1:]
        return []

    def over(self, steer: Steer, token: int) -> bool:
        """Return whether the text is as long as it may be and the drawn token would begin another word."""
        if not steer.most or steer.words < steer.most or not self._begins(steer, token):
            return False
        return steer.ended or steer.words >= _OVER * steer.most

    def into_blank(self, steer: Steer, token: int) -> list[int]:
        """Return the tokens to put down for one drawn inside a gap; the last ends a text that is complete."""
        blanks, following = steer.segments[0]
        full = self._begins(steer, token) and steer.words >= MOST_WORDS * blanks
        met = bool(following) and token == following[0]
        if not (full or met or token == self._end):
            self.count(steer, [token])
            return [token]
        steer.segments.popleft()
        steer.words, steer.inside = 0, True
        return [*following] if steer.segments else [*following, self._end]

    def _begins(self, steer: Steer, token: int) -> bool:
        """Return whether a token begins another word."""
        text = self._texts[token]
        return bool(text) and (text[0].isspace() or not steer.inside)

    def count(self, steer: Steer, tokens: Sequence[int]) -> None:
        """Count the words of tokens that were put down."""
        for token in tokens:
            text = self._texts[token]
            for character in text:
                if character.isspace():
                    steer.inside = False
                elif not steer.inside:
                    steer.inside = True
                    steer.words += 1
            if text.strip() or "\n" in text:
                steer.ended = text.rstrip(" ").endswith(_ENDS)

    def recount(self, steer: Steer, tokens: Sequence[int]) -> None:
        """Count a whole output anew."""
        steer.words, steer.inside, steer.ended = 0, False, False
        self.count(steer, tokens)
