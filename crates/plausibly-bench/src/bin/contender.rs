//! Ours, as contenders of the benchmark against rivals: `scripts/bench` starts this and gives it
//! turns.
#![expect(clippy::print_stdout, reason = "figures are shown")]

use plausibly::search::Search;
use plausibly::{
    Action, ActionSet, Actions, Additive, Code, Determinant, Exclusion, Forecast, Forecaster,
    Forecasting, Glm, GlmPrior, Isa, Likelihood, LinTs, LinUcb, Link, Paper, Policy, Radius, Ridge,
    Stream,
};
use plausibly_bench::{Play, Problem, serve, status};
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const USAGE: &str = "usage: contender KIND FOLDER paper|determinant|additive|forecast, contender \
                     glm-code FOLDER likelihood, or contender many ACTIONS DIM ROUNDS";
const DELTA: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    let before = status("VmRSS");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["many", actions, dim, rounds] => many(actions.parse()?, dim.parse()?, rounds.parse()?),
        ["glm-code", folder, "likelihood"] => {
            play_clicks(Problem::read(Path::new(folder))?, before)
        }
        [kind, folder, radius] => {
            let problem = Problem::read(Path::new(folder))?;
            let radius = match radius {
                "forecast" => forecast(&problem),
                name => radius_of(name, problem.dim, problem.sigma)?,
            };
            play(kind, problem, radius, before)
        }
        _ => Err(USAGE.into()),
    }
}

/// The width of the paper's experiments, or a valid radius with `‖θ*‖ ≤ √d`.
fn radius_of(name: &str, dim: usize, noise_scale: f64) -> Result<Radius, Box<dyn Error>> {
    let (delta, theta_norm_bound) = (DELTA, (dim as f64).sqrt());
    match name {
        "paper" => Ok(Radius::Paper(Paper {
            delta,
            lambda: 1e4,
            noise_scale,
            theta_norm_bound: 0.0,
            action_norm_bound: 1.0,
        })),
        "determinant" => {
            Ok(Radius::Determinant(Determinant { delta, noise_scale, theta_norm_bound }))
        }
        "additive" => Ok(Radius::Additive(Additive { delta, noise_scale, theta_norm_bound })),
        _ => Err(USAGE.into()),
    }
}

/// The radius `forecast` with the constants of the others, for any reward that the problem can pay.
fn forecast(problem: &Problem) -> Radius {
    let (low, high) = problem.range();
    Radius::Forecast(Forecast {
        delta: DELTA,
        noise_scale: problem.sigma,
        theta_norm_bound: (problem.dim as f64).sqrt(),
        low,
        high,
        pairs: false,
    })
}

fn about() -> String {
    format!("plausibly {}, {}", env!("CARGO_PKG_VERSION"), Isa::detect().name())
}

fn play(
    kind: &str,
    mut problem: Problem,
    radius: Radius,
    before: u64,
) -> Result<(), Box<dyn Error>> {
    let set = ActionSet::from_flat(std::mem::take(&mut problem.features), problem.dim)?;
    let (dim, sigma, range) = (problem.dim, problem.sigma, problem.range());
    let model = || Ridge::new(dim, 1.0).expect("a valid ridge");
    let by_differences = move || Code::new(model(), radius);
    let forecaster = move || Forecaster::new(dim, range).expect("a positive dimension");
    let forecasting = move || Forecasting::new(by_differences(), forecaster());
    // The rivals compare intervals, so ours does too.
    let code = move || by_differences().excluding(Exclusion::Intervals);
    let lin_ucb = move || LinUcb::new(model(), radius);
    let lin_ts = move || LinTs::new(model(), sigma).expect("a positive scale");
    let every = move || code().searching(Search::over_all_actions());
    let (set, problem, about) = (&set, &problem, about());
    let serve = |play: &mut Play<'_>| serve(&about, before, play);
    match kind {
        "code" => serve(&mut |n, choices| fixed(problem, set, &mut code(), n, choices))?,
        "code-differences" => {
            serve(&mut |n, choices| fixed(problem, set, &mut by_differences(), n, choices))?;
        }
        "code-forecasts" => {
            serve(&mut |n, choices| announced(problem, set, &mut forecasting(), n, choices))?;
        }
        "code-every" => serve(&mut |n, choices| fixed(problem, set, &mut every(), n, choices))?,
        "lin-ucb" => serve(&mut |n, choices| fixed(problem, set, &mut lin_ucb(), n, choices))?,
        "lin-ts" => serve(&mut |n, choices| fixed(problem, set, &mut lin_ts(), n, choices))?,
        "changing-code" => serve(&mut |n, choices| changing(problem, &mut code(), n, choices))?,
        "changing-lin-ucb" => {
            serve(&mut |n, choices| changing(problem, &mut lin_ucb(), n, choices))?;
        }
        "changing-lin-ts" => serve(&mut |n, choices| changing(problem, &mut lin_ts(), n, choices))?,
        "changing-floor" => {
            serve(&mut |n, choices| changing(problem, &mut ByTheFirst::default(), n, choices))?;
        }
        "floor" => serve(&mut |n, choices| read_all(set.view(), n, choices))?,
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

/// CODE over a logistic model, as shipped.
fn play_clicks(mut problem: Problem, before: u64) -> Result<(), Box<dyn Error>> {
    let set = ActionSet::from_flat(std::mem::take(&mut problem.features), problem.dim)?;
    let link = Link::Logistic;
    let prior = GlmPrior {
        link,
        rewards: (0.0, 1.0),
        offset: link.of_mean(0.05),
        theta_norm_bound: 3.0,
        precision: None,
        delta: DELTA,
    };
    let untrained = Code::new(Glm::new(problem.dim, prior)?, Likelihood::default());
    serve(&about(), before, &mut |rounds, choices| {
        let (mut policy, mut rng) = (untrained.clone(), Stream::new(1, 0, "policy"));
        for luck in &problem.noise[..rounds] {
            let chosen = policy.select(set.view(), &mut rng);
            let clicked = *luck < problem.means[chosen];
            policy.update(set.view().get(chosen), f64::from(u8::from(clicked)));
            choices.push(chosen);
        }
    })?;
    Ok(())
}

fn fixed(
    problem: &Problem,
    set: &ActionSet,
    policy: &mut impl Policy,
    rounds: usize,
    choices: &mut Vec<usize>,
) {
    let mut rng = Stream::new(1, 0, "policy");
    for noise in &problem.noise[..rounds] {
        let chosen = policy.select(set.view(), &mut rng);
        policy.update(set.view().get(chosen), problem.means[chosen] + noise);
        choices.push(chosen);
    }
}

/// As [`fixed`], with every decision announced: that is when its reward is forecast.
fn announced(
    problem: &Problem,
    set: &ActionSet,
    policy: &mut impl Policy,
    rounds: usize,
    choices: &mut Vec<usize>,
) {
    let mut rng = Stream::new(1, 0, "policy");
    for noise in &problem.noise[..rounds] {
        let chosen = policy.select(set.view(), &mut rng);
        let action = set.view().get(chosen);
        policy.decided(action);
        policy.update(action, problem.means[chosen] + noise);
        choices.push(chosen);
    }
}

/// Each round a set that was not seen before, copied from the user's rows.
fn changing(problem: &Problem, policy: &mut impl Policy, rounds: usize, choices: &mut Vec<usize>) {
    let mut rng = Stream::new(1, 0, "policy");
    let size = problem.actions * problem.dim;
    let mut set = ActionSet::from_flat(vec![0.0; size], problem.dim).expect("zeros are valid");
    let sets = problem
        .sets
        .features
        .chunks_exact(size)
        .zip(problem.sets.means.chunks_exact(problem.actions))
        .cycle();
    for (noise, (features, means)) in problem.noise[..rounds].iter().zip(sets) {
        set.refill_from(features).expect("valid features");
        let chosen = policy.select(set.view(), &mut rng);
        policy.update(set.view().get(chosen), means[chosen] + noise);
        choices.push(chosen);
    }
}

/// The floor on changing sets: one dot product an action, and nothing learned.
#[derive(Default)]
struct ByTheFirst {
    values: Vec<f64>,
}

impl Policy for ByTheFirst {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> usize {
        actions.dot_into(black_box(&vec![1.0; actions.dim()]), &mut self.values);
        black_box(&self.values);
        0
    }

    fn update(&mut self, _: Action<'_>, _: f64) {}
}

/// The floor for anything that looks at every action in every round: reading the features once.
fn read_all(actions: Actions<'_>, rounds: usize, choices: &mut Vec<usize>) {
    let theta = vec![1.0; actions.dim()];
    let mut sums = Vec::new();
    for _ in 0..rounds {
        actions.dot_into(black_box(&theta), &mut sums);
        black_box(&sums);
        choices.push(0);
    }
}

/// Very many actions: what they cost in time and memory, with nothing else in the process.
fn many(actions: usize, dim: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
    let mut rng = Stream::new(1, 0, "problem");
    let mut features = vec![0.0; actions * dim];
    rng.fill_uniform(&mut features);
    for x in &mut features {
        *x = 2.0 * *x - 1.0;
    }
    let theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
    let (drawn, begun) = (status("VmHWM"), Instant::now());
    let set = ActionSet::from_flat(features, dim)?;
    let built = begun.elapsed().as_secs_f64();
    let (built_peak, sigma) = (status("VmHWM"), 0.5);
    for name in ["paper", "determinant"] {
        let code = Code::new(Ridge::new(dim, 1.0)?, radius_of(name, dim, sigma)?);
        let mut policy = code.excluding(Exclusion::Intervals);
        let begun = Instant::now();
        for _ in 0..rounds {
            let action = set.view().get(policy.select(set.view(), &mut rng));
            let mean: f64 = action.features().iter().zip(&theta).map(|(x, t)| x * t).sum();
            policy.update(action, mean + sigma * rng.normal());
        }
        let micros = begun.elapsed().as_secs_f64() * 1e6 / rounds as f64;
        println!(
            "{{\"radius\": \"{name}\", \"micros\": {micros:e}, \"build_s\": {built:e}, \
             \"drawn_kb\": {drawn}, \"built_kb\": {built_peak}, \"peak_kb\": {}}}",
            status("VmHWM")
        );
    }
    Ok(())
}
