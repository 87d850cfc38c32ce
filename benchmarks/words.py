"""The names and sentences of the page."""

RADII = {"paper": "the paper's radius", "determinant": "the valid radius"}

NAMES = {
    "ours:code": "**ours, as shipped**: CODE, contenders scored lazily",
    "ours:code-every": "**ours, same algorithm**: CODE, every action scored every round",
    "ours:lin-ucb": "**ours, as shipped**: LinUCB",
    "ours:lin-ts": "**ours**: LinTS",
    "ours:floor": "floor: one dot product per action in double precision, without a bandit",
    "ours:changing-code": "**ours**: CODE",
    "ours:changing-lin-ucb": "**ours**: LinUCB",
    "ours:changing-floor": "floor: reading the set, and one dot product per action",
    "numba:code-incremental": "numba CODE, incremental O(Kd), in blocks",
    "numba:code-incremental-rows": "numba CODE, incremental O(Kd), by rows",
    "numba:code-lazy": "numba CODE, lazy",
    "numba:code-full": "numba CODE, full O(Kd²)",
    "numba:lin-ucb-incremental": "numba LinUCB, incremental O(Kd), in blocks",
    "numba:lin-ucb-incremental-rows": "numba LinUCB, incremental O(Kd), by rows",
    "numba:lin-ucb-lazy": "numba LinUCB, lazy",
    "numba:lin-ts": "numba LinTS",
    "numba:changing-code": "numba CODE, full, tiles",
    "numba:changing-code-blas": "numba CODE, full, BLAS product",
    "numba:changing-lin-ucb": "numba LinUCB, full, tiles",
    "numba:changing-lin-ucb-blas": "numba LinUCB, full, BLAS product",
    "numpy:code-incremental": "NumPy CODE, incremental",
    "numpy:lin-ucb-incremental": "NumPy LinUCB, incremental",
    "library:contextualbandits": "contextualbandits, shared ridge, UCB",
    "ours:glm-code": "**ours, as shipped**: CODE over a logistic model",
    "numpy:glm-code": "NumPy CODE over a logistic model",
    "library:contextualbandits-logistic-ucb-shared": (
        "contextualbandits, LogisticUCB, one arm that scores every action"
    ),
    "library:contextualbandits-logistic-ts-shared": (
        "contextualbandits, LogisticTS, one arm that scores every action"
    ),
    "library:contextualbandits-logistic-ucb": (
        "contextualbandits, LogisticUCB, *one model per arm*"
    ),
    "library:contextualbandits-logistic-ts": "contextualbandits, LogisticTS, *one model per arm*",
    "library:bayesianbandits": "bayesianbandits, shared model, Thompson sampling",
    "library:vw-regcbopt": "Vowpal Wabbit, regcbopt",
    "library:vw-squarecb": "Vowpal Wabbit, squarecb",
    "library:coba": "coba, LinUCB",
    "library:mabwiser": "MABWiser, LinUCB, *one model per arm*",
    "crate:rill-ml-shared": "rill-ml (Rust), LinUcbFast, one arm that scores every action",
    "crate:rill-ml": "rill-ml (Rust), LinUcbFast, *one model per arm*",
    "crate:trashpanda": "trashpanda (Rust), LinUCB, *one model per arm*",
}

PROSE = {
    "title": "# Speed and memory beside other libraries",
    "what": """\
A round is one decision and one update. All contenders play the same problem: θ* drawn from N(0, I),
actions uniform on [−1, 1]ᵈ, and noise of scale 0.5 that depends on the round and not on the action.
Everything is written to files before the first turn. A contender is a process that waits for its
turn and plays the run from the start, on one thread. Turns rotate, so that a busy moment of the
machine slows all contenders alike, and the fastest turn counts. Runs have 10,000 rounds unless a
cell says otherwise: contenders with rounds of constant cost play as many as fit into a turn. The
command writes this page, and every measured turn to `target/bench/rivals.json`.
[Yes-or-no rewards](clicks.md) and [micro-benchmarks](README.md) are on pages of their own.""",
    "targets": """\
The targets were set before the present code was measured. Targets that only the tuning of single
instructions could reach were dropped. A figure is the time of the rival divided by ours; where
there are several rivals, of the fastest one. **Bold** figures miss their target. A dash means that
there is no target.""",
    "fixed": """\
One action set for the whole run. *Same algorithm* scores every action in every round with the O(Kd)
update, like the rivals next to it. *As shipped* is what a user gets: actions that cannot matter for
a while are skipped, with the same choices in every round. The lazy numba version uses the same
idea. The saving depends on how soon actions are ruled out, and so on the radius: the width of the
paper's experiments (δ = 0.05, λ = 10⁴ in the width, S = 0) is narrow and not a confidence set; the
determinant radius with S = √d is one where ‖θ*‖ ≤ √d.""",
    "changing": """\
Each round has a new action set, as rows in memory (64 MB of them are drawn in advance, and reused
in turn if that is not enough). Our time includes reading the set (`ActionSet::refill`, which checks
and copies every feature). No score can be reused. The rivals compute K quadratic forms; ours bounds
them first, at O(d) each, and computes only those that could matter, with the same choices in every
round. As ours learns, these become fewer, so it has to play all rounds, and not only a part of
them. The floor reads the set and computes one dot product per action, the least that any policy
with features must do. Radius: determinant.""",
    "differences": """\
Everything above compares intervals, as the rivals do. In specs and logs CODE compares
differences with the radius `additive` unless told otherwise; this rules actions out sooner and
costs more per round. The radius `forecast` also makes three forecasts per decision and teaches
three more estimates per reward. All play the same problems in the same turns, as shipped, with
S = √d and ridge 1. A round is cheap once one action is left, and how soon that is depends on the
problem. So the figures are means over six problems of each size.""",
    "others": """\
The same fixed-set problem through the interfaces of other libraries, used in the fastest way we
found in their documentation. Only cost is compared: the policies differ, and those with *one model
per arm* solve another problem of the same size (a common context, K separate models). For Vowpal
Wabbit the actions are parsed before the time starts; in a round only the action that gets a label
is parsed again. The radius is the paper's if a width can be given, else `alpha = 1`.""",
    "same": """\
CODE and LinUCB in NumPy and numba, incremental, by rows, lazy and full, beside ours as shipped, on
every problem above.""",
    "memory": """\
Peak resident memory of each process at d = {d}, K = {k}, where the features alone take {matrix} MB,
and the growth since before it read the problem. Python's interpreter, imports and compiled code
count, because a user pays for them; so do the problem's files, once.""",
    "many": """\
K = {k}, d = {d}, {n} rounds; a row of features takes {bytes} bytes. Features are drawn into one
vector, which the action set takes over.""",
    "scaling": """\
CODE. Exponents, also beside the names in the plots, are slopes of log cost against log size, by
least squares over the upper half of the points; in the lower half fixed costs hide them. Against n
the cost is the mean over a whole run of n rounds: with lazy scoring, a longer run has cheaper
rounds.""",
    "threads": """\
`plausibly simulate examples/first-experiment.toml`, {runs} runs of six policies, wall-clock time
from start to end, with files. One or two threads write the same bytes.""",
    "fair": """## What is fair, and what is not

- **For the rivals**: numba plays a whole run inside one compiled function, so it never pays for a
  call from Python; compiling is outside its time. Fast-math lets it reorder and fuse operations.
  Its versions keep only the inverse; ours also keeps compensated sums, refactors, checks every
  input and gives the same bits on every machine.
- **The floor of the fixed sets** is a lower bound on the time of *same algorithm* in double
  precision: scoring every action means reading every feature. At d = 64, K = 10,000 the features
  are in the third-level cache, and reading them is most of the time. Our LinTS can be below that
  floor: it filters by a copy in single precision, of half the size, and scores what is left in
  double. The rivals read doubles.
- **Pages**: NumPy requests huge pages for its large arrays, and gets them on a machine like this
  one. All other contenders request them through their allocator, which only affects the features of
  large or changing sets. Without them ours was slower by a twentieth to a tenth on changing sets of
  d = 16, K = 1,000, where most of the time is reading.
- **For us**: our kernels were tuned on machines like this one. The numba versions were written for
  this benchmark, tried in several layouts, and are in `benchmarks/rivals`: a faster one is welcome
  and will be measured.
- **Neither**: policies of other libraries do other work than ours (sampling an action from a
  distribution, hashing features, keeping K models). That is what their users get, and it is not a
  comparison of algorithms.
- Times are wall-clock on one machine. Ratios between compiled contenders vary by a tenth between
  runs, and more between processors.""",
}

# Of the page about clicks.
CLICKS = {
    "title": "# Speed with yes-or-no rewards, beside NumPy and a library",
    "what": """\
A round is one decision and one update. All contenders play the same problem: the first feature of
an action is 1, the others are uniform on [−1, 1], and the rates of the actions run from 1 to 10 %,
linear in the features on the scale of logits. An action is clicked in a round if a number drawn for
the round is below its rate. Everything is written to files before the first turn. A contender is a
process that waits for its turn and plays the run from the start, on one thread; turns rotate, and
the fastest counts. Linear models are on [a page of their own](rivals.md).""",
    "targets": """\
The targets were set before the first measurement. A figure is the time of the rival divided by
ours. **Bold** figures miss their target. A dash means that there is no target.

A refit after every row was taken needs at least six sums of weighted outer products: two steps of
Newton's method, the curvature, its upper tangent, and two passes of the ellipsoid. Six such sums
are timed beside the refit, in turns and with the same code. Every row has ten rewards on average,
and the fastest of each counts.""",
    "round": """\
CODE over `Glm` with the radius `Likelihood`, usual rate 5 %, S = 3 and δ = 0.05, and the same in
NumPy (`benchmarks/rivals/logistic.py`): the same confidence set, the same comparison of differences
and the same schedule, by which the model refits after 1 + n/200 more rewards. Between refits NumPy
follows the design by steps of rank one and keeps only the plausible actions. Its Newton's method
starts from the last point; ours starts from zero each time, so that the set is a function of the
rewards alone.

The logistic policies of contextualbandits decide by other rules, so only cost is compared. The
library has no logistic model that all actions share; a single arm that gets all rewards serves as
one. It fits from scratch each time, here on our schedule, which refits in each of the first 200
rounds. So runs that are cut short show rounds that cost more than later ones.""",
    "same": """\
The version in NumPy was written from the mathematics and shares no code with ours. CODE's choice
depends on the whole confidence set: on its centre and shape through the widths of the actions, and
on its radius through those that it rules out. In the runs of 100,000 rounds it rules out most of
them.""",
}
