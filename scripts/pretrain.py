"""Pretrain a language model on plain text: masked tokens, next sentences, or the next token.

    heldout tokenizer train unsup.jsonl.gz wiki.txt --kind wordpiece --vocab-size 8000 --out tok
    heldout pretrain --objective mlm-nsp --tokenizer tok --preset mini \\
        --corpus unsup.jsonl.gz --corpus wiki.txt --out RUN
    heldout finetune sentiment --model RUN/model …

Some documents are held out: half of them choose the checkpoint (dev), the other half are only reported (test), beside
a unigram and a bigram at the same positions. A killed run continues with the same command and --resume. --init-only
writes the weights that a run would start from: the control for what pretraining gives.
"""

import dataclasses
import json
from pathlib import Path

from heldout.eval.card import write_card
from heldout.eval.run_scores import score_run
from heldout.options import REQUIRED, option, to_json
from heldout.pretrain.options import PretrainOptions
from heldout.runs import came_to_nothing, environment, read_json, refuse_taken, write_json
from heldout.scripts._long import held, resume_hint, same_options, stoppable
from heldout.train.processes import is_main_process
from heldout.train.progress import say


@dataclasses.dataclass(frozen=True)
class Options(PretrainOptions):
    """What ``heldout pretrain`` takes."""

    out: str = option(REQUIRED, "the run folder to write", metavar="RUN")
    seed: int = option(1, "draws the held-out documents, the first weights, order, masks, dropout")
    resume: bool = option(False, "continue a run that was stopped or killed, from its last checkpoint")
    json: bool = option(False, "print the scores as JSON")


def run(options: Options) -> int:
    """Prepare the corpus, train, score what was held out beside the n-grams, write the report, print what came out."""
    out = Path(options.out)
    if is_main_process():
        same_options(out, options) if options.resume else refuse_taken(out)
    with stoppable(resume_hint("pretrain")), held(out, resume=options.resume):
        if is_main_process() and came_to_nothing(out):
            write_json(out / "options.json", to_json(options))
            write_json(out / "environment.json", environment())
        _work(out, options)
    if is_main_process() and not options.init_only:
        _print(out, options)
    return 0


def _work(out: Path, options: Options) -> None:
    from heldout.pretrain.continuations import continuations
    from heldout.pretrain.pretrain import Job, initialise, pretrain
    from heldout.pretrain.report import write_report
    from heldout.pretrain.results import write_ngrams, write_predictions

    job = Job(out, options, options.seed, resume_hint("pretrain"))
    if options.init_only:
        initialise(job)
        say(f"{out / 'model'} holds the first weights of seed {options.seed}; nothing was trained")
        return
    pretrained = pretrain(job)
    if is_main_process():
        write_predictions(out, pretrained.material, pretrained.scored)
        write_ngrams(out, pretrained, {"corpus": list(options.corpus), "seed": options.seed})
        for folder in (out, *sorted((out / "baselines").iterdir())):
            score_run(folder)
        write_card(out)
        if options.objective == "clm":
            write_json(out / "continuations.json", continuations(pretrained))
        write_report(out)


def _print(out: Path, options: Options) -> None:
    from heldout.pretrain.report import summary

    if options.json:
        folders = [out, *sorted((out / "baselines").iterdir())]
        rows = {folder.name: read_json(folder / "scores" / "test.json") for folder in folders}
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    print(summary(out))
    print(f"\nthe whole story: {out / 'report.html'}")
