//! The study of yes and no: logistic CODE, and CODE for counts, beside linear rivals.
//!
//! The comparisons repeat tables of a prototype in another language, which shares no code with
//! this project. The tables of few actions and their statement were fixed before any of their
//! results had been seen; only then did logs get the logistic set, about which the statement is.

use super::verdicts::{Method, TODAY_TABLE, described};
use super::{INTERVALS, Job, Planner, Role, Scale, Setup, Source, VerdictProblem, policy};

/// A mean and its standard error.
pub(crate) type Mean = (f64, f64);

/// What the prototype measured: regret, then model error.
pub(crate) type Known = (Mean, Mean);

/// A policy of a comparison: its label, its kind, its fields, and what the prototype measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) label: &'static str,
    kind: &'static str,
    fields: &'static str,
    pub(crate) known: Option<Known>,
}

/// Policies on problems that the prototype played too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YesNoComparison {
    /// Name of its spec, without `.toml`.
    pub spec_name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Whether a few runs make up the means, so that only their order of magnitude is compared.
    pub heavy: bool,
    runs: u64,
    horizon: u64,
    environment: &'static str,
    /// What the model that measures the model error is told, as in the policies.
    radius: &'static str,
    pub(crate) entries: &'static [Entry],
}

/// Labels that mark where the model error is compared in its order of magnitude only: these
/// policies learn little about most actions, so a few runs make up its mean.
pub(crate) const GREEDY_LABELS: [&str; 2] = [UCB, THOMPSON];
const UCB: &str = "UCB";
const THOMPSON: &str = "Thompson";

/// A row with the prototype's figures.
const fn row(
    label: &'static str,
    kind: &'static str,
    fields: &'static str,
    regret: Mean,
    model_error: Mean,
) -> Entry {
    Entry { label, kind, fields, known: Some((regret, model_error)) }
}

const fn curved(
    label: &'static str,
    fields: &'static str,
    regret: Mean,
    model_error: Mean,
) -> Entry {
    row(label, "code", fields, regret, model_error)
}

/// Fields of linear policies of the prototype: rewards in [0, 1], ridge 1, S = 1.
macro_rules! linear {
    ($radius:literal, $more:literal) => {
        concat!(
            "ridge = 1.0\nradius = { kind = \"",
            $radius,
            "\", delta = 0.05, noise_scale = 0.5, theta_norm_bound = 1.0 }\n",
            $more
        )
    };
}

const LINEAR: &str = linear!("determinant", "");
const LINEAR_TEMPERED: &str = linear!("determinant", "greed = 0.3\n");
const LINEAR_GREEDY: &str = linear!("determinant", "greed = 1.0\n");
const LINEAR_ROOT: &str = linear!("additive", "");
const LINEAR_ROOT_GREEDY: &str = linear!("additive", "greed = 1.0\n");

const TEMPERED: &str = "greed = 0.3\n";
const GREED_5: &str = "greed = 0.5\n";
const TARGET: &str = "target = { kappa = 4.0 }\n";
const GREEDY: &str = "greed = 1.0\n";

const LOGISTIC_RADIUS: &str =
    "{ kind = \"logistic\", delta = 0.05, usual = 0.5, theta_norm_bound = 4.0 }";
const STEEP_RADIUS: &str =
    "{ kind = \"logistic\", delta = 0.05, usual = 0.5, theta_norm_bound = 12.0 }";
const CLICKS_RADIUS: &str =
    "{ kind = \"logistic\", delta = 0.05, usual = 0.05, theta_norm_bound = 3.0 }";
const COUNTS_RADIUS: &str =
    "{ kind = \"poisson\", delta = 0.05, usual = 1.0, theta_norm_bound = 3.0 }";

const LOGISTIC: YesNoComparison = YesNoComparison {
    spec_name: "yes-no-logistic",
    title: "Logistic, mid-range rates",
    heavy: false,
    runs: 100,
    horizon: 10_000,
    environment: "kind = \"logistic\"\ndim = 5\nactions = 100",
    radius: LOGISTIC_RADIUS,
    entries: &[
        curved("CODE", "", (1134.0, 25.0), (24.0, 0.8)),
        curved("c=0.3", TEMPERED, (602.0, 10.0), (26.0, 1.1)),
        curved("c=0.5", GREED_5, (397.0, 6.0), (29.0, 1.1)),
        curved("κ=4", TARGET, (322.0, 5.0), (43.0, 1.6)),
        curved(UCB, GREEDY, (126.0, 5.0), (140.6, 14.5)),
        row(THOMPSON, "laplace-ts", "", (52.0, 3.0), (359.6, 36.1)),
        row("uniform", "explore-then-commit", "epsilon = 1.0\n", (4254.0, 66.0), (37.4, 1.1)),
    ],
};

/// The same problems with an intercept, which changes no mean, for linear policies. The first one
/// shows what the intercept changes about logistic CODE and about its ruler.
const LOGISTIC_LINEAR: YesNoComparison = YesNoComparison {
    spec_name: "yes-no-logistic-intercept",
    title: "Logistic, mid-range rates, with an intercept",
    environment: "kind = \"logistic\"\nintercept = true\ndim = 6\nactions = 100",
    entries: &[
        Entry { label: "CODE", kind: "code", fields: "", known: None },
        row("linear CODE", "code", LINEAR, (1384.0, 31.0), (27.5, 0.9)),
        row("linear c=0.3", "code", LINEAR_TEMPERED, (776.0, 16.0), (30.0, 1.2)),
        row("linear UCB", "code", LINEAR_GREEDY, (282.0, 6.0), (50.8, 2.3)),
        row("linear CODE, additive", "code", LINEAR_ROOT, (1087.0, 26.0), (28.4, 0.9)),
        row("linear UCB, additive", "code", LINEAR_ROOT_GREEDY, (227.0, 4.0), (70.1, 4.2)),
    ],
    ..LOGISTIC
};

const CLICKS: YesNoComparison = YesNoComparison {
    spec_name: "yes-no-clicks",
    title: "Clicks, rates from 1 to 10 %",
    environment: "kind = \"clicks\"\ndim = 5\nactions = 100",
    radius: CLICKS_RADIUS,
    entries: &[
        curved("CODE", "", (442.0, 5.0), (5.24, 0.19)),
        curved("c=0.3", TEMPERED, (342.0, 4.0), (5.00, 0.21)),
        curved("c=0.5", GREED_5, (303.0, 4.0), (5.28, 0.19)),
        curved("κ=4", TARGET, (275.0, 4.0), (5.45, 0.22)),
        curved(UCB, GREEDY, (215.0, 3.0), (6.40, 0.28)),
        row(THOMPSON, "laplace-ts", "", (77.0, 2.0), (9.09, 0.48)),
        row("linear CODE", "code", LINEAR, (593.0, 3.0), (8.46, 0.43)),
        row("linear c=0.3", "code", LINEAR_TEMPERED, (500.0, 5.0), (6.73, 0.33)),
        row("linear UCB", "code", LINEAR_GREEDY, (310.0, 5.0), (5.91, 0.26)),
        row("linear CODE, additive", "code", LINEAR_ROOT, (593.0, 3.0), (8.46, 0.43)),
        row("linear UCB, additive", "code", LINEAR_ROOT_GREEDY, (263.0, 4.0), (5.22, 0.20)),
        row("uniform", "explore-then-commit", "epsilon = 1.0\n", (635.0, 3.0), (14.35, 0.97)),
    ],
    ..LOGISTIC
};

const CLICKS_LONG: YesNoComparison = YesNoComparison {
    spec_name: "yes-no-clicks-long",
    title: "Clicks, rates from 1 to 10 %, ten times as long",
    runs: 20,
    horizon: 100_000,
    entries: &[
        curved("CODE", "", (2047.0, 50.0), (6.66, 0.57)),
        curved("c=0.3", TEMPERED, (1196.0, 48.0), (7.78, 0.49)),
        curved("κ=4", TARGET, (716.0, 27.0), (9.16, 0.85)),
        curved(UCB, GREEDY, (457.0, 15.0), (13.57, 1.26)),
        row(THOMPSON, "laplace-ts", "", (158.0, 14.0), (51.96, 8.31)),
        row("linear CODE", "code", LINEAR, (5653.0, 78.0), (11.75, 0.93)),
        row("linear UCB", "code", LINEAR_GREEDY, (1124.0, 47.0), (9.23, 0.81)),
    ],
    ..CLICKS
};

const STEEP: YesNoComparison = YesNoComparison {
    spec_name: "yes-no-steep",
    title: "Steep, rates close to 0 and 1",
    heavy: true,
    runs: 30,
    environment: "kind = \"logistic\"\ndim = 5\nactions = 100\nscale = 3.0",
    radius: STEEP_RADIUS,
    entries: &[
        curved("CODE", "", (565.0, 50.0), (25.2, 1.8)),
        curved("c=0.3", TEMPERED, (427.0, 29.0), (25.8, 1.8)),
        curved("κ=4", TARGET, (419.0, 15.0), (29.2, 2.1)),
        curved(UCB, GREEDY, (401.0, 67.0), (653.0, 78.0)),
    ],
    ..LOGISTIC
};

const STEEP_LINEAR: YesNoComparison = YesNoComparison {
    spec_name: "yes-no-steep-intercept",
    title: "Steep, with an intercept",
    environment: "kind = \"logistic\"\nintercept = true\ndim = 6\nactions = 100\nscale = 3.0",
    entries: &[
        Entry { label: "CODE", kind: "code", fields: "", known: None },
        row("linear CODE", "code", LINEAR, (617.0, 58.0), (107.0, 28.0)),
        row("linear c=0.3", "code", LINEAR_TEMPERED, (397.0, 33.0), (178.0, 27.0)),
        row("linear UCB", "code", LINEAR_GREEDY, (133.0, 14.0), (519.0, 109.0)),
    ],
    ..STEEP
};

const COUNTS: YesNoComparison = YesNoComparison {
    spec_name: "yes-no-poisson",
    title: "Counts, means from 0.2 to 5",
    runs: 30,
    environment: "kind = \"poisson\"\ndim = 5\nactions = 100",
    radius: COUNTS_RADIUS,
    entries: &[
        curved("CODE", "", (3284.0, 194.0), (339.0, 18.0)),
        curved(UCB, GREEDY, (734.0, 30.0), (1707.0, 235.0)),
        row(THOMPSON, "laplace-ts", "", (208.0, 16.0), (4809.0, 628.0)),
    ],
    ..LOGISTIC
};

/// All comparisons, in the order of the report.
pub const YES_NO_COMPARISONS: [YesNoComparison; 7] =
    [LOGISTIC, LOGISTIC_LINEAR, CLICKS, CLICKS_LONG, STEEP, STEEP_LINEAR, COUNTS];

impl YesNoComparison {
    fn policies(&self) -> String {
        let radius = self.radius;
        let one = |entry: &Entry| {
            let told = match entry.kind {
                "explore-then-commit" => String::new(),
                "laplace-ts" => format!("radius = {radius}\n"),
                _ if entry.fields.contains("radius") => INTERVALS.into(),
                _ => format!("radius = {radius}\n{INTERVALS}"),
            };
            policy(entry.kind, entry.label, &(told + entry.fields))
        };
        let policies: String = self.entries.iter().map(one).collect();
        format!("\n[metric]\nradius = {radius}\n{INTERVALS}{policies}")
    }
}

/// A table of few actions: when its sets rule actions out, with features and without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YesNoTable {
    /// With features.
    pub features: VerdictProblem,
    /// The same means and luck without features.
    pub arms: VerdictProblem,
    /// Name of the spec of Beta Thompson sampling, without `.toml`, which has no set to watch.
    pub(crate) beta: &'static str,
    /// What the told logistic set is told as the usual rate.
    usual: &'static str,
    /// How many times sooner than today's set the set of logs is to rule out the first action.
    pub(crate) sooner: Option<u32>,
    /// The label of the forecast set, which has pairs where there are at most 64 actions.
    forecast: &'static str,
    environment: &'static str,
}

/// Names of the specs of a table.
macro_rules! table {
    ($name:literal, $title:literal, $environment:literal, $usual:literal, $forecast:expr,
     $sooner:expr, $reason:literal) => {
        YesNoTable {
            features: described($name, $title, Source::Chosen($reason)),
            arms: described(concat!($name, "-arms"), $title, Source::Chosen($reason)),
            beta: concat!($name, "-beta"),
            usual: $usual,
            sooner: $sooner,
            forecast: $forecast,
            environment: concat!("kind = \"clicks\"\ndim = 5\n", $environment),
        }
    };
}

const PAIRS: &str = "forecast with pairs";
const NO_PAIRS: &str = "forecast";

/// All tables, in the order of the report.
pub const YES_NO_TABLES: [YesNoTable; 4] = [
    table!(
        "yes-no-table-7",
        "7 actions, rates from 1 to 10 %",
        "actions = 7",
        "0.05",
        PAIRS,
        Some(3),
        "A handful of variants is the most frequent table of a log."
    ),
    table!(
        "yes-no-table-30",
        "30 actions, rates from 1 to 10 %",
        "actions = 30",
        "0.05",
        PAIRS,
        Some(3),
        "Several features for few actions, still few enough for pairs."
    ),
    table!(
        "yes-no-table-100",
        "100 actions, rates from 1 to 10 %",
        "actions = 100",
        "0.05",
        NO_PAIRS,
        Some(3),
        "The problems of the comparison with clicks, by the defaults. Pairs end at 64 actions."
    ),
    table!(
        "yes-no-table-30-middle",
        "30 actions, rates from 20 to 80 %",
        "actions = 30\nlowest = 0.2\nhighest = 0.8",
        "0.5",
        PAIRS,
        None,
        "Where rates are mid-range a linear set should be as good."
    ),
];

/// Rounds of a run on a table.
const TABLE_ROUNDS: u64 = 20_000;
/// Runs on a table: from 72 on, an interval of 95 % about no miss at all ends below 5 %.
const TABLE_RUNS: u64 = 80;
/// Of this many runs one is played without features, because comparing all pairs takes long.
const ONE_WITHOUT: u64 = 5;

const ADDITIVE: Method = ("additive", "radius = { kind = \"additive\" }\n");
const FORECAST: &str = "radius = { kind = \"forecast\" }\n";
const AS_SHIPPED: Method = (OF_LOGS, "radius = { kind = \"logistic\" }\n");
/// The label of the set that logs of yes and no have.
pub const OF_LOGS: &str = "logistic, as shipped";
const TWO_POINT: Method = ("two-point with pairs, no features", "");
/// The label of Beta Thompson sampling.
pub(crate) const BETA: &str = "Beta Thompson, no features";

impl YesNoTable {
    fn policies(&self) -> String {
        let told =
            format!("radius = {{ kind = \"logistic\", usual = {}, factor = 10.0 }}\n", self.usual);
        let inside = format!("{told}inside = {{ kind = \"laplace-ts\" }}\n");
        let sets = [TODAY_TABLE, ADDITIVE, (self.forecast, FORECAST), AS_SHIPPED];
        let sets: String =
            sets.iter().map(|(label, fields)| policy("code", label, fields)).collect();
        sets + &policy("code", "logistic, told", &told)
            + &policy("insured", "logistic Thompson, insured", &inside)
            + &policy("laplace-ts", "logistic Thompson, told", &told)
    }
}

/// Every comparison, and every table with its sets.
pub(crate) fn yes_no(scale: Scale, seed: u64) -> Vec<Job> {
    let mut planner = Planner { scale, seed, jobs: Vec::new() };
    for comparison in &YES_NO_COMPARISONS {
        let YesNoComparison { spec_name, runs, horizon, environment, .. } = *comparison;
        let policies = &comparison.policies();
        let setup = Setup { runs: scale.runs(runs), horizon, environment, policies };
        planner.add("yes-no", Role::YesNo(comparison), spec_name, setup);
    }
    for table in &YES_NO_TABLES {
        let hidden = &format!("{}\nhide_features = true", table.environment);
        let [sets, two_point, beta] = [
            table.policies(),
            policy("code", TWO_POINT.0, TWO_POINT.1),
            // Its model error is not reported, and pairs would take most of the time.
            format!(
                "\n[metric]\nradius = {{ kind = \"mixture\" }}\n{}",
                policy("beta-thompson", BETA, "")
            ),
        ];
        let mut add = |part, spec_name, environment, policies| {
            let all = scale.runs(TABLE_RUNS);
            let runs = if part == Part::Arms { all.div_ceil(ONE_WITHOUT) } else { all };
            let setup = Setup { runs, horizon: TABLE_ROUNDS, environment, policies };
            planner.add("yes-no", Role::YesNoTable(table, part), spec_name, setup);
        };
        add(Part::Features, table.features.spec_name, table.environment, &sets);
        add(Part::Arms, table.arms.spec_name, hidden, &two_point);
        add(Part::Beta, table.beta, hidden, &beta);
    }
    planner.jobs
}

/// What is played on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The sets that see features.
    Features,
    /// The set that sees arms.
    Arms,
    /// Beta Thompson sampling, which has no set and is compared by its regret.
    Beta,
}

#[cfg(test)]
mod tests {
    use super::*;
    use plausibly_sim::{Experiment, Overrides};

    #[test]
    fn every_job_is_a_spec_and_the_ruler_is_that_of_the_policies() {
        let jobs = yes_no(Scale { runs: None, quick: false }, 1);
        assert_eq!(jobs.len(), YES_NO_COMPARISONS.len() + 3 * YES_NO_TABLES.len());
        for job in &jobs {
            let experiment = Experiment::from_toml(&job.spec, Overrides::default(), &());
            let experiment = experiment.unwrap_or_else(|error| panic!("{}: {error}", job.spec));
            assert!(experiment.name == job.spec_name && job.spec_name.starts_with("yes-no"));
            if let Role::YesNo(comparison) = job.role {
                let labels = experiment.policies.iter().map(|policy| policy.label.as_str());
                assert!(labels.eq(comparison.entries.iter().map(|entry| entry.label)));
                let link = experiment.metric.radius.kind.link();
                assert!(link.is_some(), "{}", job.spec_name);
            }
        }
    }

    #[test]
    fn an_intercept_and_hidden_features_keep_the_problems() {
        let jobs = yes_no(Scale { runs: Some(1), quick: false }, 1);
        let means = |name: &str| {
            let job = jobs.iter().find(|job| job.spec_name == name).unwrap();
            let experiment = Experiment::from_toml(&job.spec, Overrides::default(), &()).unwrap();
            let mut stream = plausibly::Stream::new(1, 0, "problem");
            experiment.environment.draw(&mut stream).bandit().means().to_vec()
        };
        for (one, other) in [
            ("yes-no-logistic", "yes-no-logistic-intercept"),
            ("yes-no-steep", "yes-no-steep-intercept"),
            ("yes-no-table-7", "yes-no-table-7-arms"),
            ("yes-no-table-7", "yes-no-table-7-beta"),
            ("yes-no-table-100", "yes-no-clicks"),
        ] {
            assert_eq!(means(one), means(other), "{one}, {other}");
        }
        assert_ne!(means("yes-no-table-7"), means("yes-no-table-30")[..7]);
    }
}
