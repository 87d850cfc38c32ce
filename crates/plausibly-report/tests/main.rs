//! The report: what it says of results whose truth is known, and that it is one sound page.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod claims; // verdicts on synthetic results, both ways
mod decisions; // pages and slides of logs that are played here
mod delay; // late rewards: verdicts, and a page of their own
mod report; // a small reproduction: snapshot, links, nothing from outside
mod simulation; // any comparison: page, pictures, table

use plausibly_sim::{JointMoments, Moments, Point, PolicySummary, Summary};

/// A summary of policies whose regret and model error at the only round are drawn around these
/// means: labels with `(regret, model error)`, and a relative spread between runs.
fn synthetic(policies: &[(&str, f64, f64)], runs: u32, spread: f64) -> Summary {
    let mut final_regret = JointMoments::new(policies.len());
    let mut final_model_error = JointMoments::new(policies.len());
    let mut points = vec![Point::default(); policies.len()];
    for run in 0..runs {
        // Deterministic, centred, different for every policy, and shared in part: what pairing
        // takes out.
        let shared = (f64::from(run) * 2.4).sin();
        let draw = |mean: f64, policy: usize| {
            let own = (f64::from(run) * (3.1 + policy as f64)).sin();
            mean * (1.0 + spread * (shared + 0.3 * own))
        };
        let of = |pick: fn(&(&str, f64, f64)) -> f64, offset: usize| -> Vec<f64> {
            policies.iter().enumerate().map(|(i, policy)| draw(pick(policy), i + offset)).collect()
        };
        let (regrets, errors) = (of(|policy| policy.1, 0), of(|policy| policy.2, 10));
        final_regret.add(&regrets);
        final_model_error.add(&errors);
        let add = |moments: &mut Moments, value: f64| moments.add(value);
        for ((point, regret), error) in points.iter_mut().zip(regrets).zip(errors) {
            add(&mut point.regret, regret);
            add(&mut point.model_error, error);
            add(&mut point.plausible, 2.0);
        }
    }
    let policies = policies.iter().zip(points).map(|((label, ..), point)| PolicySummary {
        label: (*label).into(),
        points: vec![point],
        runs_left: 1,
    });
    Summary {
        runs: u64::from(runs),
        rounds: vec![100],
        policies: policies.collect(),
        final_regret,
        final_model_error,
    }
}
