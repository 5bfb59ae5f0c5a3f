"""The names on docs/what_works.md, in words."""

_CONSTANT = "`StandardScaler`, then `SGDClassifier` with log loss and a constant step of"
_NEAREST = "`StandardScaler`, then the 5 nearest neighbours of the last"
_BOOSTING = "`HistGradientBoostingClassifier` with a learning rate of 0.2,"
#: By the text that the suite has for a learner, so that other parameters have no wrong words.
LEARNERS = {
    "persistent": "naive guess: the last label (`Persistent`)",
    "majority": "naive guess: the most frequent label so far (`MajorityClass`)",
    "majority-window(window_size=500)": "naive guess: the most frequent of the last 500 labels",
    "sgd": "`SGDClassifier` with log loss and its default steps, on raw columns",
    "pipeline('scaler', \"sgd(learning_rate='constant', eta0=0.001)\")": f"{_CONSTANT} 0.001",
    "pipeline('scaler', \"sgd(learning_rate='constant', eta0=0.01)\")": f"{_CONSTANT} 0.01",
    "pipeline('scaler', \"sgd(learning_rate='constant', eta0=0.1)\")": f"{_CONSTANT} 0.1",
    "pipeline('scaler', 'perceptron')": "`StandardScaler`, then `Perceptron`",
    "nb": "naive Bayes with normal distributions (`IncrementalGaussianNB`)",
    "corrected('nb')": "`nb`, its probabilities corrected by the last label (`TemporalCorrection`)",
    "pipeline('scaler', 'knn(n_neighbors=5, window_size=100)')": f"{_NEAREST} 100 rows",
    "pipeline('scaler', 'knn(n_neighbors=5, window_size=1000)')": f"{_NEAREST} 1,000 rows",
    "tree": "Hoeffding tree of skstream (`HoeffdingTreeClassifier`)",
    "river.tree:HoeffdingTreeClassifier": "Hoeffding tree of River",
    "river.tree:HoeffdingAdaptiveTreeClassifier(seed=0)": "Hoeffding adaptive tree of River",
    "skstream.adaptive:DriftReset('tree')": (
        "`tree`, replaced by a new one when DDM reports a drift (`DriftReset`)"
    ),
    "skstream.ensemble:OnlineBagging('tree')": "ten trees on random weights (`OnlineBagging`)",
    "skstream.ensemble:OnlineBagging('tree', mean_weight=6, detector=\"adwin(direction='up')\")": (
        "leveraging bagging: `bag` with a mean weight of 6, and ADWIN for each tree"
    ),
    "forest": "ten trees on random columns by leaf (`AdaptiveRandomForestClassifier`)",
    "forest(subspace='tree', max_features=0.6)": (
        "streaming random patches: ten trees, each on a random 60 % of the columns"
    ),
    "refit('hgb(max_iter=20, learning_rate=0.2)', every=500, window=2000)": (
        f"{_BOOSTING} 20 trees, fitted every 500 rows to the last 2,000 (`PeriodicRefit`)"
    ),
    "refit('hgb(max_iter=30, learning_rate=0.2)', every=2000, window=10000)": (
        f"{_BOOSTING} 30 trees, fitted every 2,000 rows to the last 10,000 (`PeriodicRefit`)"
    ),
    "bayes-optimal": "best possible predictions: knows how the rows are generated",
}
_TESTBED = "two classes of normal distributions:"
STREAMS = {
    "luxembourg": (
        "European Social Survey, Luxembourg, 2002 to 2007: uses the internet much or little; the "
        "column `at3` alone gives the label"
    ),
    "weather": "NOAA, days in Nebraska, 1949 to 1999: rain or not",
    "electricity": (
        "market of New South Wales, half-hours, 1996 to 1998: price above its mean of the day "
        "before; without date and prices"
    ),
    "electricity8": "the same rows with date and prices; the label is computed from one price",
    "bike": "Capital Bikeshare, hours, 2011 to 2012: more than 142 hires or not",
    "ozone": "Houston, days, 1998 to 2004: an ozone day or not (6.3 % are)",
    "gmsc": "Kaggle, Give Me Some Credit: borrowers who pay late (6.7 %)",
    "covertype": "patches of forest in Colorado: kind of tree; the first 20,000 rows",
    "eeg": "EEG of one person, 128 rows per second: eyes closed or open",
    "usenet": "20 Newsgroups, words of a message: interesting or not; changes every 300 rows",
    "kdd99": "KDD Cup 1999, connections: normal, or the kind of attack; the first 100,000 rows",
    "poker": "poker hands, sorted by suit and rank: kind of hand; the first 100,000 rows",
    "powersupply": "Italian power supply, hours, 1995 to 1998: hour of the day",
    "outdoor": "photos taken outdoors, ten in a row of an object: which of 40 objects",
    "gas": "gas sensors that age, batches 1 to 6: kind of gas",
    "sea60k": "file of SEA: sum of two columns above a threshold that changes every 15,000 rows",
    "NSGT": f"{_TESTBED} both move until each is where the other was",
    "NSGT-F": f"{_TESTBED} as `NSGT`, three times as far",
    "NSGT-I": f"{_TESTBED} as `NSGT`, twice, at twice the speed",
    "NSGT-5D": f"{_TESTBED} as `NSGT`, in five dimensions",
    "NSGR": f"{_TESTBED} both circle around the origin once",
    "NSLC": f"{_TESTBED} they pass each other",
    "NSCX": f"{_TESTBED} a third distribution passes between them",
    "NSPC": f"{_TESTBED} one gradually leaves a place for another",
    "NSPC-A": f"{_TESTBED} one leaves a place for another at row 5,000",
    "hyperplane": "side of a slowly rotating hyperplane, 5 % noise",
    "STAGGER": "rule on size, colour and shape, which changes twice",
    "agrawal-abrupt": "loan applications: rule 1, then 4, then 7",
    "agrawal-gradual": "loan applications: rule 1, and from row 5,000 on gradually rule 4",
    "LED": "digits on a display with errors; at row 5,000 five segments move to other columns",
}
