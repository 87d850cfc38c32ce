//! The page on features shows what the code prints.

use super::{context, infer, open, workspace};
use plausibly_log::recipe::Recipe;
use plausibly_log::table::Table;
use std::fmt::Write;

/// One line per feature: its name, its value, and the value in the user's units.
fn encoded(recipe: &Recipe, table: &Table, label: &str, pairs: &[&str]) -> String {
    let features = recipe.features(table.find(label).unwrap(), &context(pairs)).unwrap();
    let names = recipe.feature_names();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap();
    let mut text = String::new();
    for (k, (name, value)) in names.iter().zip(&features).enumerate() {
        writeln!(text, "{name:width$}  {value:9.6}  {}", recipe.display(k, *value).unwrap())
            .unwrap();
    }
    text
}

/// The content of a block, by its first line, which names a table in `testdata/tables`.
fn answer(question: &str) -> String {
    let mut words = question.split(' ');
    let (what, file) = (words.next().unwrap(), words.next().unwrap());
    let table = open(file);
    match what {
        "table" => std::fs::read_to_string(workspace("testdata/tables").join(file)).unwrap(),
        "recipe" => infer(&table, &words.collect::<Vec<_>>()).describe().to_string(),
        "features" => {
            let label = words.next().unwrap().replace('_', " ");
            let pairs: Vec<_> = words.collect();
            encoded(&infer(&table, &pairs), &table, &label, &pairs)
        }
        other => panic!("`{other}` is nothing the page can ask for"),
    }
}

#[test]
fn the_page_on_features_is_what_the_code_prints() {
    let path = workspace("docs/concepts/features.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut questions = 0;
    let mut rebuilt = String::new();
    for (position, part) in page.split("```").enumerate() {
        rebuilt += if position == 0 { "" } else { "```" };
        // Odd parts are inside fences.
        match part
            .split_once('\n')
            .filter(|_| position % 2 == 1)
            .and_then(|(info, _)| info.strip_prefix("text of "))
        {
            Some(question) => {
                questions += 1;
                write!(rebuilt, "text of {question}\n{}", answer(question)).unwrap();
            }
            None => rebuilt += part,
        }
    }
    assert_eq!(questions, 5);
    plausibly_testkit::assert_golden(&path, &rebuilt);
}
