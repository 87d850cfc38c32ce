//! Small fixed workloads of the hot paths, for `scripts/gates` to count the instructions of.
//!
//! Only what happens in [`measured`] counts. The instruction set is forced, because a counter sees
//! no other than it can simulate. Decisions of a log take the widest one, which is the same there.
#![expect(clippy::print_stdout, reason = "lists its workloads")]

#[path = "../../../plausibly-log/examples/speed/workload.rs"]
mod workload;

use plausibly::search::Search;
use plausibly::{
    ActionSet, Additive, Code, Determinant, Estimator, Exclusion, Isa, LinTs, LinUcb, Policy,
    Ridge, Scores, Stream,
};
use plausibly_log::recipe::Context;
use plausibly_log::{Among, Asked};
use std::error::Error;
use std::hint::black_box;
use workload::Nowhere;

/// Runs a workload so often; with one more in twenty the gates must fail, which is how they are
/// tested.
const RUNS: usize = 20;
const NOISE: f64 = 0.5;

/// Name, d (0 for arms), K and rounds a run.
type Workload = (&'static str, usize, usize, usize);

const WORKLOADS: [Workload; 25] = [
    ("code", 5, 100, 400),
    ("code", 16, 1000, 250),
    ("code-differences", 5, 100, 400),
    ("code-differences", 16, 1000, 250),
    // Long enough for lists to be short.
    ("code-late", 5, 100, 5000),
    ("code-late", 16, 1000, 2000),
    ("code-differences-late", 5, 100, 5000),
    ("code-differences-late", 16, 1000, 2000),
    ("code-every-action", 5, 100, 150),
    ("code-every-action", 16, 1000, 60),
    ("score-new-set", 5, 100, 100),
    ("score-new-set", 16, 1000, 10),
    ("code-new-set", 5, 100, 200),
    ("code-new-set", 16, 1000, 60),
    ("update", 16, 1000, 500),
    ("update", 64, 100, 50),
    ("lin-ucb", 5, 100, 400),
    ("lin-ucb", 16, 1000, 250),
    ("lin-ts", 5, 100, 400),
    ("lin-ts", 16, 1000, 60),
    ("decide", 32, 50, 20),
    ("decide", 32, 1000, 10),
    ("decide", 64, 50, 10),
    ("decide", 0, 50, 20),
    ("decide-rewarded", 32, 50, 20),
];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => {
            for (name, dim, actions, _) in WORKLOADS {
                println!("{name}-{dim}-{actions}");
            }
            Ok(())
        }
        [isa, wanted] => {
            let isa = Isa::available()
                .into_iter()
                .find(|set| set.name() == isa)
                .ok_or("no such instruction set here")?;
            let named =
                |(name, dim, actions, _): &&Workload| *wanted == format!("{name}-{dim}-{actions}");
            let workload = WORKLOADS.iter().find(named).ok_or("no such workload")?;
            let extra = usize::from(std::env::var_os("PLAUSIBLY_GATES_REGRESSION").is_some());
            if workload.0.starts_with("decide") {
                decide(workload, RUNS + extra)
            } else {
                run(isa, workload, RUNS + extra)
            }
        }
        _ => Err("usage: gates, or gates INSTRUCTION-SET WORKLOAD".into()),
    }
}

/// All that is counted. Not inlined, so that it has a name to be counted by.
#[inline(never)]
fn measured(runs: usize, run: &mut dyn FnMut()) {
    for _ in 0..runs {
        run();
    }
}

/// Decisions of a log in memory, without certificates: each with all earlier ones pending, or with
/// its reward before the next.
fn decide(&(name, dim, actions, rounds): &Workload, runs: usize) -> Result<(), Box<dyn Error>> {
    let table = workload::table((dim, actions))?;
    let mut log = workload::log(Nowhere::default(), &table)?;
    let none = Context::default();
    let asked = Asked::among(Among::Table(&table), &none);
    let rewarded = name == "decide-rewarded";
    measured(runs, &mut || {
        for round in 0..rounds {
            let taken = black_box(log.take(2, &asked).expect("the log can decide"));
            if rewarded {
                let reward = (round % 7) as f64 / 7.0;
                log.reward(2, taken.decision, reward).expect("it was taken");
            }
        }
    });
    Ok(())
}

fn run(
    isa: Isa,
    &(name, dim, actions, rounds): &Workload,
    runs: usize,
) -> Result<(), Box<dyn Error>> {
    let mut rng = Stream::new(1, 0, "problem");
    let mut draw =
        |count: usize| (0..count).map(|_| 2.0 * rng.uniform() - 1.0).collect::<Vec<f64>>();
    let (rows, theta) = (draw(dim * actions), draw(dim));
    let set = ActionSet::from_flat(rows.clone(), dim)?;
    let noise: Vec<f64> = (0..rounds).map(|_| NOISE * rng.normal()).collect();
    let mut means = Vec::new();
    set.view().dot_into(&theta, &mut means);
    let (delta, noise_scale, theta_norm_bound) = (0.05, NOISE, 1.0);
    let radius = Determinant { delta, noise_scale, theta_norm_bound };
    let additive = Additive { delta, noise_scale, theta_norm_bound };
    let model = Ridge::new(dim, 1.0)?.with_isa(isa);
    let mut play = |policy: &mut dyn Policy| {
        for noise in &noise {
            let chosen = policy.select(set.view(), &mut rng);
            policy.update(set.view().get(chosen), means[chosen] + noise);
        }
    };
    let by_intervals = || Code::new(model.clone(), radius).excluding(Exclusion::Intervals);
    match name {
        "code" | "code-late" => measured(runs, &mut || play(&mut by_intervals())),
        "code-differences" | "code-differences-late" => {
            measured(runs, &mut || play(&mut Code::new(model.clone(), additive)));
        }
        "code-every-action" => {
            let code = || by_intervals().searching(Search::over_all_actions());
            measured(runs, &mut || play(&mut code()));
        }
        "lin-ucb" => measured(runs, &mut || play(&mut LinUcb::new(model.clone(), radius))),
        "lin-ts" => {
            measured(runs, &mut || {
                play(&mut LinTs::new(model.clone(), NOISE).expect("a positive scale"));
            });
        }
        "score-new-set" => {
            let (mut scores, mut set) = (Scores::new(), set);
            measured(runs, &mut || {
                for _ in 0..rounds {
                    set.refill_from(black_box(&rows)).expect("valid features");
                    model.score_into(set.view(), &mut scores);
                    black_box(&scores);
                }
            });
        }
        "code-new-set" => {
            let mut set = set;
            measured(runs, &mut || {
                let mut policy = by_intervals();
                for noise in &noise {
                    set.refill_from(black_box(&rows)).expect("valid features");
                    let chosen = policy.select(set.view(), &mut rng);
                    policy.update(set.view().get(chosen), means[chosen] + noise);
                }
            });
        }
        _ => measured(runs, &mut || {
            let mut model = model.clone();
            for (noise, action) in noise.iter().zip(set.view().iter()) {
                model.update(action, *noise);
            }
        }),
    }
    Ok(())
}
