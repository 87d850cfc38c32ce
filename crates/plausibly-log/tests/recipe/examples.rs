//! Small tables made by hand.

use super::{context, infer, open, read};
use plausibly_log::recipe::{Context, Encoding, Recipe, Shape, Why};
use plausibly_log::table::Table;

fn refusal(text: &str, pairs: &[&str]) -> String {
    Recipe::infer(&read(text), &context(pairs)).unwrap_err().to_string()
}

/// Rows with one category each, and a second column.
fn wide(categories: usize, rows: usize) -> String {
    let row = |k: usize| format!("{},c{},{}\n", k, k % categories, k % 7);
    std::iter::once("id,kind,size\n".into()).chain((0..rows).map(row)).collect()
}

#[test]
fn a_trial_with_text_blanks_and_large_values() {
    let table = open("trial.csv");
    let recipe = infer(&table, &[]);
    let encoding =
        |name: &str| &recipe.columns().iter().find(|column| column.name == name).unwrap().encoding;
    assert!(matches!(encoding("half-life h"), Encoding::Log { .. }));
    assert!(matches!(encoding("cost EUR"), Encoding::Linear { low: 1000.0, high: 325_000.0, .. }));
    assert!(matches!(encoding("first in class"), Encoding::Flag { .. }));
    assert_eq!(encoding("unit"), &Encoding::LeftOut { why: Why::Constant("mg".into()) });
    assert_eq!(
        encoding("sponsor code"),
        &Encoding::LeftOut { why: Why::Identifier { values: 22, cells: 22 } }
    );
    let names = recipe.feature_names();
    assert_eq!((recipe.dim(), names[0].as_str()), (22, "intercept"));
    let features = recipe.features(table.find("Wouldbecel").unwrap(), &Context::default()).unwrap();
    let value = |name: &str| features[names.iter().position(|known| known == name).unwrap()];
    let of = |names: [&str; 3]| names.map(value).to_vec();
    assert_eq!(of(["class = cell therapy", "class = antibody", "cost EUR"]), vec![1.0, 0.0, 1.0]);
    assert_eq!(of(["dose mg", "dose mg missing", "platelets needed missing"]), vec![0.0, 1.0, 0.0]);
    let shown = |name: &str| {
        let feature = names.iter().position(|known| known == name).unwrap();
        recipe.display(feature, features[feature]).unwrap()
    };
    assert_eq!(shown("cost EUR"), "cost EUR = 325000");
    assert_eq!(shown("platelets needed"), "platelets needed = 50000");
    assert_eq!(shown("class = none"), "class ≠ none");
    assert_eq!(shown("dose mg missing"), "dose mg missing");
    assert_eq!(shown("first in class"), "first in class = yes");
    assert_eq!(recipe.display(22, 0.0), None);
}

#[test]
fn context_enters_alone_and_with_every_part_of_an_action() {
    let table = read("name,price,colour\nmug,4,red\nbowl,8,blue\njug,6,red\n");
    let recipe = infer(&table, &["device=mobile", "hour=14"]);
    let names = recipe.feature_names();
    assert_eq!(names.len(), (1 + 3) * (1 + 2));
    assert_eq!(names[4..6], ["device = mobile", "hour"]);
    assert_eq!(
        names[6..9],
        [
            "price × device = mobile",
            "colour = blue × device = mobile",
            "colour = red × device = mobile"
        ]
    );
    let later = context(&["device=mobile", "hour=50"]);
    let features = recipe.features(table.find("mug").unwrap(), &later).unwrap();
    assert_eq!(features, [1.0, -1.0, 0.0, 1.0, 1.0, 0.5, -1.0, 0.0, 1.0, -0.5, 0.0, 0.5]);
    assert_eq!(recipe.display(9, -0.5).unwrap(), "(price × hour) = -0.5");
    assert_eq!(recipe.display(11, 0.5).unwrap(), "colour = red × hour = 50");
    assert_eq!(recipe.display(6, -1.0).unwrap(), "price = 4 × device = mobile");
    assert_eq!(recipe.display(7, 0.0).unwrap(), "(colour = blue × device = mobile) = 0");
}

#[test]
fn labels_alone_are_arms_and_with_a_context_blocks() {
    let table = open("labels-only.csv");
    let arms = infer(&table, &[]);
    assert!(arms.is_arms());
    assert_eq!(
        (arms.dim(), arms.features(table.row(0).unwrap(), &Context::default()).unwrap().len()),
        (0, 0)
    );
    assert_eq!(arms.extension(&read("label\nnew\n"), &Context::default()).unwrap(), None);
    let error = arms.extension(&table, &context(&["hour=3"])).unwrap_err().to_string();
    assert!(
        error.starts_with("the log decides among plain arms and cannot use the context `hour`"),
        "{error}"
    );

    let blocks = infer(&table, &["hour=3"]);
    assert_eq!((blocks.shape(), blocks.dim()), (Shape::Blocks, 8));
    assert_eq!(
        blocks.feature_names()[..3],
        ["control: intercept", "control: hour", "long form: intercept"]
    );
    let features =
        blocks.features(table.find("long form").unwrap(), &context(&["hour=5"])).unwrap();
    assert_eq!(features, [0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(blocks.display(3, 0.5).unwrap(), "long form: hour = 5");

    let table = read("label\nquiz\ncontrol\n");
    let error = blocks
        .features(table.find("quiz").unwrap(), &context(&["hour=5"]))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "line 2: the recipe has no action `quiz`; call `Recipe::extension` first");
    let extension = blocks.extension(&table, &context(&["hour=5"])).unwrap().unwrap();
    let extended = blocks.extended(&extension).unwrap();
    assert_eq!(extended.feature_names()[8..], ["quiz: intercept", "quiz: hour"]);
}

#[test]
fn what_is_new_is_refused_until_the_recipe_is_extended() {
    let first = read("name,price,colour\nmug,4,red\nbowl,8,blue\n");
    let recipe = infer(&first, &["device=mobile"]);
    let later = read("name,price,colour,size\nvase,,teal,9\nmug,4,red,9\n");
    let now = context(&["device=tablet", "hour=14"]);
    let vase = later.find("vase").unwrap();
    let refused = |context: &Context| recipe.features(vase, context).unwrap_err().to_string();
    assert_eq!(
        refused(&now),
        "the recipe has no context key `hour`; call `Recipe::extension` first"
    );
    assert_eq!(
        refused(&context(&["device=mobile"])),
        "line 2, column `price`: the value is blank, and the recipe has no feature for blanks; \
         call `Recipe::extension` first"
    );
    assert_eq!(
        refused(&Context::default()),
        "context `device`: the value is blank, and the recipe has no feature for blanks; call \
         `Recipe::extension` first"
    );
    assert_eq!(recipe.ignored(&later), ["column `size` is not part of the recipe and is ignored"]);

    let extension = recipe.extension(&later, &now).unwrap().unwrap();
    let parts: Vec<_> = extension.parts().map(plausibly_log::recipe::Part::name).collect();
    assert_eq!(parts, ["price missing", "colour = teal", "device = tablet", "hour given", "hour"]);
    let extended = recipe.extended(&extension).unwrap();
    assert_eq!((extension.after(), extended.dim()), (recipe.dim(), 6 * 5));
    assert_eq!(extended.feature_names()[..recipe.dim()], recipe.feature_names());
    assert!(extended.features(vase, &now).is_ok());
    assert_eq!(extended.extension(&later, &now).unwrap(), None);
    let again = extended.extended(&extension).unwrap_err().to_string();
    assert_eq!(
        again,
        "the extension is for a recipe of 8 features, and this one has 30; apply extensions in \
         order"
    );
}

#[test]
fn a_flag_may_turn_out_to_have_a_third_value() {
    let recipe = infer(&read("name,fast\na,Yes\nb,no\n"), &[]);
    let later = read("name,fast\na,YES\nb,NO\nc,perhaps\n");
    let extended =
        recipe.extended(&recipe.extension(&later, &Context::default()).unwrap().unwrap()).unwrap();
    let features = extended.features_of_all(&later, &Context::default()).unwrap();
    assert_eq!(features, [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 0.0, 1.0]]);
}

#[test]
fn later_tables_must_have_the_columns_and_sound_cells() {
    let recipe = infer(&read("name,price,life\nmug,4,1\nbowl,8,2\njug,5,1\npot,5,2000\n"), &[]);
    let error = |text: &str| {
        let table = read(text);
        recipe.features(table.row(0).unwrap(), &Context::default()).unwrap_err().to_string()
    };
    assert_eq!(
        error("name,Price,life\nmug,4,1\n"),
        "the table has no column `price`, which the recipe needs (there is `Price`); add it, with \
         blanks where values are unknown"
    );
    assert_eq!(
        error("name,price,life\nmug,4 EUR,1\n"),
        "line 2, column `price`: `4 EUR` is not a number (numbers look like 1234.5 here); correct \
         it, or leave it blank if it is unknown"
    );
    assert_eq!(
        error("name,price,life\nmug,4,0\n"),
        "line 2, column `life`: `0` is not above zero, and all values of the first table were; \
         leave it blank if it is unknown"
    );
    assert_eq!(
        error("name,price,life\nmug,1e9,1\n"),
        "line 2, column `price`: `1e9` is too far outside the range 4 to 8 of the first table; \
         correct it, or begin a new log with a table that contains such values"
    );
    assert_eq!(
        error("name,price,life\nmug,4,1\nmug,5,1\n"),
        "the log takes labels from column `name`, and this table from their position; labels must \
         come from the same place as in the first table"
    );
    let table = read("name,price\nmug,4\nbowl,8\n");
    let recipe = infer(&table, &["hour=1"]);
    let later = read("name,price\nmug,1200\n");
    let product =
        recipe.features(later.row(0).unwrap(), &context(&["hour=1000"])).unwrap_err().to_string();
    assert_eq!(
        product,
        "line 2, column `price` and context `hour` are both so far out of range that their \
         product, the feature `price × hour`, is beyond 1024; correct one of them"
    );
}

#[test]
fn commas_in_numbers_are_read_where_there_is_one_way_to() {
    assert_eq!(
        refusal("name;price\nmug;1,234\nbowl;2\n", &[]),
        "line 2, column `price`: the comma in `1,234` may separate thousands or decimals; write \
         such numbers without a separator of thousands and with a point before the decimals"
    );
    for (pair, write) in
        [("price=1,5", "`1,5` is not a number; write 1.5"), ("price=1,234", "write 1.234 or 1234")]
    {
        let text = refusal("name\nmug\nbowl\n", &[pair]);
        assert!(text.starts_with("context `price`: ") && text.ends_with(write), "{text}");
    }
    let recipe = infer(&read("name;price\nmug;1,5\nbowl;2,75\n"), &[]);
    let later = read("name;price\nmug;1,625\n");
    let features = recipe.features(later.row(0).unwrap(), &Context::default()).unwrap();
    assert_eq!(features, [1.0, -0.8].map(|x| plausibly::quantise(x).unwrap()));
}

#[test]
fn too_many_features_are_refused_with_what_they_cost() {
    let table = read(&wide(49, 500));
    assert_eq!(
        Recipe::infer(&table, &context(&["a=1", "b=x", "c=2", "d=3", "e=4"]))
            .unwrap_err()
            .to_string(),
        "306 features are too many, at most 256 are allowed: `kind` takes 294, `a` takes 51, `b` \
         takes 51, `c` takes 51, `d` takes 51 and 2 others take fewer each; leave out `kind`"
    );
    let without = Recipe::infer_without(&table, &context(&["a=1", "b=x"]), &["kind", "b"]).unwrap();
    assert_eq!(without.dim(), 4);
    // A column left out stays left out.
    assert_eq!(without.extension(&table, &context(&["a=1", "b=y"])).unwrap(), None);
    let unknown =
        Recipe::infer_without(&table, &Context::default(), &["kinds"]).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no column or context key `kinds` to leave out; the names are `kind`, `size`"
    );

    let recipe = Recipe::infer(&table, &context(&["a=1", "b=x", "c=2", "d=3"])).unwrap();
    let error =
        recipe.extension(&table, &context(&["a=1", "b=y", "c=2", "d=3"])).unwrap_err().to_string();
    assert_eq!(
        error,
        "the recipe has 255 features, and with `b = y` it would have more than 256; use values \
         that the recipe knows, or begin a new log with fewer columns"
    );
    let labels: Vec<_> = (0..200).map(|k| format!("action {k}")).collect();
    assert_eq!(
        refusal(&format!("label\n{}", labels.join("\n")), &["a=1"]),
        "200 actions without usable columns would have 2 features each, 400 in all and more than \
         256; describe actions by columns, or leave out context keys"
    );
}

#[test]
fn columns_that_tell_nothing_are_left_out_and_watched() {
    let rows = |kind: &str| -> String {
        let row = |k: usize| format!("{k},{kind},7,,{}\n", if k == 0 { "" } else { "5" });
        std::iter::once("id,kind,seven,blank,five\n".into()).chain((0..30).map(row)).collect()
    };
    let table = read(&rows("same"));
    let recipe = infer(&table, &[]);
    assert!(recipe.is_arms());
    let why: Vec<_> = recipe.columns().iter().map(|column| column.encoding.clone()).collect();
    let left_out = |why| Encoding::LeftOut { why };
    assert_eq!(
        why,
        [
            Why::Constant("same".into()),
            Why::Constant("7".into()),
            Why::Blank,
            Why::ConstantOrBlank("5".into())
        ]
        .map(left_out)
    );
    assert_eq!(recipe.ignored(&table), Vec::<String>::new());
    assert_eq!(
        recipe.ignored(&read(&rows("other"))),
        ["column `kind` was `same` throughout when the recipe was made; it is ignored, although \
             it \
          has `other` now"]
    );
}

#[test]
fn notes_say_what_looks_wrong() {
    let note = |text: &str, column: &str| {
        let recipe = infer(&read(text), &[]);
        recipe
            .columns()
            .iter()
            .find(|known| known.name == column)
            .unwrap()
            .note
            .clone()
            .unwrap_or_default()
    };
    assert_eq!(
        note("id,x\n1,3\n2,4\n3,5\n4,6a\n", "x"),
        "text, because `6a` is not a number; 3 of 4 values are"
    );
    assert!(note("id,x\n1,Red\n2,red\n3,blue\n4,blue\n", "x").contains("case only"));
    let counting: Vec<_> = (0..30).map(|k| format!("{k},{}", 7 + k)).collect();
    assert!(note(&format!("id,x\n{}", counting.join("\n")), "x").starts_with("counts up by one"));
}

#[test]
fn a_context_key_may_have_the_name_of_a_column() {
    let recipe = infer(&read("name,price\nmug,4\nbowl,8\n"), &["price=7"]);
    assert_eq!(
        recipe.feature_names(),
        ["intercept", "price", "context price", "price × context price"]
    );
    assert_eq!(recipe.display(2, 0.5).unwrap(), "context price = 5");
}

#[test]
fn numbers_of_any_size_are_scaled() {
    let table = read(
        "name,x,y,z\na,-1.7e308,1,5e-324\nb,1.7e308,1.0000000000000002,1e-320\nc,0,1,5e-324\n",
    );
    let recipe = infer(&table, &[]);
    let rows = recipe.features_of_all(&table, &Context::default()).unwrap();
    assert_eq!(rows, [[1.0, -1.0, -1.0, -1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 0.0, -1.0, -1.0]]);
    assert_eq!(recipe.display(1, 1.0).unwrap(), "x = 1.7e308");
}

#[test]
fn what_is_quoted_to_a_person_stays_on_one_line() {
    let long = "many words ".repeat(20);
    let table = read(&format!("name,x\na,\"two\nlines\"\nb,{long}\nc,short\n"));
    let recipe = infer(&table, &[]);
    let described = recipe.describe().to_string();
    assert!(described.lines().all(|line| line.chars().count() < 160), "{described}");
    assert!(
        described.contains("one of many words many") && described.contains("…, short, two lines"),
        "{described}"
    );
    let later = read(&format!("name,x\na,{long}more\n"));
    let error =
        recipe.features(later.row(0).unwrap(), &Context::default()).unwrap_err().to_string();
    assert!(error.len() < 160, "{error}");
}

#[test]
fn cells_from_a_log_have_columns_and_no_lines() {
    let recipe = infer(&read("name,price\nmug,4\nbowl,8\n"), &[]);
    let refused = |cells: &[(&str, &str)]| {
        let cells =
            cells.iter().map(|(name, cell)| (name.to_string(), Some(cell.to_string()))).collect();
        recipe.encode("mug", &cells, &Context::default()).unwrap_err().to_string()
    };
    assert!(refused(&[("price", "four")]).starts_with("column `price`: `four` is not a number"));
    assert!(refused(&[("prize", "4")]).starts_with("the table has no column `price`"));
    let blocks = infer(&open("labels-only.csv"), &["hour=3"]);
    let unknown = blocks
        .encode("quiz", &std::collections::BTreeMap::new(), &context(&["hour=3"]))
        .unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "the recipe has no action `quiz`; call `Recipe::extension` first"
    );
}

#[test]
fn rows_are_the_same_by_what_they_say() {
    let table = Table::read(
        b"name,price,new,colour\nmug,4,yes,red\nbowl,8,no,blue\njug,,yes,red\n".as_slice(),
    )
    .unwrap();
    let recipe = Recipe::infer(&table, &Context::default()).unwrap();
    let cells = |price: &str, new: &str, colour: &str| {
        let cell = |text: &str| (!text.is_empty()).then(|| text.to_string());
        [("price", price), ("new", new), ("colour", colour)]
            .map(|(name, text)| (name.to_string(), cell(text)))
            .into()
    };
    let mug = cells("4", "yes", "red");
    assert!(recipe.is_same_row(&mug, &mug));
    assert!(recipe.is_same_row(&mug, &cells("4.0", "YES", "red")));
    assert!(recipe.is_same_row(&mug, &cells("4e0", "yes", "red")));
    for other in [
        cells("4.5", "yes", "red"),
        cells("4", "no", "red"),
        cells("4", "yes", "Red"),
        cells("", "yes", "red"),
    ] {
        assert!(!recipe.is_same_row(&mug, &other));
    }
}
