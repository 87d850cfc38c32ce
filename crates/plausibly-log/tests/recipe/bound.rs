//! No bounded mean has larger parameters than promised.

use super::{context, infer, read};
use plausibly::Ridge;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use proptest::prelude::*;

/// ‖θ‖ of the smallest θ with this mean on these vectors, from below: a ridge estimate is never
/// longer.
fn smallest_norm(vectors: &[Vec<f64>], mean: &[f64]) -> f64 {
    let dim = vectors[0].len();
    let ridge = 1e-7;
    let (mut gram, mut moment) = (vec![0.0; dim * dim], vec![0.0; dim]);
    for (x, y) in vectors.iter().zip(mean) {
        for i in 0..dim {
            moment[i] += x[i] * y;
            for j in 0..dim {
                gram[i * dim + j] += x[i] * x[j];
            }
        }
    }
    (0..dim).for_each(|i| gram[i * dim + i] += ridge);
    let model = Ridge::from_statistics(dim, ridge, &gram, &moment, vectors.len() as u64).unwrap();
    model.theta_hat().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Every combination of a number's ends (or a blank), a category (or a blank) and a flag.
fn corners() -> Table {
    let mut rows = Vec::new();
    for number in ["0", "8", ""] {
        for category in ["red", "blue", "teal", "NA"] {
            for flag in ["yes", "no"] {
                rows.push(vec![
                    format!("a{}", rows.len()),
                    number.into(),
                    category.into(),
                    flag.into(),
                ]);
            }
        }
    }
    Table::from_rows(&["label", "number", "category", "flag"].map(String::from), rows).unwrap()
}

fn vectors(recipe: &Recipe, table: &Table, contexts: &[Context]) -> Vec<Vec<f64>> {
    contexts.iter().flat_map(|context| recipe.features_of_all(table, context).unwrap()).collect()
}

/// A recipe with every kind of part on both sides, and all corners of its box.
fn everything() -> (Recipe, Vec<Vec<f64>>) {
    let table = corners();
    let mut recipe = infer(&table, &["device=mobile", "hour=10"]);
    let mut contexts = Vec::new();
    for device in ["mobile", "tablet"] {
        for hour in ["10", "-10", ""] {
            for late in ["", "Ulm", "Bonn"] {
                for load in ["", "1", "-1"] {
                    let pairs =
                        [("device", device), ("hour", hour), ("late", late), ("load", load)];
                    contexts.push(
                        Context::parse(pairs.map(|(key, value)| format!("{key}={value}"))).unwrap(),
                    );
                }
            }
        }
    }
    for context in &contexts {
        if let Some(extension) = recipe.extension(&table, context).unwrap() {
            recipe = recipe.extended(&extension).unwrap();
        }
    }
    let vectors = vectors(&recipe, &table, &contexts);
    (recipe, vectors)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[test]
fn no_mean_within_the_range_has_larger_parameters() {
    let (recipe, vectors) = everything();
    // category with blank: M = 4; number with blank: 1 + 4·1; late categories: 1 + 4·2.
    assert!((recipe.theta_norm_bound(1.0) - 0.5 * (5.0_f64 * 9.0).sqrt()).abs() < 1e-12);
    let config =
        ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    // Sparse parameters come closer to the bound than dense ones.
    let coefficient = prop_oneof![3 => Just(0.0), 1 => -1.0..1.0_f64];
    proptest!(config, |(theta in prop::collection::vec(coefficient, recipe.dim()))| {
        let mean: Vec<f64> = vectors.iter().map(|x| dot(x, &theta)).collect();
        let largest = mean.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        prop_assume!(largest > 0.0);
        let mean: Vec<f64> = mean.iter().map(|y| y / largest / 2.0).collect();
        prop_assert!(smallest_norm(&vectors, &mean) <= recipe.theta_norm_bound(1.0));
    });
}

#[test]
fn a_missing_number_makes_the_bound_sharp() {
    let table = read("label,x\na,0\nb,8\nc,\n");
    let recipe = infer(&table, &[]);
    let vectors = vectors(&recipe, &table, &[Context::default()]);
    let norm = smallest_norm(&vectors, &[-0.5, -0.5, 0.5]);
    let bound = recipe.theta_norm_bound(1.0);
    assert!(norm <= bound && norm > bound - 1e-4, "{norm} {bound}");
}

#[test]
fn categories_and_blocks_make_the_bound_sharp() {
    let table = read("label,x\na,p\nb,q\nc,r\nd,s\ne,p\n");
    let recipe = infer(&table, &[]);
    let mean = [0.5, -0.5, 0.5, -0.5, 0.5];
    let norm = smallest_norm(&vectors(&recipe, &table, &[Context::default()]), &mean);
    let bound = recipe.theta_norm_bound(1.0);
    assert!((bound - 1.0).abs() < 1e-12 && norm <= bound && norm > bound - 1e-4, "{norm} {bound}");

    let table = read("label\na\nb\nc\n");
    let recipe = infer(&table, &["hour=10"]);
    let now = [context(&["hour=10"]), context(&["hour=-10"])];
    let norm = smallest_norm(&vectors(&recipe, &table, &now), &[0.5, 0.5, -0.5, -0.5, 0.5, -0.5]);
    let bound = recipe.theta_norm_bound(1.0);
    assert!(
        (bound - 0.75_f64.sqrt()).abs() < 1e-12 && norm <= bound && norm > bound - 1e-4,
        "{norm} {bound}"
    );
}

#[test]
fn a_cross_of_categories_makes_the_bound_sharp() {
    let table = read("label,x\na,p\nb,q\nc,p\n");
    let recipe = infer(&table, &["device=mobile"]);
    let tablet = context(&["device=tablet"]);
    let recipe = recipe.extended(&recipe.extension(&table, &tablet).unwrap().unwrap()).unwrap();
    let now = [context(&["device=mobile"]), tablet];
    let norm = smallest_norm(&vectors(&recipe, &table, &now), &[0.5, -0.5, 0.5, -0.5, 0.5, -0.5]);
    let bound = recipe.theta_norm_bound(1.0);
    assert!((bound - 1.0).abs() < 1e-12 && norm <= bound && norm > bound - 1e-4, "{norm} {bound}");
}
