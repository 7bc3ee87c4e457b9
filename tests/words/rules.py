"""The rules of plain English: words and constructions that are not written, and what to write instead."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.words.prose import Passage, Place, sentences, words

LONGEST_SENTENCE = 40  # words, in docs
SEMICOLONS = 4  # in 1,000 words of a page; two in a short one
YOU = 40  # at least, in 10,000 words of a how-to page


@dataclass(frozen=True)
class Hit:
    """A place that breaks a rule."""

    rule: str
    place: Place
    offset: int
    advice: str


@dataclass(frozen=True)
class Word:
    """A banned word."""

    rule: str
    pattern: re.Pattern[str]
    advice: str

    def hits(self, passage: Passage) -> Iterator[Hit]:
        for match in self.pattern.finditer(passage.text):
            found = " ".join(match[0].split())
            yield Hit(self.rule, passage.place, passage.start + match.start(), f'for "{found}" write {self.advice}')


def _word(rule: str, pattern: str, advice: str) -> Word:
    return Word(rule, re.compile(pattern), advice)


WORDS = (
    _word("told", r"\b(?:[Tt]old|[Tt]ells?|[Tt]elling)\b", '"report", "log", "show", "say" or "distinguish"'),
    _word("anew", r"\b[Aa]new\b", '"again"'),
    _word("whoever", r"\b(?:[Ww]hoever|[Ww]homever|[Ww]hatever)\b", "the actor or the thing: any writer, any value"),
    _word("nobody", r"\b(?:[Nn]obody|[Ss]omebody)\b", "the actor: no writer, a user, another process"),
    _word("else", r"[,;:]\s+else\b|(?<=[.!?] )Else\b|\AElse\b", '"otherwise", or a sentence that begins with "If"'),
    _word("none", r"\b(?<![Tt]here )(?:is|are|was|were|of)\s+none\b", '"is not a" or "there is no"'),
    _word("by_then", r"\b[Bb]y\s+then\b", "the moment or the event"),
    _word("so_many", r"\b[Ss]o\s+(?:many|long)\b(?!\s+(?:as|that)\b)", "the quantity: N rows, for 5 minutes"),
    _word("unasked", r"\b[Uu]nasked\b", '"without approval"'),
    _word("meanwhile", r"\b[Mm]eanwhile\b", '"in the meantime" or "while"'),
    _word("besides", r"\b[Bb]esides\b", '"also" or "in addition"'),
    _word("mend", r"\b[Mm]end(?:s|ed|ing)?\b", '"fix" or "repair"'),
    _word("stands", r"\b[Ss]tands?\b(?!-|\s+(?:for|in\s+for|out)\b)", '"is", "is listed", "is valid" or "remains"'),
    _word("goes_by", r"\bgo(?:es)?\s+by\b", '"uses" or "is decided by"'),
)
_OPENER = re.compile(r"[-\"'(\s]*(Whether|What|Which|Where|Who|Of)\b(?!\s+course)")


def openers(passage: Passage) -> Iterator[Hit]:
    """Sentences that open with a word after which the subject comes late. A question may."""
    for sentence in sentences(passage):
        match = _OPENER.match(sentence.text)
        if match and words(sentence.text) > 1 and not sentence.text.rstrip("\"')*").endswith("?"):
            advice = f'begin with the subject or a verb, not with "{match[1]}"'
            yield Hit("opener", passage.place, sentence.start, advice)


def long_sentences(passage: Passage) -> Iterator[Hit]:
    """Sentences of docs past the limit."""
    if passage.place is Place.DOCS:
        for sentence in sentences(passage):
            count = words(sentence.text)
            if count > LONGEST_SENTENCE:
                advice = f"{count} words: make sentences of at most 25, or a list"
                yield Hit("long_sentence", passage.place, sentence.start, advice)


RULES: tuple[Callable[[Passage], Iterator[Hit]], ...] = (*(word.hits for word in WORDS), openers, long_sentences)


def hits(passages: Sequence[Passage]) -> Iterator[Hit]:
    """Return each place in the passages of a file that breaks a rule."""
    for passage in passages:
        for rule in RULES:
            yield from rule(passage)


def semicolons(page: Sequence[Passage]) -> Iterator[Hit]:
    """The semicolons of a page past its share; the last ones are named."""
    marks = [passage.start + match.start() for passage in page for match in re.finditer(";", passage.text)]
    count = sum(words(passage.text) for passage in page)
    allowed = max(2, count * SEMICOLONS // 1000)
    for offset in marks[allowed:]:
        advice = f"{len(marks)} semicolons, {allowed} are allowed in {count:,} words: make two sentences"
        yield Hit("semicolon", Place.DOCS, offset, advice)


def address(page: Sequence[Passage]) -> Iterator[Hit]:
    """The times that a how-to page should say "you" and does not."""
    count = sum(words(passage.text) for passage in page)
    said = sum(len(re.findall(r"\b[Yy]ou(?:rs?|rself)?\b", passage.text)) for passage in page)
    wanted = math.ceil(count * YOU / 10_000)
    for _ in range(wanted - said):
        yield Hit("you", Place.DOCS, 0, f'say "you" or "your" {wanted} times in {count:,} words, not {max(said, 0)}')
