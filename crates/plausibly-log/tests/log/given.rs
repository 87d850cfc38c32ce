//! A log of vectors as given decides like the same policy in memory.

use super::{Memory, open};
use plausibly::{ActionSet, Code, Determinant, Policy, Ridge, Stream};
use plausibly_log::recipe::{Context, Recipe, RecipeError};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, certificate};
use serde_json::json;

/// Vectors on the grid.
fn vectors(rng: &mut Stream, rows: usize, dim: usize) -> Vec<Vec<f64>> {
    let on_grid = |x: f64| plausibly::quantise(x).unwrap();
    (0..rows).map(|_| (0..dim).map(|_| on_grid(rng.normal())).collect()).collect()
}

fn table(vectors: &[Vec<f64>]) -> Table {
    let header: Vec<String> = (0..vectors[0].len()).map(|k| format!("x{k}")).collect();
    let cells = vectors.iter().map(|row| row.iter().map(|x| format!("{x:?}")).collect());
    Table::from_rows(&header, cells).unwrap()
}

fn begun(
    disk: &Memory,
    table: &Table,
    bound: f64,
    range: (f64, f64),
) -> Result<Log<Memory>, LogError> {
    let mut log = open(disk);
    let radius = json!({"kind": "determinant", "noise_scale": 0.1});
    let policy =
        json!({"kind": "code", "greed": 0.0, "radius": radius}).as_object().unwrap().clone();
    let recipe = Recipe::given(table, &[], bound).unwrap();
    log.begin(1, Opening { policy, ..Opening::new(recipe, range, 1) })?;
    Ok(log)
}

/// Means that are linear in the vectors, within ±0.4 and of parameters within the bound.
fn means(rows: &[Vec<f64>], bound: f64) -> Vec<f64> {
    let sums: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
    let largest = sums.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let weight = (0.4 / largest).min(bound / (rows[0].len() as f64).sqrt());
    sums.iter().map(|sum| weight * sum).collect()
}

#[test]
fn decisions_are_those_of_code_in_memory() {
    let mut narrowed = 0;
    for (seed, dim) in (0..24).zip([1, 2, 3, 5, 8, 13].into_iter().cycle()) {
        let mut rng = Stream::new(seed, 0, "given");
        let count = 2 + rng.index(12);
        let rows = vectors(&mut rng, count, dim);
        let (set, table) = (ActionSet::from_rows(&rows).unwrap(), table(&rows));
        // A range of length two, so that scaling is exact, and not around zero, so that centring
        // would show.
        let (range, bound) = ((-0.5, 1.5), 0.75);
        let means = means(&rows, bound);
        let radius = Determinant { delta: 0.05, noise_scale: 0.1, theta_norm_bound: bound };
        let mut memory = Code::new(Ridge::new(dim, 1.0).unwrap(), radius);
        let disk = Memory::default();
        let mut log = begun(&disk, &table, bound, range).unwrap();
        for decision in 1..=300 {
            let chosen = memory.select(set.view(), &mut rng);
            let found = log.decide(2, &table, &Context::default(), 100).unwrap();
            assert_eq!(found.findings.chosen.id, chosen as u64, "seed {seed}, decision {decision}");
            let reward = (means[chosen] + 0.02 * rng.normal()).clamp(-0.5, 1.5);
            let reward = 2.0 * plausibly::quantise(reward / 2.0).unwrap();
            memory.update(set.view().get(chosen), reward);
            log.reward(2, decision, reward).unwrap();
        }
        let last = certificate(&disk, 300, 100).unwrap();
        last.check().unwrap();
        for (action, mean) in last.findings.actions.iter().zip(&means) {
            assert!(action.lower <= *mean && *mean <= action.upper, "{action:?} {mean}");
        }
        narrowed += usize::from(last.findings.plausible < count as u64);
    }
    assert!(narrowed >= 8, "only {narrowed} of 24 came to choices among fewer than all");
}

#[test]
fn a_range_that_exact_sums_cannot_hold_is_refused() {
    let rows = table(&[vec![1.0], vec![-1.0]]);
    let refused = |bound: f64, range| begun(&Memory::default(), &rows, bound, range).unwrap_err();
    assert!(matches!(refused(1.0, (1e6, 1e6 + 1.0)), LogError::Step(StepError::FarRange { .. })));
    let error = refused(1e40, (0.0, 1e-20));
    assert!(
        matches!(error, LogError::Step(StepError::Features(RecipeError::Bound { .. }))),
        "{error}"
    );
    assert!(begun(&Memory::default(), &rows, 1.0, (1023.0, 1024.0)).is_ok());
}

#[test]
fn the_words_name_the_bound_that_was_declared() {
    let rows = table(&[vec![1.0], vec![-1.0]]);
    let mut log = begun(&Memory::default(), &rows, 0.3, (0.0, 7.0)).unwrap();
    let found = log.decide(2, &rows, &Context::default(), 10).unwrap();
    let words = found.words().to_string();
    assert!(
        words.contains("of their squares) is at most 0.3") && !words.contains("No combination"),
        "{words}"
    );
    assert!(found.to_json().contains("\"as_given\":true"));
}
