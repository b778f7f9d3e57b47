"""Loading models and tokenizers: heads by label names, what a file lacks drawn from a seed or refused."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from heldout.errors import Refused
from heldout.train.label_names import matched, nameless
from heldout.train.untrusted import Source, check_folder, quiet, readable_errors

#: What configs call the dropout of attention weights: BERT's kin, and DistilBERT's and ModernBERT's.
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")


def load_tokenizer(source: Source, max_length: int) -> PreTrainedTokenizerFast:
    """The tokenizer, without the truncation or padding its file may carry; Refused where it cannot batch or align."""
    folder = Path(source.name)
    if not (folder / "tokenizer.json").is_file() or (folder / "config.json").exists():
        # A folder without a model, as heldout tokenizer train makes it, need not be one of a model.
        check_folder(source)
    with readable_errors(source, "tokenizer"), quiet():
        tokenizer = AutoTokenizer.from_pretrained(source.name, trust_remote_code=source.trust_remote_code)
    if not getattr(tokenizer, "is_fast", False):
        raise Refused(
            f"{source.name}: its tokenizer has no fast version (tokenizer.json); convert it with transformers"
        )
    if tokenizer.padding_side != "right":
        raise Refused(f"{source.name}: its texts are padded on the left (XLNet's way); heldout pads on the right")
    if tokenizer.pad_token_id is None:
        raise Refused(
            f"{source.name}: its tokenizer lacks a pad token, so texts cannot be batched; "
            "set one (tokenizer.pad_token = …), save the folder and give that"
        )
    # MiniLM's file carries truncation and padding to 128, which backend_tokenizer would apply.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.model_max_length = max_length
    assert isinstance(tokenizer, PreTrainedTokenizerFast)
    return tokenizer


def load_model(
    auto_class: Any,
    source: Source,
    *,
    labels: Sequence[str] | None = None,
    seed: int = 0,
    attention_dropout: float | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> PreTrainedModel:
    """A model of ``auto_class``; ``label_names(model)`` are its labels in the order of its logits.

    Without ``labels`` it is loaded whole, as it was saved. With them, a head for the same names (whatever their case)
    is kept, in its own order; any other head is drawn anew from ``seed`` (FAULTS T9), and ``say`` tells so. Refused
    where the file lacks weights of the encoder: a random encoder would pass for a bad one. ``attention_dropout``
    replaces the config's own.
    """
    check_folder(source)
    with readable_errors(source, "model"), quiet():
        config = AutoConfig.from_pretrained(source.name, trust_remote_code=source.trust_remote_code)
        own = matched(_names(config), labels or [])
        same = labels is None or sorted(own) == sorted(labels)
        if labels is not None:
            head = _head(own if same else labels)
            config = AutoConfig.from_pretrained(source.name, trust_remote_code=source.trust_remote_code, **head)
        if labels is not None:
            # A model that was saved for several labels at once would have a sigmoid put on its logits by a pipeline.
            config.problem_type = "single_label_classification"
        if attention_dropout is not None:
            _set_attention_dropout(config, attention_dropout, source)
        model, info = _loaded(auto_class, source, config, seed, ignore_mismatched_sizes=not same)
    lacking = {*info["missing_keys"], *(row[0] for row in info["mismatched_keys"])}
    _check_weights(model, lacking, source, head_may_lack=labels is not None)
    if not same and _head_names(model) - lacking:
        unnamed = "; if those are the same, name them in its config.json (id2label)" if nameless(own) else ""
        said = f"its head for {', '.join(own)} gives way to a new one for {', '.join(labels or [])}{unnamed}"
        say(f"{source.name}: {said}")
        _draw_head(auto_class, model, seed, source)
    return model


def load_with_fresh_head(
    auto_class: Any, source: Source, *, seed: int, attention_dropout: float | None = None
) -> tuple[PreTrainedModel, list[str]]:
    """A model of ``auto_class`` and the names of the weights that its file lacks, which are drawn from ``seed``.

    Only heads (and a pooler) may lack: Refused where weights of the body do.
    """
    check_folder(source)
    with readable_errors(source, "model"), quiet():
        config = AutoConfig.from_pretrained(source.name, trust_remote_code=source.trust_remote_code)
        if attention_dropout is not None:
            _set_attention_dropout(config, attention_dropout, source)
        model, info = _loaded(auto_class, source, config, seed)
    _check_weights(model, info["missing_keys"], source, head_may_lack=True)
    return model, sorted(info["missing_keys"])


def _loaded(
    auto_class: Any, source: Source, config: Any, seed: int, *, ignore_mismatched_sizes: bool = False
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The model in fp32 from safetensors, what it lacks drawn from ``seed``, and transformers' account of that."""
    torch.manual_seed(seed)
    model, info = auto_class.from_pretrained(
        source.name,
        config=config,
        use_safetensors=True,
        dtype=torch.float32,
        trust_remote_code=source.trust_remote_code,
        ignore_mismatched_sizes=ignore_mismatched_sizes,
        output_loading_info=True,
    )
    assert isinstance(model, PreTrainedModel)
    return model, info


def label_names(model: PreTrainedModel) -> list[str]:
    """The label names of a model in the order of its logits."""
    return _names(model.config)


def config_labels(source: Source) -> list[str]:
    """As ``label_names``, from the config alone."""
    check_folder(source)
    with readable_errors(source, "model"), quiet():
        return _names(AutoConfig.from_pretrained(source.name, trust_remote_code=source.trust_remote_code))


def _names(config: Any) -> list[str]:
    names: dict[Any, Any] = config.id2label or {}
    return [str(names[row]) for row in sorted(names, key=int)]


def _head_names(model: PreTrainedModel) -> set[str]:
    # Under every name: a head's bias may have two (BERT's decoder).
    names = (name for name, _ in model.named_parameters(remove_duplicate=False))
    return {name for name in names if not name.startswith(f"{model.base_model_prefix}.")}


def freeze_body(model: PreTrainedModel) -> None:
    """Let only the head and the pooler learn: what the encoder itself knows is then what a probe finds."""
    head = _head_names(model)
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name in head or ".pooler." in name


def _check_weights(model: PreTrainedModel, lacking: Collection[str], source: Source, *, head_may_lack: bool) -> None:
    """Refuse a file that does not hold the weights of this model; a pooler may be new, as a head may."""
    free = _head_names(model) if head_may_lack else set()
    wanted = sorted(name for name in lacking if name not in free and not (head_may_lack and ".pooler." in name))
    if wanted:
        raise Refused(
            f"{source.name}: its file lacks {len(wanted)} weights of a {model.config.model_type}, the first is "
            f"{wanted[0]}; save the model again with save_pretrained"
        )


def _draw_head(auto_class: Any, model: PreTrainedModel, seed: int, source: Source) -> None:
    """Give the head the weights of a freshly made model."""
    torch.manual_seed(seed)
    made = auto_class.from_config(model.config, trust_remote_code=source.trust_remote_code)
    fresh = dict(made.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in _head_names(model):
                parameter.copy_(fresh[name])


def _set_attention_dropout(config: Any, value: float, source: Source) -> None:
    name = next((name for name in ATTENTION_DROPOUT if hasattr(config, name)), None)
    if name is None:
        raise Refused(f"{source.name}: a {config.model_type} has no attention dropout; leave --attention-dropout out")
    setattr(config, name, value)


def _head(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "num_labels": len(labels),
        "id2label": dict(enumerate(labels)),
        "label2id": {label: row for row, label in enumerate(labels)},
    }


def max_positions(model: PreTrainedModel) -> int | None:
    """The longest sequence that the model has positions for, None where nothing sets a limit.

    RoBERTa's kin count positions from the padding id on, so theirs hold two tokens fewer than the table has rows;
    DeBERTa without absolute positions has no limit.
    """
    limit = getattr(model.config, "max_position_embeddings", None)
    if limit is None or not getattr(model.config, "position_biased_input", True):
        return None
    tables = [module for name, module in model.named_modules() if name.endswith("position_embeddings")]
    skipped = [table.padding_idx for table in tables if getattr(table, "padding_idx", None) is not None]
    return int(limit) - (int(skipped[0]) + 1 if skipped else 0)
