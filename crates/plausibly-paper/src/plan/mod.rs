//! What a reproduction runs: every experiment, reading and check of theory, as a spec.
//!
//! Jobs are text, so every number of the report can be repeated with `plausibly simulate`.

mod beyond;
mod verdicts;
mod yes_no;

pub(crate) use beyond::{WIDTHS, delay, differences, frontier};
pub(crate) use verdicts::{BELL_LABEL, FOR_LOGS, TODAY, verdicts};
pub use verdicts::{Source, Times, VERDICT_PROBLEMS, VerdictProblem};
pub(crate) use yes_no::{BETA, Entry, GREEDY_LABELS, Mean, Part, yes_no};
pub use yes_no::{OF_LOGS, YES_NO_COMPARISONS, YES_NO_TABLES, YesNoComparison, YesNoTable};

use crate::reproduction::{Reading, STUDIES};

/// Where a job's result belongs in the report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// A study's own experiment.
    Experiment,
    /// The policies of the linear experiment, read in other ways.
    PolicyReadings,
    /// The linear experiment, its model error measured by another ruler.
    RulerReading,
    /// A study's problems, read in another way.
    ProblemReading(&'static str),
    /// Tempered CODE and targets on a study's problems, with this kind of width.
    Frontier(&'static str),
    /// CODE with pending decisions counted and ignored on a study's problems, with this kind of
    /// width.
    Delay {
        variant: &'static str,
        /// Rounds until a reward comes.
        rounds: u64,
    },
    /// When actions are ruled out on this problem, by each of its sets.
    Verdicts(&'static VerdictProblem),
    /// CODE by differences beside CODE by intervals on a study's problems, with this kind of width.
    Differences {
        variant: &'static str,
        /// What rules actions out in the set that measures the model error.
        ruler: &'static str,
    },
    /// Policies on problems that the prototype of generalised linear CODE played too.
    YesNo(&'static YesNoComparison),
    /// A part of a table of the study of yes and no.
    YesNoTable(&'static YesNoTable, Part),
    /// A check of K-armed theory.
    ArmsTheory,
    /// A check of linear theory.
    LinearTheory,
}

impl Role {
    /// Whether the job watches when each set rules actions out.
    pub(crate) fn is_watched(self) -> bool {
        matches!(self, Self::Verdicts(_) | Self::YesNoTable(_, Part::Features | Part::Arms))
    }

    /// Whether the job compares policies; the others watch CODE alone.
    pub(crate) fn is_comparison(self) -> bool {
        !self.is_watched() && !matches!(self, Self::ArmsTheory | Self::LinearTheory)
    }
}

/// One thing to run.
#[derive(Debug)]
pub(crate) struct Job {
    /// The `id` of its study.
    pub(crate) study: &'static str,
    pub(crate) role: Role,
    /// Name of its spec, without `.toml`.
    pub(crate) spec_name: &'static str,
    pub(crate) spec: String,
}

/// How much of it to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) runs: Option<u64>,
    pub(crate) quick: bool,
}

impl Scale {
    /// Scales a full number of runs.
    fn runs(self, full: u64) -> u64 {
        match self.runs {
            Some(runs) => runs,
            None if self.quick => full / 10,
            None => full,
        }
    }
}

/// Everything to run for these studies, in the order of the report.
pub(crate) fn plan(
    studies: &[&'static str],
    scale: Scale,
    seed: u64,
    reading: Reading,
) -> Vec<Job> {
    let mut planner = Planner { scale, seed, jobs: Vec::new() };
    let policies = linear_policies(reading);
    for study in STUDIES.map(|study| study.id).into_iter().filter(|id| studies.contains(id)) {
        match study {
            "k-armed" => planner.arms(),
            "linear" => planner.linear(&policies),
            _ => planner.on_features(study, &policies),
        }
    }
    planner.jobs
}

struct Planner {
    scale: Scale,
    seed: u64,
    jobs: Vec<Job>,
}

/// Rounds, problems and policies of a job.
#[derive(Clone, Copy)]
struct Setup<'a> {
    runs: u64,
    horizon: u64,
    environment: &'a str,
    policies: &'a str,
}

impl Planner {
    /// These policies on the problems of a study's own experiment.
    fn setup<'a>(&self, study: &str, policies: &'a str) -> Setup<'a> {
        let runs = self.scale.runs(paper_runs(study));
        Setup { runs, horizon: HORIZON, environment: environment(study), policies }
    }

    fn add(&mut self, study: &'static str, role: Role, spec_name: &'static str, setup: Setup<'_>) {
        let Setup { runs, horizon, environment, policies } = setup;
        let seed = self.seed;
        let spec = format!(
            "name = \"{spec_name}\"\nseed = {seed}\nruns = {runs}\nhorizon = {horizon}\n\n\
             [environment]\n{environment}\n{policies}"
        );
        self.jobs.push(Job { study, role, spec_name, spec });
    }

    fn arms(&mut self) {
        let study = "k-armed";
        self.add(study, Role::Experiment, study, self.setup(study, &arm_policies()));
        for (name, delta) in [("theory-arms", "1e-12"), ("theory-arms-loose", "0.05")] {
            self.add(study, Role::ArmsTheory, name, self.setup(study, &arm_code("CODE", delta)));
        }
        // A rate of 2 % needs many runs to measure, and these are short.
        let runs = self.scale.runs.map_or_else(|| self.scale.runs(20_000), |runs| 100 * runs);
        let environment = "kind = \"k-armed\"\nactions = 5\nnoise = 1.0";
        let policies = &arm_code("CODE", "1e-5");
        let setup = Setup { runs, horizon: 200, environment, policies };
        self.add(study, Role::ArmsTheory, "theory-lemma-1", setup);
    }

    fn linear(&mut self, policies: &str) {
        let study = "linear";
        self.on_features(study, policies);
        // The first hundred problems of the experiment itself, so that shared policies play what
        // they played there.
        let (runs, policies) = (self.scale.runs(100), reading_policies());
        let readings = Setup { runs, ..self.setup(study, &policies) };
        self.add(study, Role::PolicyReadings, "linear-readings", readings);
        // Always the adopted policies, because this job compares rulers, not readings.
        let adopted = linear_policies(Reading::Adopted);
        let policies = format!("\n[metric]\nridge = 1.0\nradius = {VALID_RADIUS}\n{adopted}");
        let ruler = Setup { runs, ..self.setup(study, &policies) };
        self.add(study, Role::RulerReading, "linear-ruler", ruler);
        let theory = code("CODE", 1.0, VALID_RADIUS);
        self.add(study, Role::LinearTheory, "theory-linear", self.setup(study, &theory));
    }

    /// The six policies on the study's problems, and on other readings of them.
    fn on_features(&mut self, study: &'static str, policies: &str) {
        let setup = self.setup(study, policies);
        self.add(study, Role::Experiment, study, setup);
        let readings = PROBLEM_READINGS.into_iter().filter(|(name, ..)| name.starts_with(study));
        for (name, variant, adopted, other) in readings {
            let environment = &setup.environment.replace(adopted, other);
            let reading = Setup { environment, ..setup };
            self.add(study, Role::ProblemReading(variant), name, reading);
        }
    }
}

const HORIZON: u64 = 10_000;

fn paper_runs(study: &str) -> u64 {
    if matches!(study, "wine" | "heart") { 50 } else { 200 }
}

fn environment(study: &str) -> &'static str {
    match study {
        "k-armed" => "kind = \"k-armed\"\nactions = 10\nnoise = 1.0",
        "linear" => "kind = \"linear\"\ndim = 5\nactions = 100\nnoise = 0.5",
        "changing" => "kind = \"changing\"\ndim = 8\nactions = 200\nnoise = 0.5",
        "movielens" => "kind = \"movielens\"",
        "wine" => "kind = \"wine\"\nnoise = 0.5\nscaling = \"min-max\"",
        "heart" => "kind = \"heart\"\nnoise = 0.5\nscaling = \"min-max\"\ntarget = \"death\"",
        other => unreachable!("{other} is no study"),
    }
}

/// Name of the spec, name in the report, and the text of the environment that differs: as adopted,
/// and as read here.
const PROBLEM_READINGS: [(&str, &str, &str, &str); 5] = [
    ("wine-noise-1", "noise N(0, 1)", "noise = 0.5", "noise = 1.0"),
    ("wine-unscaled", "features as in the file", "\"min-max\"", "\"none\""),
    ("heart-noise-1", "noise N(0, 1)", "noise = 0.5", "noise = 1.0"),
    ("heart-unscaled", "features as in the file", "\"min-max\"", "\"none\""),
    ("heart-survival", "survival as the reward", "\"death\"", "\"survival\""),
];

/// The paper's constants of CODE's width: L = 1, S = 0, λ = 10⁴, δ = 0.05, and R the scale of the
/// noise.
const CODE_RADIUS: &str = "{ kind = \"paper\", delta = 0.05, lambda = 1e4, \
    theta_norm_bound = 0.0, action_norm_bound = 1.0 }";
/// The standard width: δ = 1/n, λ the ridge, R the scale of the noise, L and S those of the
/// problem.
const LIN_UCB_RADIUS: &str = "{ kind = \"paper\", delta = 1e-4, lambda = 1.0 }";
/// Valid except for one problem in a million: ‖θ*‖² is χ² with five degrees of freedom.
const VALID_RADIUS: &str = "{ kind = \"determinant\", delta = 0.05, theta_norm_bound = 6.0 }";
/// λ = 10⁴ as a ridge.
const LITERAL_RIDGE: f64 = 1e4;

/// What rules actions out in the paper.
const INTERVALS: &str = "exclusion = \"intervals\"\n";

fn policy(kind: &str, label: &str, fields: &str) -> String {
    format!("\n[[policy]]\nkind = \"{kind}\"\nlabel = \"{label}\"\n{fields}")
}

fn code(label: &str, ridge: f64, radius: &str) -> String {
    policy("code", label, &format!("ridge = {ridge:.1}\nradius = {radius}\n{INTERVALS}"))
}

fn arm_code(label: &str, delta: &str) -> String {
    policy("code", label, &format!("radius = {{ kind = \"per-arm\", delta = {delta} }}\n"))
}

fn lin_ucb(label: &str, radius: &str) -> String {
    policy("lin-ucb", label, &format!("ridge = 1.0\nradius = {radius}\n"))
}

/// The six policies of the paper's experiments. The metric uses CODE's ridge and radius.
fn linear_policies(reading: Reading) -> String {
    let ridge = if reading == Reading::Literal { LITERAL_RIDGE } else { 1.0 };
    code("CODE", ridge, CODE_RADIUS) + &baselines(LIN_UCB_RADIUS)
}

/// The five policies that CODE is compared with.
fn baselines(lin_ucb_radius: &str) -> String {
    [
        lin_ucb("LinUCB", lin_ucb_radius),
        policy("lin-ts", "LinTS", "ridge = 1.0\n"),
        policy("elimination", "Elim", "delta = 0.05\n"),
        policy("epsilon-greedy", "ε-greedy", "epsilon = 0.05\n"),
        policy("explore-then-commit", "EtC", "epsilon = 0.05\n"),
    ]
    .concat()
}

/// The six policies, and every other reading of each.
fn reading_policies() -> String {
    let by_design = "epsilon = 0.05\nexploration = \"design\"\n";
    [
        linear_policies(Reading::Adopted),
        code("CODE, literal", LITERAL_RIDGE, CODE_RADIUS),
        lin_ucb("LinUCB, CODE’s width", CODE_RADIUS),
        policy("lin-ts", "LinTS, scale 1", "ridge = 1.0\nnoise_scale = 1.0\n"),
        policy("epsilon-greedy", "ε-greedy, by design", by_design),
        policy("explore-then-commit", "EtC, by design", by_design),
    ]
    .concat()
}

/// δ = n⁻³ as in Theorem 1; the metric uses this CODE's radius.
fn arm_policies() -> String {
    [
        arm_code("CODE", "1e-12"),
        arm_code("CODE δ=0.05", "0.05"),
        policy("ucb1", "UCB1", ""),
        policy("thompson", "Thompson", ""),
        policy("epsilon-greedy", "ε-greedy", "epsilon = 0.05\n"),
        policy("explore-then-commit", "EtC", "epsilon = 0.05\n"),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plausibly_data::DataPools;
    use plausibly_sim::{Experiment, Overrides};

    #[test]
    fn every_spec_is_one_that_simulate_takes() {
        let pools = DataPools::new(Some("no-such-folder".into()), |name| format!("fetch {name}"));
        let all = STUDIES.map(|study| study.id);
        for reading in [Reading::Adopted, Reading::Literal] {
            let jobs = plan(&all, Scale { runs: None, quick: false }, 1, reading);
            assert_eq!(jobs.len(), 17);
            for job in jobs {
                match Experiment::from_toml(&job.spec, Overrides::default(), &pools) {
                    Ok(_) => {}
                    // Without data only that may be missing.
                    Err(error) => {
                        assert!(
                            ["movielens", "wine", "heart"].contains(&job.study),
                            "{}: {error}",
                            job.spec_name
                        );
                        assert_eq!(error.problems.len(), 1, "{}: {error}", job.spec_name);
                    }
                }
            }
        }
    }

    #[test]
    fn scale_cuts_runs_alone() {
        let specs = |scale| plan(&["heart"], scale, 1, Reading::Adopted).swap_remove(0).spec;
        assert!(specs(Scale { runs: None, quick: false }).contains("runs = 50\nhorizon = 10000"));
        assert!(specs(Scale { runs: None, quick: true }).contains("runs = 5\nhorizon = 10000"));
        assert!(specs(Scale { runs: Some(7), quick: true }).contains("runs = 7\nhorizon = 10000"));
    }
}
