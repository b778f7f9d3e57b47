"""Architectures by name: BERT's five sizes (Turc et al. 2019) for encoders, the same shapes of GPT-2 for causal models.

``base`` and ``large`` are BERT-Base and BERT-Large (109,482,240 and 335,141,888 parameters with 30,522 tokens and the
pooler); the causal ``base`` is the small GPT-2 (124,439,808 with 50,257 tokens).
"""

from transformers import BertConfig, GPT2Config, PreTrainedConfig, PreTrainedTokenizerFast

from heldout.pretrain.frames import Frame
from heldout.pretrain.options import Preset

#: Layers, width, heads.
SHAPES: dict[Preset, tuple[int, int, int]] = {
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}


def bert(
    preset: Preset,
    *,
    vocabulary: int,
    pad_id: int,
    positions: int = 512,
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
) -> BertConfig:
    """BERT's config: four times the width inside, at least 512 positions, as published."""
    layers, width, heads = SHAPES[preset]
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=max(positions, 512),
        pad_token_id=pad_id,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=attention_dropout,
    )


def gpt2(
    preset: Preset,
    *,
    vocabulary: int,
    frame: Frame,
    positions: int = 1024,
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
) -> GPT2Config:
    """GPT-2's config, at least 1,024 positions; ``frame`` names the tokens that begin and end a document."""
    layers, width, heads = SHAPES[preset]
    return GPT2Config(
        vocab_size=vocabulary,
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        n_positions=max(positions, 1024),
        bos_token_id=frame.before[0],
        eos_token_id=frame.after[0],
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=attention_dropout,
    )


def config_of(
    objective: str,
    preset: Preset,
    tokenizer: PreTrainedTokenizerFast,
    frame: Frame,
    positions: int,
    dropout: tuple[float, float],
) -> PreTrainedConfig:
    """The config of a preset for an objective and a tokenizer; ``dropout`` is that of states and that of attention."""
    size, (states, attention) = len(tokenizer), dropout
    if objective == "clm":
        return gpt2(
            preset, vocabulary=size, frame=frame, positions=positions, dropout=states, attention_dropout=attention
        )
    pad = tokenizer.pad_token_id
    assert isinstance(pad, int)
    return bert(preset, vocabulary=size, pad_id=pad, positions=positions, dropout=states, attention_dropout=attention)
