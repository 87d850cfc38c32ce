//! Pages and slides of decisions: logs are played here, and what is made of them is looked at.

mod pages;
mod slide;
pub(crate) mod xml;

use plausibly_log::certificate::Certificate;
use plausibly_log::journal::FileStorage;
use plausibly_log::policy::PolicyTable;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, Opening, Status, status};
use serde_json::json;
use std::fmt::Write;
use tempfile::TempDir;

/// 2026-03-02 08:00 UTC, in microseconds.
const MORNING: i64 = 1_772_438_400_000_000;
const HOUR: i64 = 3_600_000_000;

/// What is played: a table, and for each row what it pays on average.
pub(crate) struct Scene {
    pub(crate) table: String,
    pub(crate) pays: Vec<f64>,
    pub(crate) range: (f64, f64),
    pub(crate) policy: serde_json::Value,
    pub(crate) decisions: u64,
    /// Most actions a certificate lists.
    pub(crate) most: usize,
    pub(crate) context: &'static [&'static str],
}

/// What came of it.
pub(crate) struct Played {
    folder: TempDir,
    pub(crate) last: Certificate,
}

impl Played {
    /// The status 2000 hours after the log began, with this many points of history.
    pub(crate) fn status(&self, points: u64) -> Status {
        let storage = FileStorage::new(self.folder.path().join("log.ndjson"));
        status(&storage, MORNING + 2000 * HOUR, points).unwrap()
    }
}

impl Scene {
    /// Plays it: every ninth reward does not come, and every twentieth never will.
    pub(crate) fn play(&self) -> Played {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(FileStorage::new(folder.path().join("log.ndjson"))).unwrap();
        let table = Table::read(self.table.as_bytes()).unwrap().with_label(Some("name")).unwrap();
        let context = |decision: u64| {
            let place = usize::try_from(decision).unwrap();
            let of = self.context.get(place % self.context.len().max(1));
            Context::parse(of.copied()).unwrap()
        };
        let policy: PolicyTable = self.policy.as_object().unwrap().clone();
        let recipe = Recipe::infer(&table, &context(0)).unwrap();
        let opening =
            Opening { policy, horizon: Some(1000), ..Opening::new(recipe, self.range, 1) };
        log.begin(MORNING, opening).unwrap();
        let mut last = None;
        for decision in 1..=self.decisions {
            let at = MORNING + HOUR * i64::try_from(decision).unwrap();
            let certificate = log.decide(at, &table, &context(decision), self.most).unwrap();
            let chosen = table.find(&certificate.findings.chosen.label).unwrap().index();
            let noise = 0.1 * (decision as f64 * 2.4).sin() * (self.range.1 - self.range.0);
            let reward = (self.pays[chosen] + noise).clamp(self.range.0, self.range.1);
            match decision {
                _ if decision % 20 == 0 => drop(log.drop_decision(at + 1, decision).unwrap()),
                _ if decision % 9 == 0 => {}
                _ => drop(log.reward(at + 1, decision, reward).unwrap()),
            }
            last = Some(certificate);
        }
        Played { folder, last: last.unwrap() }
    }

    /// Twelve drinks with a price, a sweetness and a kind, for two sorts of guests.
    pub(crate) fn drinks(decisions: u64) -> Self {
        let drinks = [
            ("Espresso", 2.2, 0, "coffee"),
            ("Flat white", 3.6, 1, "coffee"),
            ("Oat latte with hazelnut", 4.4, 3, "coffee"),
            ("Cold brew", 3.9, 0, "coffee"),
            ("Filter of the day", 2.5, 0, "coffee"),
            ("Masala chai", 3.4, 4, "tea"),
            ("Sencha", 3.0, 0, "tea"),
            ("Earl Grey", 2.6, 1, "tea"),
            ("Hot chocolate", 3.8, 5, "other"),
            ("Fresh orange juice", 4.2, 4, "other"),
            ("Sparkling water", 2.0, 0, "other"),
            ("Lemonade of the house", 3.5, 5, "other"),
        ];
        let mut table = String::from("name,price,sweetness,kind\n");
        for (name, price, sweetness, kind) in drinks {
            writeln!(table, "{name},{price},{sweetness},{kind}").unwrap();
        }
        let bonus = |kind: &str| if kind == "coffee" { 3.0 } else { 0.0 };
        let pays = drinks
            .map(|(_, price, sweet, kind)| 1.0 + price + 0.3 * f64::from(sweet) + bonus(kind));
        Self {
            table,
            pays: pays.to_vec(),
            range: (0.0, 10.0),
            policy: json!({
                "kind": "code",
                "radius": {"kind": "determinant", "delta": 0.1, "noise_scale": 0.7},
            }),
            decisions,
            most: 5000,
            context: &["guest=new", "guest=regular"],
        }
    }

    /// Eight subject lines without features.
    pub(crate) fn subjects(decisions: u64) -> Self {
        let lines = [
            "Your week in numbers",
            "Three things you may have missed",
            "Hello again",
            "Last chance: 20 % off",
            "We kept your seat",
            "A question for you",
            "New in March",
            "Thank you",
        ];
        Self {
            table: format!("name\n{}\n", lines.join("\n")),
            pays: vec![0.3, 0.45, 0.2, 0.7, 0.5, 0.35, 0.6, 0.1],
            range: (0.0, 1.0),
            policy: json!({"kind": "code"}),
            decisions,
            most: 5000,
            context: &[],
        }
    }

    /// Three hundred articles with four features, of which a certificate lists few.
    pub(crate) fn articles(decisions: u64, most: usize) -> Self {
        let mut table = String::from("name,length,age,pictures,links\n");
        let mut pays = Vec::new();
        for row in 0..300 {
            let x = [1.7, 2.9, 4.3, 6.1].map(|step: f64| (f64::from(row) * step).sin());
            writeln!(
                table,
                "Article {},{:.3},{:.3},{:.3},{:.3}",
                1000 + row,
                x[0],
                x[1],
                x[2],
                x[3]
            )
            .unwrap();
            pays.push(50.0 + 20.0 * x[0] - 15.0 * x[1] + 5.0 * x[2]);
        }
        Self {
            table,
            pays,
            range: (0.0, 100.0),
            policy: json!({"kind": "code", "radius": {"kind": "determinant", "noise_scale": 6.0}}),
            decisions,
            most,
            context: &[],
        }
    }

    /// Names that try to break the page.
    pub(crate) fn hostile(decisions: u64) -> Self {
        let names = hostile_names();
        let mut table = String::from("name\n");
        for name in &names {
            writeln!(table, "\"{}\"", name.replace('"', "\"\"")).unwrap();
        }
        let pays = (0..names.len()).map(|place| 0.2 + 0.08 * place as f64).collect();
        Self { table, pays, decisions, ..Self::subjects(0) }
    }
}

/// Markup, quotes, right to left, long ones with and without spaces, controls, and some that look
/// empty.
pub(crate) fn hostile_names() -> Vec<String> {
    vec![
        "<script>alert(1)</script>".into(),
        "\"><img src=x onerror=alert(2)>".into(),
        "'; --> ]]> & &amp; </title></svg>".into(),
        "قهوة عربية (كبيرة) 12".into(),
        "long ".repeat(40),
        "unbroken".repeat(25),
        "tab\there, line\nbreak, \u{1b}[31mred\u{7} and \u{202e}desrever".into(),
        "\u{200b}\u{200b}".into(),
        "咖啡和牛奶，一大杯，带走，谢谢，明天见".into(),
        "ok".into(),
    ]
}

/// Writes pages and pictures of every scene into the folder named by `PLAUSIBLY_GALLERY`, for a
/// browser to look at; without it, into none.
#[test]
fn gallery() {
    let Some(folder) = std::env::var_os("PLAUSIBLY_GALLERY").map(std::path::PathBuf::from) else {
        return;
    };
    let scenes = [
        ("drinks", Scene::drinks(40)),
        ("drinks-later", Scene::drinks(600)),
        ("subjects", Scene::subjects(6)),
        ("subjects-later", Scene::subjects(700)),
        ("articles", Scene::articles(150, 60)),
        ("hostile", Scene::hostile(300)),
    ];
    for (name, scene) in scenes {
        let played = scene.play();
        let status = played.status(100);
        let write = |kind: &str, ending: &str, text: String| {
            std::fs::write(folder.join(format!("{name}-{kind}.{ending}")), text).unwrap();
        };
        write("certificate", "html", plausibly_report::certificate_page(&played.last));
        write("status", "html", plausibly_report::status_page(&status));
        write("slide", "svg", plausibly_report::status_svg(&status));
    }
}
