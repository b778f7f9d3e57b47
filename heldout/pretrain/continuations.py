"""How a causal model goes on from the first words of held-out documents: its likeliest tokens, and sampled ones."""

from typing import Any, cast

import torch

from heldout.pretrain.material import Material
from heldout.pretrain.pretrain import Pretrained

#: Documents shown, tokens of each that are given, tokens that are made.
SHOWN, GIVEN, MADE = 5, 16, 40
#: Sampling keeps the likeliest tokens that together have this probability (Holtzman et al. 2020).
TOP_P = 0.95


def continuations(pretrained: Pretrained) -> list[dict[str, str]]:
    """For the first test documents that are long enough: prefix, true, greedy and sampled continuation as text."""
    material = pretrained.material
    lengths = material.corpus.lengths
    chosen = [int(document) for document in material.parts["test"] if lengths[document] > GIVEN][:SHOWN]
    return [_continued(pretrained, material, document) for document in chosen]


def _continued(pretrained: Pretrained, material: Material, document: int) -> dict[str, str]:
    corpus, tokenizer, model = material.corpus, material.tokenizer, cast(Any, pretrained.model)
    start, stop = int(corpus.bounds[document]), int(corpus.bounds[document + 1])
    given = corpus.tokens[start : start + GIVEN].tolist()
    inputs = torch.tensor([[*material.frame.before, *given]], device=model.device)

    def made(**how: Any) -> str:
        torch.manual_seed(material.seed)
        with torch.inference_mode():
            found = model.generate(
                inputs,
                attention_mask=torch.ones_like(inputs),
                max_new_tokens=min(MADE, model.config.max_position_embeddings - inputs.shape[1]),
                pad_token_id=tokenizer.pad_token_id,
                eos_token_id=material.frame.after[0],
                **how,
            )
        return str(tokenizer.decode(found[0, inputs.shape[1] :], skip_special_tokens=True))

    return {
        "id": corpus.name(document),
        "prefix": str(tokenizer.decode(given)),
        "true": str(tokenizer.decode(corpus.tokens[start + GIVEN : min(stop, start + GIVEN + MADE)].tolist())),
        "greedy": made(do_sample=False),
        "sampled": made(do_sample=True, top_p=TOP_P, top_k=0),
    }
