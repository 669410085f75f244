"""Every tuned constant of the search for maxima, and every numerical limit, in one place.

A tuned constant trades evaluations for maxima that are found, and nothing else: whatever its value,
what is reported as a maximum is one. Each entry says what it is, in which unit, and what a larger
value buys. ``python -m benchmarks.tuning NAME`` measures it again: halved, doubled and without it,
the evaluations, the seconds and the maxima missed on a fixed set of problems. The results are
guarded by ``tests/path/test_quality.py`` (the best of 50 starts in each cell),
``tests/path/test_reference.py`` (R and the paper) and ``tests/path/test_penalized.py`` (what holds
at every cell); no test knows a value from this file. Distances are in log parameters, the largest
over the coordinates.
"""

# Newton steps in a trust region (newton.py, lockstep.py).

FIRST_RADIUS = 3.0
"""Length in log theta. First radius of the trust region: larger reaches far maxima in fewer steps,
but jumps over near ones."""

LARGEST_RADIUS = 4.0
"""Length in log theta. Largest radius of the trust region; the same trade."""

SUCCESS = 0.4
"""Part of the predicted gain from which a step is a success and the radius may grow: larger takes
shorter, safer steps."""

GROW = 2.0
"""Lengths of a successful step. The next radius is at least that: larger hurries."""

SHRINK = 0.25
"""Lengths of a step without success. The next radius: smaller loses fewer trials, then crawls."""

# What a row must know of a maximum (search.py).

FOLLOW_STEP = 0.03
"""Length in log theta. Last Newton step at which a maximum is known well enough to be followed
along lambda: larger saves an evaluation in each cell, but lists maxima less exactly."""

FOLLOW_GAIN = 1e-6
"""Log likelihood. The same for the gain of that step, where the likelihood is flat."""

EXACT_STEP = 3e-4
"""Length in log theta. The same for the best maximum of a cell, and for all at a single lambda: the
last step leaves an error of its square. Larger saves evaluations and costs digits."""

# When a row is given up (search.py).

PATIENCE = 26
"""Evaluations of a row on a path, beside one for each parameter: larger finds maxima at the end
of long plateaus."""

PATIENCE_ALONE = 5
"""The same at a single lambda, where a start leads to one maximum at most."""

KNOWN = 1.0
"""Length in log theta. A start whose next step ends so near to a known maximum of its cell, or to
where another is about to arrive, is given up: larger saves evaluations and misses near maxima."""

MISSING = 0.5
"""Length in log theta. A neighbour's maximum is looked for in a cell that has none so near: larger
saves evaluations and misses near maxima."""

LEFT_BRANCH = 4.0
"""Length in log theta. A row so far from its predicted maximum follows it no more and is given up:
smaller saves evaluations, and loses fast turns of a path."""

LONGEST_PREDICTION = 1.0
"""Length in log theta. Largest step from the maximum at one lambda to the prediction at the
next."""

LEARNED_ERROR = 0.5
"""Length in log theta. Error of the last prediction up to which it corrects the next one."""

OVERLOOKED = 1e-8
"""Relative. By so much a point must beat the best maximum of its cell to be searched from."""

# Where starts are (starts.py).

ANCHOR_SPACING = 1.8
"""log lambda. Distance of two lambdas at which starts run: smaller starts more often."""

RANDOM_RANGE = (-5.0, 4.0)
"""log theta. Range of random points, within the bounds: higher reaches responses that oscillate
often, at which the 2.5 of the paper's authors does not arrive."""

CANDIDATES_PER_START = 6
"""Points. Random candidates for each of n_starts, evaluated without derivatives: more choose
better."""

ALL_CHOSEN = 10
"""Starts. Up to so many at the smallest lambda are the best candidates; of more, every other one is
random, which finds what does not look promising: with 20 starts the best maximum of 3 of 80 noisy
responses is missed, of 6 if all are chosen."""

APART = 0.18
"""Part of the range of a parameter. Distance between two chosen starts: larger spreads them."""

ALONE = 2.5
"""log theta. Largest start of an input that is alone active."""

ALONE_PENALIZED = 0.5
"""log (lambda theta). The same in units of 1 / lambda."""

ALONE_UNPENALIZED = 4.5
"""log theta. The same where lambda = 0."""

ALONE_BELOW = 2.0
"""log theta. How much lower the second start of an input alone is, if there is one lambda only."""

OFF = 0.4
"""log theta. Distance from the lower bound at which the other inputs start then: at the bound
itself they would stay."""

START_NUGGET = 1e-5
"""Nugget of all starts that are not random."""

START_THETA = 0.5
"""theta of the first start of a large data set."""

# When two maxima are one (cells.py).

SAME_OBJECTIVE = 1e-5
"""Log likelihood. Difference up to which two maxima are one, if the curvature says that the way
between them is level: larger saves evaluations and merges maxima."""

MERGED_OBJECTIVE = 1e-3
"""Log likelihood. The same at the end, when only the best of a cell is exact."""

MERGED_POINT = 0.05
"""Length in log theta. The same at the end."""

# Large data sets (lbfgs.py, fitting.py).

LBFGS_GRADIENT = 5e-6
"""Log likelihood. Projected gradient in log theta at which L-BFGS-B may stop."""

LBFGS_GAINS = (1e-8, 1e-13)
"""Relative. Gain at which L-BFGS-B may stop, at the first try and the second."""

LBFGS_LAST_STEPS = 8
"""Steps by gradients alone that may follow each try, where values are rounded off."""

NEWTON_SIZE = 100
"""Runs. Largest data set with exact Hessians; above, L-BFGS-B takes over: larger finds better
maxima and takes longer. `make bench` shows that with 2 inputs the times cross between n = 80 and
120, with 8 between 60 and 80, where the Newton search still finds better maxima."""

FEWER_RUNS = 200
"""Runs from which a search of more runs learns where to start, and how long its steps are: more
tell it better and cost more."""

FEWER_PART = 2
"""The same, of n runs at most n divided by this: larger makes the first search cheaper, but it
tells less, and in the end 4 costs 1.28 times the evaluations of 2, and 1 costs 1.10."""

STEP_RUNS = 100
"""Runs. A typical step in log theta is no longer than the root of this over n: larger hurries where
the likelihood is flat; 50 costs 1.10 times the evaluations."""

FAR_POINTS = 40
"""Points all over the bounds of which the likeliest far one becomes a start: more choose better."""

FAR = 2.0
"""Length in log theta. Distance of that point from the maxima of fewer runs: larger finds what
these do not show, but may leave no such point. The benchmark's responses do not need it; of 70 with
an outlier (105 to 149 runs, one to four inputs) 2 maxima are missed with it and 3 without it."""

# Numerical limits: what the arithmetic allows, not what is quick.

MOST_ROUNDS = 100
"""Evaluations after which any row is given up."""

CONVERGED = 1e-5
"""Log likelihood. Projected gradient in log theta up to which a reported maximum has converged."""

TOLERANCE = 1e-7
"""Log likelihood. Projected gradient at which a row cannot be improved."""

ROUND_OFF = 1e-10
"""Relative. Change of an objective below which gradients, not values, judge a step."""

LITTLE_GAIN = 1e-5
"""Log likelihood. Predicted gain below which round-off may matter."""

SHORTEST_STEP = 1e-9
"""Length of a step that cannot be shortened any more."""

LONGEST_STEP = 100.0
"""Length of a Newton step beyond which the objective counts as flat in some direction."""

LEAST_CURVATURE = 1e-8
"""Curvature to which a model that is not concave is shifted at least."""

FIXED_CURVATURE = 1e100
"""Curvature that keeps a coordinate where it is."""

NOT_EVALUATED = -1e300
"""Objective of a row that has not been evaluated yet."""

IMPOSSIBLE = 1e4
"""Log likelihood. How much worse than its start a point without likelihood is to L-BFGS-B: much,
but not so much as to upset its line search."""

LARGEST_ARRAY = 4_000_000
"""Numbers in the largest temporary array of the ranking of all points."""
