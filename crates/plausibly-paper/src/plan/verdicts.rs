//! The study of verdicts: on which problems, and by which sets.
//!
//! The problems from [`Source::Chosen`] and their reasons were fixed before any of their results
//! had been seen.

use super::{Job, Planner, Role, Scale, Setup, policy};

/// Where a problem comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The sets were designed with it, by simulations that share no code with this project. Each
    /// entry is the label of a method and the medians found there.
    Design(&'static [(&'static str, Times)]),
    /// Chosen for this study, for this reason.
    Chosen(&'static str),
}

/// Outcomes until the first action is out, half are, and one is left, where known.
pub type Times = [Option<u64>; 3];

/// A problem of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerdictProblem {
    /// Name of its spec, without `.toml`.
    pub spec_name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// How many times sooner than today's set the set for logs must rule out the first action.
    pub sooner: Option<u32>,
    /// Outcomes within which the bell-curve set must rule out the first action and leave one.
    pub within: Option<[u64; 2]>,
    horizon: u64,
    environment: &'static str,
    methods: &'static [Method],
}

/// A set: its label, the fields of its `code` policy.
pub(super) type Method = (&'static str, &'static str);

/// The labels of today's sets, for arms and for features.
pub(crate) const TODAY: [&str; 2] = [MIXTURE.0, TODAY_TABLE.0];
/// The labels of the sets that are meant for logs, the preferred one first.
pub(crate) const FOR_LOGS: [&str; 3] = [TWO_POINT_PAIRS.0, FORECAST_PAIRS.0, FORECAST.0];
/// The label of the set for normal noise of unknown scale.
pub(crate) const BELL_LABEL: &str = BELL_PAIRS.0;

const MIXTURE: Method = ("mixture (today)", "radius = { kind = \"mixture\" }\n");
const TWO_POINT: Method =
    ("two-point, intervals", "radius = { kind = \"two-point\", pairs = false }\n");
const TWO_POINT_PAIRS: Method = ("two-point with pairs", "radius = { kind = \"two-point\" }\n");
pub(super) const TODAY_TABLE: Method = (
    "determinant, intervals (today)",
    "ridge = 1.0\nradius = { kind = \"determinant\" }\nexclusion = \"intervals\"\n",
);
const DETERMINANT: Method =
    ("determinant, differences", "ridge = 1.0\nradius = { kind = \"determinant\" }\n");
const ADDITIVE: Method = ("additive, differences", "radius = { kind = \"additive\" }\n");
const ADDITIVE_SMALL_RIDGE: Method =
    ("additive, λ = 0.1, differences", "ridge = 0.1\nradius = { kind = \"additive\" }\n");
const FORECAST_INTERVALS: Method = (
    "forecast, intervals",
    "radius = { kind = \"forecast\", pairs = false }\nexclusion = \"intervals\"\n",
);
const FORECAST: Method =
    ("forecast, differences", "radius = { kind = \"forecast\", pairs = false }\n");
const FORECAST_PAIRS: Method = ("forecast with pairs", "radius = { kind = \"forecast\" }\n");
const BELL: Method = ("bell, differences", "radius = { kind = \"bell\", pairs = false }\n");
const BELL_PAIRS: Method = ("bell with pairs", "radius = { kind = \"bell\" }\n");

const ARMS: &[Method] = &[MIXTURE, TWO_POINT, TWO_POINT_PAIRS];
/// Up to 64 actions.
const SMALL_TABLE: &[Method] = &[
    TODAY_TABLE,
    DETERMINANT,
    ADDITIVE_SMALL_RIDGE,
    ADDITIVE,
    FORECAST_INTERVALS,
    FORECAST,
    FORECAST_PAIRS,
];
const LARGE_TABLE: &[Method] =
    &[TODAY_TABLE, DETERMINANT, ADDITIVE_SMALL_RIDGE, ADDITIVE, FORECAST_INTERVALS, FORECAST];
const BELL_CURVE: &[Method] = &[BELL, BELL_PAIRS];

/// Rounds of a run on arms, and on tables.
const ARM_ROUNDS: u64 = 60_000;
const TABLE_ROUNDS: u64 = 20_000;

/// Three known times.
const fn times(first: u64, half: u64, one_left: u64) -> Times {
    [Some(first), Some(half), Some(one_left)]
}

/// Times of which the last was beyond the simulations.
const fn two_times(first: u64, half: u64) -> Times {
    [Some(first), Some(half), None]
}

const fn first_time(first: u64) -> Times {
    [Some(first), None, None]
}

const fn arms(
    spec_name: &'static str,
    title: &'static str,
    environment: &'static str,
    source: Source,
) -> VerdictProblem {
    VerdictProblem {
        spec_name,
        title,
        source,
        sooner: None,
        within: None,
        horizon: ARM_ROUNDS,
        environment,
        methods: ARMS,
    }
}

/// A problem that another study plays, with sets of its own.
pub(super) const fn described(
    spec_name: &'static str,
    title: &'static str,
    source: Source,
) -> VerdictProblem {
    VerdictProblem { horizon: TABLE_ROUNDS, methods: &[], ..arms(spec_name, title, "", source) }
}

const fn table(
    spec_name: &'static str,
    title: &'static str,
    environment: &'static str,
    source: Source,
) -> VerdictProblem {
    let problem = arms(spec_name, title, environment, source);
    VerdictProblem { horizon: TABLE_ROUNDS, methods: SMALL_TABLE, ..problem }
}

impl VerdictProblem {
    const fn sooner(self, times: u32) -> Self {
        Self { sooner: Some(times), ..self }
    }

    const fn by(self, methods: &'static [Method]) -> Self {
        Self { methods, ..self }
    }

    const fn within(self, outcomes: [u64; 2]) -> Self {
        Self { within: Some(outcomes), ..self }
    }
}

/// All problems, in the order of the report.
///
/// The means of two rows of a designed table differ by 0.1 (root mean square), so the standard
/// deviation of K means is `0.1·√((K − 1)/(2K))`. The spacing of six arms at 1 to 10 % was not
/// recorded with the design; equal ratios come nearer to its times than equal distances.
pub const VERDICT_PROBLEMS: [VerdictProblem; 17] = [
    arms(
        "verdicts-arms-quiet",
        "6 arms from 0.20 to 0.34, noise 0.03",
        "kind = \"arms\"\nactions = 6\nlowest = 0.20\nhighest = 0.34\nnoise = 0.03",
        Source::Design(&[
            (MIXTURE.0, times(5_016, 10_570, 53_100)),
            (TWO_POINT.0, times(356, 501, 1_014)),
            (TWO_POINT_PAIRS.0, times(234, 328, 646)),
        ]),
    )
    .sooner(15),
    arms(
        "verdicts-arms-rates",
        "6 arms, yes or no, 1 to 10 %",
        "kind = \"arms\"\nactions = 6\nlowest = 0.01\nhighest = 0.10\nspread = \"ratios\"\n\
         rewards = \"yes-no\"",
        Source::Design(&[
            (MIXTURE.0, times(13_050, 19_630, 58_575)),
            (TWO_POINT.0, times(3_432, 4_030, 12_900)),
            (TWO_POINT_PAIRS.0, times(2_258, 2_567, 8_030)),
        ]),
    )
    .sooner(4),
    arms(
        "verdicts-arms-20",
        "20 arms, yes or no, 1 to 10 %",
        "kind = \"arms\"\nactions = 20\nlowest = 0.01\nhighest = 0.10\nrewards = \"yes-no\"",
        Source::Design(&[
            (MIXTURE.0, first_time(45_900)),
            (TWO_POINT.0, first_time(14_250)),
            (TWO_POINT_PAIRS.0, two_times(8_968, 17_157)),
        ]),
    ),
    table(
        "verdicts-table-7-yes-no",
        "7 actions of 10 features, yes or no",
        "kind = \"table\"\nactions = 7\nspread = 0.0655\nrewards = \"yes-no\"",
        Source::Design(&[
            (TODAY_TABLE.0, first_time(19_300)),
            (DETERMINANT.0, first_time(8_442)),
            (ADDITIVE_SMALL_RIDGE.0, first_time(6_716)),
            (FORECAST_INTERVALS.0, first_time(6_684)),
            (FORECAST.0, two_times(2_588, 13_350)),
            (FORECAST_PAIRS.0, two_times(981, 5_808)),
        ]),
    )
    .sooner(10),
    table(
        "verdicts-table-7-quiet",
        "7 actions of 10 features, noise 0.03",
        "kind = \"table\"\nactions = 7\nspread = 0.0655\nnoise = 0.03",
        Source::Design(&[
            (TODAY_TABLE.0, first_time(18_400)),
            (DETERMINANT.0, first_time(8_736)),
            (ADDITIVE_SMALL_RIDGE.0, first_time(6_834)),
            (FORECAST_INTERVALS.0, two_times(1_293, 4_947)),
            (FORECAST.0, times(672, 2_523, 11_250)),
            (FORECAST_PAIRS.0, times(192, 370, 721)),
        ]),
    )
    .sooner(40),
    table(
        "verdicts-table-40-yes-no",
        "40 actions of 10 features, yes or no",
        "kind = \"table\"\nactions = 40\nspread = 0.0698\nrewards = \"yes-no\"",
        Source::Design(&[
            (TODAY_TABLE.0, first_time(9_999)),
            (DETERMINANT.0, two_times(5_276, 16_100)),
            (ADDITIVE_SMALL_RIDGE.0, two_times(4_110, 12_650)),
            (FORECAST_INTERVALS.0, two_times(3_451, 15_200)),
            (FORECAST.0, two_times(1_568, 5_326)),
            (FORECAST_PAIRS.0, two_times(1_372, 5_700)),
        ]),
    ),
    table(
        "verdicts-table-40-quiet",
        "40 actions of 10 features, noise 0.03",
        "kind = \"table\"\nactions = 40\nspread = 0.0698\nnoise = 0.03",
        Source::Design(&[
            (TODAY_TABLE.0, first_time(10_600)),
            (DETERMINANT.0, two_times(5_353, 16_600)),
            (ADDITIVE_SMALL_RIDGE.0, two_times(4_322, 13_700)),
            (FORECAST_INTERVALS.0, two_times(663, 2_369)),
            (FORECAST.0, two_times(382, 1_055)),
            (FORECAST_PAIRS.0, times(357, 994, 4_517)),
        ]),
    ),
    table(
        "verdicts-table-1000-yes-no",
        "1,000 actions of 10 features, yes or no",
        "kind = \"table\"\nactions = 1000\nspread = 0.0707\nrewards = \"yes-no\"",
        Source::Design(&[
            (TODAY_TABLE.0, first_time(6_767)),
            (DETERMINANT.0, two_times(3_989, 9_999)),
            (FORECAST.0, two_times(990, 3_193)),
        ]),
    )
    .by(LARGE_TABLE)
    .sooner(5),
    table(
        "verdicts-table-1000-quiet",
        "1,000 actions of 10 features, noise 0.03",
        "kind = \"table\"\nactions = 1000\nspread = 0.0707\nnoise = 0.03",
        Source::Design(&[
            (TODAY_TABLE.0, first_time(6_868)),
            (DETERMINANT.0, two_times(3_970, 11_050)),
            (FORECAST.0, two_times(280, 690)),
        ]),
    )
    .by(LARGE_TABLE)
    .sooner(15),
    table(
        "verdicts-table-7-ratings",
        "7 actions of 10 features, noise 0.12 around the middle, like ratings",
        "kind = \"table\"\nactions = 7\ncentre = 0.0\nspread = 0.0655\nnoise = 0.12",
        Source::Design(&[
            (TODAY_TABLE.0, first_time(18_500)),
            (FORECAST.0, times(799, 3_030, 13_850)),
            (FORECAST_PAIRS.0, times(246, 756, 2_266)),
        ]),
    ),
    table(
        "verdicts-table-7-rates",
        "7 actions of 10 features, yes or no at 6 to 15 %",
        "kind = \"table\"\nactions = 7\ncentre = -0.395\nspread = 0.031\nrewards = \"yes-no\"",
        Source::Design(&[(FORECAST.0, first_time(13_850)), (FORECAST_PAIRS.0, first_time(3_825))]),
    ),
    table(
        "verdicts-bell-table-7",
        "7 actions of 10 features, normal noise 0.03",
        "kind = \"table\"\nactions = 7\nspread = 0.12\nrewards = \"normal\"\nnoise = 0.03",
        Source::Design(&[(BELL.0, times(21, 23, 40)), (BELL_PAIRS.0, times(22, 25, 45))]),
    )
    .by(BELL_CURVE)
    .within([30, 80]),
    arms(
        "verdicts-bell-arms",
        "6 arms from 0.19 to 0.34, normal noise 0.03",
        "kind = \"arms\"\nactions = 6\nlowest = 0.19\nhighest = 0.34\nrewards = \"normal\"\n\
         noise = 0.03",
        Source::Design(&[(BELL.0, times(22, 26, 111)), (BELL_PAIRS.0, times(26, 29, 107))]),
    )
    .by(BELL_CURVE)
    .within([35, 150]),
    arms(
        "verdicts-two-rates",
        "2 arms, yes or no, 10 and 15 %",
        "kind = \"arms\"\nactions = 2\nlowest = 0.10\nhighest = 0.15\nrewards = \"yes-no\"",
        Source::Chosen("A test of two variants is the most frequent use, and the smallest set."),
    ),
    arms(
        "verdicts-unequal-noise",
        "6 arms from 0.20 to 0.60, noise from 0.02 to 0.10",
        "kind = \"arms\"\nactions = 6\nlowest = 0.20\nhighest = 0.60\nnoise = 0.02\n\
         noise_by_action = 5.0",
        Source::Chosen("No single scale describes the noise, so a set must find each by itself."),
    ),
    arms(
        "verdicts-days",
        "6 arms, yes or no, 5 to 20 %, days that change all rates by up to 30 %",
        "kind = \"arms\"\nactions = 6\nlowest = 0.05\nhighest = 0.20\nrewards = \"yes-no\"\n\
         days = 0.3",
        Source::Chosen(
            "Outcomes of one day depend on one another, which the proofs do not allow. \
             Coverage is not promised here, and this is where it could break.",
        ),
    ),
    table(
        "verdicts-logistic",
        "40 actions of 10 features, yes or no by a logistic rule",
        "kind = \"table\"\nactions = 40\nrule = \"logistic\"\nspread = 0.15\n\
         rewards = \"yes-no\"",
        Source::Chosen(
            "Rates seldom follow a linear rule exactly. The sets for features assume one, and \
             pairs do not.",
        ),
    ),
];

/// Runs of each problem, as many as the design had.
const RUNS: u64 = 200;

/// Every problem with its sets.
pub(crate) fn verdicts(scale: Scale, seed: u64) -> Vec<Job> {
    let mut planner = Planner { scale, seed, jobs: Vec::new() };
    for problem in &VERDICT_PROBLEMS {
        let methods = problem.methods.iter();
        let policies: String =
            methods.map(|(label, fields)| policy("code", label, fields)).collect();
        let setup = Setup {
            runs: scale.runs(RUNS),
            horizon: problem.horizon,
            environment: problem.environment,
            policies: &policies,
        };
        planner.add("verdicts", Role::Verdicts(problem), problem.spec_name, setup);
    }
    planner.jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use plausibly_sim::{Experiment, Overrides};

    #[test]
    fn every_problem_is_a_spec_and_names_methods_that_play() {
        let jobs = verdicts(Scale { runs: None, quick: false }, 1);
        for (problem, job) in VERDICT_PROBLEMS.iter().zip(&jobs) {
            let experiment = Experiment::from_toml(&job.spec, Overrides::default(), &());
            let experiment = experiment.unwrap_or_else(|error| panic!("{}: {error}", job.spec));
            assert_eq!((experiment.name.as_str(), experiment.runs), (problem.spec_name, RUNS));
            let plays = |label: &str| problem.methods.iter().any(|(known, _)| *known == label);
            if let Source::Design(known) = problem.source {
                assert!(known.iter().all(|(label, _)| plays(label)), "{}", problem.spec_name);
            }
            assert!(problem.sooner.is_none() || TODAY.into_iter().any(plays));
            assert!(problem.within.is_none() || plays(BELL_LABEL));
        }
        let chosen = |problem: &&VerdictProblem| matches!(problem.source, Source::Chosen(_));
        assert_eq!(VERDICT_PROBLEMS.iter().filter(chosen).count(), 4);
    }
}
