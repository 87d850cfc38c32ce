//! Studies beyond the paper, which run only if named.

use super::{
    CODE_RADIUS, Job, LIN_UCB_RADIUS, Planner, Role, Scale, baselines, code, lin_ucb, policy,
};

/// Tempered CODE and targets on the problems of these studies.
pub(crate) fn frontier(studies: &[&'static str], scale: Scale, seed: u64) -> Vec<Job> {
    let mut planner = Planner { scale, seed, jobs: Vec::new() };
    let greeds = ["0.1", "0.2", "0.3", "0.5", "0.7", "1"];
    for (study, names) in FRONTIERS.into_iter().filter(|(study, _)| studies.contains(study)) {
        let valid = valid_radius(study);
        let reproduced = frontier_policies(CODE_RADIUS, LIN_UCB_RADIUS, &greeds);
        // With valid radii LinUCB has one too, and is then the same as greed 1.
        let valid = frontier_policies(&valid, &valid, &greeds[..5]);
        for ((name, variant), policies) in names.into_iter().zip(WIDTHS).zip([reproduced, valid]) {
            let setup = planner.setup(study, &policies);
            planner.add(study, Role::Frontier(variant), name, setup);
        }
    }
    planner.jobs
}

/// The two kinds of width in studies beyond the paper.
pub(crate) const WIDTHS: [&str; 2] = ["the reproduction’s width", "a valid radius"];

/// A confidence set on a study's problems.
fn valid_radius(study: &str) -> String {
    radius("determinant", norm_bound(study))
}

/// The field that bounds `‖θ*‖`: it is known for problems from data, and for random ones it exceeds
/// the bound in one of a million.
fn norm_bound(study: &str) -> &'static str {
    match study {
        "linear" => ", theta_norm_bound = 6.0",
        "changing" => ", theta_norm_bound = 7.0",
        _ => "",
    }
}

fn radius(kind: &str, norm_bound: &str) -> String {
    format!("{{ kind = \"{kind}\", delta = 0.05{norm_bound} }}")
}

/// Study, and the names of its two specs.
const FRONTIERS: [(&str, [&str; 2]); 5] = [
    ("linear", ["frontier-linear", "frontier-linear-valid"]),
    ("changing", ["frontier-changing", "frontier-changing-valid"]),
    ("movielens", ["frontier-movielens", "frontier-movielens-valid"]),
    ("wine", ["frontier-wine", "frontier-wine-valid"]),
    ("heart", ["frontier-heart", "frontier-heart-valid"]),
];

/// The six policies with these radii for CODE and LinUCB, and CODE tempered and with targets. The
/// metric uses the first CODE's ridge and radius.
fn frontier_policies(radius: &str, lin_ucb_radius: &str, greeds: &[&str]) -> String {
    let mut text = code("CODE", 1.0, radius);
    for greed in greeds {
        text += &code(&format!("c={greed}"), 1.0, radius);
        text.extend(["greed = ", greed, "\n"]);
    }
    for kappa in ["1", "2", "4", "16"] {
        text += &code(&format!("κ={kappa}"), 1.0, radius);
        text.extend(["target = { kappa = ", kappa, ".0 }\n"]);
    }
    text + &baselines(lin_ucb_radius)
}

/// CODE with pending decisions counted and ignored, and LinUCB, at increasing delays.
pub(crate) fn delay(scale: Scale, seed: u64) -> Vec<Job> {
    let mut planner = Planner { scale, seed, jobs: Vec::new() };
    for (study, names) in DELAYED {
        let valid = valid_radius(study);
        let policies =
            [delay_policies(CODE_RADIUS, LIN_UCB_RADIUS), delay_policies(&valid, &valid)];
        for ((names, variant), policies) in names.into_iter().zip(WIDTHS).zip(policies) {
            for (name, rounds) in names.into_iter().zip(DELAYS) {
                let late = format!("\n[delay]\nkind = \"fixed\"\nrounds = {rounds}\n{policies}");
                let setup = planner.setup(study, &late);
                planner.add(study, Role::Delay { variant, rounds }, name, setup);
            }
        }
    }
    planner.jobs
}

/// Rounds until a reward comes; 1 means before the next decision.
const DELAYS: [u64; 4] = [1, 10, 100, 1000];

/// Names of the specs of one study and width, by delay.
macro_rules! delayed {
    ($name:literal) => {
        [
            concat!($name, "-1"),
            concat!($name, "-10"),
            concat!($name, "-100"),
            concat!($name, "-1000"),
        ]
    };
}

/// Study, and the names of its specs: by width, then by delay.
const DELAYED: [(&str, [[&str; 4]; 2]); 2] = [
    ("linear", [delayed!("delay-linear"), delayed!("delay-linear-valid")]),
    ("changing", [delayed!("delay-changing"), delayed!("delay-changing-valid")]),
];

/// CODE and tempered CODE, each counting and ignoring, and LinUCB. The metric uses CODE's radius.
fn delay_policies(radius: &str, lin_ucb_radius: &str) -> String {
    let mut text = String::new();
    for (name, greed) in [("CODE", "0.0"), ("c=0.3", "0.3")] {
        for (way, counted) in [("counting", true), ("ignoring", false)] {
            let fields = format!("greed = {greed}\ncount_pending = {counted}\n");
            text += &code(&format!("{name}, {way}"), 1.0, radius);
            text += &fields;
        }
    }
    text + &lin_ucb("LinUCB", lin_ucb_radius)
}

/// CODE by differences beside CODE by intervals on the problems of these studies, by both rulers.
pub(crate) fn differences(studies: &[&'static str], scale: Scale, seed: u64) -> Vec<Job> {
    let mut planner = Planner { scale, seed, jobs: Vec::new() };
    for (study, variant, names) in RULED.into_iter().filter(|(study, ..)| studies.contains(study)) {
        // Without the field S is √d on random problems.
        let bound = if variant == USUAL_BOUND { "" } else { norm_bound(study) };
        let policies = if variant == WIDTHS[0] {
            by_differences(&format!("ridge = 1.0\nradius = {CODE_RADIUS}\n"))
                + &code("CODE", 1.0, CODE_RADIUS)
        } else {
            // Left out, the ridge is the one that suits the additive radius.
            by_differences(&format!("radius = {}\n", radius("additive", bound)))
                + &code("CODE", 1.0, &radius("determinant", bound))
        };
        for (name, ruler) in names.into_iter().zip(RULERS) {
            // The metric takes ridge and radius from the first policy.
            let measured = format!("\n[metric]\nexclusion = \"{ruler}\"\n{policies}");
            let setup = planner.setup(study, &measured);
            planner.add(study, Role::Differences { variant, ruler }, name, setup);
        }
    }
    planner.jobs
}

fn by_differences(fields: &str) -> String {
    policy("code", "CODE, differences", &format!("{fields}exclusion = \"differences\"\n"))
}

/// What can rule actions out in the set that measures the model error.
const RULERS: [&str; 2] = ["intervals", "differences"];

/// Valid radii with the simulator's own bound on `‖θ*‖`, which random problems often exceed.
const USUAL_BOUND: &str = "radii with S = √d";

/// Names of the specs of one pair, by ruler.
macro_rules! ruled {
    ($name:literal) => {
        [concat!($name, "-by-intervals"), concat!($name, "-by-differences")]
    };
}

/// Study, kind of width, and the names of the specs.
const RULED: [(&str, &str, [&str; 2]); 11] = [
    ("linear", WIDTHS[0], ruled!("differences-linear")),
    ("linear", WIDTHS[1], ruled!("differences-linear-valid")),
    ("linear", USUAL_BOUND, ruled!("differences-linear-usual")),
    ("changing", WIDTHS[0], ruled!("differences-changing")),
    ("changing", WIDTHS[1], ruled!("differences-changing-valid")),
    ("movielens", WIDTHS[0], ruled!("differences-movielens")),
    ("movielens", WIDTHS[1], ruled!("differences-movielens-valid")),
    ("wine", WIDTHS[0], ruled!("differences-wine")),
    ("wine", WIDTHS[1], ruled!("differences-wine-valid")),
    ("heart", WIDTHS[0], ruled!("differences-heart")),
    ("heart", WIDTHS[1], ruled!("differences-heart-valid")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::HORIZON;
    use plausibly_data::DataPools;
    use plausibly_sim::{Delay, Experiment, Overrides};

    #[test]
    fn every_delay_is_a_spec_of_its_own() {
        let pools = DataPools::new(Some("no-such-folder".into()), |name| format!("fetch {name}"));
        let jobs = delay(Scale { runs: None, quick: false }, 1);
        assert_eq!(jobs.len(), 16);
        for Job { study, role, spec_name, spec } in jobs {
            let experiment = Experiment::from_toml(&spec, Overrides::default(), &pools);
            let experiment = experiment.unwrap_or_else(|error| panic!("{spec_name}: {error}"));
            let Role::Delay { variant, rounds } = role else { panic!("{role:?}") };
            assert_eq!(experiment.delay, Delay::Fixed { rounds });
            assert_eq!(
                (experiment.runs, experiment.horizon, experiment.policies.len()),
                (200, HORIZON, 5)
            );
            let valid = if variant == WIDTHS[1] { "-valid" } else { "" };
            assert_eq!(spec_name, format!("delay-{study}{valid}-{rounds}"));
        }
    }

    #[test]
    fn both_rulers_measure_the_same_policies() {
        let pools = DataPools::new(Some("no-such-folder".into()), |name| format!("fetch {name}"));
        let scale = Scale { runs: None, quick: false };
        let experiments: Vec<Experiment> = differences(&["linear", "changing"], scale, 1)
            .iter()
            .map(|job| Experiment::from_toml(&job.spec, Overrides::default(), &pools).unwrap())
            .collect();
        assert_eq!(experiments.len(), 10);
        for pair in experiments.chunks(2) {
            let [one, other] = pair else { panic!("{pair:?}") };
            assert!(one.policies == other.policies && one.plays_with(other));
            assert_ne!(one.metric.exclusion, other.metric.exclusion);
            let ruler = |each: &Experiment| (each.metric.ridge, each.metric.radius);
            assert_eq!(ruler(one), ruler(other), "and the same set but for what it rules out");
        }
    }
}
