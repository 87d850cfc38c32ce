//! Recipes of wine, heart failure and MovieLens, if their data is available.

use super::{context, workspace};
use plausibly_log::recipe::{Context, Encoding, Recipe};
use plausibly_log::table::Table;
use std::process::Command;

/// A member of an archive beside the project; `None`, with a message, without the archive or the
/// tool that opens it.
fn member(archive: &str, member: &str) -> Option<Vec<u8>> {
    let path = workspace("../shared/data").join(archive);
    if !path.exists() {
        eprintln!("skipped: {archive} is not beside the project");
        return None;
    }
    let Ok(output) = Command::new("unzip").arg("-p").arg(path).arg(member).output() else {
        eprintln!("skipped: {archive} is there, and no `unzip` to open it");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// Every row within the unit, and the extremes reached.
fn assert_scaled(recipe: &Recipe, table: &Table) {
    let rows = recipe.features_of_all(table, &Context::default()).unwrap();
    for feature in 1..recipe.dim() {
        let values = || rows.iter().map(|row| row[feature]);
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        assert!(
            low >= -1.0 && (high - 1.0).abs() < 1e-12,
            "{}: {low} {high}",
            recipe.feature_names()[feature]
        );
    }
}

#[test]
fn white_wine_is_numbers_between_semicolons() {
    let Some(bytes) = member("wine+quality.zip", "winequality-white.csv") else { return };
    let table = Table::read(bytes.as_slice()).unwrap();
    assert_eq!((table.len(), table.columns().len(), table.label_column()), (4898, 12, None));
    let recipe = Recipe::infer(&table, &Context::default()).unwrap();
    assert_eq!((recipe.dim(), recipe.feature_names()[4].as_str()), (13, "residual sugar"));
    assert!((recipe.theta_norm_bound(1.0) - 0.5).abs() < 1e-12);
    assert_scaled(&recipe, &table);
    let features = recipe.features(table.row(0).unwrap(), &Context::default()).unwrap();
    let shown: Vec<_> =
        features.iter().enumerate().map(|(k, &x)| recipe.display(k, x).unwrap()).collect();
    assert_eq!(
        shown[1..5],
        [
            "fixed acidity = 7",
            "volatile acidity = 0.27",
            "citric acid = 0.36",
            "residual sugar = 20.7"
        ]
    );
}

#[test]
fn heart_failure_is_numbers_and_flags() {
    let Some(bytes) =
        member("heart+failure+clinical+records.zip", "heart_failure_clinical_records_dataset.csv")
    else {
        return;
    };
    let table = Table::read(bytes.as_slice()).unwrap();
    let recipe =
        Recipe::infer_without(&table, &context(&["ward=3"]), &["DEATH_EVENT", "time"]).unwrap();
    assert_eq!((table.len(), recipe.dim()), (299, 2 * 12));
    let smoking = recipe.columns().iter().find(|column| column.name == "smoking").unwrap();
    assert!(matches!(smoking.encoding, Encoding::Linear { low: 0.0, high: 1.0, .. }));
    assert_scaled(&Recipe::infer(&table, &Context::default()).unwrap(), &table);
}

#[test]
fn movielens_users_have_categories_and_codes() {
    let Some(bytes) = member("ml-1m.zip", "ml-1m/users.dat") else { return };
    let text = String::from_utf8(bytes).unwrap().replace("::", ",");
    let table =
        Table::read(format!("id,gender,age,occupation,postcode\n{text}").as_bytes()).unwrap();
    let recipe = Recipe::infer(&table, &Context::default()).unwrap();
    assert_eq!((table.len(), table.label_column()), (6040, Some("id")));
    assert_eq!(
        recipe.feature_names(),
        ["intercept", "gender = F", "gender = M", "age", "occupation"]
    );
    let postcode = &recipe.columns()[3];
    assert!(matches!(postcode.encoding, Encoding::LeftOut { .. }), "{postcode:?}");
}

#[test]
fn movielens_movies_are_arms_once_their_encoding_is_put_right() {
    let Some(bytes) = member("ml-1m.zip", "ml-1m/movies.dat") else { return };
    let header = b"id;title;genres\n".to_vec();
    let error = Table::read([header, bytes.clone()].concat().as_slice()).unwrap_err().to_string();
    assert!(error.ends_with("the text is not UTF-8; save the table as \"CSV UTF-8\""), "{error}");
    // Latin-1: every byte is the character of its number.
    let text: String = bytes.into_iter().map(char::from).collect();
    let quoted = text
        .lines()
        .map(|line| format!("\"{}\"\n", line.replace('"', "\"\"").replace("::", "\";\"")));
    let table =
        Table::read(format!("id;title;genres\n{}", quoted.collect::<String>()).as_bytes()).unwrap();
    let recipe = Recipe::infer(&table, &Context::default()).unwrap();
    assert_eq!((table.len(), recipe.is_arms()), (3883, true));
    let reasons = recipe.describe().to_string();
    assert!(
        reasons.contains("301 different values in 3883 cells, like an identifier"),
        "{reasons}"
    );
}
