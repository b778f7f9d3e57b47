"""Pretraining: from a corpus to the best weights in model/, by the loop that fine-tunes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from accelerate import Accelerator
from torch import Tensor, nn
from transformers import PreTrainedModel

from heldout.embeddings.files import read_vectors
from heldout.embeddings.table import begin_with
from heldout.errors import Refused
from heldout.ledger import Ledger, Split, write_ledger
from heldout.pretrain.material import Material, prepare
from heldout.pretrain.model import CLASSES, AtSelected, checkpoint_activations, continued, fresh
from heldout.pretrain.objectives import loss
from heldout.pretrain.options import DEFAULT, PretrainOptions
from heldout.pretrain.presets import config_of
from heldout.pretrain.schedule import schedule
from heldout.pretrain.scoring import Scored, score
from heldout.pretrain.teacher import Taught, check, load_teacher, loss_of
from heldout.records import content_hash
from heldout.runs import atomic, write_lines
from heldout.train.checkpoint import disk_errors
from heldout.train.engine import finish_tracking, start
from heldout.train.loop import Recipe
from heldout.train.models import load_model, max_positions
from heldout.train.optim import linear_schedule, make_optimizer
from heldout.train.plan import Plan, plan_hash
from heldout.train.progress import progress, say
from heldout.train.session import Selection, Session, evaluation_steps, run
from heldout.train.sharded import prepared, replica, weights
from heldout.train.students import chosen, shrunk
from heldout.train.untrusted import Source

SELECTION = "nll"


@dataclass(frozen=True)
class Job:
    """One pretraining: where it is written, how, from which seed, and what to type to continue it."""

    folder: Path
    options: PretrainOptions
    seed: int
    resume_hint: str


@dataclass(frozen=True)
class Pretrained:
    """The model in model/, what it was trained on, and its scores on the windows of "dev" and "test"."""

    model: PreTrainedModel
    material: Material
    scored: Mapping[str, Scored]


def initialise(job: Job) -> None:
    """Write model/ with the weights that pretraining would start from: the control of what pretraining gives."""
    accelerator = start(job.folder, job.options)
    material = prepare(job.options, job.seed, job.folder, accelerator)
    if accelerator.is_main_process:
        _save(job.folder, untrained(job, material), material)


def pretrain(job: Job) -> Pretrained:
    """Train (or continue, or find it done), leave the best weights in model/ and score them on what was held out."""
    accelerator = start(job.folder, job.options)
    main = accelerator.is_main_process
    material = prepare(job.options, job.seed, job.folder, accelerator)
    if not (job.folder / "model").exists():
        raw = untrained(job, material)
        _train(job, material, raw, accelerator)
        finish_tracking(accelerator)
        state = weights(raw, keep=main) if accelerator.is_fsdp2 else None
        if main:
            _save(job.folder, raw, material, state)
        accelerator.wait_for_everyone()
    source = Source(str(job.folder / "model"), job.options.trust_remote_code)
    model = load_model(CLASSES[job.options.objective], source)
    judged = replica(accelerator, AtSelected(model))
    scored = {}
    for name, held in material.held.items():
        with progress(f"scoring {name}", len(held.windows), "rows", shown=main) as advance:
            scored[name] = score(judged, held.windows, accelerator, material.collate, progress=advance)
    return Pretrained(model, material, scored)


def untrained(job: Job, material: Material) -> PreTrainedModel:
    """The model that a pretraining starts from: fresh, an existing one, or a student of a teacher."""
    options, tokenizer = job.options, material.tokenizer
    longest = max(length for length, _ in options.schedule)
    if options.layers:
        taught = load_teacher(options)
        places = chosen(options.layers, taught.config.num_hidden_layers)
        say(f"the student begins with layers {', '.join(map(str, places))} of {options.teacher} (0 the first)")
        return _fitting(options, shrunk(taught, places), longest, len(tokenizer), str(options.teacher))
    if options.model is None:
        preset = options.preset or DEFAULT
        attention = options.dropout if options.attention_dropout is None else options.attention_dropout
        dropout = options.dropout, attention
        config = config_of(options.objective, preset, tokenizer, material.frame, longest, dropout)
        model = fresh(options.objective, config, job.seed)
        if options.embeddings:
            _begin_with(model, options.embeddings, material)
        return model
    source = Source(options.model, options.trust_remote_code)
    model = continued(options.objective, source, seed=job.seed, attention_dropout=options.attention_dropout, say=say)
    return _fitting(options, model, longest, len(tokenizer), source.name)


def _begin_with(model: PreTrainedModel, name: str, material: Material) -> None:
    """Put static vectors into the embedding table, in place; the tokens that are no word of theirs stay as drawn."""
    weight = cast(nn.Embedding, model.get_input_embeddings()).weight
    found = begin_with(weight.detach().numpy(), material.tokenizer.get_vocab(), read_vectors(Path(name)), name)
    say(f"{name}: {int(found.sum())} of {len(found)} tokens begin with a static vector, the others as drawn")


def _fitting(options: PretrainOptions, model: PreTrainedModel, longest: int, tokens: int, name: str) -> PreTrainedModel:
    """The model; Refused where rows of this length, or a tokenizer of so many tokens, are too much for it."""
    positions, vocabulary = max_positions(model), model.config.vocab_size
    if positions is not None and longest > positions:
        raise Refused(f"--max-length {longest}: {name} has {positions} positions; ask for {positions} or less")
    if tokens > vocabulary:
        raise Refused(
            f"--tokenizer {options.tokenizer}: has {tokens} tokens and {name} {vocabulary}; "
            "leave --tokenizer out to use the model's own"
        )
    if options.pack and model.config.model_type not in ("bert", "gpt2"):
        raise Refused(f"--pack: positions that restart are known for bert and gpt2, not {model.config.model_type}")
    return model


@dataclass(frozen=True)
class Ready:
    """A pretraining before its first step: what ``train`` takes, as accelerate prepared it."""

    model: nn.Module
    optimizer: Any
    plan: Plan
    recipe: Recipe


def ready(job: Job, material: Material, raw: PreTrainedModel, accelerator: Accelerator) -> Ready:
    """The plan over the material's rows, the optimizer and the model, which is trained in place."""
    options = job.options
    if options.checkpoint_activations:
        checkpoint_activations(raw)
    # A causal model would keep keys and values that training has no use for.
    raw.config.use_cache = False
    plan = schedule(
        material.phases,
        [share for _, share in options.schedule],
        batch_size=options.batch_size,
        epochs=options.epochs,
        seed=job.seed,
        max_steps=options.max_steps,
    )
    optimizer = make_optimizer(raw, learning_rate=options.learning_rate, weight_decay=options.weight_decay)
    model, optimizer = prepared(accelerator, _beside_teacher(job, material, raw, accelerator), optimizer)
    recipe = Recipe(
        windows=material.windows,
        collate=material.collate,
        loss=loss if options.teacher is None else loss_of(options),
        rate=linear_schedule(peak=options.learning_rate, steps=len(plan), warmup=options.warmup),
        seed=job.seed,
        token_budget=options.token_budget,
    )
    return Ready(model, optimizer, plan, recipe)


def _train(job: Job, material: Material, raw: PreTrainedModel, accelerator: Accelerator) -> None:
    """Train ``raw`` in place."""
    options, main = job.options, accelerator.is_main_process
    made = ready(job, material, raw, accelerator)
    model, plan = made.model, made.plan
    hashed = _hash(material, plan)

    def evaluate() -> float:
        scored = score(model, material.held["dev"].windows, accelerator, material.collate)
        if main:
            say(_judged(scored, material))
        return scored.mean

    if main:
        write_data(job, material, hashed)
    with progress("pretraining", len(plan), "steps", shown=main) as advance:
        session = Session(
            folder=job.folder,
            plan=plan,
            plan_hash=hashed,
            recipe=made.recipe,
            selection=Selection(SELECTION, "min", options.patience),
            evaluate=evaluate,
            evaluate_after=evaluation_steps(plan, options.eval_every),
            save_every=options.save_every,
            report=lambda done, before: advance(1, done.words, before),
            say=say if main else lambda message: None,
            resume_hint=job.resume_hint,
        )
        run(model, made.optimizer, session, accelerator)


def _beside_teacher(job: Job, material: Material, raw: PreTrainedModel, accelerator: Accelerator) -> nn.Module:
    """What is trained: the model, with its teacher where there is one."""
    if job.options.teacher is None:
        return AtSelected(raw)
    taught, pad = load_teacher(job.options).to(accelerator.device), material.tokenizer.pad_token_id
    check(job.options, raw, taught, material.tokenizer)
    assert isinstance(pad, int)
    return Taught(raw, taught, pad)


def _hash(material: Material, plan: Plan) -> str:
    """The plan's hash: of the corpus and tokenizer (by the cache's key) and of every step's rows."""
    return plan_hash(plan, lambda row: f"{material.corpus.key[:16]} {row}")


def _judged(scored: Scored, material: Material) -> str:
    """A line on the current weights: what the selection's number does not tell."""
    hits = f"dev accuracy {scored.correct.sum() / scored.n.sum():.4f}"
    if scored.other is None:
        return hits
    truth = np.array([window.target.next for window in material.held["dev"].windows])
    return f"{hits}, next sentences {np.mean((scored.other > 0.5) == truth):.4f}"


def _save(folder: Path, model: PreTrainedModel, material: Material, state: dict[str, Tensor] | None = None) -> None:
    """Write model/: weights (``state`` where the model's are spread over processes), config and tokenizer.

    transformers' Auto classes and pipelines load it.
    """
    model.config.use_cache = material.objective == "clm"
    with atomic(folder / "model") as temporary, disk_errors():
        model.save_pretrained(temporary, state_dict=state)
        material.tokenizer.save_pretrained(temporary)


def write_data(job: Job, material: Material, hashed: str) -> None:
    """Write the ledger, and the gold records of dev and test."""
    corpus, source = material.corpus, ", ".join(job.options.corpus)
    ledger = Ledger().with_plan(hashed)
    for name, documents in material.parts.items():
        digest = hashlib.sha256(np.sort(corpus.digests[documents]).tobytes()).hexdigest()
        dropped = material.dropped if name == "train" else {}
        notes = {"tokens": int(corpus.lengths[documents].sum())}
        if name in material.held:
            examples = material.held[name].examples
            digest = content_hash(examples)
            notes["rows_scored"] = len(examples)
            write_lines(job.folder / "gold" / f"{name}.jsonl", (example.to_json() for example in examples))
        domains = np.bincount(corpus.domain[documents], minlength=len(corpus.domains)).tolist()
        labels = dict(zip(corpus.domains, domains, strict=True))
        ledger = ledger.with_split(name, Split(source, digest, len(documents), labels, dropped, notes))
    for thing, name in (("weights", "train"), (f"checkpoint with the minimum of {SELECTION}", "dev")):
        ledger = ledger.with_fitted(thing, name, ledger.splits[name]["hash"], ledger.splits[name]["n"])
    write_ledger(job.folder, ledger)
