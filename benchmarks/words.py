"""Names and sentences of the page."""

RADII = {"paper": "the paper's radius", "determinant": "the valid radius"}

NAMES = {
    "ours:code": "**ours, as shipped**: CODE, contenders scored lazily",
    "ours:code-every": "**ours, same algorithm**: CODE, every action scored every round",
    "ours:lin-ucb": "**ours, as shipped**: LinUCB",
    "ours:lin-ts": "**ours**: LinTS",
    "ours:floor": "floor: one dot product an action in double precision, with no bandit around it",
    "ours:changing-code": "**ours**: CODE",
    "ours:changing-lin-ucb": "**ours**: LinUCB",
    "ours:changing-floor": "floor: the set taken in, and one dot product an action",
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
    "library:bayesianbandits": "bayesianbandits, shared model, Thompson sampling",
    "library:vw-regcbopt": "Vowpal Wabbit, regcbopt",
    "library:vw-squarecb": "Vowpal Wabbit, squarecb",
    "library:coba": "coba, LinUCB",
    "library:mabwiser": "MABWiser, LinUCB, *one model an arm*",
    "crate:rill-ml-shared": "rill-ml (Rust), LinUcbFast, one arm asked about every action",
    "crate:rill-ml": "rill-ml (Rust), LinUcbFast, *one model an arm*",
    "crate:trashpanda": "trashpanda (Rust), LinUCB, *one model an arm*",
}

PROSE = {
    "title": "# Ours beside what you could pick instead",
    "what": """A round is one decision and one update. Everybody plays the same problem: θ* drawn from N(0, I), actions uniform on [−1, 1]ᵈ, noise of scale 0.5 that
depends on the round and not on the action, all written to files before anybody starts. A contender is a process that waits for its turn and plays the run from the
start, on one thread; turns rotate, so that a busy moment of the machine slows nobody in particular, and the fastest turn counts. Runs are of 10,000 rounds unless
a cell says otherwise: a contender whose rounds all cost the same plays as many as fit a turn. The command writes this page,
and every measured turn to `target/bench/rivals.json`. [Micro-benchmarks](README.md) are on a page of their own.""",
    "targets": """What the project asked of itself before anything was measured, and what this run saw: the time of the rival by ours, of the faster one where there are several. **Bold** is
less than asked; a dash asks nothing, and is shown because it was measured.""",
    "fixed": """One set for the whole run. *Same algorithm* scores every action in every round by the O(Kd) update, as the rivals beside it; at d = 64, K = 10,000 ours reads
the features in single precision and scores the few that this leaves in question in double, so that its choices are those of doubles. *As shipped* is what a user
gets: actions that cannot matter for a while are not looked at, with the same choices in every round, and the lazy numba version is the same idea. How much that saves depends on how
soon actions are ruled out, hence on the radius: the width of the paper's experiments (δ = 0.05, λ = 10⁴ in the width, S = 0) is narrow and not a confidence set, the determinant radius with S = √d is one.""",
    "changing": """Each round brings a set never seen before, as rows in memory (64 MB of them are drawn in advance, and come round again where that is not enough); taking it in (`ActionSet::refill`, which checks and copies every feature) is part of our time. No score can be carried over. The
rivals compute K quadratic forms; ours bounds them first, at O(d) each, and computes those that could matter, with the same choices in every round: the more is known, the fewer, so it
plays all rounds. The floor takes the set in and computes one dot product an action, which nobody who chooses by features can do without. Radius: determinant.""",
    "others": """The same fixed-set problem through other people's interfaces, used the fastest way we found in their documentation. Only cost is compared: the policies differ, and those with *one
model an arm* answer another question of the same size (a common context, K separate models). For Vowpal Wabbit the actions are parsed before the time
starts, and in a round only the one that gets a label. The paper's radius where a width can be given, else `alpha = 1`.""",
    "same": """CODE and LinUCB in NumPy and numba, incremental, by rows, lazy and full, beside ours as shipped, on every problem above.""",
    "memory": """Peak resident memory of each process at d = {d}, K = {k}, where the features alone take {matrix} MB; beside it what it had before it read the problem. Python's
interpreter, imports and compiled code count, because a user pays for them; so do the problem's files, once.""",
    "many": """K = {k}, d = {d}, {n} rounds; a row of features takes {bytes} bytes. Features are drawn into one vector and handed over.""",
    "scaling": """CODE. Exponents, also beside the names in the plots, are slopes of log cost against log size, by least squares over the upper half of the points; over the lower half fixed costs hide them. Against n the cost is the mean over a
whole run of n rounds: scored lazily, a longer run has cheaper rounds.""",
    "threads": """`plausibly simulate examples/first-experiment.toml`, {runs} runs of six policies, wall-clock, start to end, files included; the same bytes are written either way.""",
    "fair": """## What is fair, and what is not

- **For the rivals**: numba plays a whole run inside one compiled function, so it never pays for a call from Python; compiling is outside its time. Fast-math lets it reorder and fuse operations. Its
  versions keep the inverse alone; ours also keeps compensated sums, refactors, checks every input and gives the same bits on every machine.
- **The floor of the fixed sets** is a bound on *same algorithm* in double precision: whoever scores every action reads every feature. At d = 64, K = 10,000 they are in the third cache, and reading them
  is most of the time. Ours can be below that floor there because it reads a copy of half the size, whose errors it accounts for; the rivals read doubles.
- **Pages**: NumPy asks the system for huge pages for its large arrays, and gets them on a machine like this one; whoever else takes part asks for them through its allocator, which changes nothing but the features of large or changing sets.
  Without them ours was slower by a twentieth to a tenth on changing sets of d = 16, K = 1,000, where most of the time is reading.
- **For us**: our kernels were tuned on machines like this one. The numba versions were written for this benchmark, tried in several layouts, and are in `benchmarks/rivals`: a faster one
  is welcome and will be measured.
- **Neither**: policies of other libraries do other work than ours (sampling an action from a distribution, hashing features, keeping K models). That is what their users get, and it is not a comparison of algorithms.
- Times are wall-clock on one machine. Ratios between compiled contenders move by a tenth between runs, and more on other processors.""",
}
