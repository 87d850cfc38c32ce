//! One refit of a generalised linear model beside the sums of outer products that it cannot do
//! without, in turns: `refit FOLDER TURNS`.
#![expect(clippy::print_stdout, reason = "figures are shown")]

use plausibly::{Glm, GlmPrior, Isa, Link, RowSums, Stream, Tally};
use plausibly_bench::Problem;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// Two steps of Newton's method, the curvature at the point, the tangent from above, and two passes
/// of the ellipsoid: what GLM refits need if they start near the point where they end.
const PRODUCTS: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, turns] = &args[..] else { return Err("usage: refit FOLDER TURNS".into()) };
    let problem = Problem::read(Path::new(folder))?;
    let (dim, link, isa) = (problem.dim, Link::Logistic, Isa::detect());
    let prior = GlmPrior {
        link,
        rewards: (0.0, 1.0),
        offset: link.of_mean(0.05),
        theta_norm_bound: 3.0,
        precision: None,
        delta: 0.05,
    };
    let sums = taken(&problem)?;
    let weights: Vec<f64> = problem.means.iter().map(|rate| rate * (1.0 - rate)).collect();
    let (mut refit, mut products) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..turns.parse()? {
        let sums = sums.clone();
        let begun = Instant::now();
        black_box(Glm::from_rows(sums, prior)?);
        refit = refit.min(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        for _ in 0..PRODUCTS {
            let mut sum = vec![0.0; dim * dim];
            isa.add_outer_products(&mut sum, black_box(&problem.features), &weights, dim);
            black_box(sum);
        }
        products = products.min(begun.elapsed().as_secs_f64());
    }
    println!(
        "{{\"rows\": {}, \"rewards\": {}, \"refit\": {refit:e}, \"products\": {products:e}}}",
        sums.len(),
        sums.outcomes()
    );
    Ok(())
}

/// Every row taken, 10 times on average.
fn taken(problem: &Problem) -> Result<RowSums, Box<dyn Error>> {
    let (mut sums, mut rng) = (RowSums::new(problem.dim), Stream::new(1, 0, "clicks"));
    for (row, rate) in problem.features.chunks_exact(problem.dim).zip(&problem.means) {
        let count = 1 + rng.index(19);
        let clicks = (0..count).filter(|_| rng.uniform() < *rate).count();
        sums.add(row, &Tally::yes_no(clicks as u64, count as u64, 0.0, 1.0)?)?;
    }
    Ok(sums)
}
