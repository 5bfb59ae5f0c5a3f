"""River's adaptive random forest, compiled: what a row does to trees, detectors and random numbers.

All trees, also those in the background, are in the arrays of one `Tree`; `roots` says where they
begin. Random numbers are those of one `random.Random`, drawn in River's order: trees in turn draw
their weight, then a leaf its features when it first learns a row, that in the background first.
"""

import math

from skstream.tree._core import (
    ADAPTIVE,
    DEPTH,
    FEATURE,
    FIRST,
    N_FREE,
    N_NODES,
    N_SLOTS,
    SECOND,
    SLOT,
    bayes_votes,
    best_of,
    drop_slot,
    gather,
    leaf_of,
    learn_at,
    new_leaf,
    total_of,
    votes_of,
)
from skstream.utils._numba import jit_of_row
from skstream.utils._numba import jit_without_arrays as jit

# Columns of `Forest.windows` and `Forest.counts`; what follows are the buckets in each row.
TOTAL, VARIANCE, WIDTH, WIDTHS = 0, 1, 2, 3
N_BUCKETS, MOST_BUCKETS, TICK, N_ROWS, LENGTHS = 0, 1, 2, 3, 4
# Columns of `Rules.detectors`.
DELTA, CLOCK, MAX_BUCKETS, MIN_WINDOW, GRACE = 0, 1, 2, 3, 4
#: How far the loop came: to the end; to where arrays need more room; to where a tree has learnt a
#: weight at which River measures Python objects.
ENDED, LACKS_ROOM, MEASURES = 0, 1, 2
N_WORDS = 624


@jit_of_row
def _word(twister):  # type: ignore[no-untyped-def]
    """Next 32 bits of the Mersenne twister (Matsumoto & Nishimura 1998)."""
    at = twister[N_WORDS]
    if at == N_WORDS:
        for i in range(N_WORDS):
            following = twister[i + 1 if i < N_WORDS - 1 else 0]
            y = (twister[i] & 0x80000000) | (following & 0x7FFFFFFF)
            other = twister[i + 397 if i < N_WORDS - 397 else i - 227]
            twister[i] = other ^ (y >> 1) ^ ((y & 1) * 0x9908B0DF)
        at = 0
    twister[N_WORDS] = at + 1
    y = twister[at]
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)


@jit
def draw_weight(twister, least):  # type: ignore[no-untyped-def]
    """Weight of a row, as River's ``poisson`` draws it; `least` is exp(-rate)."""
    k, p = 0, 1.0
    while p > least:
        high = _word(twister) >> 5
        low = _word(twister) >> 6
        p *= (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)
        k += 1
    return k - 1


@jit
def _below(twister, n):  # type: ignore[no-untyped-def]
    n_bits = 0
    while n >> n_bits:
        n_bits += 1
    drawn = n
    while drawn >= n:
        drawn = _word(twister) >> (32 - n_bits)
    return drawn


@jit
def draw_features(twister, rules, pool, out):  # type: ignore[no-untyped-def]
    """Features of a leaf, as ``random.Random.sample`` draws them; `pool` has room for all."""
    n = rules.features.size
    for j in range(n):
        pool[j] = j
    for i in range(out.size):
        if rules.draws_from_pool:
            j = _below(twister, n - i)
            place = pool[j]
            pool[j] = pool[n - i - 1]
        else:
            place = _below(twister, n)
            while pool[place] < 0:
                place = _below(twister, n)
            pool[place] = -1
        out[i] = rules.features[place]


@jit
def forget_window(forest, d):  # type: ignore[no-untyped-def]
    """Empty the window of a detector."""
    forest.windows[d, :] = 0.0
    forest.counts[d, :] = 0
    forest.counts[d, N_ROWS] = 1
    forest.buckets[d, :] = 0.0


@jit_of_row
def _shift(counts, sums, spreads, row, n):  # type: ignore[no-untyped-def]
    """Drop the oldest buckets of a row."""
    for at in range(sums.size):
        sums[at] = sums[at + n] if at + n < sums.size else 0.0
        spreads[at] = spreads[at + n] if at + n < sums.size else 0.0
    counts[LENGTHS + row] -= n


@jit_of_row
def _insert(window, counts, buckets, most, x):  # type: ignore[no-untyped-def]
    """Put a value into a window, whose rows have up to so many buckets."""
    counts[N_BUCKETS] += 1
    counts[MOST_BUCKETS] = max(counts[MOST_BUCKETS], counts[N_BUCKETS])
    window[WIDTH] += 1.0
    before = window[WIDTH] - 1.0
    if before > 0.0:
        deviation = x - window[TOTAL] / before
        window[VARIANCE] += before * deviation * deviation / window[WIDTH]
    window[TOTAL] += x
    total, variance, size, row = x, 0.0, 1.0, 0
    while True:
        sums, spreads = buckets[row, 0], buckets[row, 1]
        sums[counts[LENGTHS + row]], spreads[counts[LENGTHS + row]] = total, variance
        counts[LENGTHS + row] += 1
        if counts[LENGTHS + row] <= most:
            return
        gap = sums[0] / size - sums[1] / size
        total = sums[0] + sums[1]
        variance = spreads[0] + spreads[1] + size * size * gap * gap / (size + size)
        _shift(counts, sums, spreads, row, 2)
        counts[N_BUCKETS] += 1
        row, size = row + 1, 2.0 * size
        counts[N_ROWS] = max(counts[N_ROWS], row + 1)


@jit
def _cuts(window, counts, buckets, rule):  # type: ignore[no-untyped-def]
    """Whether some boundary between the buckets cuts the window."""
    width, least = window[WIDTH], rule[MIN_WINDOW]
    log = math.log(2.0 * math.log(width) / rule[DELTA])
    variance = window[VARIANCE] / width
    n0, n1, sum0, sum1 = 0.0, width, 0.0, window[TOTAL]
    for row in range(counts[N_ROWS] - 1, -1, -1):
        size = 2.0**row
        for at in range(counts[LENGTHS + row]):
            n0, n1 = n0 + size, n1 - size
            sum0 += buckets[row, 0, at]
            sum1 -= buckets[row, 0, at]
            if row == 0 and at == counts[LENGTHS] - 1:
                return False
            if n1 >= least and n0 >= least:
                gap = sum0 / n0 - sum1 / n1
                reciprocal = 1.0 / (n0 - least + 1.0) + 1.0 / (n1 - least + 1.0)
                threshold = math.sqrt(2.0 * reciprocal * variance * log)
                if abs(gap) > threshold + 2.0 / 3.0 * log * reciprocal:
                    return True
    return False


@jit
def _drop_oldest(window, counts, buckets):  # type: ignore[no-untyped-def]
    row = counts[N_ROWS] - 1
    sums, spreads = buckets[row, 0], buckets[row, 1]
    n = 2.0**row
    window[WIDTH] -= n
    window[TOTAL] -= sums[0]
    gap = sums[0] / n - window[TOTAL] / window[WIDTH]
    window[VARIANCE] -= spreads[0] + n * window[WIDTH] * gap * gap / (n + window[WIDTH])
    _shift(counts, sums, spreads, row, 1)
    counts[N_BUCKETS] -= 1
    if counts[LENGTHS + row] == 0:
        counts[N_ROWS] -= 1


@jit
def alarms(window, counts, buckets, rule, x):  # type: ignore[no-untyped-def]
    """Let a detector read a value, as River's ADWIN does; return whether it sees a change."""
    _insert(window, counts, buckets, int(rule[MAX_BUCKETS]), x)
    counts[TICK] += 1
    is_changed = False
    if counts[TICK] % int(rule[CLOCK]) == 0 and window[WIDTH] > rule[GRACE]:
        while _cuts(window, counts, buckets, rule):
            is_changed = True
            _drop_oldest(window, counts, buckets)
    window[WIDTHS] += window[WIDTH]
    return is_changed


@jit
def begin_tree(forest, which):  # type: ignore[no-untyped-def]
    """Let a tree begin that has learnt nothing, in place of an older one."""
    _end_tree(forest, which)
    tree = forest.tree
    forest.roots[which] = new_leaf(tree, 0)
    tree.drawn[forest.roots[which], 0] = -1
    forest.weights[which] = 0.0
    forest.seen[which, :] = False


@jit
def _end_tree(forest, which):  # type: ignore[no-untyped-def]
    """Free the slots of a tree; its nodes are free when arrays are made anew."""
    tree, root = forest.tree, forest.roots[which]
    forest.roots[which] = -1
    if root < 0:
        return
    tree.nodes[root, DEPTH] = -1
    for node in range(root, tree.counts[N_NODES]):  # children come after their parents
        if tree.nodes[node, DEPTH] == -1:
            if tree.nodes[node, FEATURE] >= 0:
                tree.nodes[tree.nodes[node, FIRST], DEPTH] = -1
                tree.nodes[tree.nodes[node, SECOND], DEPTH] = -1
            elif tree.nodes[node, SLOT] >= 0:
                drop_slot(tree, node)


@jit_of_row
def _ask(forest, settings, scratch, room, t, row, is_next):  # type: ignore[no-untyped-def]
    """Votes of a tree, and what learning needs of them if this row is the next."""
    tree = forest.tree
    node = leaf_of(tree, forest.roots[t], row, False, 0.0, False)
    gather(tree, node, row, scratch.gathered)
    votes = room.votes[t]
    any_bayes = votes_of(tree, settings, scratch, node, scratch.gathered, False, is_next, votes)
    said = -1
    for k in range(votes.size):
        room.bayes[t, k] = scratch.bayes[k]
        if forest.seen[t, k] and (said == -1 or votes[k] > votes[said]):
            said = k
    room.nodes[t], room.any_bayes[t], room.said[t] = node, any_bayes, said


@jit_of_row
def _answer(forest, settings, rules, room, shares):  # type: ignore[no-untyped-def]
    """Probabilities of the forest; return the class with the highest, -1: no tree knows any."""
    n_known = 0
    for t in range(room.said.size):
        right, asked = forest.n_right[t], forest.n_asked[t]
        share = right / asked if asked > 0.0 else 0.0
        for k in range(shares.size):
            if not forest.seen[t, k]:
                continue
            vote = room.votes[t, k]
            if share > 0.0 and rules.weighs_votes:
                vote *= share
            is_new = True
            for place in range(n_known):
                is_new = is_new and room.known[place] != k
            if is_new:
                room.known[n_known] = k
                n_known += 1
                shares[k] = vote
            else:
                shares[k] += vote
    if n_known == 0:
        return -1
    total = total_of(shares, room.known, n_known, n_known if settings.compensates else 0)
    if total > 0.0:
        for place in range(n_known):
            shares[room.known[place]] /= total
    return best_of(shares, room.known, n_known)


@jit_of_row
def _teach(forest, settings, rules, scratch, room, which, node, row, k, w, any_bayes):  # type: ignore[no-untyped-def]
    """Let a tree learn a row at a leaf; whether River then measures Python objects."""
    tree = forest.tree
    slot = tree.nodes[node, SLOT]
    if slot >= 0 and tree.drawn[node, 0] < 0:
        draw_features(forest.twister, rules, room.pool, tree.drawn[node])
        for f in range(tree.subset.shape[1]):
            tree.subset[slot, f] = tree.drawn[node, f]
    gather(tree, node, row, scratch.gathered)
    n_before = tree.counts[N_NODES]
    learn_at(tree, settings, scratch, node, scratch.gathered, k, w, False, any_bayes)
    for leaf in range(n_before, tree.counts[N_NODES]):
        tree.drawn[leaf, 0] = -1
    forest.seen[which, k] = True
    forest.weights[which] += w
    weight, period = forest.weights[which], rules.measured_every
    return weight >= period and weight % period == 0.0


@jit_of_row
def _score(forest, t, said, k):  # type: ignore[no-untyped-def]
    """Count an answer of a tree."""
    answer = said if said >= 0 else forest.seen.shape[1]
    forest.n_asked[t] += 1.0
    forest.n_right[t] += said == k
    number = int(forest.n_asked[t])
    forest.confusion[t, k, answer] += 1.0
    if forest.first[t, k, answer] == 0:
        forest.first[t, k, answer] = number
    if forest.first_true[t, k] == 0:
        forest.first_true[t, k] = number
    if forest.first_said[t, answer] == 0:
        forest.first_said[t, answer] = number


@jit
def _forget_score(forest, t):  # type: ignore[no-untyped-def]
    forest.n_asked[t] = forest.n_right[t] = 0.0
    forest.confusion[t] = 0.0
    forest.first[t] = 0
    forest.first_true[t] = 0
    forest.first_said[t] = 0


@jit
def _note_alarm(forest, kind, t):  # type: ignore[no-untyped-def]
    forest.n_alarms[kind, t] += 1
    if forest.first_alarm[kind, t] == 0:
        number = 1
        for other in range(forest.n_asked.size):
            number += forest.first_alarm[kind, other] > 0
        forest.first_alarm[kind, t] = number


@jit
def _replace(forest, t):  # type: ignore[no-untyped-def]
    """Put the tree in the background, or a new one, in place of a tree."""
    behind = forest.n_asked.size + t
    if forest.roots[behind] >= 0:
        _end_tree(forest, t)
        forest.roots[t], forest.roots[behind] = forest.roots[behind], -1
        forest.weights[t] = forest.weights[behind]
        for k in range(forest.seen.shape[1]):
            forest.seen[t, k] = forest.seen[behind, k]
        forget_window(forest, t)
    else:
        begin_tree(forest, t)
    forget_window(forest, behind)
    _forget_score(forest, t)
    _note_alarm(forest, 1, t)


@jit_of_row
def _detect(forest, rules, kind, t, wrong):  # type: ignore[no-untyped-def]
    """Whether the detector of warnings, or that of drifts, of a tree raises an alarm."""
    d = kind * forest.n_asked.size + t
    window, counts, buckets = forest.windows[d], forest.counts[d], forest.buckets[d]
    return alarms(window, counts, buckets, rules.detectors[kind], wrong)


@jit_of_row
def _learn(forest, settings, rules, scratch, room, t, row, k):  # type: ignore[no-untyped-def]
    """Let a tree, which was asked about a row, learn it, and that in the background before it.

    Return whether River then measures Python objects.
    """
    tree, n_trees, said, measures = forest.tree, room.said.size, room.said[t], False
    _score(forest, t, said, k)
    w = float(draw_weight(forest.twister, rules.least))
    if w <= 0.0:
        return False
    for which in range(n_trees + t, -1, -n_trees):
        if forest.roots[which] < 0:
            continue
        node, any_bayes = room.nodes[t], room.any_bayes[t]
        if which == t:
            for c in range(scratch.bayes.size):
                scratch.bayes[c] = room.bayes[t, c]
        else:
            node, any_bayes = leaf_of(tree, forest.roots[which], row, False, 0.0, False), False
            if settings.leaf == ADAPTIVE and tree.nodes[node, SLOT] >= 0:
                gather(tree, node, row, scratch.gathered)
                any_bayes = bayes_votes(
                    tree, settings, scratch, node, scratch.gathered, False, scratch.bayes
                )
        measures |= _teach(
            forest, settings, rules, scratch, room, which, node, row, k, w, any_bayes
        )
    wrong = 0.0 if said == k else 1.0
    if rules.warns and _detect(forest, rules, 0, t, wrong):
        begin_tree(forest, n_trees + t)
        forget_window(forest, t)
        _note_alarm(forest, 0, t)
    if rules.replaces and _detect(forest, rules, 1, t, wrong):
        _replace(forest, t)
    return measures


@jit_of_row
def _lacks_room(tree, n):  # type: ignore[no-untyped-def]
    """Whether so many leaves may not fit."""
    n_slots = tree.counts[N_SLOTS] - tree.counts[N_FREE]
    return tree.counts[N_NODES] + n > len(tree.nodes) or n_slots + n > len(tree.free)


@jit
def run_forest(  # type: ignore[no-untyped-def]
    forest,
    settings,
    rules,
    scratch,
    room,
    learn,
    index,
    y,
    ask,
    stamp,
    next_learnt,
    begin_learn,
    begin_ask,
    shares,
    codes,
):
    """Ask and learn in order, as far as it goes; return how far it came, and why it stopped."""
    t, i, is_asked = begin_learn, begin_ask, False
    while True:
        asks = i < len(stamp) and stamp[i] <= t
        if not asks:
            if t == len(y):
                return t, i, ENDED
            if _lacks_room(forest.tree, 6 * room.said.size):
                return t, i, LACKS_ROOM
        row = ask[i] if asks else learn[index[t]]
        if asks or not is_asked:
            is_asked = next_learnt[i] if asks else True
            for number in range(room.said.size):
                _ask(forest, settings, scratch, room, number, row, is_asked)
        if asks:
            codes[i] = _answer(forest, settings, rules, room, shares[i])
            i += 1
            continue
        measures = False
        for number in range(room.said.size):
            measures |= _learn(forest, settings, rules, scratch, room, number, row, y[t])
        if measures:
            return t, i, MEASURES
        is_asked = False
        t += 1


run_forest.seconds = 38.0  # on two slow cores
