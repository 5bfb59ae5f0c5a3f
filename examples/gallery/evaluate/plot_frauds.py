"""
From a frame with texts, gaps and dates to a picture
====================================================

Card payments as they come: who paid, when, where, what for. Columns become numbers along the
stream, with what was known at each row; the customer's past tells more than the row.
"""

from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import DelayedEvaluator, MajorityClass, Polling, make_stream_pipeline
from skstream.preprocessing import RollingFeatures, TargetEncoder, make_stream_preprocessor
from skstream.streams import make_transactions

# %%
X = make_transactions(6_000)
y, known = X.pop("fraud"), X.pop("label_time")
print(X.head(3).T)

# %%
# `make_stream_preprocessor` looks at the first rows and prepares each column as its kind needs.
# What the customer did before is a part of its own.

columns = make_stream_preprocessor(
    X[:500], kinds={"customer": "drop"}, sparse_output=False, n_text_features=32
)
rolling = RollingFeatures("amount", windows=5, functions=["count", "mean", "max"], key="customer")
history = ColumnTransformer(
    [
        ("columns", columns, list(X.columns)),
        ("past", make_stream_pipeline(rolling, StandardScaler()), ["customer", "amount"]),
        ("risk", TargetEncoder(), ["customer"]),
    ]
)
models = {
    "majority": MajorityClass(),
    "row alone": make_stream_pipeline(columns, SGDClassifier(loss="log_loss")),
    "with the past": make_stream_pipeline(history, SGDClassifier(loss="log_loss")),
}

# %%
# Frauds become known after days, and that a payment was good after ten. Scored is what each model
# answered when the payment came, by the labels known by then.

evaluator = DelayedEvaluator(
    ["average_precision", "kappa_m"],
    forgetting=["cumulative", "window:1000"],
    random_state=0,
    polling=Polling(n_bins=1, poll_every=None),
)
result = evaluator.evaluate(models, X, y, arrival=X["time"], label_time=known).select(bins=0)
print(result)

# %%
result.plot("average_precision", forgetting="window:1000")

# %%
# The finding: the past helps to rank payments, and as yes or no neither model is of use yet.
# Average precision is about the order in which one would look at payments. kappa_m is about
# answers: it is below 0 where never saying "fraud" makes fewer errors. (Over all rows even the
# majority is far below 0: in the first ten days only the labels of frauds are known, and it
# answers "fraud".)

row, past = (result.scores[name]["average_precision"] for name in ("row alone", "with the past"))
answers = result.select(forgetting="window:1000").scores["with the past"]["kappa_m"]
print(
    f"Four rows of a hundred are frauds. Average precision is {row:.2f} for the model of the row "
    f"alone, and {past:.2f} for the one that knows the customer's past. Yet kappa_m of the "
    f"latter is {answers:.2f} over the last 1,000 rows: anyone who acts on its answers makes more "
    'errors than who never says "fraud". Use its probabilities to rank, or choose a threshold by '
    "what errors cost."
)
assert row < past
assert answers < 0
