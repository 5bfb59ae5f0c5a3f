"""Texts as HashingVectorizer transforms each alone: equal texts and equal words only once.

Which column and sign a word gets depends on the word alone, and stored values are sums of signs,
which are exact in any order. So every distinct word of a block is hashed once, by scikit-learn.
"""

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize


def hashed_texts(vectorizer: HashingVectorizer, documents: Any) -> Any:
    """Rows of documents as the vectorizer transforms them."""
    texts = list(documents)
    if not all(type(text) is str for text in texts) or not _takes_words(vectorizer):
        return vectorizer.transform(texts)
    different, positions = _distinct(texts)
    if 2 * len(different) > len(texts):
        return _hashed(vectorizer, texts)
    return _hashed(vectorizer, different)[positions]


def _takes_words(vectorizer: HashingVectorizer) -> bool:
    """Whether it makes single words of texts, with a pattern alone."""
    return (
        vectorizer.input == "content"
        and vectorizer.analyzer == "word"
        and tuple(vectorizer.ngram_range) == (1, 1)
        and all(
            getattr(vectorizer, name) is None
            for name in ("tokenizer", "preprocessor", "strip_accents", "stop_words")
        )
    )


def _hashed(vectorizer: HashingVectorizer, texts: list[str]) -> Any:
    vectorizer.build_analyzer()  # checks the parameters, and leaves what every transform leaves
    words_in = vectorizer.build_tokenizer()
    words_of = [words_in(text.lower() if vectorizer.lowercase else text) for text in texts]
    words, positions = _distinct(list(chain.from_iterable(words_of)))
    if not words:
        return vectorizer.transform(texts)
    hasher = FeatureHasher(
        vectorizer.n_features,
        input_type="string",
        dtype=vectorizer.dtype,
        alternate_sign=vectorizer.alternate_sign,
    )
    of_words = hasher.transform([word] for word in words)
    bounds = np.zeros(len(texts) + 1, dtype=of_words.indptr.dtype)
    np.cumsum([len(words) for words in words_of], out=bounds[1:])
    stored = of_words.data[positions], of_words.indices[positions], bounds
    rows = type(of_words)(stored, shape=(len(texts), vectorizer.n_features))
    rows.sum_duplicates()
    if vectorizer.binary:
        rows.data.fill(1)
    return rows if vectorizer.norm is None else normalize(rows, norm=vectorizer.norm, copy=False)


def _distinct(values: list[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct values, and which of them each is."""
    place_of = {value: place for place, value in enumerate(dict.fromkeys(values))}
    positions = np.fromiter(map(place_of.__getitem__, values), np.intp, len(values))
    return list(place_of), positions
