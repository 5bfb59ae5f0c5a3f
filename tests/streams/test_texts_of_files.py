"""Columns of texts in files, read as they are."""

import pickle

import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from skstream import PrequentialEvaluator
from skstream.cli import main
from skstream.pipeline import make_stream_pipeline
from skstream.streams import CSVStream, ParquetStream
from tests.streams._tables import dictionary, write_parquet

TEXTS = ["win cash, now", "home", None, "Cash prize", "win", "at home"]
LABELS = ["spam", "ham"] * 3
AMOUNTS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
NB = make_stream_pipeline(HashingVectorizer(n_features=64, alternate_sign=False), MultinomialNB())


def parquet(folder, texts=TEXTS):
    pa = pytest.importorskip("pyarrow")
    columns = {"amount": AMOUNTS, "words": pa.array(texts), "label": LABELS}
    return write_parquet(folder / "mail.parquet", columns)


def csv(folder):
    pytest.importorskip("pyarrow")
    rows = [f'{a},"{t or ""}",{label}' for a, t, label in zip(AMOUNTS, TEXTS, LABELS, strict=True)]
    path = folder / "mail.csv"
    path.write_text("\n".join(["amount,words,label", *rows]) + "\n")
    return path


READERS = pytest.mark.parametrize("stream, write", [(ParquetStream, parquet), (CSVStream, csv)])


@READERS
def test_texts_alone(tmp_path, stream, write):
    mail = stream(write(tmp_path), target="label", text="words", chunk_size=4)
    texts = [text or "" for text in TEXTS]
    assert [X.tolist() for X, _, _ in mail] == [texts[:4], texts[4:]]
    assert mail.kinds == {"words": "text"} and "features: texts words" in repr(mail)
    again = pickle.loads(pickle.dumps(mail))
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    result = evaluator.evaluate(NB, again)
    assert result.scores == evaluator.evaluate(NB, texts, LABELS).scores
    assert set(result.paths.values()) == {"kernel"}


@READERS
def test_texts_beside_other_features(tmp_path, stream, write):
    path = write(tmp_path)
    mail = stream(path, target="label", text="words", as_frame=True, max_categories=1)
    ((X, _, _),) = mail
    assert X["words"].tolist() == [text or "" for text in TEXTS]
    assert X["amount"].tolist() == AMOUNTS and mail.categories == {}
    parts = [("words", HashingVectorizer(n_features=64), "words"), ("n", "passthrough", ["amount"])]
    model = make_stream_pipeline(ColumnTransformer(parts), SGDClassifier(random_state=0))
    result = PrequentialEvaluator("accuracy", random_state=0).evaluate(model, mail)
    assert set(result.paths.values()) == {"kernel"}


@READERS
def test_gaps_are_refused_where_missing_values_are(tmp_path, stream, write):
    mail = stream(write(tmp_path), target="label", text="words", options={"missing": "error"})
    with pytest.raises(ValueError, match=r"Row 2 has no value in column 'words'.*an empty text"):
        list(mail)


def test_dictionaries_of_texts(tmp_path):
    columns = {"words": dictionary(["a b", "c"], [0, 1, None]), "label": ["x", "y", "x"]}
    write_parquet(tmp_path / "mail.parquet", columns)
    ((X, _, _),) = ParquetStream(tmp_path / "mail.parquet", target="label", text="words")
    assert X.tolist() == ["a b", "c", ""]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "Words"}, "text names the column 'Words'.*Did you mean"),
        ({"text": "amount"}, "'amount', which contains double"),
        ({"text": "label"}, "text names the column 'label', which is the target"),
        ({"text": "words", "nominal": ["words"]}, "is named in nominal= and in text="),
        ({"text": "words", "columns": ["words", "amount"]}, "there are more: .*as_frame=True"),
        ({"text": ["words", "amount"]}, "there are more: .*as_frame=True"),
    ],
)
def test_wrong_columns_of_texts(tmp_path, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ParquetStream(parquet(tmp_path), target="label", **options)


def test_the_command_line_reads_texts(tmp_path, capsys):
    model = "pipeline('sklearn.feature_extraction.text:HashingVectorizer', 'sgd')"
    command = ["evaluate", str(csv(tmp_path)), "--target", "label", "--read", "text=words"]
    main([*command, "--model", model])
    assert "texts words" in capsys.readouterr().out
