"""Generate with the built-in network: continuous batches of similar length over a key-value cache.

A sequence that ends makes room for the next prompt at once, so that the batch stays full; prompts are taken in
order of length, and those that begin alike are brought together, so that their beginning is computed once.
Each sequence draws from a random stream of its own (seed, position in the call), so a call repeats exactly.
Where memory runs out the batch is halved and every sequence goes on from where it was.
Source: Yu et al. 2022 (Orca), section 3 (iteration-level scheduling).
Privacy posture: prompts hold redacted record text; nothing is logged or kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from engine.models.builtin.decoder.attend import Place, Slots
from engine.models.builtin.decoder.draw import draw_tokens, penalise
from engine.models.builtin.decoder.net import DecodeNet
from engine.models.builtin.decoder.rows import VIRTUAL, Row, SharedPrefix, ordered
from engine.models.cancel import Cancelled
from engine.models.constraints import Blocklist, Guard
from engine.models.contracts import Generation, Sampling
from engine.models.threads import one_thread

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from engine.models.builtin.decoder.steering import Steering

PAD, BOS, EOS = 0, 1, 2
_TRIES = 64  # tokens a sequence may be refused at one place
_BACKS = 400  # words taken back in one sequence before it ends where it stands
_STUBBORN = 6  # beginnings refused at one place before the word in front of it goes too
_PACK = 4096  # prompt tokens computed in one pass


class BatchDecoder:
    """Runs prompts through the network side by side.

    Args:
        net: The network, laid out for generation.
        tokenizer: Its vocabulary.
        sampling: How tokens are drawn.
        blocked: Values that must not be generated. names: of those, what is blocked only where it stands as a name.
        pieces: The bytes each token stands for; needed where something is blocked.
        banned: Token ids that are never drawn.
        answers: Tokens that stand for a word of the answer, such as yes and no.
        learned: Keys and values (layers, heads, T, head_dim) of T virtual tokens in front of every prompt, or None.
        cancelled: Asked before each token.
        steering: Holds outputs to the blanks and the length that prompts ask for, or None.
    """

    def __init__(
        self,
        net: DecodeNet,
        tokenizer: Tokenizer,
        sampling: Sampling,
        blocked: Sequence[str] = (),
        pieces: Sequence[bytes] = (),
        banned: Sequence[int] = (),
        answers: dict[int, str] | None = None,
        learned: tuple[torch.Tensor, torch.Tensor] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        steering: Steering | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self.net, self.tokenizer, self.sampling = net, tokenizer, sampling
        self.blocked, self.guard = Blocklist(blocked, names), Guard(blocked, pieces, names)
        self.banned, self.answers = list(banned), answers or {}
        self.learned, self.cancelled, self.steering = learned, cancelled, steering
        self.batch_size = 0
        self._active: list[Row] = []

    def run(self, prompts: Sequence[list[int]], batch_size: int) -> list[Generation]:
        """Return one generation a prompt of token ids, in the order given.

        `self.batch_size` tells afterwards how many sequences memory held side by side, at most `batch_size`.

        Raises:
            Cancelled: `cancelled` said so.
        """
        context, most, seed = self.net.config.context, self.sampling.max_new_tokens, self.sampling.seed
        before = [VIRTUAL] * (0 if self.learned is None else self.learned[0].shape[2])
        rows = [
            Row(i, tokens, len(tokens), min(most, context - len(tokens)), np.random.default_rng((seed, i)))
            for i, tokens in enumerate([*before, *ids] for ids in prompts)
        ]
        for row in rows:
            self._steer(row)
        waiting = deque(ordered([row for row in rows if row.room > 0]))
        self.batch_size = batch_size
        while waiting:
            if not self._served(waiting, min(self.batch_size, len(waiting))):
                self.batch_size = max(1, min(self.batch_size, len(waiting)) // 2)
        return [self._result(row) for row in rows]

    def _steer(self, row: Row) -> None:
        """Read what the row's prompt holds its output to; a template's beginning is put down at once."""
        if self.steering is None or row.room <= 0:
            return
        row.steer = self.steering.read(row.tokens)
        if row.steer is not None and self.blocked:  # a step back could lead into what was put down unasked
            row.steer = None if row.steer.fills else replace(row.steer, keys=[])
        if row.steer is not None:
            row.tokens = [*row.tokens, *row.steer.begun[: row.room - 1]]

    def _result(self, row: Row) -> Generation:
        made = row.tokens[row.prompt :]
        text = self.tokenizer.decode(made, skip_special_tokens=True)
        text = next((self.answers[token] for token in made if token in self.answers), text)
        if self.blocked and self.blocked.contains(text):
            text = self.blocked.cut(text)
        return Generation(text, len(made), row.finish or "length")

    def _served(self, waiting: deque[Row], size: int) -> bool:
        """Run what waits; False where memory ran out, and then what was under way waits again."""
        try:
            with one_thread(), torch.inference_mode():
                self._serve(waiting, size)
        except (MemoryError, RuntimeError) as error:
            if size == 1 or not out_of_memory(error):
                raise
            for row in reversed(self._active):
                row.cached = 0
                waiting.appendleft(row)
            self._active = []
            return False
        return True

    def _serve(self, waiting: deque[Row], size: int) -> None:
        store = self.net.slots(size + 1, max(row.prompt + row.room for row in waiting))
        beginning = SharedPrefix(self.net, store, size, self.learned)
        active: list[Row] = []
        self._active = active
        while waiting or active:
            if self.cancelled():
                raise Cancelled("cancelled while the model was writing")
            room = _PACK
            while waiting and len(active) < size and room > 0:
                active.append(waiting.popleft())
                beginning.give(active[-1], len(active) - 1)
                room -= len(active[-1].tokens) - active[-1].cached
            self._extend(active, self._logits(active, store))
            for slot in reversed([i for i, row in enumerate(active) if row.finish]):
                self._leave(active, slot, waiting, beginning, store)

    def _leave(self, active: list[Row], slot: int, waiting: deque[Row], beginning: SharedPrefix, store: Slots) -> None:
        """Give a slot to the next prompt, or close the gap with the last sequence."""
        if waiting:
            active[slot] = waiting.popleft()
            beginning.give(active[slot], slot)
            return
        last = active.pop()
        if slot < len(active):
            store.copy(len(active), slot, last.cached)
            active[slot] = last

    def _logits(self, active: list[Row], store: Slots) -> NDArray[np.float32]:
        """Return next-token logits (B, V): new sequences bring their whole prompt, the others one token."""
        counts = [len(row.tokens) - row.cached for row in active]
        ids = torch.tensor([token for row in active for token in row.tokens[row.cached :]])
        positions = [at for row in active for at in range(row.cached, len(row.tokens))]
        place = Place(np.repeat(np.arange(len(active)), counts), positions)
        wanted = None if len(ids) == len(active) else torch.tensor(np.cumsum(counts) - 1, device=self.net.device)
        logits: NDArray[np.float32] = self.net.logits(ids, place, store, wanted).cpu().numpy()
        for row in active:
            row.cached = len(row.tokens)
        return logits

    def _extend(self, rows: list[Row], logits: NDArray[np.float32]) -> None:
        """Put one token behind each row, or finish it, or take it a step back out of a blocked value."""
        logits[:, self.banned] = -np.inf
        for row, values in zip(rows, logits, strict=True):
            if row.made < self.sampling.min_new_tokens:
                values[EOS] = -np.inf
            if row.steer is not None and self.steering is not None:
                self.steering.mask(row.steer, values)
            if row.refused:
                values[list(row.refused.get(row.made, ()))] = -np.inf
            if self.sampling.repetition_penalty != 1.0 and row.made:
                penalise(values, row.tokens[row.prompt :], self.sampling.repetition_penalty)
        for row, values, token in zip(rows, logits, self._drawn(rows, logits), strict=True):
            if row.steer is not None and self.steering is not None:
                self._steered(row, self.steering, values, token)
            elif self.guard:
                self._guarded(row, values, token)
            else:
                self._accept(row, token)

    def _steered(self, row: Row, steering: Steering, values: NDArray[np.float32], token: int) -> None:
        steer = row.steer
        assert steer is not None
        if steer.fills:
            for taken in steering.into_blank(steer, token):
                if not row.finish:
                    self._accept(row, taken)
            return
        token, before = EOS if steering.over(steer, token) else token, row.made
        if self.guard:
            self._guarded(row, values, token)
        else:
            self._accept(row, token)
        if row.made == before + 1:
            for rest in steering.completed(steer, row.tokens[-1]):
                if not row.finish:
                    self._accept(row, rest)
            steering.count(steer, row.tokens[row.prompt + before :])
        elif row.made < before:  # taken back
            steering.recount(steer, row.tokens[row.prompt :])

    def _drawn(self, rows: list[Row], logits: NDArray[np.float32]) -> list[int]:
        return draw_tokens(logits, self.sampling, [row.random for row in rows]).tolist()

    def _accept(self, row: Row, token: int) -> None:
        if token == EOS:
            row.finish = "stop"
            return
        row.tokens.append(token)
        if row.made >= row.room:
            row.finish = "length"

    def _guarded(self, row: Row, values: NDArray[np.float32], token: int) -> None:
        """Accept a token that completes no blocked value.

        Where it completes one, the text is taken back to the beginning of that word, and the token that began it is
        not drawn again there; where no token of the word was drawn yet, another one is drawn in its place.
        """
        made = len(row.tail.text)
        for _ in range(_TRIES):
            place = self.guard.refuses(row.tail, token, final=token == EOS or row.made + 1 >= row.room)
            if place is None:
                if token != EOS:
                    self.guard.add(row.tail, token)
                self._accept(row, token)
                return
            if place < made:
                self._step_back(row, place)
                return
            values[token] = -np.inf
            token = self._drawn([row], values[None])[0]
        row.finish = "stop"

    def _step_back(self, row: Row, place: int) -> None:
        row.backs += 1
        taken = row.tokens[len(row.tokens) - self.guard.take_back(row.tail, place) :]
        if len(row.refused.get(row.made - len(taken), ())) >= _STUBBORN and len(taken) < row.made:
            before = row.tail.text.rstrip()
            place = max(before.rfind(mark) for mark in " \n") + 1
            taken = row.tokens[len(row.tokens) - len(taken) - self.guard.take_back(row.tail, place) :]
        del row.tokens[len(row.tokens) - len(taken) :]
        row.refused = {at: tokens for at, tokens in row.refused.items() if at <= row.made}
        row.refused.setdefault(row.made, set()).add(taken[0])
        row.cached = len(row.tokens) - 1  # the last token goes through again for its logits
        if row.backs > _BACKS:
            row.finish = "stop"


def out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory ran out, on a GPU or in torch's own allocator on the processor."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)
