"""SearchDisplay: what it shows of a search, of ours and of scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV

from skstream import PrequentialSearch, PrequentialSplit, prequential_scorer
from skstream.plotting import SearchDisplay
from skstream.streams import make_demo_stream

pytest.importorskip("matplotlib")

PARAMS = [{"a__x": x, "b__x": y, "c": c} for x in (0.5, 0.1) for y in ("u", "v") for c in (1, 2)]
SCORES = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.7])


def display(**changes):
    given = {"params": PARAMS, "scores": SCORES, "metric": "accuracy", "best": 6}
    return SearchDisplay(**{**given, **changes})


def test_cells_show_their_best_candidate_and_the_frame_is_around_the_chosen():
    drawn = display(parameters=["a__x", "b__x"]).plot()
    (image,) = drawn.ax_.images
    # Numbers ascend, texts come as given; of two candidates in a cell the better one is shown.
    np.testing.assert_array_equal(image.get_array(), [[0.6, 0.8], [0.2, 0.4]])
    texts = {text.get_text() for text in drawn.ax_.texts}
    assert texts == {"0.6000", "0.8000", "0.2000", "0.4000"}
    x, y = drawn.lines_["best"].get_data()
    assert x.min() > 0.5 > y.max()  # around column 1 of row 0
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("b__x", "a__x")
    assert drawn.ax_.get_title(loc="left") == "8 candidates; the best, 0.8000, is marked"


def test_a_lower_score_is_better_where_it_is():
    drawn = display(parameters=["a__x", "b__x"], higher_is_better=False, best=0).plot()
    np.testing.assert_array_equal(drawn.ax_.images[0].get_array(), [[0.5, 0.7], [0.1, 0.3]])


def test_parallel_lines_end_at_their_scores():
    drawn = display().plot()
    assert len(drawn.lines_) == 8
    ends = {name: line.get_ydata()[-1] for name, line in drawn.lines_.items()}
    assert ends["a__x=0.1, b__x=v, c=1"] == 1.0 and ends["a__x=0.5, b__x=u, c=1"] == 0.0


def test_searches_of_both_kinds():
    stream = make_demo_stream(200)
    model, grid = SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2, 1.0]}
    search = PrequentialSearch(model, grid, metric="error", tuning=160)
    with pytest.raises(TypeError, match="a fitted search"):
        SearchDisplay.from_search(search)
    drawn = SearchDisplay.from_search(search.fit(stream))
    assert drawn.lines_["best"].get_ydata() == [search.cv_results_["mean_test_score"][drawn.best]]
    assert not drawn.higher_is_better
    with pytest.raises(KeyError, match="has chosen by 'error'"):
        SearchDisplay.from_search(search, "kappa")
    params = {"cv": PrequentialSplit(50), "refit": False}
    plain = GridSearchCV(model, grid, scoring=prequential_scorer("error"), **params)
    drawn = SearchDisplay.from_search(plain.fit(stream.X, stream.y))
    assert (drawn.metric, drawn.best) == ("neg_error", plain.best_index_)
    assert drawn.lines_["best"].get_ydata() == [plain.best_score_]
    several = {name: prequential_scorer(name) for name in ("accuracy", "kappa")}
    both = GridSearchCV(model, grid, scoring=several, **params).fit(stream.X, stream.y)
    assert SearchDisplay.from_search(both, "kappa").metric == "kappa"
    with pytest.raises(KeyError, match=r"no scores by 'score'; there are \['accuracy', 'kappa'\]"):
        SearchDisplay.from_search(both)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"kind": "pie"}, ValueError, "kind must be "),
        ({"kind": "heatmap"}, ValueError, "'heatmap' shows 2 of the parameters"),
        ({"kind": "curve"}, ValueError, "'curve' shows 1 of the parameters"),
        ({"parameters": ["d"]}, KeyError, "No candidate has a parameter 'd'"),
        ({"scores": np.full(8, np.nan)}, ValueError, "nothing to draw"),
    ],
)
def test_mistakes(changes, error, message):
    with pytest.raises(error, match=message):
        display(**changes).plot()


def test_candidates_without_a_score_or_a_parameter_are_left_out():
    scores = np.r_[SCORES[:-1], np.nan]
    params = [*PARAMS[:-2], {"c": 1}, {"c": 2}]
    drawn = display(params=params, scores=scores).plot()
    assert len(drawn.lines_) == 7
    assert np.isnan(drawn.lines_["c=1"].get_ydata()[0])
    assert len(display(params=params, scores=scores, parameters=["a__x", "c"]).plot().lines_) == 1
