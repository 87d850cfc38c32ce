//! Vectors as given: used digit by digit, or refused with the name of the cell.

use super::{context, infer, read};
use plausibly_log::recipe::{Context, Recipe, RecipeError, Shape};
use plausibly_log::table::Table;
use proptest::prelude::*;

fn given(text: &str) -> Result<Recipe, RecipeError> {
    Recipe::given(&read(text), &[], 1.0)
}

#[test]
fn every_column_but_the_label_is_a_feature_as_it_is() {
    let table = read("name,x,constant,wide\na,0.5,1,-1024\nb,-3,1,1e3\n");
    let recipe = Recipe::given(&table, &[], 2.0).unwrap();
    assert_eq!((recipe.shape(), recipe.dim(), recipe.label()), (Shape::Given, 3, Some("name")));
    assert_eq!(
        recipe.feature_names(),
        ["x", "constant", "wide"],
        "no intercept, and a constant is one"
    );
    let vectors = recipe.features_of_all(&table, &Context::default()).unwrap();
    assert_eq!(vectors, [[0.5, 1.0, -1024.0], [-3.0, 1.0, 1000.0]]);
    assert_eq!(recipe.display(0, 0.5).unwrap(), "x = 0.5");
    let shown = recipe.describe().to_string();
    assert!(shown.contains("the number as it is") && shown.contains("at most 2"), "{shown}");
    // One row and one column is the smallest table.
    assert_eq!(given("x\n0.25\n").unwrap().dim(), 1);
    let fewer = Recipe::given(&table, &["wide"], 2.0).unwrap();
    assert_eq!(fewer.feature_names(), ["x", "constant"]);
    assert!(fewer.ignored(&table).is_empty(), "what was left out as asked is no news");
}

#[test]
fn what_is_no_vector_is_refused_by_row_and_column() {
    let wrong = |text: &str, words: &[&str]| {
        let error = given(text).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "`{word}` is not in: {error}");
        }
    };
    wrong("name,x,y\na,1,2\nb,,3\n", &["line 3", "column `x`", "blank"]);
    wrong("name,x,y\na,1,red\nb,2,3\n", &["line 2", "column `y`", "`red`"]);
    wrong("name,x\na,1\nb,1024.5\n", &["line 3", "column `x`", "1024.5", "and 1024,"]);
    wrong("name,x\na,\"1,5\"\nb,2\n", &["line 2", "`1,5`"]);
    wrong("name\na\nb\n", &["labels only"]);
    let table = read("name,x\na,1\nb,2\n");
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e51] {
        let refused = Recipe::given(&table, &[], bound);
        assert!(matches!(refused, Err(RecipeError::Bound { .. })), "{bound}: {refused:?}");
    }
    assert!(matches!(
        Recipe::given(&table, &["z"], 1.0),
        Err(RecipeError::NothingToLeaveOut { .. })
    ));
    let header: Vec<String> = (0..257).map(|k| format!("x{k}")).collect();
    let wide = Table::from_rows(&header, [vec!["1".to_string(); 257]]).unwrap();
    assert!(matches!(
        Recipe::given(&wide, &[], 1.0),
        Err(RecipeError::TooManyFeatures { total: 257, .. })
    ));
}

#[test]
fn later_tables_neither_extend_it_nor_bring_a_context() {
    let table = read("name,x\na,1\nb,2\n");
    let recipe = Recipe::given(&table, &[], 1.0).unwrap();
    assert_eq!(recipe.extension(&table, &Context::default()).unwrap(), None);
    let device = context(&["device=mobile"]);
    assert!(matches!(
        recipe.extension(&table, &device),
        Err(RecipeError::ContextForVectors { .. })
    ));
    let row = table.find("a").unwrap();
    assert!(matches!(recipe.features(row, &device), Err(RecipeError::ContextForVectors { .. })));
    let blank = read("name,x\na,1\nb,NA\n");
    assert_eq!(recipe.extension(&blank, &Context::default()).unwrap(), None);
    let error = recipe.features_of_all(&blank, &Context::default()).unwrap_err();
    assert!(matches!(error, RecipeError::NotInAVector { value: None, .. }), "{error}");
}

#[test]
fn the_stored_form_comes_back_and_no_other_passes_for_it() {
    let recipe = given("name,x,y\na,1,2\nb,3,4\n").unwrap();
    let stored = serde_json::to_value(&recipe).unwrap();
    assert_eq!(stored["theta_norm_bound"], 1.0);
    assert_eq!(serde_json::from_value::<Recipe>(stored.clone()).unwrap(), recipe);
    let inferred = serde_json::to_value(infer(&read("name,x,y\na,1,2\nb,3,4\n"), &[])).unwrap();
    assert!(inferred.get("theta_norm_bound").is_none());
    let damaged = |damage: &dyn Fn(&mut serde_json::Value)| {
        let mut damaged = stored.clone();
        damage(&mut damaged);
        assert!(serde_json::from_value::<Recipe>(damaged.clone()).is_err(), "{damaged}");
    };
    damaged(&|value| value["theta_norm_bound"] = (-1.0).into());
    damaged(&|value| drop(value.as_object_mut().unwrap().remove("theta_norm_bound")));
    damaged(&|value| value["shape"] = "shared".into());
    damaged(&|value| value["columns"] = inferred["columns"].clone());
    damaged(&|value| value["features"] = serde_json::json!([[1, 0], [1, 0]]));
    damaged(&|value| value["features"] = serde_json::json!([[1, 0]]));
    let mut other = inferred.clone();
    other["theta_norm_bound"] = 1.0.into();
    assert!(
        serde_json::from_value::<Recipe>(other).is_err(),
        "an inferred recipe declares no bound"
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn numbers_are_taken_to_the_grid_and_no_further(
        rows in prop::collection::vec(prop::collection::vec(-1024.0..1024.0_f64, 3), 1..6),
        bound in 1e-6..1e6_f64,
        range in 1e-3..1e3_f64,
    ) {
        let header = ["x", "y", "z"].map(String::from);
        let cells = rows.iter().map(|row| row.iter().map(|x| format!("{x:?}")).collect());
        let table = Table::from_rows(&header, cells).unwrap();
        let recipe = Recipe::given(&table, &[], bound).unwrap();
        let vectors = recipe.features_of_all(&table, &Context::default()).unwrap();
        for (row, vector) in rows.iter().zip(&vectors) {
            for (x, y) in row.iter().zip(vector) {
                prop_assert!((x - y).abs() <= 2.0_f64.powi(-25));
                prop_assert_eq!(plausibly::quantise(*y).unwrap().to_bits(), y.to_bits());
            }
        }
        prop_assert_eq!(recipe.theta_norm_bound(range).to_bits(), (bound / range).to_bits());
    }
}
