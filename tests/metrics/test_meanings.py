"""Every measure that has a name is explained in a few words."""

from skstream.core.measures.registry import MEANINGS, OF_CLASS, OF_CLASSES, REGRESSION


def test_every_named_measure_is_explained_in_a_few_words() -> None:
    assert MEANINGS.keys() == {*OF_CLASSES, *REGRESSION, *OF_CLASS}
    for name, words in MEANINGS.items():
        assert 1 <= len(words.split()) <= 16 and len(words) <= 80, name
        assert words[0].islower() or words.startswith("Matthews"), name
        assert not words.endswith("."), name
