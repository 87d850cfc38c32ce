//! The experiments of the paper, in words.

/// An experiment of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Study {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its section in the paper.
    pub place: &'static str,
    /// The problems.
    pub problem: &'static str,
    /// What a reader should know about the setup.
    pub remark: &'static str,
}

/// All studies: the paper's in its order, then the setting it analyses without an experiment.
pub const STUDIES: [Study; 6] = [
    Study {
        id: "linear",
        title: "Linear",
        place: "Section 6.1",
        problem: "θ* ~ N(0, I) in five dimensions, 100 actions uniform on [−1, 1]⁵, \
                  noise N(0, 0.5²).",
        remark: "",
    },
    Study {
        id: "changing",
        title: "Changing actions",
        place: "Section 6.2",
        problem: "θ* ~ N(0, I) in eight dimensions, 200 new actions uniform on [−1, 1]⁸ in every \
                  round, noise N(0, 0.5²).",
        remark: "Elimination is not defined when actions change, as the paper itself says. Here it \
                 runs by action index, the only possible meaning; its regret says nothing about \
                 elimination, and neither do the parts of claims that name it.",
    },
    Study {
        id: "movielens",
        title: "MovieLens",
        place: "Section 6.3",
        problem: "A rank-5 factorisation of MovieLens 1M: a random user is θ*, 100 random films \
                  are the actions, and the residual of the ratings is the noise (the paper \
                  reports a standard deviation of 0.811; ours must be between 0.805 and 0.820).",
        remark: "Films are drawn from the 3,706 that were rated.",
    },
    Study {
        id: "wine",
        title: "White wine",
        place: "Section 6.4",
        problem: "θ* is the least-squares fit of wine quality to eleven features; 100 random wines \
                  are the actions.",
        remark: "The paper says only that the noise is 1-sub-Gaussian, and nothing about scaling. \
                 We use N(0, 0.5²) and features scaled to [0, 1]; the other choices are below, \
                 under readings.",
    },
    Study {
        id: "heart",
        title: "Heart failure",
        place: "Section 6.5",
        problem: "θ* is the least-squares fit of the outcome to twelve features; the records of \
                  all 299 patients are the actions.",
        remark: "The file's outcome column is 1 for a death, and a plain fit uses it unchanged, so \
                 the “reward” is the fitted risk of a record. An action is a record, not a \
                 treatment: this is a test problem for algorithms, and nothing here is advice on \
                 patients. Survival as the reward is below, under readings. Noise and scaling \
                 are those of wine.",
    },
    Study {
        id: "k-armed",
        title: "K-armed",
        place: "Section 4",
        problem: "Ten arms without features, means uniform on [0, 1], noise N(0, 1).",
        remark: "The paper analyses this setting without an experiment, so it makes no claims \
                 here. UCB1 and Thompson sampling take the places of LinUCB and LinTS; \
                 elimination by an optimal design has no counterpart. CODE uses δ = n⁻³, as its \
                 Theorem 1 requires; the second curve has δ = 0.05.",
    },
];
