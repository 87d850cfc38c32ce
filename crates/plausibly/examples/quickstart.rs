//! Ten offers, fifty decisions, and what is known afterwards.
//!
//! `cargo run -p plausibly --example quickstart`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use plausibly::{
    ActionSet, Code, Determinant, Explain, Explanation, Policy, Ridge, Standing, Stream,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Features of ten offers: price, quality, and a constant for everything else.
    let mut rng = Stream::new(7, 0, "problem");
    let rows: Vec<[f64; 3]> = (0..10).map(|_| [rng.uniform(), rng.uniform(), 1.0]).collect();
    let offers = ActionSet::from_rows(&rows)?;
    let truth = [-1.0, 1.0, 0.3];

    // Noise of standard deviation 0.1, and a parameter of norm at most 2.
    let radius = Determinant { delta: 0.05, noise_scale: 0.1, theta_norm_bound: 2.0 };
    let mut policy = Code::new(Ridge::new(3, 0.1)?, radius);
    for _ in 0..50 {
        let chosen = policy.select(offers.view(), &mut rng);
        let action = offers.view().get(chosen);
        let mean: f64 = action.features().iter().zip(truth).map(|(x, theta)| x * theta).sum();
        policy.update(action, mean + 0.1 * rng.normal());
    }

    let mut explanation = Explanation::new();
    policy.explain(offers.view(), &radius, policy.exclusion(), &mut explanation);
    for (action, interval) in explanation.intervals().iter().enumerate() {
        let standing = match explanation.standings()[action] {
            Standing::Plausible => "could still be best".to_string(),
            Standing::RuledOut { by, margin, at_most } => {
                format!("{by} beats it by {margin:.2} to {at_most:.2}")
            }
            Standing::Beaten { by, .. } => format!("{by} has paid more, beyond doubt"),
        };
        println!("offer {action}: {:+.2} to {:+.2}  {standing}", interval.lower, interval.upper);
    }
    println!("next: offer {}", policy.select(offers.view(), &mut rng));
    println!("known to within ±{:.2}", explanation.model_error_bound().sqrt());
    Ok(())
}
