"""Hoeffding trees, compiled: the nodes, the statistics of leaves, and what a row does to them.

One core has two users: the trees of this library, and those of River, of which every bit is kept
(`Settings.river`). What differs is decided by settings alone. The arrays are described in
`skstream.tree._arrays`.

What decides the bits of a River tree
-------------------------------------
Sums over classes are added in the order in which the classes came: a node keeps the order of its
own statistics, and a leaf that of the classes seen since it began, because a split passes the first
on and not the second. Python 3.12 and later compensate ``sum()``. Squares of deviations and the
root of a variance are ``pow`` of the C library, which does not always round as a product does.
"""

import math

from skstream.utils._numba import jit_of_row
from skstream.utils._numba import jit_without_arrays as jit

#: How leaves predict.
MAJORITY, BAYES, ADAPTIVE = 0, 1, 2
ENTROPY, GINI = 0, 1

# Places in `Tree.counts`.
N_NODES, N_SLOTS, N_FREE, N_BRANCHES, N_CATEGORIES = 0, 1, 2, 3, 4
IS_FULL = 5  # whether no more memory may be taken
N_IDLE = 6  # leaves that watch no features
MOST_KNOWN = 7  # categories of one feature
SEED = 8
IS_PATCH = 9  # whether all nodes watch the same features
# Columns of `Tree.nodes`: of a branch where its children are, of a leaf what it watches.
FEATURE, FIRST, SECOND, DEPTH, SLOT, N_STATS, N_GIVEN = 0, 1, 2, 3, 4, 5, 6
# Columns of `Tree.values`.
THRESHOLD, MAJORITY_RIGHT, BAYES_RIGHT, LAST_TRY, WEIGHT = 0, 1, 2, 3, 4
# Rows of `Tree.moments`.
N, MEAN, SQUARES, LOW, HIGH = 0, 1, 2, 3, 4

HALF_LOG_TAU = 0.5 * math.log(math.tau)
ROOT_2 = math.sqrt(2.0)


@jit_of_row
def total_of(values, order, n, n_compensated):  # type: ignore[no-untyped-def]
    """Sum over some classes in their order, as ``sum()`` adds them; it may compensate the first."""
    if n == 0:
        return 0.0
    total = values[order[0]]
    lost = 0.0
    for place in range(1, n):
        x = values[order[place]]
        added = total + x
        if place < n_compensated:
            lost += (total - added) + x if abs(total) >= abs(x) else (x - added) + total
        total = added
    if lost != 0.0 and math.isfinite(lost):
        total += lost
    return total


@jit_of_row
def _sum(settings, values, order, n):  # type: ignore[no-untyped-def]
    """Sum over some classes in their order, of numbers that are floats in Python."""
    return total_of(values, order, n, n if settings.compensates else 0)


@jit_of_row
def weight_of(tree, settings, node):  # type: ignore[no-untyped-def]
    """Weight of all classes of a node.

    Where rows have whole weights, classes that came after a split have weights that are integers in
    Python, and ``sum()`` compensates floats alone.
    """
    n = tree.nodes[node, N_STATS]
    n_floats = tree.nodes[node, N_GIVEN] if settings.has_whole_weights else n
    n_compensated = n_floats if settings.compensates else 0
    return total_of(tree.stats[node], tree.orders[node], n, n_compensated)


@jit_of_row
def best_of(values, order, n):  # type: ignore[no-untyped-def]
    """Class of the largest value; of equal ones that which came first."""
    best = order[0]
    for place in range(1, n):
        k = order[place]
        if values[k] > values[best]:
            best = k
    return best


@jit_of_row
def _majority_votes(tree, settings, node, out):  # type: ignore[no-untyped-def]
    stats, order, n = tree.stats[node], tree.orders[node], tree.nodes[node, N_STATS]
    total = weight_of(tree, settings, node)
    scale = 1.0 if total == 0.0 or math.isnan(total) else 1.0 / total
    for place in range(n):
        k = order[place]
        out[k] = stats[k] * scale


@jit
def _refresh(tree, settings, scratch, slot, k):  # type: ignore[no-untyped-def]
    """Form again what the votes need of a class that has learnt."""
    weights, squares = tree.moments[slot, k, N], tree.moments[slot, k, SQUARES]
    doubled, half_logs = scratch.doubled[slot, k], scratch.half_logs[slot, k]
    for f in range(weights.size):
        n = weights[f]
        variance = squares[f] / (n - 1.0) if n > 1.0 else 0.0
        if variance > 0.0:
            doubled[f] = -2.0 * variance
            half_logs[f] = 0.5 * math.log(variance)
        else:
            # So that the term is 0, or if a constant excludes others, next to minus infinity.
            excludes = settings.constant_excludes and n > 0.0
            doubled[f] = -5e-324 if excludes else -math.inf
            half_logs[f] = -HALF_LOG_TAU
    scratch.is_stale[slot, k] = False


@jit_of_row
def exact_squares(x, mean, two, out):  # type: ignore[no-untyped-def]
    """Squared deviations as ``pow`` of the C library rounds them.

    A product, where that cannot differ: p + e is the exact square (Veltkamp 1968, Dekker 1971), pow
    errs by less than .03 units of the last place before it rounds, so where p + 1.1 e rounds to p,
    so does pow. Nine of ten values pass, and the first loop has no branch.
    """
    n_unsure = 0
    for f in range(x.size):
        d = x[f] - mean[f]
        p = d * d
        c = 134217729.0 * d
        high = c - (c - d)
        low = d - high
        e = ((high * high - p) + 2.0 * (high * low)) + low * low
        sure = (p + 1.1 * e == p) & (((p > 1e-100) & (p < 1e100)) | (d == 0.0))
        out[f] = p if sure else -1.0
        n_unsure += not sure
    if n_unsure:
        for f in range(x.size):
            if out[f] < 0.0:
                out[f] = math.pow(x[f] - mean[f], two)


@jit_of_row
def _with_features(tree, settings, scratch, slot, k, x, has_gaps, vote):  # type: ignore[no-untyped-def]
    """Vote for a class, with the logarithm of the density of a row in the class added."""
    if scratch.is_stale[slot, k]:
        _refresh(tree, settings, scratch, slot, k)
    terms, mean = scratch.terms, tree.moments[slot, k, MEAN]
    doubled, half_logs = scratch.doubled[slot, k], scratch.half_logs[slot, k]
    if settings.river:
        exact_squares(x, mean, settings.two, terms)
        for f in range(x.size):
            term = terms[f] / doubled[f] - HALF_LOG_TAU - half_logs[f]
            terms[f] = term if term > -math.inf else 0.0
    else:
        for f in range(x.size):
            d = x[f] - mean[f]
            terms[f] = d * d / doubled[f] - HALF_LOG_TAU - half_logs[f]
    for f in range(terms.size):
        if has_gaps:
            feature = tree.subset[slot, f]
            n, n_known = tree.moments[slot, k, N, f], tree.known[feature]
            if math.isnan(x[f]) or n == 0.0:
                continue
            if n_known >= 0:
                if 0 <= x[f] < n_known:
                    weight = tree.categories[slot, k, tree.column[feature, int(x[f])]]
                    vote += math.log((weight + 1.0) / (n + n_known))
                continue
        vote += terms[f]
    return vote


@jit_of_row
def bayes_votes(tree, settings, scratch, node, x, has_gaps, out):  # type: ignore[no-untyped-def]
    """Votes of naive Bayes; whether there are any."""
    n = tree.nodes[node, N_STATS]
    total = weight_of(tree, settings, node)
    if n == 0 or total == 0.0:
        return False
    slot = tree.nodes[node, SLOT]
    top = -math.inf
    for place in range(n):
        k = tree.orders[node, place]
        vote, weight = 0.0, tree.stats[node, k]
        if weight > 0.0:
            vote = math.log(weight / total)
            if tree.seen[slot, k] > (1.0 if settings.river else 0.0):
                vote = _with_features(tree, settings, scratch, slot, k, x, has_gaps, vote)
        elif not settings.river:
            vote = -math.inf
        out[k] = vote
        if place == 0 or vote > top:
            top = vote
    if not top > -math.inf:
        return False
    for place in range(n):
        k = tree.orders[node, place]
        scratch.powers[k] = math.exp(out[k] - top)
    total = _sum(settings, scratch.powers, tree.orders[node], n)
    shift = top + math.log(total)  # in which River loses the sum, where logarithms are huge
    for place in range(n):
        k = tree.orders[node, place]
        out[k] = math.exp(out[k] - shift) if settings.river else scratch.powers[k] / total
    return True


@jit
def _impurity(settings, values, order, n):  # type: ignore[no-untyped-def]
    """Entropy or Gini impurity of a distribution over classes."""
    if settings.criterion == GINI:
        impurity = 1.0
        total = _sum(settings, values, order, n)
        if total != 0.0:
            for place in range(n):
                share = values[order[place]] / total
                impurity -= share * share
        return impurity
    entropy = sums = 0.0
    for place in range(n):
        weight = values[order[place]]
        if weight > 0.0:
            entropy -= weight * math.log2(weight)
            sums += weight
    return (entropy + sums * math.log2(sums)) / sums if sums > 0.0 else 0.0


@jit
def _put(scratch, part, k, weight):  # type: ignore[no-untyped-def]
    scratch.parts[part, k] = weight
    scratch.part_orders[part, scratch.part_sizes[part]] = k
    scratch.part_sizes[part] += 1


@jit
def _find_deviations(tree, settings, scratch, slot, f):  # type: ignore[no-untyped-def]
    """Standard deviations of a feature in all classes, for `_divide`."""
    for place in range(tree.came[slot, 0]):
        k = tree.came[slot, 1 + place]
        n = tree.moments[slot, k, N, f]
        variance = tree.moments[slot, k, SQUARES, f] / (n - 1.0) if n > 1.0 else 0.0
        if settings.river:
            scratch.powers[k] = math.pow(variance, settings.half)
        else:
            scratch.powers[k] = math.sqrt(variance)


@jit
def _divide(tree, settings, scratch, slot, f, threshold):  # type: ignore[no-untyped-def]
    """Classes on both sides of a threshold, by normal distributions."""
    scratch.part_sizes[0] = scratch.part_sizes[1] = 0
    for place in range(tree.came[slot, 0]):
        k = tree.came[slot, 1 + place]
        n = tree.moments[slot, k, N, f]
        if n == 0.0:
            continue
        if threshold < tree.moments[slot, k, LOW, f]:
            _put(scratch, 1, k, n)
        elif threshold >= tree.moments[slot, k, HIGH, f]:
            _put(scratch, 0, k, n)
        else:
            share, sigma = 0.0, scratch.powers[k]
            if sigma != 0.0:
                z = (threshold - tree.moments[slot, k, MEAN, f]) / sigma
                share = 0.5 * (1.0 + math.erf(z / ROOT_2))
            _put(scratch, 0, k, share * n)
            _put(scratch, 1, k, n - share * n)


@jit
def _divide_by_category(tree, scratch, slot, feature):  # type: ignore[no-untyped-def]
    """Classes of each category of a nominal feature; return the number of categories."""
    n_known = tree.known[feature]
    scratch.part_sizes[:n_known] = 0
    for place in range(tree.came[slot, 0]):
        k = tree.came[slot, 1 + place]
        for code in range(n_known):
            weight = tree.categories[slot, k, tree.column[feature, code]]
            if weight > 0.0:
                _put(scratch, code, k, weight)
    return n_known


@jit
def _merit(settings, scratch, n_parts, before):  # type: ignore[no-untyped-def]
    """How much purer the parts are; minus infinity where fewer than two have rows enough."""
    parts, orders, sizes = scratch.parts, scratch.part_orders, scratch.part_sizes
    total = 0.0
    for part in range(n_parts):
        total += _sum(settings, parts[part], orders[part], sizes[part])
    if not total > 0.0:
        return -math.inf
    n_large = 0
    after = 0.0
    for part in range(n_parts):
        weight = _sum(settings, parts[part], orders[part], sizes[part])
        n_large += weight / total > settings.least_share
        impurity = _impurity(settings, parts[part], orders[part], sizes[part])
        if settings.criterion == GINI:
            weight /= total
        after += weight * impurity
    if n_large < 2:
        return -math.inf
    if settings.criterion == GINI:
        return (1.0 if settings.river else before) - after
    return before - after / total


@jit
def _best_split(tree, settings, scratch, node):  # type: ignore[no-untyped-def]
    """Merits of the best and the second suggestion; feature (-1: none) and threshold of the best.

    Not to split is a suggestion, too, which gains nothing, or else has the least merit of all. In a
    River tree the last of equal suggestions is taken.
    """
    slot = tree.nodes[node, SLOT]
    n = tree.nodes[node, N_STATS]
    before = _impurity(settings, tree.stats[node], tree.orders[node], n)
    first = 0.0 if settings.null_gains_nothing else -math.inf
    second = -math.inf
    feature, at, n_suggestions = -1, 0.0, int(settings.prunes)
    for f in range(tree.moments.shape[3]):
        merit, suggested, threshold = -math.inf, -1, 0.0
        if tree.known[tree.subset[slot, f]] >= 0:
            n_parts = _divide_by_category(tree, scratch, slot, tree.subset[slot, f])
            merit, suggested = _merit(settings, scratch, n_parts, before), f
        else:
            low, high = math.inf, -math.inf
            for place in range(tree.came[slot, 0]):
                k = tree.came[slot, 1 + place]
                low = min(low, tree.moments[slot, k, LOW, f])
                high = max(high, tree.moments[slot, k, HIGH, f])
            width = (high - low) / (settings.n_splits + 1.0)
            _find_deviations(tree, settings, scratch, slot, f)
            for i in range(settings.n_splits):
                value = low + width * (i + 1)
                if low < value < high:
                    _divide(tree, settings, scratch, slot, f, value)
                    gain = _merit(settings, scratch, 2, before)
                    if gain > merit:
                        merit, suggested, threshold = gain, f, value
        n_suggestions += 1
        if merit > first or (settings.river and merit == first):
            first, second, feature, at = merit, first, suggested, threshold
        elif merit > second:
            second = merit
    return n_suggestions, first, second, feature, at


@jit
def _take_slot(tree, node):  # type: ignore[no-untyped-def]
    """Let a leaf watch the features, if there is room."""
    counts = tree.counts
    slot = -1
    if counts[N_FREE] > 0:
        counts[N_FREE] -= 1
        slot = tree.free[counts[N_FREE]]
    elif counts[N_SLOTS] < len(tree.free):
        slot = counts[N_SLOTS]
        counts[N_SLOTS] += 1
    tree.nodes[node, SLOT] = slot
    if slot < 0:
        counts[N_IDLE] += 1
        return
    _clear(tree, slot)
    for f in range(tree.drawn.shape[1]):
        tree.subset[slot, f] = tree.drawn[node, f]


@jit
def _clear(tree, slot):  # type: ignore[no-untyped-def]
    tree.seen[slot, :] = 0.0
    tree.came[slot, 0] = 0


@jit
def drop_slot(tree, node):  # type: ignore[no-untyped-def]
    tree.free[tree.counts[N_FREE]] = tree.nodes[node, SLOT]
    tree.counts[N_FREE] += 1
    tree.nodes[node, SLOT] = -1


@jit
def new_leaf(tree, depth):  # type: ignore[no-untyped-def]
    """Make a leaf that has learnt nothing; return its number."""
    node = tree.counts[N_NODES]
    tree.counts[N_NODES] += 1
    tree.nodes[node, FEATURE] = -1
    tree.nodes[node, DEPTH] = depth
    tree.nodes[node, N_STATS] = tree.nodes[node, N_GIVEN] = 0
    tree.values[node, :] = 0.0
    _take_slot(tree, node)
    return node


@jit
def _child_of_part(tree, settings, scratch, node, part):  # type: ignore[no-untyped-def]
    """Make a leaf that begins with a part of what its parent has learnt."""
    leaf = new_leaf(tree, tree.nodes[node, DEPTH] + 1)
    n = scratch.part_sizes[part]
    tree.nodes[leaf, N_STATS] = tree.nodes[leaf, N_GIVEN] = n
    for place in range(n):
        k = scratch.part_orders[part, place]
        tree.orders[leaf, place] = k
        tree.stats[leaf, k] = scratch.parts[part, k]
    total = weight_of(tree, settings, leaf)
    tree.values[leaf, LAST_TRY] = tree.values[leaf, WEIGHT] = total
    return leaf


@jit
def _split(tree, settings, scratch, node, f, threshold):  # type: ignore[no-untyped-def]
    slot = tree.nodes[node, SLOT]
    feature = tree.subset[slot, f]
    tree.nodes[node, FEATURE] = feature
    if tree.known[feature] < 0:
        _find_deviations(tree, settings, scratch, slot, f)
        _divide(tree, settings, scratch, slot, f, threshold)
        tree.values[node, THRESHOLD] = threshold
        drop_slot(tree, node)
        tree.nodes[node, FIRST] = _child_of_part(tree, settings, scratch, node, 0)
        tree.nodes[node, SECOND] = _child_of_part(tree, settings, scratch, node, 1)
        return
    n_known = _divide_by_category(tree, scratch, slot, feature)
    drop_slot(tree, node)
    begin = _new_branches(tree, node, n_known)
    for code in range(n_known):
        if scratch.part_sizes[code] > 0:
            tree.branches[begin + code] = _child_of_part(tree, settings, scratch, node, code)


@jit
def _new_branches(tree, node, n):  # type: ignore[no-untyped-def]
    """Room for the children of a nominal branch; return where it begins."""
    begin = tree.counts[N_BRANCHES]
    tree.counts[N_BRANCHES] += n
    tree.branches[begin : begin + n] = -1
    tree.nodes[node, FIRST] = begin
    tree.nodes[node, SECOND] = n
    return begin


@jit
def _has_room(tree, n_nodes, n_branches):  # type: ignore[no-untyped-def]
    has_nodes = tree.counts[N_NODES] + n_nodes <= len(tree.nodes)
    return has_nodes and tree.counts[N_BRANCHES] + n_branches <= len(tree.branches)


@jit
def _attempt(tree, settings, scratch, node, weight):  # type: ignore[no-untyped-def]
    """Split a leaf if the Hoeffding bound says that the best feature is known."""
    n = tree.nodes[node, N_STATS]
    n_classes = 0
    most = 0.0
    for place in range(n):
        k = tree.orders[node, place]
        n_classes += tree.stats[node, k] != 0.0
        most = max(most, tree.stats[node, k])
    if n_classes < 2:
        return
    feature = -1
    if not (most != 0.0 and most / weight > settings.most_share):
        n_suggestions, first, second, feature, at = _best_split(tree, settings, scratch, node)
        if n_suggestions > 1:
            span = 1.0 if settings.criterion == GINI else math.log2(max(n, 2))
            bound = math.sqrt((span * span * math.log(1.0 / settings.delta)) / (2.0 * weight))
            if not (first - second > bound or bound < settings.tau):
                return
    if feature >= 0:
        n_parts = len(scratch.parts)
        if not tree.counts[IS_FULL] or _has_room(tree, n_parts, n_parts):
            _split(tree, settings, scratch, node, feature, at)
    elif settings.river:  # a River leaf is deactivated, and activated again at once
        _clear(tree, tree.nodes[node, SLOT])


@jit_of_row
def _watch(tree, scratch, slot, x, k, w, has_gaps):  # type: ignore[no-untyped-def]
    """Learn the features of a row."""
    moments = tree.moments[slot, k]
    if tree.seen[slot, k] == 0.0:
        tree.came[slot, 1 + tree.came[slot, 0]] = k
        tree.came[slot, 0] += 1
        moments[:3] = 0.0
        moments[LOW] = math.inf
        moments[HIGH] = -math.inf
        tree.categories[slot, k] = 0.0
    tree.seen[slot, k] += w
    scratch.is_stale[slot, k] = True
    weights, mean, squares = moments[N], moments[MEAN], moments[SQUARES]
    low, high = moments[LOW], moments[HIGH]
    for f in range(x.size):
        if has_gaps:
            n_known = tree.known[tree.subset[slot, f]]
            if math.isnan(x[f]) or 0 <= n_known <= x[f]:
                continue
            if n_known >= 0:
                weights[f] += w
                column = tree.column[tree.subset[slot, f], int(x[f])]
                tree.categories[slot, k, column] += w
                continue
        weights[f] += w
        old = mean[f]
        new = old + (w / weights[f]) * (x[f] - old)
        mean[f] = new
        squares[f] += w * (x[f] - old) * (x[f] - new)
        low[f] = x[f] if x[f] < low[f] else low[f]
        high[f] = x[f] if x[f] > high[f] else high[f]


@jit
def _note_categories(tree, row):  # type: ignore[no-untyped-def]
    """Give categories that come for the first time their columns, while there is room.

    Return whether there are any: then votes are others than before.
    """
    is_new = False
    for feature in range(len(tree.known)):
        n_known = tree.known[feature]
        has_room = n_known < tree.column.shape[1] and (
            tree.counts[N_CATEGORIES] < tree.categories.shape[2]
        )
        if n_known >= 0 and has_room and row[feature] == n_known:
            tree.column[feature, n_known] = tree.counts[N_CATEGORIES]
            tree.counts[N_CATEGORIES] += 1
            tree.known[feature] = n_known + 1
            tree.counts[MOST_KNOWN] = max(tree.counts[MOST_KNOWN], n_known + 1)
            is_new = True
    return is_new


@jit_of_row
def learn_at(tree, settings, scratch, node, x, k, w, has_gaps, any_bayes):  # type: ignore[no-untyped-def]
    """Learn a row at a leaf, given its votes by naive Bayes; split the leaf where it is time."""
    n = tree.nodes[node, N_STATS]
    if settings.leaf == ADAPTIVE and tree.nodes[node, SLOT] >= 0:
        if n == 0:
            tree.values[node, MAJORITY_RIGHT] += w
        else:
            _majority_votes(tree, settings, node, scratch.votes)
            if best_of(scratch.votes, tree.orders[node], n) == k:
                tree.values[node, MAJORITY_RIGHT] += w
            if any_bayes and best_of(scratch.bayes, tree.orders[node], n) == k:
                tree.values[node, BAYES_RIGHT] += w
    is_known = False
    for place in range(n):
        is_known = is_known or tree.orders[node, place] == k
    if is_known:
        tree.stats[node, k] += w
    else:
        tree.stats[node, k] = w
        tree.orders[node, n] = k
        tree.nodes[node, N_STATS] = n + 1
    slot = tree.nodes[node, SLOT]
    is_deep = tree.nodes[node, DEPTH] >= settings.max_depth
    if slot < 0:
        if not settings.river and not is_deep:
            total = weight_of(tree, settings, node)
            if total - tree.values[node, LAST_TRY] >= settings.grace_period:
                tree.values[node, LAST_TRY] = total
                _wake(tree, settings, node)
        return
    _watch(tree, scratch, slot, x, k, w, has_gaps)
    if is_deep:
        if settings.river or settings.leaf == MAJORITY:
            drop_slot(tree, node)
            tree.counts[N_IDLE] += 1
        return
    total = weight_of(tree, settings, node)
    if total - tree.values[node, LAST_TRY] >= settings.grace_period:
        _attempt(tree, settings, scratch, node, total)
        tree.values[node, LAST_TRY] = total


@jit
def _promise(tree, settings, node):  # type: ignore[no-untyped-def]
    """Weight of the rows that a leaf's majority gets wrong."""
    n = tree.nodes[node, N_STATS]
    most = 0.0
    for place in range(n):
        most = max(most, tree.stats[node, tree.orders[node, place]])
    return weight_of(tree, settings, node) - most


@jit
def _wake(tree, settings, node):  # type: ignore[no-untyped-def]
    """Let an idle leaf watch the features again, instead of the leaf that promises least."""
    if tree.counts[N_FREE] == 0:
        least, weakest = _promise(tree, settings, node), -1
        for other in range(tree.counts[N_NODES]):
            if tree.nodes[other, FEATURE] < 0 and tree.nodes[other, SLOT] >= 0:
                promise = _promise(tree, settings, other)
                if promise < least:
                    least, weakest = promise, other
        if weakest < 0:
            return
        drop_slot(tree, weakest)
        tree.counts[N_IDLE] += 1
    tree.counts[N_IDLE] -= 1
    _take_slot(tree, node)


@jit_of_row
def gather(tree, node, row, out):  # type: ignore[no-untyped-def]
    """Take the features of a row that a leaf watches."""
    slot = tree.nodes[node, SLOT]
    if slot >= 0:
        for f in range(out.size):
            out[f] = row[tree.subset[slot, f]]


@jit
def _heavier_child(tree, node):  # type: ignore[no-untyped-def]
    """Child that most rows have come to; ties go to the first."""
    first, second = tree.nodes[node, FIRST], tree.nodes[node, SECOND]
    if tree.known[tree.nodes[node, FEATURE]] < 0:
        is_second = tree.values[second, WEIGHT] > tree.values[first, WEIGHT]
        return second if is_second else first
    best = -1
    for place in range(first, first + second):
        child = tree.branches[place]
        if child >= 0 and (best < 0 or tree.values[child, WEIGHT] > tree.values[best, WEIGHT]):
            best = child
    return best


@jit
def _child_with_gaps(tree, node, row, learns):  # type: ignore[no-untyped-def]
    """Child for a row with gaps or categories; -1: a category learnt has no branch yet."""
    feature = tree.nodes[node, FEATURE]
    x, n_known = row[feature], tree.known[feature]
    if math.isnan(x):
        return _heavier_child(tree, node)
    first, second = tree.nodes[node, FIRST], tree.nodes[node, SECOND]
    if n_known < 0:
        return first if x <= tree.values[node, THRESHOLD] else second
    child = tree.branches[first + int(x)] if 0 <= x < second else -1
    if child < 0 and not (learns and 0 <= x < n_known):
        child = _heavier_child(tree, node)
    return child


@jit_of_row
def leaf_of(tree, root, row, has_gaps, w, learns):  # type: ignore[no-untyped-def]
    """Leaf below a node that answers to a row, or that learns it with a weight.

    Where it is learnt, a category that comes for the first time gets a branch.
    """
    nodes, values, node = tree.nodes, tree.values, root
    if learns:
        values[root, WEIGHT] += w
    while nodes[node, FEATURE] >= 0:
        if has_gaps:
            child = _child_with_gaps(tree, node, row, learns)
            if child < 0:
                child = _new_branch(tree, node, int(row[nodes[node, FEATURE]]))
            node = child
        elif row[nodes[node, FEATURE]] <= values[node, THRESHOLD]:
            node = nodes[node, FIRST]
        else:
            node = nodes[node, SECOND]
        if learns:
            values[node, WEIGHT] += w
    return node


@jit
def _new_branch(tree, node, code):  # type: ignore[no-untyped-def]
    """Branch for a category; without room the child that most rows have come to."""
    if tree.counts[IS_FULL] and not _has_room(tree, 1, tree.counts[MOST_KNOWN]):
        return _heavier_child(tree, node)
    begin, n = tree.nodes[node, FIRST], tree.nodes[node, SECOND]
    if code >= n:
        moved = _new_branches(tree, node, tree.known[tree.nodes[node, FEATURE]])
        for place in range(n):
            tree.branches[moved + place] = tree.branches[begin + place]
        begin = moved
    child = new_leaf(tree, tree.nodes[node, DEPTH] + 1)
    tree.branches[begin + code] = child
    return child


@jit_of_row
def votes_of(tree, settings, scratch, node, x, has_gaps, always, out):  # type: ignore[no-untyped-def]
    """Probabilities of the classes at a leaf; whether naive Bayes has voted, in `scratch.bayes`.

    `always`: naive Bayes is asked even where its votes are not those of the leaf.
    """
    n = tree.nodes[node, N_STATS]
    is_watching = n > 0 and tree.nodes[node, SLOT] >= 0 and settings.leaf != MAJORITY
    by_bayes = False
    if is_watching:
        if settings.leaf == ADAPTIVE:
            by_bayes = tree.values[node, BAYES_RIGHT] >= tree.values[node, MAJORITY_RIGHT]
        else:
            by_bayes = weight_of(tree, settings, node) >= settings.least_for_bayes
    any_bayes = False
    if is_watching and (by_bayes or (always and settings.leaf == ADAPTIVE)):
        any_bayes = bayes_votes(tree, settings, scratch, node, x, has_gaps, scratch.bayes)
    out[:] = 0.0
    if by_bayes and (any_bayes or settings.river):
        if any_bayes:
            for place in range(n):
                k = tree.orders[node, place]
                out[k] = scratch.bayes[k]
    elif n > 0:
        _majority_votes(tree, settings, node, out)
    return any_bayes


@jit_of_row
def lacks_room(tree, scratch):  # type: ignore[no-untyped-def]
    """Whether a row might need more nodes, slots, branches or categories than there is room for."""
    if tree.counts[IS_FULL]:
        return False
    n_parts, counts = len(scratch.parts), tree.counts
    n_slots = counts[N_SLOTS] - counts[N_FREE]
    return (
        counts[N_NODES] + n_parts + 1 > len(tree.nodes)
        or n_slots + n_parts + 1 > len(tree.free)
        or (
            counts[MOST_KNOWN] > 0
            and not (
                counts[MOST_KNOWN] < tree.column.shape[1]
                and counts[N_BRANCHES] + 2 * n_parts <= len(tree.branches)
                and counts[N_CATEGORIES] + len(tree.known) <= tree.categories.shape[2]
            )
        )
    )


@jit
def run(  # type: ignore[no-untyped-def]
    tree,
    settings,
    scratch,
    learn,
    y,
    weight,
    learn_gaps,
    ask,
    stamp,
    ask_gaps,
    next_learnt,
    begin_learn,
    begin_ask,
    shares,
):
    """Ask and learn in order, until a row may need more room; return how far it came.

    `next_learnt` says of an ask that its row is the next one to be learnt: then its votes are not
    formed twice.
    """
    t, i = begin_learn, begin_ask
    draws = tree.drawn.shape[1] > 0
    asked_node, any_bayes = -1, False
    while True:
        if i < len(stamp) and stamp[i] <= t:
            row = ask[i]
            node = leaf_of(tree, 0, row, ask_gaps[i], 0.0, False)
            x = row
            if draws:
                gather(tree, node, row, scratch.gathered)
                x = scratch.gathered
            any_bayes = votes_of(
                tree, settings, scratch, node, x, ask_gaps[i], next_learnt[i], shares[i]
            )
            asked_node = node if next_learnt[i] else -1
            i += 1
            continue
        if t == len(y) or lacks_room(tree, scratch):
            return t, i
        if tree.counts[N_NODES] == 0:
            new_leaf(tree, 0)
        row, has_gaps = learn[t], learn_gaps[t]
        if has_gaps and _note_categories(tree, row):
            asked_node = -1
        if weight[t] == 0.0:
            asked_node = -1
            t += 1
            continue
        node = leaf_of(tree, 0, row, has_gaps, weight[t], True)
        x = row
        if draws:
            gather(tree, node, row, scratch.gathered)
            x = scratch.gathered
        if node != asked_node:
            any_bayes = False
            if settings.leaf == ADAPTIVE and tree.nodes[node, SLOT] >= 0:
                any_bayes = bayes_votes(tree, settings, scratch, node, x, has_gaps, scratch.bayes)
        asked_node = -1
        learn_at(tree, settings, scratch, node, x, y[t], weight[t], has_gaps, any_bayes)
        t += 1


run.seconds = 16.0  # on two slow cores
