"""The lessons against PyTorch, transformers, gensim and scikit-learn, and against brute force."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from torch import nn
from torch.nn import functional as F

from heldout.lessons import (
    bahdanau,
    bio_and_spans,
    blocks,
    cbow,
    claims,
    cost,
    crowding,
    distillation,
    encoder_decoder,
    fasttext,
    glove,
    hierarchical_softmax,
    kernel_smoothing,
    low_rank,
    masked_words,
    multi_head,
    negative_sampling,
    parameters,
    positions,
    shifted_pmi,
    skip_gram,
    skip_gram_objective,
    subsampling,
    war_and_peace,
    who_sees_whom,
)
from heldout.lessons.attention import attention

WORD = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=12)


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def gradients(loss, *inputs):
    """PyTorch's gradients of a scalar function of float64 tensors."""
    tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
    loss(*tensors).backward()
    return [tensor.grad.numpy() for tensor in tensors]


def test_skip_gram_gradients_are_autograds():
    v, u = drawn(4), drawn(6, 4, seed=1)
    by_v, by_u = gradients(lambda v, u: F.log_softmax(u @ v, dim=0)[2], v, u)
    ours = skip_gram_objective.gradients(v, u, 2)
    np.testing.assert_allclose(ours[0], by_v, atol=1e-12)
    np.testing.assert_allclose(ours[1], by_u, atol=1e-12)


def test_cbow_gradients_are_autograds_with_a_word_repeated():
    v, u, context = drawn(5, 3), drawn(5, 3, seed=1), [0, 1, 3, 0]
    (by_v, _) = gradients(lambda v, u: F.log_softmax(u @ v[context].mean(dim=0), dim=0)[2], v, u)
    np.testing.assert_allclose(cbow.gradient(2, context, v, u), by_v, atol=1e-12)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_negative_sampling_is_autograds_for_any_batch(shape):
    v, u = drawn(*shape, 4), drawn(*shape, 6, 4, seed=1)

    def loss(v, u):
        scores = (u * v[..., None, :]).sum(dim=-1)
        return -(F.logsigmoid(scores[..., 0]) + F.logsigmoid(-scores[..., 1:]).sum(dim=-1)).sum()

    total, by_v, by_u = negative_sampling.sampled_loss(v, u)
    expected = gradients(loss, v, u)
    assert total.shape == shape
    assert total.sum() == pytest.approx(loss(torch.tensor(v), torch.tensor(u)).item())
    np.testing.assert_allclose(by_v, expected[0], atol=1e-12)
    np.testing.assert_allclose(by_u, expected[1], atol=1e-12)


def test_two_tables_of_full_rank_reach_the_optimum_and_of_rank_one_do_not():
    counts, negatives = shifted_pmi.COUNTS, 5
    unigram = counts.sum(axis=1) / counts.sum()
    best = shifted_pmi.optimum(counts, unigram, negatives)
    true, false = counts / counts.sum(), negatives * unigram[:, None] * counts.sum(axis=0) / counts.sum()

    def trained(rank):
        u, v = drawn(3, rank), drawn(3, rank, seed=1)
        for _ in range(20000):
            by_score = (true + false) * negative_sampling.sigmoid(u @ v.T) - true
            u, v = u - by_score @ v, v - by_score.T @ u
        return u @ v.T

    assert abs(trained(3) - best).max() < 1e-6
    assert abs(trained(1) - best).max() == pytest.approx(1.792, abs=0.01)
    lowest = shifted_pmi.expected_loss(best, counts, unigram, negatives)
    assert lowest < shifted_pmi.expected_loss(best + 0.01, counts, unigram, negatives)


def test_glove_gradients_are_autograds():
    p = glove.Parameters(drawn(5, 3), drawn(5, 3, seed=1), drawn(5, seed=2), drawn(5, seed=3))
    seen = torch.tensor(glove.X > 0)

    def loss(v, u, b, c):
        error = (v @ u.T + b[:, None] + c)[seen] - torch.tensor(glove.X)[seen].log()
        return (torch.tensor(glove.weight(glove.X, 5))[seen] * error**2).sum()

    expected = gradients(loss, p.v, p.u, p.b, p.c)
    found = glove.gradients(glove.X, p, 5)
    for ours, theirs in zip((found.v, found.u, found.b, found.c), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("rank", [1, 2])
def test_gradient_descent_reaches_the_svd_when_nothing_is_weighted(rank):
    logs = np.log(low_rank.FULL)
    found = low_rank.descend(logs, np.ones((4, 4)), 0.5 * drawn(4, rank, seed=3), 0.5 * drawn(4, rank, seed=4))
    np.testing.assert_allclose(found, low_rank.low_rank(logs, rank), atol=1e-5)


def test_the_svd_is_not_the_best_fit_once_weights_come_in():
    logs, weights = np.log(low_rank.FULL), glove.weight(low_rank.FULL, 20)
    left, singular, right = np.linalg.svd(logs)
    fit = low_rank.descend(logs, weights, left[:, :2] * singular[:2], right[:2].T)
    assert (weights * (fit - logs) ** 2).sum() == pytest.approx(1.1407784602065223, abs=1e-6)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(WORD, st.integers(1, 50), min_size=2, max_size=12))
def test_any_huffman_tree_is_a_distribution_of_the_least_length(counts):
    walks = hierarchical_softmax.paths(hierarchical_softmax.huffman(counts))
    assert walks.keys() == counts.keys()
    leaves = hierarchical_softmax.probabilities(walks, drawn(len(counts) - 1))
    assert sum(leaves.values()) == pytest.approx(1)
    share = np.array([counts[word] for word in walks]) / sum(counts.values())
    length, entropy = share @ [len(turns) for turns in walks.values()], -share @ np.log2(share)
    assert entropy - 1e-9 <= length < entropy + 1
    assert sum(0.5 ** len(turns) for turns in walks.values()) == pytest.approx(1)


def test_gensims_tree_has_the_same_expected_length():
    from gensim.models import Word2Vec

    from heldout.lessons.two_themes import COUNTS, SENTENCES

    model = Word2Vec(SENTENCES, vector_size=4, hs=1, negative=0, min_count=1, workers=1, epochs=1, seed=1)
    theirs = sum(len(model.wv.get_vecattr(word, "code")) * n for word, n in COUNTS.items()) / COUNTS.total()
    assert theirs == pytest.approx(10 / 3)


@settings(deadline=None, max_examples=50)
@given(WORD)
def test_ngrams_are_gensims(word):
    from gensim.models.fasttext_inner import compute_ngrams

    assert fasttext.ngrams(word) == compute_ngrams(word, 3, 6)


def test_gensims_fasttext_vectors_are_means_of_rows():
    from gensim.models import FastText

    model = FastText([["where", "there"]] * 3, vector_size=4, min_count=1, epochs=1, seed=1, workers=1, bucket=1000)
    wv = model.wv
    rows = {gram: wv.vectors_ngrams[_bucket(wv, gram)].astype(float) for gram in fasttext.ngrams("wherever")}
    summed = fasttext.vector("wherever", rows)
    np.testing.assert_allclose(wv["wherever"], summed / len(fasttext.ngrams("wherever")), atol=1e-6)
    known = fasttext.vector(
        "where", {g: wv.vectors_ngrams[_bucket(wv, g)].astype(float) for g in fasttext.ngrams("where")}
    )
    word = wv.vectors_vocab[wv.key_to_index["where"]]
    np.testing.assert_allclose(wv["where"], (word + known) / 15, atol=1e-6)


def _bucket(wv, gram):
    from gensim.models.fasttext_inner import ft_hash_bytes

    return ft_hash_bytes(gram.encode()) % wv.bucket


def test_subsampling_and_defaults_are_gensims():
    import inspect

    from gensim.models import Word2Vec

    corpus = [["a"] * 90 + ["b"] * 9 + ["c"]]
    model = Word2Vec(corpus, vector_size=4, min_count=1, sample=0.01, epochs=1, workers=1, seed=1)
    for word, share in (("a", 0.9), ("b", 0.09), ("c", 0.01)):
        kept = model.wv.get_vecattr(word, "sample_int") / (2**32 - 1)
        assert kept == pytest.approx(subsampling.gensim_keep(share, 0.01), abs=1e-6)
    defaults = {name: p.default for name, p in inspect.signature(Word2Vec.__init__).parameters.items()}
    assert {name: defaults[name] for name in war_and_peace.DEFAULTS} == war_and_peace.DEFAULTS


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.booleans(), st.integers(0, 99))
def test_attention_is_pytorchs(n, m, d, masked, seed):
    q, k, v = drawn(2, n, d, seed=seed), drawn(2, m, d, seed=seed + 1), drawn(2, m, 3, seed=seed + 2)
    mask = None
    if masked:
        mask = np.random.default_rng(seed).random((n, m)) < 0.5
        mask[:, 0] = True
    theirs = F.scaled_dot_product_attention(
        *map(torch.tensor, (q, k, v)), attn_mask=None if mask is None else torch.tensor(mask)
    )
    out, weights = attention(q, k, v, mask)
    np.testing.assert_allclose(out, theirs, atol=1e-10)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-12)
    assert mask is None or (weights[:, ~mask] == 0).all()


@settings(deadline=None, max_examples=30)
@given(arrays.arrays(float, (3, 5), elements=st.floats(-50, 50)))
def test_norm_and_activations_are_pytorchs(x):
    t = torch.tensor(x)
    np.testing.assert_allclose(blocks.layer_norm(x), F.layer_norm(t, (5,)), atol=1e-9)
    np.testing.assert_allclose(blocks.gelu(x), F.gelu(t), atol=1e-12)
    np.testing.assert_allclose(blocks.gelu_tanh(x), F.gelu(t, approximate="tanh"), atol=1e-12)


@pytest.mark.parametrize("pre", [False, True])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
def test_the_whole_transformer_is_pytorchs_with_its_weights(pre, padded):
    torch.manual_seed(0)
    theirs = nn.Transformer(
        12, nhead=3, num_encoder_layers=2, num_decoder_layers=3, dim_feedforward=20, batch_first=True, norm_first=pre,
        dtype=torch.float64,
    ).eval()  # fmt: skip
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.4)
    weights = {name: tensor.numpy() for name, tensor in theirs.state_dict().items()}
    source, target, real = drawn(6, 12), drawn(5, 12, seed=1), np.arange(6) < (4 if padded else 6)
    with torch.no_grad():
        expected = theirs(
            torch.tensor(source)[None],
            torch.tensor(target)[None],
            tgt_mask=torch.triu(torch.full((5, 5), -torch.inf, dtype=torch.float64), diagonal=1),
            src_key_padding_mask=torch.tensor(~real)[None],
            memory_key_padding_mask=torch.tensor(~real)[None],
        )[0]
    memory = encoder_decoder.encode(source, weights, 3, real, pre=pre)
    ours = encoder_decoder.decode(target, memory, weights, 3, real, pre=pre)
    np.testing.assert_allclose(ours, expected, atol=1e-10)
    assert weights.keys() == encoder_decoder.draw(12, 20, 2).keys() | {n for n in weights if "layers.2" in n}


def test_counts_of_the_original_model_are_pytorchs():
    counts = encoder_decoder.counts(64, 256, 1, 100)
    with torch.device("meta"):
        layers = {"encoder": nn.TransformerEncoderLayer(64, 8, 256), "decoder": nn.TransformerDecoderLayer(64, 8, 256)}
    for side, layer in layers.items():
        assert counts[f"{side}_layer_torch_with_bias"] == sum(p.numel() for p in layer.parameters())


def test_counts_are_those_of_transformers():
    import transformers as hf

    large = hf.BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
    built = {
        ("ch.bert.params", "base_with_pooler"): (hf.BertModel, hf.BertConfig()),
        ("ch.bert.params", "base_masked_lm_tied"): (hf.BertForMaskedLM, hf.BertConfig()),
        ("ch.bert.params", "base_pretraining_tied"): (hf.BertForPreTraining, hf.BertConfig()),
        ("ch.bert.params", "large_with_pooler"): (hf.BertModel, large),
        ("ch.distilbert.params", "model"): (hf.DistilBertModel, hf.DistilBertConfig()),
        ("ch.distilbert.params", "masked_lm_tied"): (hf.DistilBertForMaskedLM, hf.DistilBertConfig()),
        ("ch.gpt2.params", "model"): (hf.GPT2Model, hf.GPT2Config()),
        ("ch.gpt2.params", "lm_tied"): (hf.GPT2LMHeadModel, hf.GPT2Config()),
    }
    ours = parameters.values()
    for (entry, field), (model, config) in built.items():
        with torch.device("meta"):
            made = model(config)
        made.tie_weights()
        assert ours[entry][field] == sum(p.numel() for p in made.parameters()), field
        norms = sum(isinstance(part, nn.LayerNorm) for part in made.modules())
        if model in (hf.BertModel, hf.GPT2Model):
            assert norms == blocks.layer_norms(config.num_hidden_layers)["gpt2" if model is hf.GPT2Model else "bert"]
    activations = blocks.values()["ch.activations"]
    assert activations["bert_activation"] == hf.BertConfig().hidden_act
    assert activations["gpt2_activation"] == hf.GPT2Config().activation_function


@pytest.mark.parametrize("name", ["GPT", "BERT"])
def test_influence_is_autograds(name):
    size, tokens = who_sees_whom.SIZE, who_sees_whom.TOKENS

    def model(x):
        for seed in (1, 2):
            w_q, w_k, w_v, w_o = (torch.tensor(w) for w in multi_head.draw(size, seed))
            q, k, v = ((x @ w).reshape(tokens, 2, -1).transpose(0, 1) for w in (w_q, w_k, w_v))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=name == "GPT")
            x = x + mixed.transpose(0, 1).reshape(tokens, size) @ w_o
        return x

    x = who_sees_whom.inputs()
    jacobian = torch.autograd.functional.jacobian(model, torch.tensor(x)).numpy()
    expected = np.sqrt((jacobian**2).sum(axis=(1, 3)))
    np.testing.assert_allclose(who_sees_whom.influence(who_sees_whom.MODELS[name], x), expected, atol=1e-6)


def test_left_and_right_meet_in_bert_only():
    x = who_sees_whom.inputs()
    meets = {name: who_sees_whom.joint(model, x) for name, model in who_sees_whom.MODELS.items()}
    assert meets["BERT"] > 1e-5 and meets["ELMo"] < 1e-12 and meets["GPT"] < 1e-12
    reach = {name: who_sees_whom.influence(model, x) for name, model in who_sees_whom.MODELS.items()}
    later = np.triu_indices(who_sees_whom.TOKENS, k=1)
    assert (reach["GPT"][later] == 0).all() and (reach["ELMo"] > 0).all() and (reach["BERT"] > 0).all()


def test_a_shift_by_k_is_one_rotation_for_every_position():
    pe = positions.sinusoids(40, 8)
    for k in (1, 7):
        turn = positions.shift(k, 8)
        np.testing.assert_allclose(pe[:-k] @ turn.T, pe[k:], atol=1e-12)
        np.testing.assert_allclose(turn @ turn.T, np.eye(8), atol=1e-12)


def test_smoothing_weights_and_answers_stay_between_the_observations():
    x, y = kernel_smoothing.observed()
    for kernel in kernel_smoothing.KERNELS:
        found = kernel_smoothing.smooth(kernel_smoothing.GRID[::7], x, y, kernel)
        found = found[~np.isnan(found)]
        assert len(found) > 1000 and found.min() >= y.min() and found.max() <= y.max()


@pytest.mark.parametrize("h", [0.1, 0.5, 1.0, 3.0])
def test_the_gaussian_kernel_is_a_softmax_where_keys_have_one_length(h):
    q, k = 3 * drawn(4, 6), drawn(5, 6, seed=1)
    k /= np.linalg.norm(k, axis=1, keepdims=True)
    gaussian = kernel_smoothing.KERNELS["gaussian"](kernel_smoothing.squared(q, k), h)
    if (gaussian.sum(axis=1) > 0).all():
        normalised = gaussian / gaussian.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(normalised, skip_gram.softmax(q @ k.T / h**2), atol=1e-10)
    else:
        assert h == 0.1


def test_linear_attention_and_accumulation():
    q, k, v = drawn(3, 7, 4)
    np.testing.assert_allclose(cost.linear_attention(q, k, v), cost.by_table(q, k, v), atol=1e-12)
    np.testing.assert_allclose(cost.feature(q), F.elu(torch.tensor(q)) + 1)
    x, y, w = drawn(10, 3), drawn(10, seed=1), drawn(3, seed=2)
    (expected,) = gradients(lambda w: ((torch.tensor(x) @ w - torch.tensor(y)) ** 2).mean(), w)
    np.testing.assert_allclose(cost.accumulated(x, y, w), expected, atol=1e-12)
    assert abs(cost.accumulated(x, y, w, weighted=False) - expected).max() > 0.01


@settings(deadline=None, max_examples=50)
@given(arrays.arrays(float, (2, 4), elements=st.floats(0.01, 1)))
def test_distillation_is_pytorchs(raw):
    p, q = raw / raw.sum(axis=1, keepdims=True)
    theirs = F.kl_div(torch.tensor(q)[None].log(), torch.tensor(p)[None], reduction="batchmean").item()
    assert distillation.kl(p, q) == pytest.approx(theirs, abs=1e-12) and distillation.kl(p, q) >= -1e-12
    assert distillation.kl(p, np.array([1.0, 0, 0, 0])) == math.inf


def test_int8_is_off_by_half_a_step_at_most():
    w = drawn(1000)
    whole, scale = distillation.quantise(w)
    assert abs(whole).max() == 127 and abs(whole * scale - w).max() <= scale / 2 + 1e-12
    assert (distillation.prune(w, 10) != 0).sum() == 10


@settings(deadline=None, max_examples=50)
@given(arrays.arrays(float, (2, 6), elements=st.floats(-3, 3)), st.integers(1, 6))
def test_the_span_is_the_best_by_brute_force(scores, longest):
    start, end = scores
    p, q = skip_gram.softmax(start), skip_gram.softmax(end)
    most = max(p[i] * q[j] for i in range(6) for j in range(i, min(6, i + longest)))
    product, i, j = bio_and_spans.search(start, end, longest)[0]
    assert product == pytest.approx(most) and 1 <= i <= j < i + longest


def test_masks_are_binomial_over_many_seeds():
    found = [masked_words.select(seed)[0] for seed in range(500)]
    assert np.mean([len(selected) for selected in found]) == pytest.approx(9, abs=0.4)
    kinds = [s.kind for selected in found for s in selected]
    shares = [kinds.count(kind) / len(kinds) for kind in ("masked", "random", "kept")]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.02)


def test_alignment_in_numpy_is_the_trained_models():
    torch.manual_seed(0)
    model = bahdanau._model(attend=True)
    source = torch.randint(bahdanau.SYMBOLS, (1, bahdanau.LENGTH))
    with torch.no_grad():
        h, last = model["read"](model["embed"](source))
        _, alignment = bahdanau._copy(model, source)
    w, u, v = (model[name].weight.detach().double().numpy() for name in "wuv")
    _, weights = bahdanau.align(last[0, 0].double().numpy(), h[0].double().numpy(), w, u, v[0])
    np.testing.assert_allclose(weights, alignment[0, 0], atol=1e-6)


def test_attention_copies_what_a_fixed_vector_forgets():
    fixed, attending = bahdanau.train(False), bahdanau.train(True)
    assert attending.right[-1] > 0.9 > fixed.right[-1] + 0.1 > 1 / bahdanau.SYMBOLS
    # The weight is on the symbol of the step or right beside it.
    rows = attending.alignment.argmax(axis=1) - np.arange(bahdanau.LENGTH)
    assert abs(rows).max() <= 2
    assert (fixed.alignment[:, -1] == 1).all()


def test_pca_is_scikit_learns():
    from sklearn.decomposition import PCA

    x = drawn(14, 5) + 3
    theirs = PCA().fit(x).explained_variance_ratio_
    np.testing.assert_allclose(crowding.explained(x), theirs, atol=1e-12)


def test_the_novel_is_cut_as_the_chapter_counts_it(real_data):
    text = (real_data / "war_and_peace" / "warpeace.txt").read_text(encoding="utf-8")
    words = [word for sentence in war_and_peace.sentences(text) for word in sentence]
    assert {word: words.count(word) for word in war_and_peace.STATED["counts"]} == war_and_peace.STATED["counts"]


def test_the_listing_fails_where_ours_does(real_data):
    text = (real_data.parent / "seeds" / "000_5ea58bed1b07a4b1.txt").read_text(encoding="utf-8")
    # The file goes on with the chapter, on the listing's last line: only what is read first can be compiled.
    listing = "\n".join(text.split("\n")[:5])
    assert war_and_peace.compile_error(listing) == war_and_peace.compile_error(war_and_peace.LISTING) != ""


def test_no_claim_is_true_of_anything():
    assert claims.near(1.0, 1.0) and not claims.near(1.0, 1.1)
    assert len(claims.every()) == 25
