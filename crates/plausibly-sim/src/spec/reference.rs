//! The reference page of specs. The readers themselves list their fields, so the page cannot differ
//! from what they accept.

use super::environment::{EnvironmentSpec, Pools, read_pool_size};
use super::experiment::{Experiment, read_delay_fields};
use plausibly::spec::{
    Defaults, Field, FieldDefault, FieldError, Fields, Node, POLICY_KINDS, PolicySpec, RadiusSpec,
    Setting, Value,
};
use std::fmt::Write;

const SETTINGS: [(&str, Setting); 3] =
    [("linear", Setting::Fixed), ("changing", Setting::Changing), ("k-armed", Setting::Arms)];

/// Every field of a spec with its meaning, range and default, as Markdown; `pools` as for
/// [`Experiment::from_toml`].
pub fn spec_reference(pools: &dyn Pools) -> String {
    let mut page = String::from(
        "# Specs\n\n\
         A spec is a TOML file that describes a comparison; `plausibly simulate` runs it. \
         Unknown fields, wrong types and values out of range are errors that name the line. \
         Fields marked *required* have no default.\n\n\
         ## Top level\n\n",
    );
    let (rows, _) = read(&minimal_experiment(), |fields| Experiment::read(fields, &()));
    table(&mut page, &rows);
    page += "\nThe metric has the fields `ridge`, `radius` and `exclusion`, with the same meanings \
             and ranges as in a policy; if one is unset, that of the first `code` policy is \
             used.\n";

    environments(&mut page, pools);
    policies(&mut page);
    radii(&mut page);
    targets_and_delays(&mut page);
    wrapped(&page)
}

/// The page with its paragraphs broken at 100 characters. Tables keep their lines.
fn wrapped(page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in page.lines() {
        if line.starts_with('|') {
            lines.push(line.into());
            continue;
        }
        let mut current = String::new();
        for word in line.split(' ') {
            if !current.is_empty() && current.chars().count() + 1 + word.chars().count() > 100 {
                lines.push(std::mem::take(&mut current));
            }
            current += if current.is_empty() { "" } else { " " };
            current += word;
        }
        lines.push(current);
    }
    lines.join("\n") + "\n"
}

fn targets_and_delays(page: &mut String) {
    *page += "\n## `target`\n\nFor a `code` policy: `kappa` or `accuracy`, without `greed`.\n\n";
    let empty = node(Value::Table(Vec::new()));
    let (rows, _) = read(&empty, PolicySpec::read_target);
    table(page, &rows);
    *page += "\n## `delay`\n\nWhen the reward of a decision comes. By default \
              (`kind = \"none\"`) it comes before the next decision.\n";
    for (kind, meaning) in [
        ("fixed", "After a fixed number of rounds."),
        ("random", "After a random number of rounds, the same for every policy."),
        ("batches", "Together with all rewards of its batch, when the batch is full."),
        ("never", "A share of the rewards never comes; the others come at once."),
        (
            "by-reward",
            "Rewards below their mean come late. Confidence sets are not valid under such \
             delays; use it to see that.",
        ),
    ] {
        section(page, kind, meaning, read_delay_fields);
    }
}

/// The kinds of environment that are made here.
const ENVIRONMENTS: [(&str, &str); 10] = [
    (
        "linear",
        "`⟨a, θ*⟩ + noise`; `θ* ~ N(0, I)`, actions uniform on `[−1, 1]ᵈ`, the same in every \
         round.",
    ),
    ("changing", "Like `linear`, with new actions in every round."),
    (
        "contexts",
        "A context with one model per arm: each round has one context, uniform on `[−1, 1]ᵖ`, \
         and arm `i` pays `⟨x, θ_i⟩ + noise`, `θ_i ~ N(0, I)`. Policies see arm `i` as an \
         action of `d = K·p` features, with the context in its i-th block and zeros elsewhere.",
    ),
    ("k-armed", "Arms without features; means uniform on `[0, 1]`."),
    (
        "arms",
        "Arms without features and with rewards in `[0, 1]`, unless they are normal. Policies \
         are given the range, and half its length as the scale of the noise (for normal \
         rewards, the largest noise of an action). `bounded` rewards are uniform within \
         `±√3·noise` of the mean, so the mean is exact; means for which that does not fit into \
         the range are refused. With `days`, rewards of one day are not independent: in the \
         rounds of a day all means differ from the stated ones by the same share. Confidence \
         sets assume that means do not change, so this breaks their assumption. Regret is \
         measured by the stated means.",
    ),
    (
        "table",
        "Rows of a table, new ones in every run: an intercept, a column of 4 categories and \
         one of 3 (a feature per category, 0 or 1) and two numbers uniform on `[−1, 1]`, so `d \
         = 10`. Rewards lie in `[−0.5, 0.5]`, as logs scale them, unless they are normal: a \
         yes-no outcome with 30 % successes has mean −0.2. Policies are given the range, half \
         its length as the scale of the noise (for normal rewards, their noise), and `S = 1` \
         as the bound on the norm of `θ*`. Apart from its intercept, `θ*` is `t·z` with `z ~ \
         N(0, I)`. `t` is such that the scores `⟨x, θ*⟩` of the rows have the stated spread, \
         and the intercept such that their mean is `centre` (if the rule is logistic, the \
         score that the rule turns into `centre`). Where `‖θ*‖` would then exceed 1, or a \
         reward could leave the range, `t` is the largest number at which neither happens. If \
         the rule is logistic or `misspecified` is not 0, the means follow no linear rule; `θ* \
         left set` then counts the runs in which this `θ*` left the set.",
    ),
    (
        "logistic",
        "Yes or no, 1 or 0, with mean `1/(1 + exp(−⟨x, θ*⟩))`; `θ* ~ N(0, scale²·I)`, actions \
         uniform on `[−1, 1]ᵈ`, the same in every round. Policies are given the range, ½ as \
         the scale of the noise, and 1 as the bound on the norm of `θ*`. This bound is for \
         models that are linear in rewards: with a larger norm their means would pass 1 in a \
         corner of the cube. Such models are judged by the linear rule nearest to the means in \
         the place of `θ*`: `θ* left set` counts the runs in which this rule left their set. \
         Without an intercept it is far from means about ½. For models that are linear on the \
         scale of `⟨x, θ*⟩`, `θ* left set` counts the runs in which the true mean of an action \
         was outside its interval.",
    ),
    (
        "clicks",
        "Like `logistic`, with means from one rate to another. The first feature is 1, the \
         others are uniform on `[−1, 1]`. The logits of the means are those of a rule drawn \
         with `N(0, I)`, shifted and stretched so that the least mean is exactly `lowest` and \
         the largest exactly `highest`.",
    ),
    (
        "poisson",
        "Like `clicks`, with Poisson counts as rewards: the logarithms of the means, in place \
         of their logits, follow the rule. Policies are given no range, `√highest` as the \
         scale of the noise (the standard deviation at the largest mean) and `highest` as the \
         bound on the norm of a linear rule.",
    ),
    (
        "csv",
        "The actions of a table of your own, all of them in every round. Its columns become \
         features as in a log that begins with this table, and labels are not features. \
         Policies are given `S`, the bound on the norm of `θ*`, as such a log computes it. \
         Without `mean_column`, every run draws a rule for these rows as in `table`. With \
         `mean_column`, every run has the means in that column. They must lie from 0 to 1, \
         unless rewards are normal. As in logs, ½ is subtracted from means and rewards; \
         `bounded` rewards need room for `±√3·noise` about each mean. `θ*` is then the linear \
         rule nearest to the means. If the means follow no linear rule, `θ* left set` counts \
         the runs in which this `θ*` left the set. For normal rewards, policies are given \
         `‖θ*‖` instead of `S` if it is larger. A table without features has arms, with \
         rewards in `[0, 1]`, and needs a `mean_column`. With the rewards `clicks` and \
         `poisson` nothing is subtracted, means by column are rates from 0 to 1 or from 0 to \
         500, means by a rule are those of the kinds of these names, and `S` is multiplied by \
         twice the largest mean (1 for clicks), because that of a log is for means up to ½. \
         Tables with one action, and actions with equal features, are refused. The command \
         reads such tables; the Python functions refuse this kind.",
    ),
];

fn environments(page: &mut String, pools: &dyn Pools) {
    *page += "\n## `[environment]`\n";
    for (kind, meaning) in ENVIRONMENTS {
        section(page, kind, meaning, |fields| EnvironmentSpec::read(fields, &()));
    }
    for kind in pools.kinds() {
        let meaning = "From data (`plausibly data fetch`): each run draws its actions, and its \
                       `θ*` if there are several.";
        // Reads the options without loading the pool.
        section(page, kind, meaning, |fields| {
            read_pool_size(kind, fields, pools);
            drop(pools.read(kind, fields));
        });
    }
}

fn policies(page: &mut String) {
    *page += "\n## `[[policy]]`\n";
    for kind in POLICY_KINDS {
        let fits = |setting| {
            read(&kind_table(kind), |fields| PolicySpec::read(fields, setting, Defaults::Current))
        };
        let playable: Vec<_> =
            SETTINGS.into_iter().filter(|(_, setting)| fits(*setting).1.is_empty()).collect();
        let names: Vec<String> = playable.iter().map(|(name, _)| format!("`{name}`")).collect();
        let (rows, _) = fits(playable[0].1);
        let both =
            playable.iter().any(|(_, setting)| *setting == Setting::Arms) && playable.len() == 3;
        let has_radius = rows.iter().any(|row| row.name == "radius");
        let note = match (both, has_radius) {
            (true, true) => {
                " On `k-armed` there is no `ridge` and no `exclusion`, and the default radius is \
                 `{ kind = \"two-point\" }` if rewards have a range, else \
                 `{ kind = \"mixture\" }`."
            }
            (true, false) => " On `k-armed` there is no `ridge`.",
            _ if kind == "beta-thompson" => {
                " It needs rewards from 0 to 1, so on `k-armed` it plays only `arms`, not with \
                 normal rewards, and `clicks` with hidden features."
            }
            _ if kind == "elimination" => {
                " On `changing` it knows actions by their position, and its guarantee does not \
                 hold. Logs and the Python class `Elimination` refuse actions that change."
            }
            _ => "",
        };
        let meaning = format!("Plays on {}.{note}", names.join(", "));
        section(page, kind, &meaning, |fields| {
            PolicySpec::read(fields, playable[0].1, Defaults::Current)
        });
    }
    *page += "\n`table`, `logistic`, `clicks`, `poisson`, `csv` and problems from data count as \
              `linear` here, `contexts` as `changing`, `arms`, `clicks` with hidden features and \
              a `csv` without features as `k-armed`.\n";
}

fn radii(page: &mut String) {
    *page += "\n## `radius`\n";
    for (kind, setting, meaning) in [
        (
            "additive",
            Setting::Fixed,
            "`√(R²·(log(det V/λᵈ) + 2·log(1/δ)) + λ·S²)`, with λ the ridge. Valid at any time, and \
             never wider than `determinant`.",
        ),
        (
            "forecast",
            Setting::Fixed,
            "For rewards in a range: squared errors of forecasts, made before each reward, take \
             the place of the noise that `additive` assumes. Valid at any time. Narrower than \
             `additive` if forecasts are good, and at most a little wider.",
        ),
        (
            "bell",
            Setting::Fixed,
            "For normal noise of unknown scale, without a bound on θ*. Valid at any time, and not \
             for yes/no rewards.",
        ),
        (
            "determinant",
            Setting::Fixed,
            "`R·√(log(det V/λᵈ) + 2·log(1/δ)) + √λ·S`, with λ the ridge. Valid at any time.",
        ),
        (
            "paper",
            Setting::Fixed,
            "`R·√(d·log((1 + t·L²/λ)/δ)) + √λ·S`, with its own constant λ. Not for `dim = 1`, \
             where it does not hold.",
        ),
        (
            "mixture",
            Setting::Arms,
            "Half-width `σ·√((T+1)/T²·(log(T+1) + 2·log(K/δ)))` for an arm taken T times. \
             Valid at any time. Only for `k-armed`.",
        ),
        (
            "two-point",
            Setting::Arms,
            "For rewards in a range. Computes intervals from the number, the sum and the sum of \
             squares of the rewards of each arm, and needs no scale of the noise. Valid at any \
             time. Only for `k-armed`.",
        ),
        (
            "stitched",
            Setting::Arms,
            "Half-width `1.7·σ·√((log log 2T + 0.72·log(10.4·K/δ))/T)`. Valid at any time. \
             Only for `k-armed`.",
        ),
        (
            "union",
            Setting::Arms,
            "Half-width `σ·√(2·log(2·T·(T+1)·K/δ)/T)`. Valid at any time. Only for `k-armed`.",
        ),
        (
            "per-arm",
            Setting::Arms,
            "`σ·√(2·log(1/δ))`; an arm taken T times has half-width `√β/√T`. Holds for one arm at \
             one number of plays. Over all arms and rounds `δ` promises nothing: θ* leaves the set \
             far more often. Only for `k-armed`.",
        ),
        ("fixed", Setting::Fixed, "A constant width, not a confidence set."),
    ] {
        section(page, kind, meaning, |fields| RadiusSpec::read(fields, setting));
    }
}

/// Reads a table and returns the fields that the reader used, with the errors it found.
fn read<T>(table: &Node, read: impl FnOnce(&mut Fields<'_>) -> T) -> (Vec<Field>, Vec<FieldError>) {
    let mut problems = Vec::new();
    let mut fields = Fields::new("", table, &mut problems);
    read(&mut fields);
    let rows = fields.rows().to_vec();
    (rows, problems)
}

/// The section of one kind, with the fields that its reader uses.
fn section<T>(
    page: &mut String,
    kind: &str,
    meaning: &str,
    reader: impl FnOnce(&mut Fields<'_>) -> T,
) {
    let _ = write!(page, "\n### `kind = \"{kind}\"`\n\n{meaning}\n\n");
    let (mut rows, _) = read(&kind_table(kind), reader);
    rows.retain(|row| row.name != "kind");
    table(page, &rows);
}

fn table(page: &mut String, rows: &[Field]) {
    *page += "| field | meaning | allowed | default |\n| --- | --- | --- | --- |\n";
    for Field { name, meaning, allowed, default, .. } in rows {
        let default = match default {
            FieldDefault::Value(value) => format!("`{value}`"),
            FieldDefault::Derived(words) => (*words).into(),
            FieldDefault::Required => "*required*".into(),
        };
        let _ = writeln!(page, "| `{name}` | {meaning} | {allowed} | {default} |");
    }
}

fn node(value: Value) -> Node {
    Node { value, line: 0 }
}

fn kind_table(kind: &str) -> Node {
    node(Value::Table(vec![("kind".into(), node(Value::Text(kind.into())))]))
}

fn minimal_experiment() -> Node {
    let policies = node(Value::List(vec![kind_table("code")]));
    node(Value::Table(vec![
        ("environment".into(), kind_table("linear")),
        ("policy".into(), policies),
    ]))
}
