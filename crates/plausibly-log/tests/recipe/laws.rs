//! Laws that hold for every table.

use plausibly_log::recipe::{Context, Extension, Recipe, RecipeError};
use plausibly_log::table::Table;
use proptest::prelude::*;

/// A cell of a column of some kind; a later table has values that the first never has.
fn cell(kind: usize, later: bool) -> BoxedStrategy<String> {
    let words: &'static [&'static str] = match (kind, later) {
        (0, false) => &["1", "2.5", "-7", "1e3", "0", "-0", "12"],
        (0, true) => &["1", "2.5", "-7", "40000", "", "-1e6", "12"],
        (1, false) => &["red", "blue", "Green", "green"],
        (1, true) => &["red", "blue", "teal", "NA", "ochre", "12"],
        (2, false) => &["yes", "NO", "No"],
        (2, true) => &["yes", "no", "perhaps", "-"],
        (3, false) => &["1", "2", "2", "3", "3", "5", "4", "700000"],
        (3, true) => &["1", "2", "9e9", "0.001", "null"],
        (4, false) => &["12.5", "", "NA", "13", "14.25"],
        (4, true) => &["12.5", "", "NA", "-1300"],
        (5, _) => &["7"],
        _ => return "[a-z0-9,;\"é ]{0,6}".boxed(),
    };
    prop::sample::select(words).prop_map(str::to_string).boxed()
}

const KINDS: usize = 7;

/// Rows of columns of these kinds, labelled.
fn rows(kinds: &[usize], later: bool) -> impl Strategy<Value = Vec<Vec<String>>> + use<> {
    let row: Vec<_> = kinds.iter().map(|&kind| cell(kind, later)).collect();
    prop::collection::vec(row, 1..30).prop_map(|rows| {
        let label = |(k, mut row): (usize, Vec<String>)| {
            row.push(format!("a{}", k * 7 % 31));
            row
        };
        rows.into_iter().enumerate().map(label).collect()
    })
}

fn table(kinds: &[usize], rows: Vec<Vec<String>>) -> Table {
    let mut columns: Vec<String> = (0..kinds.len()).map(|k| format!("c{k}")).collect();
    columns.push("label".into());
    Table::from_rows(&columns, rows).unwrap()
}

fn pairs(later: bool) -> impl Strategy<Value = Context> {
    let device = if later { vec!["", "mobile", "tablet"] } else { vec!["", "mobile"] };
    let hour = if later { vec!["", "3", "24"] } else { vec!["", "14"] };
    let city = if later { vec!["", "Ulm"] } else { vec![""] };
    let load = if later { vec!["", "0.5", "-70"] } else { vec![""] };
    let one = |key: &'static str, values: Vec<&'static str>| {
        prop::sample::select(values).prop_map(move |value| format!("{key}={value}"))
    };
    (one("device", device), one("hour", hour), one("city", city), one("load", load))
        .prop_map(|(device, hour, city, load)| Context::parse([device, hour, city, load]).unwrap())
}

fn kinds() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..KINDS, 0..5)
}

/// A first table and context, and later ones of the same columns.
fn story() -> impl Strategy<Value = (Table, Context, Table, Context)> {
    kinds().prop_flat_map(|kinds| {
        let tables = (rows(&kinds, false), rows(&kinds, true));
        (tables, pairs(false), pairs(true)).prop_map(move |((first, later), before, now)| {
            (table(&kinds, first), before, table(&kinds, later), now)
        })
    })
}

/// A recipe; `None` for the few tables that are rightly refused.
fn inferred(table: &Table, context: &Context) -> Option<Recipe> {
    match Recipe::infer(table, context) {
        Ok(recipe) => Some(recipe),
        Err(
            RecipeError::TooManyFeatures { .. }
            | RecipeError::TooManyBlocks { .. }
            | RecipeError::Ambiguous { .. }
            | RecipeError::WithComma { .. },
        ) => None,
        Err(other) => panic!("{other}"),
    }
}

fn on_grid(value: f64) -> bool {
    let steps = value * f64::from(1_u32 << 24);
    value.abs() <= 1024.0 && steps.fract() == 0.0 && !(value == 0.0 && value.is_sign_negative())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_first_table_is_encoded_on_the_grid_and_within_the_unit(
        (table, context, _, _) in story(),
    ) {
        let Some(recipe) = inferred(&table, &context) else { return Ok(()) };
        prop_assert_eq!(recipe.feature_names().len(), recipe.dim());
        for features in recipe.features_of_all(&table, &context).unwrap() {
            prop_assert_eq!(features.len(), recipe.dim());
            let sound = |&value: &f64| on_grid(value) && value.abs() <= 1.0;
            prop_assert!(features.iter().all(sound), "{:?}", features);
        }
        prop_assert_eq!(recipe.extension(&table, &context).unwrap(), None);
        for row in table.rows() {
            let kept = recipe.encode(row.label(), &recipe.cells(row).unwrap(), &context).unwrap();
            prop_assert_eq!(kept, recipe.features(row, &context).unwrap());
        }
    }

    #[test]
    fn an_extension_appends_zeros_to_all_that_was_encoded((table, context, later, now) in story()) {
        let Some(recipe) = inferred(&table, &context) else { return Ok(()) };
        let extension = match recipe.extension(&later, &now) {
            Ok(Some(extension)) => extension,
            Ok(None) | Err(RecipeError::NoRoom { .. } | RecipeError::ContextForArms { .. }) => {
                return Ok(());
            }
            Err(other) => panic!("{other}"),
        };
        let extended = recipe.extended(&extension).unwrap();
        prop_assert!(extended.dim() > recipe.dim());
        prop_assert_eq!(&extended.feature_names()[..recipe.dim()], &recipe.feature_names()[..]);
        prop_assert!(extended.theta_norm_bound(1.0) >= recipe.theta_norm_bound(1.0));
        for row in table.rows().chain(later.rows()) {
            for context in [&context, &now] {
                let before = recipe.features(row, context);
                let after = extended.features(row, context);
                if let Ok(mut before) = before {
                    before.resize(extended.dim(), 0.0);
                    prop_assert_eq!(before, after.unwrap());
                }
            }
        }
        for features in extended.features_of_all(&later, &now).iter().flatten() {
            prop_assert!(features.iter().all(|&value| on_grid(value)));
        }
        prop_assert_eq!(extended.extension(&later, &now).unwrap(), None);
        let text = serde_json::to_string(&extension).unwrap();
        prop_assert_eq!(serde_json::from_str::<Extension>(&text).unwrap(), extension);
        let text = serde_json::to_string(&extended).unwrap();
        prop_assert_eq!(serde_json::from_str::<Recipe>(&text).unwrap(), extended);
    }

    #[test]
    fn after_an_extension_only_unsound_numbers_are_refused(
        (table, context, later, now) in story(),
    ) {
        let Some(mut recipe) = inferred(&table, &context) else { return Ok(()) };
        match recipe.extension(&later, &now) {
            Ok(Some(extension)) => recipe = recipe.extended(&extension).unwrap(),
            Ok(None) => {}
            Err(_) => return Ok(()),
        }
        for row in later.rows() {
            match recipe.features(row, &now) {
                Ok(features) => {
                    let shown = |(k, &value): (usize, &f64)| recipe.display(k, value);
                    prop_assert!(features.iter().enumerate().map(shown).all(|text| text.is_some()));
                }
                Err(
                    RecipeError::NotANumber { .. }
                    | RecipeError::NotPositive { .. }
                    | RecipeError::TooFar { .. }
                    | RecipeError::Product { .. },
                ) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter(
        (kinds, rows, shuffled) in kinds().prop_flat_map(|kinds| {
            let shuffled = rows(&kinds, false)
                .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()));
            (Just(kinds), shuffled).prop_map(|(kinds, (rows, shuffled))| (kinds, rows, shuffled))
        }),
        context in pairs(false),
    ) {
        let (table, other) = (table(&kinds, rows), table(&kinds, shuffled));
        let Some(recipe) = inferred(&table, &context) else { return Ok(()) };
        let again = Recipe::infer(&other, &context).unwrap();
        let text = |recipe: &Recipe| serde_json::to_string(recipe).unwrap();
        prop_assert_eq!(text(&recipe), text(&again));
        prop_assert_eq!(recipe.describe().to_string(), again.describe().to_string());
        for row in table.rows() {
            let other = other.find(row.label()).unwrap();
            let features = recipe.features(row, &context).unwrap();
            prop_assert_eq!(features, again.features(other, &context).unwrap());
        }
    }

    #[test]
    fn numbers_come_back_in_their_units(values in prop::collection::vec(-1e6..1e6_f64, 2..20)) {
        let row = |(k, value): (usize, &f64)| vec![format!("a{k}"), format!("{value}")];
        let rows = values.iter().enumerate().map(row);
        let table = Table::from_rows(&["label".to_string(), "x".into()], rows).unwrap();
        let recipe = Recipe::infer(&table, &Context::default()).unwrap();
        let largest = values.iter().fold(f64::MIN, |a, &b| a.max(b));
        let range = largest - values.iter().fold(f64::MAX, |a, &b| a.min(b));
        for (row, value) in table.rows().zip(&values) {
            let features = recipe.features(row, &Context::default()).unwrap();
            let shown = recipe.display(1, features[1]).unwrap();
            let back: f64 = shown.strip_prefix("x = ").unwrap().parse().unwrap();
            // Half a step by the grid and one by the digits shown, a step being half of the range
            // times 2⁻²⁴.
            let tolerance = 1.6 * range / 2.0 / f64::from(1_u32 << 24);
            prop_assert!((back - value).abs() <= tolerance, "{} {}", value, shown);
        }
    }

    #[test]
    fn any_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(table) = Table::read(bytes.as_slice()) {
            let _ = Recipe::infer(&table, &Context::default());
        }
    }

    #[test]
    fn any_text_like_a_table_is_one_or_an_error(
        text in "(\u{feff})?[a-c\",;\t\r\n 0-9.éx-]{0,120}",
        pair in "[a-z]{0,3}=[0-9a-z.,]{0,6}",
    ) {
        let Ok(table) = Table::read(text.as_bytes()) else { return Ok(()) };
        let context = Context::parse([pair]).unwrap_or_default();
        let Ok(recipe) = Recipe::infer(&table, &context) else { return Ok(()) };
        let stored = serde_json::to_string(&recipe).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Recipe>(&stored).unwrap(), &recipe);
        prop_assert!(!recipe.describe().to_string().is_empty());
        for features in recipe.features_of_all(&table, &context).unwrap() {
            prop_assert!(features.into_iter().all(on_grid));
        }
    }
}
