//! Scoring and updating, beside what one would write with a general matrix library.
//!
//! `cargo bench -p plausibly`. Contenders take turns in short blocks and the fastest block of each
//! counts, so that noise slows all of them alike. Compare ratios, not times.
#![expect(clippy::print_stdout, reason = "a benchmark shows its figures")]

use nalgebra::{DMatrix, DVector};
use plausibly::{
    ActionSet, Code, Estimator, Exclusion, Fixed, Isa, Ledger, Observation, Policy, Ridge, Scores,
    Stream,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;

const SIZES: [(usize, usize); 4] = [(5, 10), (5, 100), (16, 1000), (64, 10_000)];
const TURNS: usize = 40;

/// Something to be timed, under its name.
type Contender<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// The fastest time of each contender, in microseconds a call.
fn race(mut contenders: Vec<Contender<'_>>) -> Vec<(&'static str, f64)> {
    let count = |run: &mut dyn FnMut()| {
        let begun = Instant::now();
        run();
        // About a millisecond a block: long beside the clock, short beside the machine's moods.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive count, clamped"
        )]
        let calls = (1e-3 / begun.elapsed().as_secs_f64().max(1e-9)) as usize;
        calls.clamp(1, 100_000)
    };
    let calls: Vec<usize> = contenders.iter_mut().map(|(_, run)| count(run)).collect();
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..TURNS {
        for ((best, calls), (_, run)) in best.iter_mut().zip(&calls).zip(&mut contenders) {
            let begun = Instant::now();
            (0..*calls).for_each(|_| run());
            *best = best.min(begun.elapsed().as_secs_f64() * 1e6 / *calls as f64);
        }
    }
    contenders.iter().zip(best).map(|((name, _), best)| (*name, best)).collect()
}

fn main() {
    println!(
        "instruction set: {}; microseconds, fastest of {TURNS} interleaved blocks\n",
        Isa::detect().name()
    );
    println!("| task | d, K | contender | µs | times ours |\n| --- | --- | --- | --- | --- |");
    for (dim, actions) in SIZES {
        let mut rng = Stream::new(1, 0, "problem");
        let features: Vec<f64> = (0..dim * actions).map(|_| 2.0 * rng.uniform() - 1.0).collect();
        let set = ActionSet::from_flat(features.clone(), dim).expect("valid features");
        let other = ActionSet::from_flat(features.clone(), dim).expect("valid features");
        let mut model = Ridge::new(dim, 1.0).expect("a valid ridge");
        for i in 0..4 * dim {
            model.update(set.view().get(i % actions), rng.normal());
        }
        let inverse = DMatrix::from_row_slice(dim, dim, model.gram_inverse());
        let theta = DVector::from_row_slice(model.theta_hat());
        report(
            "score a new set",
            (dim, actions),
            rescoring(&model, [&set, &other], &features, &inverse, &theta),
        );
        report("one round of CODE", (dim, actions), rounds(&set));
        report("update alone", (dim, actions), updates(&set, &inverse));
        report("draw its features", (dim, actions), draws(dim * actions));
        if dim >= 16 {
            report("record exactly", (dim, actions), records(&set));
        }
    }
}

fn report(task: &str, (dim, actions): (usize, usize), contenders: Vec<Contender<'_>>) {
    let results = race(contenders);
    for (name, time) in &results {
        println!("| {task} | {dim}, {actions} | {name} | {time:.3} | {:.2} |", time / results[0].1);
    }
}

fn rescoring<'a>(
    model: &Ridge,
    sets: [&'a ActionSet; 2],
    features: &'a [f64],
    inverse: &'a DMatrix<f64>,
    theta: &'a DVector<f64>,
) -> Vec<Contender<'a>> {
    let (model, mut scores, mut turn) = (model.clone(), Scores::new(), 0);
    let (dim, actions) = (theta.len(), features.len() / theta.len());
    let points = DMatrix::from_row_slice(actions, dim, features);
    let mut product = DMatrix::zeros(actions, dim);
    let (mut means, mut widths) = (DVector::zeros(actions), vec![0.0; actions]);
    let mut loops = vec![(0.0, 0.0); actions];
    vec![
        (
            "ours",
            Box::new(move || {
                turn = 1 - turn;
                model.score_into(sets[turn].view(), &mut scores);
                black_box(&scores);
            }),
        ),
        (
            "nalgebra: product, then row dots",
            Box::new(move || {
                points.mul_to(inverse, &mut product);
                points.mul_to(theta, &mut means);
                widths.fill(0.0);
                // Column by column, which is how it is stored.
                for j in 0..dim {
                    let (ours, theirs) = (points.column(j), product.column(j));
                    for ((x, p), width) in ours.iter().zip(theirs.iter()).zip(&mut widths) {
                        *width += p * x;
                    }
                }
                black_box((&means, &widths));
            }),
        ),
        (
            "plain loops, action by action",
            Box::new(move || {
                for (a, out) in features.chunks_exact(dim).zip(&mut loops) {
                    let mut width = 0.0;
                    for (i, x) in a.iter().enumerate() {
                        let row = inverse.column(i);
                        width += x * row.iter().zip(a).map(|(m, y)| m * y).sum::<f64>();
                    }
                    *out = (a.iter().zip(theta.iter()).map(|(x, t)| x * t).sum(), width);
                }
                black_box(&loops);
            }),
        ),
    ]
}

fn draws(count: usize) -> Vec<Contender<'static>> {
    let (mut stream, mut single) = (Stream::new(1, 0, "actions"), Stream::new(1, 0, "actions"));
    let (mut theirs, mut bytes) = (ChaCha8Rng::from_seed([1; 32]), vec![0; 8 * count]);
    let number = |word: &[u8; 8]| (u64::from_le_bytes(*word) >> 11) as f64 * 2.0_f64.powi(-53);
    let (mut ours, mut one_by_one, mut from_bytes) =
        (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    vec![
        (
            "ours",
            Box::new(move || {
                stream.fill_uniform(&mut ours);
                black_box(&ours);
            }),
        ),
        (
            "rand_chacha: bytes, then numbers",
            Box::new(move || {
                theirs.fill_bytes(&mut bytes);
                for (x, word) in from_bytes.iter_mut().zip(bytes.as_chunks().0) {
                    *x = number(word);
                }
                black_box(&from_bytes);
            }),
        ),
        (
            "ours, one at a time",
            Box::new(move || {
                one_by_one.fill_with(|| single.uniform());
                black_box(&one_by_one);
            }),
        ),
    ]
}

fn rounds(set: &ActionSet) -> Vec<Contender<'_>> {
    let dim = set.view().dim();
    let contender = |isa: Isa| -> Box<dyn FnMut() + '_> {
        let model = Ridge::new(dim, 1.0).expect("a valid ridge").with_isa(isa);
        let mut code = Code::new(model, Fixed { sqrt_beta: 1.0 }).excluding(Exclusion::Intervals);
        let mut rng = Stream::new(1, 0, "noise");
        let mut round = move || {
            let chosen = code.select(set.view(), &mut rng);
            code.update(set.view().get(chosen), rng.normal());
        };
        // Past the first rounds, in which the inverse is refactored often.
        (0..2000).for_each(|_| round());
        Box::new(round)
    };
    let all = Isa::available();
    let mut contenders: Vec<Contender<'_>> = vec![("ours", contender(Isa::detect()))];
    if all.len() > 1 {
        contenders.push(("ours, forced to the baseline instructions", contender(all[0])));
    }
    contenders
}

fn updates<'a>(set: &'a ActionSet, inverse: &'a DMatrix<f64>) -> Vec<Contender<'a>> {
    let dim = set.view().dim();
    let action = set.view().get(0);
    let mut model = Ridge::new(dim, 1.0).expect("a valid ridge");
    let x = DVector::from_row_slice(action.features());
    let (mut dense, mut by_rows) = (inverse.clone(), inverse.clone());
    let (mut u, mut v) = (DVector::zeros(dim), vec![0.0; dim]);
    vec![
        (
            "ours: inverse, estimate and compensated sums",
            Box::new(move || model.update(action, black_box(0.1))),
        ),
        (
            "nalgebra: gemv and ger, the inverse alone",
            Box::new(move || {
                u.gemv(1.0, &dense, &x, 0.0);
                let h = 1.0 / (1.0 + x.dot(&u));
                dense.ger(-h, &u, &u, 1.0);
                black_box(&dense);
            }),
        ),
        (
            "row dots, the inverse alone",
            Box::new(move || {
                let x = action.features();
                for (i, v) in v.iter_mut().enumerate() {
                    *v = (0..dim).map(|j| by_rows[(i, j)] * x[j]).sum();
                }
                let h = 1.0 / (1.0 + x.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>());
                for i in 0..dim {
                    for j in 0..dim {
                        by_rows[(i, j)] -= h * v[i] * v[j];
                    }
                }
                black_box(&by_rows);
            }),
        ),
    ]
}

/// The exact sums beside the model in doubles.
fn records(set: &ActionSet) -> Vec<Contender<'_>> {
    let action = set.view().get(0);
    let on_grid =
        move || Observation::new(action.features(), black_box(0.1)).expect("values on the grid");
    let (kept, empty) =
        (on_grid(), Ledger::new(action.features().len()).expect("a valid dimension"));
    let (mut adding, mut rounding, mut retracting) = (empty.clone(), empty.clone(), empty);
    let mut model = Ridge::new(action.features().len(), 1.0).expect("a valid ridge");
    let exact = rounding.clone();
    let again = kept.clone();
    vec![
        ("ours: add", Box::new(move || adding.add(black_box(&kept)).expect("room"))),
        ("ours: check, round and add", Box::new(move || rounding.add(&on_grid()).expect("room"))),
        (
            "ours: add and retract",
            Box::new(move || {
                retracting.add(black_box(&again)).expect("room");
                retracting.retract(black_box(&again)).expect("what was just added");
            }),
        ),
        (
            "ours: a model from the sums",
            Box::new(move || drop(black_box(exact.ridge(black_box(1.0))))),
        ),
        ("the f64 model: update", Box::new(move || model.update(action, black_box(0.1)))),
    ]
}
