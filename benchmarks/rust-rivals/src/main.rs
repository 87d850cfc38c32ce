//! Other crates' LinUCB as contenders: `rust-rivals KIND FOLDER RADIUS`; the radius is theirs,
//! `alpha = 1`.
//!
//! Both crates keep one model an arm and give every arm the same context, which is another problem
//! of the same size. rill-ml can also be asked to score many contexts for one arm, which is a model
//! shared by all actions: ours.

use plausibly_bench::{Play, Problem, serve, status};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rill_ml::bandit::{ContextualBandit, LinUcbConfig, LinUcbFast};
use std::error::Error;
use std::path::Path;
use trashpanda::Bandit;
use trashpanda::policies::LinUcb;

fn main() -> Result<(), Box<dyn Error>> {
    let before = status("VmRSS");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, folder, _] = &args[..] else {
        return Err("usage: rust-rivals KIND FOLDER RADIUS".into());
    };
    let problem = Problem::read(Path::new(folder))?;
    let contexts: Vec<&[f64]> = problem.features.chunks_exact(problem.dim).collect();
    let (problem, contexts) = (&problem, &contexts[..]);
    let serve = |about: &str, play: &mut Play<'_>| serve(about, before, play);
    match kind.as_str() {
        "rill-ml-shared" => {
            serve("rill-ml 1.5.6", &mut |n, choices| rill_shared(problem, contexts, n, choices))?
        }
        "rill-ml" => {
            let mut bandit = rill(problem.actions, problem.dim);
            serve("rill-ml 1.5.6", &mut |n, choices| {
                rill_arms(problem, contexts, &mut bandit, n, choices)
            })?;
        }
        "trashpanda" => {
            let mut bandit = panda(problem, contexts)?;
            serve("trashpanda 0.1.0", &mut |n, choices| {
                panda_arms(problem, contexts, &mut bandit, n, choices)
            })?;
        }
        _ => return Err(format!("no contender {kind}").into()),
    }
    Ok(())
}

fn rill(arms: usize, dim: usize) -> LinUcbFast {
    let mut config = LinUcbConfig::default();
    config.arm_count = arms;
    config.feature_count = dim;
    LinUcbFast::new(config).expect("a valid configuration")
}

fn rill_shared(problem: &Problem, actions: &[&[f64]], rounds: usize, choices: &mut Vec<usize>) {
    let mut model = rill(1, problem.dim);
    for noise in &problem.noise[..rounds] {
        let mut best = (0, f64::NEG_INFINITY);
        for (index, action) in actions.iter().enumerate() {
            let score = model.score_arm(0, action).expect("a valid context").total_score;
            if score > best.1 {
                best = (index, score);
            }
        }
        model.update(0, actions[best.0], problem.means[best.0] + noise).expect("a valid reward");
        choices.push(best.0);
    }
}

/// Goes on from what it has learned in earlier turns: only its time is compared, and copying all
/// its models would be measured with it.
fn rill_arms(
    problem: &Problem,
    contexts: &[&[f64]],
    bandit: &mut LinUcbFast,
    rounds: usize,
    choices: &mut Vec<usize>,
) {
    for (noise, context) in problem.noise[..rounds].iter().zip(contexts.iter().cycle()) {
        let chosen = bandit.select_deterministic(context).expect("a valid context");
        bandit.update(chosen, context, problem.means[chosen] + noise).expect("a valid reward");
        choices.push(chosen);
    }
}

/// Each arm has been taken once: one never taken costs it nothing, and would flatter it.
fn panda<'a>(problem: &Problem, contexts: &[&'a [f64]]) -> Result<Panda<'a>, Box<dyn Error>> {
    let mut bandit = Bandit::new(0..problem.actions, LinUcb::new(1.0, 1.0, problem.dim))?;
    for arm in 0..problem.actions {
        bandit.partial_fit(&[arm], contexts[arm], &[problem.means[arm]])?;
    }
    Ok(bandit)
}

type Panda<'a> = Bandit<usize, LinUcb<usize>, &'a [f64]>;

/// Goes on as well.
fn panda_arms<'a>(
    problem: &Problem,
    contexts: &[&'a [f64]],
    bandit: &mut Panda<'a>,
    rounds: usize,
    choices: &mut Vec<usize>,
) {
    let mut rng = SmallRng::seed_from_u64(1);
    for (noise, context) in problem.noise[..rounds].iter().zip(contexts.iter().cycle()) {
        let chosen = bandit.predict(context, &mut rng).expect("a valid context");
        bandit
            .partial_fit(&[chosen], context, &[problem.means[chosen] + noise])
            .expect("a valid reward");
        choices.push(chosen);
    }
}
