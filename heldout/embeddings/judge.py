"""Everything that is asked of a table of vectors, as one account and as text for the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heldout.embeddings import analogies as analogies_
from heldout.embeddings import similarity as similarity_
from heldout.embeddings.neighbours import Crowding, cosine, crowding, groups, nearest, some_words
from heldout.embeddings.passages import passages
from heldout.embeddings.pca import draw, project
from heldout.embeddings.stability import found_in, shared
from heldout.embeddings.text import Sentences
from heldout.embeddings.vectors import Vectors
from heldout.errors import Refused
from heldout.eval.columns import aligned
from heldout.options import option


@dataclass(frozen=True)
class JudgeOptions:
    """What is asked of vectors."""

    word: tuple[str, ...] = option((), "show this word's neighbours (default: some words); compare: the word")
    pair: tuple[str, ...] = option((), "the cosine of two words", metavar="A,B")
    group: tuple[str, ...] = option((), "mean cosines within and between groups of words", metavar="NAME=A,B,C")
    top: int = option(10, "neighbours shown, and compared between runs")
    frequent: int = option(50, "random pairs are of words seen so often")
    passages: tuple[str, ...] = option((), "passages in which this word stands", metavar="WORD")
    analogies: tuple[str, ...] = option((), "a file of questions: four words a line, ': section'", metavar="FILE")
    similarity: tuple[str, ...] = option((), "a file of rated pairs: word TAB word TAB number", metavar="FILE")
    among: int = option(30_000, "analogies are answered among so many words, the most frequent")
    picture: Path | None = option(None, "draw the words of --group, or --word, by PCA: .svg .png .pdf", metavar="FILE")

    @property
    def groups(self) -> dict[str, list[str]]:
        """The words of each group, in order; Refused for one that is not NAME=A,B,C."""
        found = {}
        for value in self.group:
            name, equals, words = value.partition("=")
            if not equals or not name or not all(words.split(",")):
                raise Refused(f"--group {value}: write NAME=A,B,C")
            found[name] = words.split(",")
        return found

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs; Refused for one that is not A,B."""
        found = []
        for value in self.pair:
            words = value.split(",")
            if len(words) != 2 or not all(words):
                raise Refused(f"--pair {value}: write two words, A,B")
            found.append((words[0], words[1]))
        return found


def judge(
    vectors: Vectors, options: JudgeOptions, others: Mapping[str, Vectors], sentences: Sentences | None, seed: int = 1
) -> dict[str, Any]:
    """All that is asked, as JSON values; ``others`` are runs under other seeds and windows, by name.

    Refused where a word has no vector, or passages are asked for and the sentences are not at hand.
    """
    if options.passages and sentences is None:
        raise Refused("--passages: needs the folder of heldout embed train, whose sentences.txt holds the corpus")
    if options.top < 1 or options.among < 4:
        raise Refused("--top must be 1 or more, --among 4 or more")
    crowded = crowding(vectors, options.frequent, seed)
    account: dict[str, Any] = {
        "words": len(vectors.words),
        "dimensions": int(vectors.rows.shape[1]),
        "random_pairs": asdict(crowded),
        "neighbours": {word: _near(vectors, others, word, options.top) for word in _asked(vectors, options)},
        "pairs": [{"words": [a, b], "cosine": cosine(vectors, a, b)} for a, b in options.pairs],
        "groups": [{"of": a, "with": b, "mean_cosine": c} for a, b, c in groups(vectors, options.groups)],
    }
    account["similarity"] = [
        asdict(similarity_.similarity(vectors, Path(file).stem, similarity_.read_pairs(Path(file)), seed))
        for file in options.similarity
    ]
    account["analogies"] = {
        Path(file).stem: [
            asdict(section)
            for section in analogies_.analogies(vectors, analogies_.read_questions(Path(file)), among=options.among)
        ]
        for file in options.analogies
    }
    account["stability"] = {name: _overlap(vectors, other, options.top) for name, other in others.items()}
    if sentences is not None:
        account["passages"] = {word: _passages(sentences, word) for word in options.passages}
    if options.picture is not None:
        account["picture"] = _drawn(vectors, options, crowded, options.picture)
    return account


def _asked(vectors: Vectors, options: JudgeOptions) -> list[str]:
    return list(options.word) or some_words(vectors)


def _near(vectors: Vectors, others: Mapping[str, Vectors], word: str, top: int) -> list[dict[str, Any]]:
    found = []
    for neighbour, value in nearest(vectors, word, top):
        row: dict[str, Any] = {"word": neighbour, "cosine": value, "count": vectors.count(neighbour)}
        if others:
            row |= {"found_in": found_in(dict(others), word, neighbour, top), "of": len(others)}
        found.append(row)
    return found


def _overlap(vectors: Vectors, other: Vectors, top: int) -> dict[str, Any]:
    share, words = shared(vectors, other, top)
    return {"shared_neighbours": share, "words": words, "top": top}


def _passages(sentences: Sentences, word: str) -> dict[str, Any]:
    total, found = passages(sentences, word)
    return {"occurrences": total, "shown": found}


def _drawn(vectors: Vectors, options: JudgeOptions, crowded: Crowding, path: Path) -> dict[str, Any]:
    named = options.groups
    words = [word for group in named.values() for word in group] or list(options.word)
    projection = project(vectors, list(dict.fromkeys(words)))
    draw(projection, named, crowded, path)
    return {"file": str(path), "words": list(projection.words), "explained": sum(projection.explained)}


def show(account: Mapping[str, Any], vectors: Vectors) -> str:
    """The account as text."""
    crowded = account["random_pairs"]
    who = (
        f"seen {crowded['min_count']} times or more" if crowded["min_count"] is not None else "of the first in the file"
    )
    head = (
        f"{account['words']:,} words of {account['dimensions']} dimensions. Random pairs of the {crowded['words']:,} "
        f"words {who}: mean cosine {crowded['mean']:.2f}, 90th percentile {crowded['p90']:.2f}."
    )
    blocks = [[head, *_scale(crowded)]]
    blocks += [_neighbour_lines(word, rows, vectors, crowded) for word, rows in account["neighbours"].items()]
    blocks += [_pair_lines(account["pairs"], vectors, crowded), _group_lines(account["groups"])]
    blocks += [_similarity_lines(account["similarity"])]
    blocks += [_analogy_lines(name, rows) for name, rows in account["analogies"].items()]
    blocks += [_stability_lines(account["stability"])]
    blocks += [_passage_lines(word, found) for word, found in account.get("passages", {}).items()]
    if "picture" in account:
        drawn = account["picture"]
        line = f"{drawn['file']}: {drawn['explained']:.1%} of the variance of its {len(drawn['words'])} words; a PCA "
        blocks.append([line + "shows neither neighbourhoods nor crowding."])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _scale(crowded: Mapping[str, Any]) -> list[str]:
    if crowded["mean"] < 0.3:
        return []
    return ["The vectors crowd together: a high cosine says little. Below, * is above the 90th percentile."]


def _above(value: float, crowded: Mapping[str, Any]) -> str:
    return f"{value:.3f}{'*' if value > crowded['p90'] else ''}"


def _counted(word: str, vectors: Vectors) -> str:
    row = vectors.find(word)
    return f"{word} (unseen)" if row is None else f"{word} ({vectors.count(vectors.words[row])})"


def _neighbour_lines(
    word: str, rows: Sequence[Mapping[str, Any]], vectors: Vectors, crowded: Mapping[str, Any]
) -> list[str]:
    others = "of" in rows[0] if rows else False
    table = [["neighbour (count)", "cosine", *(["also found by"] if others else [])]]
    for row in rows:
        found = [f"{row['found_in'] or 0} of {row['of']} runs"] if others else []
        table.append([f"{row['word']} ({row['count']})", _above(row["cosine"], crowded), *found])
    return [f"{_counted(word, vectors)}:", *aligned(table)]


def _pair_lines(rows: Sequence[Mapping[str, Any]], vectors: Vectors, crowded: Mapping[str, Any]) -> list[str]:
    names = [" – ".join(_counted(word, vectors) for word in row["words"]) for row in rows]
    table = [[name, _above(row["cosine"], crowded)] for name, row in zip(names, rows, strict=True)]
    return aligned([["pair (counts)", "cosine"], *table]) if table else []


def _group_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    table = [
        [
            f"{row['of']} among each other" if row["of"] == row["with"] else f"{row['of']} with {row['with']}",
            f"{row['mean_cosine']:.2f}",
        ]
        for row in rows
    ]
    return aligned([["group", "mean cosine"], *table]) if table else []


def _similarity_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    table = [["set", "Spearman", "95% interval", "pairs compared"]]
    for row in rows:
        few = row["rho"] is None
        interval = "" if few else f"{row['low']:.3f} to {row['high']:.3f}"
        table.append(
            [row["name"], "too few" if few else f"{row['rho']:.3f}", interval, f"{row['compared']} of {row['pairs']}"]
        )
    return aligned(table)


def _analogy_lines(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    table = [[f"analogies of {name}", "3CosAdd", "3CosMul", "asked"]]
    sums = {key: sum(row[key] for row in rows) for key in ("questions", "asked", "add", "mul")}
    for row in [*rows, {"name": "all", **sums}]:
        shares = [f"{row[key] / row['asked']:.3f}" if row["asked"] else "–" for key in ("add", "mul")]
        table.append([row["name"], *shares, f"{row['asked']} of {row['questions']}"])
    return aligned(table)


def _stability_lines(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    first = next(iter(rows.values()))
    head = f"under other settings, share of the {first['top']} neighbours kept, mean over {first['words']:,} words"
    return aligned([[head], *([name, f"{row['shared_neighbours']:.2f}"] for name, row in rows.items())])


def _passage_lines(word: str, found: Mapping[str, Any]) -> list[str]:
    return [f"{word} stands in {found['occurrences']} places, {len(found['shown'])} of them:", *found["shown"]]
