//! Reads tables, and tries every refusal.

use super::read;
use plausibly_log::table::{ColumnKind, NumberFormat, Table};

fn refusal(bytes: &[u8]) -> String {
    Table::read(bytes).unwrap_err().to_string()
}

#[test]
fn separators_quotes_marks_and_line_ends_are_found() {
    for text in [
        "name,price,colour\nmug,4.5,red\nbowl,NA,\"blue, pale\"\n",
        "name;price;colour\r\nmug;4.5;red\r\nbowl; - ;blue, pale\r\n",
        "name\tprice\tcolour\nmug\t4.5\tred\nbowl\tnull\tblue, pale",
        "\u{feff}name,price,colour\nmug,4.5,red\nbowl,,\"blue, pale\"\n",
        "\n\n\"name\", price ,colour\n\nmug, 4.5 ,red\n\n\nbowl,n/A,\"blue, pale\"\n,,\n , ,\n\n",
        "name,price,colour\rmug,4.5,red\rbowl,NaN,\"blue, pale\"\r",
    ] {
        let table = read(text);
        assert_eq!(table.columns(), ["name", "price", "colour"], "{text:?}");
        assert_eq!(table.labels(), ["mug", "bowl"], "{text:?}");
        let bowl = table.find("bowl").unwrap();
        assert_eq!(bowl.cell("price"), Some(None), "{text:?}");
        assert_eq!(bowl.cell("colour"), Some(Some("blue, pale")), "{text:?}");
        assert_eq!(table.find("mug").unwrap().cell("price"), Some(Some("4.5")), "{text:?}");
        assert_eq!(bowl.cell("size"), None);
    }
}

#[test]
fn the_separator_is_the_one_by_which_all_rows_agree() {
    let table = read("name;price, EUR\nmug;4\nbowl;5\n");
    assert_eq!(table.columns(), ["name", "price, EUR"]);
    let table = read("name,price; EUR,size; cm\nmug,4,1\nbowl,5,2\n");
    assert_eq!(table.columns().len(), 3);
    let table = read("\"price, EUR\";name\n4,5;mug\n5,5;bowl\n");
    assert_eq!(table.kind("price, EUR"), Some(ColumnKind::Numbers(NumberFormat::Comma)));
    assert_eq!(
        refusal(b"name;price, EUR\nmug;4,5\nbowl;5,5\n"),
        "`,` and `;` could both be the separator, with different results; put quotes around column \
         names that contain one of them"
    );
}

#[test]
fn lines_are_those_of_the_file() {
    let text = "\nname,note\n\na,\"two\nlines\"\nb,x\n\n\nc,y\n";
    for text in [text.to_string(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
        let lines: Vec<_> = read(&text).rows().map(|row| row.line()).collect();
        assert_eq!(lines, [4, 6, 9], "{text:?}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_a_way_out() {
    for (bytes, expected) in [
        (
            &b""[..],
            "the table is empty; its first line must name the columns, such as \
             `label,price,colour`",
        ),
        (
            b"\n \n\n",
            "the table is empty; its first line must name the columns, such as \
             `label,price,colour`",
        ),
        (b"name,price\n", "the table has a header and no rows; it must have one row per action"),
        (
            b"name,price\n , \n",
            "the table has a header and no rows; it must have one row per action",
        ),
        (
            b"name,,price\na,1,2\n",
            "line 1: column 2 has no name; give it one, or remove the extra separator",
        ),
        (
            b"name,price,name\na,1,b\n",
            "line 1: columns 1 and 3 are both called `name`; rename one of them",
        ),
        (
            b"name,price\na,1\nb,2,3\n",
            "line 3 has 3 cells, and the header has 2 columns, with the separator `,`; add or \
             remove a cell, and put quotes around text that contains the separator",
        ),
        (
            b"name;price\na;1\nb\n",
            "line 3 has 1 cells, and the header has 2 columns, with the separator `;`; add or \
             remove a cell, and put quotes around text that contains the separator",
        ),
        (b"name\nM\xfcsli\n", "line 2: the text is not UTF-8; save the table as \"CSV UTF-8\""),
        (
            b"\xff\xfen\0a\0",
            "line 1: the text is not UTF-8 but looks like UTF-16; save the table as \"CSV UTF-8\"",
        ),
        (
            b"name,note\na,x\nb,\"open\nc,y\n",
            "line 3: a quote opens in this row and never closes; close it, or write \"\" for a \
             quote inside quotes",
        ),
        (
            b"Label,price\na,1\nb,2\na,3\n",
            "lines 2 and 4, column `Label`: both actions are labelled `a`; make labels unique, or \
             rename the column if it is not meant as the label",
        ),
        (
            b"label,price\na,1\n-,2\n",
            "line 3, column `label`: the label is missing; fill it in, or rename the column if it \
             is not meant as the label",
        ),
    ] {
        assert_eq!(refusal(bytes), expected, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_reader_that_fails_is_an_error() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    assert_eq!(
        Table::read(Broken).unwrap_err().to_string(),
        "cannot read the table: the disk is gone"
    );
}

#[test]
fn labels_come_from_the_usual_names_then_from_text_then_from_positions() {
    let label = |text: &str| read(text).label_column().map(str::to_string);
    assert_eq!(label("colour,ID,Name\nred,1,mug\nred,2,bowl\n").as_deref(), Some("Name"));
    assert_eq!(label("colour,ID,Name\nred,1,mug\nred,2,mug\n").as_deref(), Some("ID"));
    assert_eq!(label("size,colour,name\n1,red,mug\n2,blue,\n").as_deref(), Some("colour"));
    assert_eq!(label("size,colour\n1,red\n2,red\n"), None);
    assert_eq!(read("size\n1\n2\n").labels(), ["row 1", "row 2"]);
    let passed_over = read("size,name\n1,mug\n2,mug\n");
    assert_eq!(passed_over.notes().len(), 1);
    assert!(passed_over.notes()[0].contains("lines 2 and 3"), "{:?}", passed_over.notes());
}

#[test]
fn labels_can_be_asked_for() {
    let table = || read("name,sku,size\nmug,a,1\nbowl,b,1\n");
    let by_sku = table().with_label(Some("sku")).unwrap();
    assert_eq!((by_sku.label_column(), by_sku.find("b").unwrap().line()), (Some("sku"), 3));
    assert_eq!(table().with_label(None).unwrap().labels(), ["row 1", "row 2"]);
    let unknown = table().with_label(Some("SKU")).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no column `SKU` to take labels from; the columns are `name`, `sku`, `size`"
    );
    let twice = table().with_label(Some("size")).unwrap_err().to_string();
    assert!(
        twice.starts_with("lines 2 and 3, column `size`: both actions are labelled `1`"),
        "{twice}"
    );
}

#[test]
fn cells_in_memory_are_a_table_too() {
    let table =
        Table::from_rows(&["name", "price"], [vec!["mug", "4.5"], vec!["bowl", "NA"]]).unwrap();
    assert_eq!(table, read("name,price\nmug,4.5\nbowl,NA\n"));
    let ragged = Table::from_rows(&["name", "price"], [vec!["mug"]]).unwrap_err().to_string();
    assert!(ragged.starts_with("line 2 has 1 cells"), "{ragged}");
    assert!(Table::from_rows::<&str>(&[], []).is_err());
}

#[test]
fn a_table_that_a_decision_has_no_memory_for_is_refused_by_the_limit() {
    let table = |rows: usize, columns: usize| {
        let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
        format!("{}\n{}", names.join(","), (vec!["1"; columns].join(",") + "\n").repeat(rows))
    };
    assert_eq!(read(&table(200_000, 2)).len(), 200_000);
    let refused = |text: String| Table::read(text.as_bytes()).unwrap_err().to_string();
    let rows = refused(table(200_001, 2));
    assert!(rows.starts_with("line 200002: the table has more than 200000 rows"), "{rows}");
    let cells = refused(table(100_001, 20));
    assert!(
        cells.starts_with("line 100002: with 20 columns, the table has more than 2000000 cells"),
        "{cells}"
    );
    let again =
        Table::from_rows(&["x"], std::iter::repeat_n(vec!["1"], 200_001)).unwrap_err().to_string();
    assert_eq!(again, rows);
}

#[test]
fn a_row_that_reads_like_the_end_is_a_row() {
    for text in ["name\na\n\u{1}end of table\nb\n", "name\na\nb\n\u{1}end of table"] {
        assert_eq!(Table::read(text.as_bytes()).unwrap().len(), 3, "{text:?}");
    }
    let ragged = "name,x\na,1\n\u{1}end of table\nb,2\n";
    assert!(refusal(ragged.as_bytes()).contains("line 3"), "{}", refusal(ragged.as_bytes()));
}

#[test]
fn a_header_of_a_million_columns_is_refused_by_the_limit() {
    let header = "x,".repeat(1_000_000) + "y\n";
    assert!(refusal(header.as_bytes()).contains("at most 4096"));
}
