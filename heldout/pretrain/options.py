"""The options of pretraining."""

from dataclasses import dataclass
from typing import Literal

from heldout.data.corpus import CorpusOptions
from heldout.errors import Refused
from heldout.options import REQUIRED, option
from heldout.pretrain.sentences import Splitter
from heldout.train.options import LoopOptions, check

Objective = Literal["mlm", "mlm-nsp", "clm"]
Preset = Literal["tiny", "mini", "small", "base", "large"]
#: The preset where neither one nor a model is given.
DEFAULT: Preset = "mini"


@dataclass(frozen=True)
class PretrainOptions(CorpusOptions, LoopOptions):
    """How a language model is pretrained."""

    corpus: tuple[str, ...] = option(REQUIRED, "plain text to learn from; again for more", metavar="SOURCE")
    objective: Objective = option("mlm", "masked tokens, with next sentences (mlm-nsp), or the next token (clm)")
    tokenizer: str | None = option(None, "the tokenizer's folder (default: the model's or teacher's)", metavar="DIR")
    model: str | None = option(None, "an existing model to continue, instead of a fresh preset", metavar="MODEL")
    preset: Preset | None = option(None, f"the size of a fresh model (default {DEFAULT})")
    teacher: str | None = option(None, "a model to distil, as DistilBERT was made", metavar="MODEL")
    layers: str = option("", "begin with so many of the teacher's layers, or with these", metavar="6|0,2,4")
    teacher_weights: str = option(
        "5,2,1", "what KL, masked tokens and the states' cosine weigh (teacher)", metavar="KL,MLM,COS"
    )
    temperature: float = option(2.0, "by which both distributions are softened (teacher)")
    embeddings: str = option("", "static vectors that a fresh model's tokens begin with (heldout embed)", metavar="DIR")
    sentences: Splitter = option("auto", "sentencex where installed, else plain; line: a line is one (mlm-nsp)")
    held_out: float = option(0.02, "share of documents that are not trained on: half choose, half are reported")
    held_out_rows: int = option(1000, "rows of each half that are scored at most")
    max_length: int = option(128, "tokens a row, special tokens included")
    lengths: str = option("", "row lengths one after the other with their shares", metavar="128:0.9,512:0.1")
    pack: bool = option(False, "several documents a row, none seeing another")
    whole_words: bool = option(False, "mask all pieces of a word together")
    dropout: float = option(0.1, "dropout of a fresh model")
    checkpoint_activations: bool = option(False, "compute activations twice: less memory, the same result")
    cache: str | None = option(None, "where token ids are kept (default: RUN/cache)", metavar="DIR")
    init_only: bool = option(False, "write RUN/model with its first, random weights, as a control, and stop")
    batch_size: int = option(64, "rows an optimizer step, over all processes")
    epochs: int = option(1, "passes over train")
    learning_rate: float = option(5e-4, "the highest learning rate, after the warm-up")
    eval_every: int = option(500, "steps between evaluations on dev (0: each epoch's end)")

    def __post_init__(self) -> None:
        """Refuse what means nothing or goes not together, before any work."""
        super().__post_init__()
        check("held_out", self.held_out, 0 < self.held_out < 1, "a share between 0 and 1")
        check("held_out_rows", self.held_out_rows, self.held_out_rows >= 1, "1 or more")
        check("dropout", self.dropout, 0 <= self.dropout < 1, "from 0 to less than 1")
        for length, _ in self.schedule:
            check("max_length", length, length >= 8, "8 or more")
        self._check_teacher()
        if self.model is None and self.tokenizer is None and self.teacher is None:
            raise Refused("--tokenizer: a fresh model needs one; heldout tokenizer train makes it")
        if self.model is not None and self.preset is not None:
            raise Refused(f"--preset {self.preset}: --model {self.model} has a size of its own; give one of the two")
        if self.model is not None and self.init_only:
            raise Refused("--init-only: writes a fresh model; leave --model out and give its size with --preset")
        if self.embeddings and (self.model or self.teacher):
            raise Refused(f"--embeddings {self.embeddings}: is for a fresh model; leave --model and --teacher out")
        if self.pack and self.objective == "mlm-nsp":
            raise Refused("--pack: a row of mlm-nsp is one pair; use --objective mlm or leave --pack out")
        if self.whole_words and self.objective == "clm":
            raise Refused("--whole-words: a causal model masks nothing; use --objective mlm")

    def _check_teacher(self) -> None:
        check("temperature", self.temperature, self.temperature > 0, "more than 0, such as 2")
        if self.layers and (self.teacher is None or self.model or self.preset):
            raise Refused(f"--layers {self.layers}: takes those of --teacher; give it, without --model and --preset")
        if self.teacher is not None and self.objective == "mlm-nsp":
            raise Refused("--teacher: teaches tokens, not next sentences; use --objective mlm, as DistilBERT did")
        if self.teacher is not None and not any(self.mixed):
            raise Refused(f"--teacher-weights {self.teacher_weights}: leaves nothing to learn; one must be over 0")

    @property
    def mixed(self) -> tuple[float, float, float]:
        """What the KL, the masked tokens and the cosine weigh."""
        try:
            kl, masked, cosine = (float(part) for part in self.teacher_weights.split(","))
        except ValueError:
            raise Refused(f"--teacher-weights {self.teacher_weights}: give three numbers, as in 5,2,1") from None
        if min(kl, masked, cosine) < 0:
            raise Refused(f"--teacher-weights {self.teacher_weights}: none may be below 0")
        return kl, masked, cosine

    @property
    def schedule(self) -> list[tuple[int, float]]:
        """Row lengths with their shares of the training, in order; the shares sum to 1."""
        if not self.lengths:
            return [(self.max_length, 1.0)]
        try:
            pairs = [part.split(":") for part in self.lengths.split(",")]
            found = [(int(length), float(share)) for length, share in pairs]
        except ValueError:
            raise Refused(f"--lengths {self.lengths}: give LENGTH:SHARE, as in 128:0.9,512:0.1") from None
        if not all(share > 0 for _, share in found) or abs(sum(share for _, share in found) - 1) > 1e-6:
            raise Refused(f"--lengths {self.lengths}: the shares must be over 0 and sum to 1")
        return found
