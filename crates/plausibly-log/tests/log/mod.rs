//! Random logs, and the laws that each must obey.

mod audited;
mod batched;
mod bell;
mod certificates;
mod compared;
mod counted;
mod doors;
mod doubled_keys;
mod elimination;
mod forecasted;
mod given;
mod histories;
mod laws;
mod memory;
mod milestones;
mod mutants;
mod once;
mod rates;
mod recalls;
mod refusals;
mod replays;
mod request_rows;
mod requests;
mod rosters;
mod schema;
mod torn;
mod typed;
mod upgraded;
mod windows;
mod words;

use memory::Memory;
use plausibly::Stream;
use plausibly_log::certificate::Certificate;
use plausibly_log::event::Outcomes;
use plausibly_log::policy::PolicyTable;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Reward};
use serde_json::json;
use std::fmt::Write;

/// A log on this disk.
pub(crate) fn open(disk: &Memory) -> Log<Memory> {
    Log::open(disk.clone()).unwrap()
}

/// The plan of a random log.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) policy: PolicyTable,
    /// Numeric columns; none for plain arms.
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) steps: usize,
    /// Whether a context comes with each decision.
    pub(crate) context: bool,
    /// Whether the columns are vectors as given.
    pub(crate) given: bool,
    /// What an outcome is: a number or a count.
    pub(crate) outcomes: Outcomes,
    /// Whether actions and context rarely change, as phases need to come to an end.
    pub(crate) steady: bool,
    /// The most actions that a certificate lists.
    pub(crate) most: usize,
}

/// Every policy that can decide in a log, with and without features.
pub(crate) fn policies(arms: bool) -> Vec<PolicyTable> {
    let tables = if arms { for_arms() } else { [for_features(), for_rates()].concat() };
    tables.iter().map(|table| table.as_object().unwrap().clone()).collect()
}

/// Policies under the set of rates of yes.
fn for_rates() -> Vec<serde_json::Value> {
    // Vectors as given have no bound of their own.
    let logistic = json!({"kind": "logistic", "usual": 1.0, "theta_norm_bound": 2.0});
    vec![
        json!({"kind": "code", "radius": logistic}),
        json!({"kind": "code", "target": {"kappa": 4.0}, "radius": logistic}),
        json!({"kind": "code", "exclusion": "intervals", "randomise": 0.2, "radius": logistic}),
        json!({"kind": "lin-ucb", "radius": logistic}),
        json!({"kind": "laplace-ts", "radius": logistic}),
        json!({"kind": "epsilon-greedy", "radius": logistic}),
        json!({
            "kind": "insured", "radius": logistic,
            "inside": {"kind": "laplace-ts", "radius": logistic}
        }),
        json!({
            "kind": "insured", "kappa": 40.0, "radius": logistic,
            "inside": {"kind": "epsilon-greedy", "epsilon": 0.0, "radius": logistic}
        }),
    ]
}

fn for_features() -> Vec<serde_json::Value> {
    vec![
        json!({"kind": "code"}),
        json!({"kind": "code", "greed": 0.3}),
        json!({"kind": "code", "target": {"accuracy": 2.0}}),
        json!({"kind": "code", "target": {"kappa": 4.0}}),
        json!({"kind": "code", "randomise": 0.4}),
        json!({"kind": "code", "ridge": 2.5, "radius": {"kind": "fixed", "sqrt_beta": 3.0}}),
        // Narrow enough to rule actions out.
        json!({
            "kind": "code",
            "radius": {"kind": "determinant", "noise_scale": 0.2, "theta_norm_bound": 1.0}
        }),
        json!({"kind": "code", "radius": {"kind": "fixed", "sqrt_beta": 0.5}}),
        json!({"kind": "code", "count_pending": false}),
        json!({"kind": "code", "exclusion": "intervals", "radius": {"kind": "determinant"}}),
        json!({"kind": "code", "exclusion": "intervals", "target": {"accuracy": 2.0}}),
        json!({
            "kind": "code", "exclusion": "intervals",
            "radius": {"kind": "determinant", "noise_scale": 0.2, "theta_norm_bound": 1.0}
        }),
        json!({"kind": "code", "radius": {"kind": "additive", "noise_scale": 0.01}}),
        json!({"kind": "insured"}),
        json!({"kind": "insured", "kappa": 40.0, "inside": {"kind": "lin-ucb"}}),
        json!({
            "kind": "insured", "count_pending": false,
            "radius": {"kind": "additive", "noise_scale": 0.2},
            "inside": {"kind": "epsilon-greedy", "epsilon": 0.0}
        }),
        json!({"kind": "code", "radius": {"kind": "bell"}}),
        json!({"kind": "code", "greed": 0.0, "radius": {"kind": "bell", "delta": 0.5}}),
        json!({"kind": "lin-ucb", "radius": {"kind": "bell", "pairs": false}}),
        json!({"kind": "lin-ucb"}),
        json!({"kind": "lin-ts"}),
        json!({"kind": "epsilon-greedy"}),
        json!({"kind": "explore-then-commit", "epsilon": 0.2}),
        json!({"kind": "elimination"}),
    ]
}

fn for_arms() -> Vec<serde_json::Value> {
    vec![
        json!({"kind": "code"}),
        json!({"kind": "code", "greed": 0.3}),
        json!({"kind": "code", "radius": {"kind": "two-point", "pairs": false}}),
        json!({"kind": "code", "radius": {"kind": "stitched"}}),
        json!({"kind": "code", "randomise": 0.4}),
        json!({"kind": "code", "radius": {"kind": "bell"}}),
        json!({"kind": "code", "radius": {"kind": "bell", "pairs": false, "delta": 0.2}}),
        json!({"kind": "code", "radius": {"kind": "bell", "own_scales": true}}),
        json!({"kind": "code", "radius": {"kind": "mixture", "noise_scale": 0.1}}),
        json!({"kind": "code", "count_pending": false, "target": {"kappa": 0.6}}),
        json!({"kind": "code", "target": {"kappa": 0.6}}),
        json!({"kind": "insured", "kappa": 2.0}),
        json!({"kind": "insured", "kappa": 9.0, "inside": {"kind": "ucb1"}}),
        json!({"kind": "ucb1"}),
        json!({"kind": "thompson"}),
        json!({"kind": "epsilon-greedy"}),
        json!({"kind": "explore-then-commit", "epsilon": 0.2}),
    ]
}

/// A table of `rows` actions with `columns` numbers, from which some rows may be left out and some
/// be changed.
pub(crate) fn table(rng: &mut Stream, plan: &Plan, leave_out: f64) -> Table {
    let mut text = String::from("name");
    for column in 0..plan.columns {
        write!(text, ",x{column}").unwrap();
    }
    text.push('\n');
    let mut written = 0;
    let mut values = Stream::new(plan.seed, 0, "table");
    for row in 0..plan.rows {
        // The same row in every table, except for a rare changed row of the same name.
        let mut cells: Vec<String> =
            (0..plan.columns).map(|_| format!("{:.3}", values.normal())).collect();
        if rng.uniform() < if plan.steady { 0.001 } else { 0.02 } && plan.columns > 0 {
            cells[0] = format!("{:.3}", rng.normal());
        }
        if rng.uniform() >= leave_out || (row + 1 == plan.rows && written == 0) {
            write!(text, "action {row}").unwrap();
            for cell in cells {
                write!(text, ",{cell}").unwrap();
            }
            text.push('\n');
            written += 1;
        }
    }
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

/// A random context.
pub(crate) fn context(rng: &mut Stream, plan: &Plan) -> Context {
    if plan.context && plan.steady && rng.uniform() < 0.95 {
        Context::parse(["device=mobile", "hour=8"]).unwrap()
    } else if plan.context {
        let device = ["mobile", "desktop", "tv"][rng.index(3)];
        Context::parse([format!("device={device}"), format!("hour={}", rng.index(24))]).unwrap()
    } else {
        Context::default()
    }
}

/// Begins a log.
pub(crate) fn begin(log: &mut Log<Memory>, plan: &Plan, first: &Table, rng: &mut Stream) {
    let recipe = if plan.given {
        // The rewards need not obey the bound: this is not tested here.
        Recipe::given(first, &[], 0.5 + 20.0 * rng.uniform()).unwrap()
    } else {
        Recipe::infer(first, &context(rng, plan)).unwrap()
    };
    let opening = Opening {
        policy: plan.policy.clone(),
        horizon: Some(plan.steps as u64),
        outcomes: plan.outcomes,
        ..Opening::new(recipe, (-5.0, 15.0), plan.seed)
    };
    log.begin(1_000_000, opening).unwrap();
}

/// A random outcome of a decision.
fn paid(log: &Log<Memory>, plan: &Plan, decision: u64, rng: &mut Stream) -> Reward {
    let action = log.state().unwrap().decision(decision).map_or(0, |decision| decision.action);
    // The means are far apart, so that some actions are ruled out soon. Elimination drops no action
    // within half the range before its third phase.
    let level = if plan.steady {
        [14.0, -4.0][(action % 2) as usize]
    } else {
        (action % 5) as f64 * 3.0 - 2.0
    };
    let reward = (level + 0.2 * rng.normal()).clamp(-5.0, 15.0);
    if plan.outcomes == Outcomes::Number {
        return Reward::from(reward);
    }
    if plan.outcomes == Outcomes::YesNo {
        return Reward::from(if 20.0 * rng.uniform() < reward + 5.0 { 15.0 } else { -5.0 });
    }
    // As large a share of yes.
    let of = 1 + rng.index(40) as u64;
    let yes = (0..of).filter(|_| 20.0 * rng.uniform() < reward + 5.0).count();
    Reward::counts(yes as u64, of)
}

/// Plays a random history into a log: late, duplicate, corrected, retracted and dropped rewards;
/// added, changed and missing actions. Returns the certificates of its decisions.
pub(crate) fn play(log: &mut Log<Memory>, plan: &Plan) -> Vec<Certificate> {
    let mut rng = Stream::new(plan.seed, 0, "history");
    let first = table(&mut rng, plan, 0.0);
    if log.state().is_none() {
        begin(log, plan, &first, &mut rng);
    }
    let mut certificates = Vec::new();
    for step in 0..plan.steps {
        let at = 1_000_000 + 1_000 * i64::try_from(step).unwrap();
        let decisions = log.state().unwrap().count_decisions();
        let any =
            |rng: &mut Stream| 1 + rng.index(usize::try_from(decisions.max(1)).unwrap()) as u64;
        let outcome = match rng.index(10) {
            _ if decisions == 0 => None,
            0..4 => None,
            4..7 => {
                // The oldest pending decision, or any decision, which may be a duplicate or a
                // conflict.
                let oldest = log.state().unwrap().pending().next();
                let decision =
                    if rng.uniform() < 0.8 { oldest.unwrap_or(1) } else { any(&mut rng) };
                let reward = paid(log, plan, decision, &mut rng);
                Some(log.reward(at, decision, reward).map(|_| ()))
            }
            7 => {
                let decision = any(&mut rng);
                let reward = paid(log, plan, decision, &mut rng);
                Some(log.correct(at, decision, reward).map(|_| ()))
            }
            8 => Some(log.retract(at, any(&mut rng)).map(|_| ())),
            _ if rng.uniform() < 0.3 => Some(log.undrop(at, any(&mut rng)).map(|_| ())),
            _ => Some(log.drop_decision(at, any(&mut rng)).map(|_| ())),
        };
        match outcome {
            None => {
                let leave_out =
                    if rng.uniform() < if plan.steady { 0.01 } else { 0.3 } { 0.3 } else { 0.0 };
                let offered = table(&mut rng, plan, leave_out);
                let known = context(&mut rng, plan);
                let has_key = rng.uniform() < 0.2 && log.state().unwrap().format() >= 2;
                let decided = if has_key {
                    let key = format!("request {step} of {decisions}");
                    log.decide_once(&key, at, &offered, &known, plan.most).map(|(taken, _)| taken)
                } else {
                    log.decide(at, &offered, &known, plan.most)
                };
                match decided {
                    Ok(certificate) => certificates.push(certificate),
                    // A new value in a narrow column, elimination that cannot continue, or an
                    // action that a bell curve cannot judge; nothing is written then.
                    Err(
                        LogError::Recipe(_)
                        | LogError::Step(
                            StepError::OtherActions { .. }
                            | StepError::Outstanding { .. }
                            | StepError::OutsideFirst { .. },
                        ),
                    ) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            // A refusal must leave no trace; the comparison with the log checks that.
            Some(Ok(()) | Err(LogError::Step(_))) => {}
            Some(Err(other)) => panic!("{other}"),
        }
    }
    certificates
}

/// A plan from a seed, over all settings; one in thirty-two is [`steady`].
pub(crate) fn plan(seed: u64, largest: (usize, usize), steps: usize) -> Plan {
    let mut rng = Stream::new(seed, 0, "plan");
    if rng.index(32) == 0 {
        return steady(seed, 15 * steps);
    }
    let arms = rng.uniform() < 0.3;
    let (dim, rows) = largest;
    // Small logs matter as much as large ones.
    let log_uniform = |rng: &mut Stream, most: usize| {
        let about = most >> rng.index(most.ilog2() as usize + 1);
        about - rng.index(about / 2 + 1)
    };
    let given = !arms && rng.uniform() < 0.4;
    let context = !arms && !given && rng.uniform() < 0.4;
    // Vectors as given have no intercept.
    let most = if given {
        dim + 1
    } else if context {
        dim / 5
    } else {
        dim
    };
    let all = policies(arms);
    let policy = all[rng.index(all.len())].clone();
    // Few arms, so that outcomes show which of them is better.
    let (rows, steps) = if arms && rng.uniform() < 0.3 { (3, 5 * steps) } else { (rows, steps) };
    let counts = Stream::new(seed, 0, "counts").uniform() < 0.2
        && policy["kind"] != "elimination"
        && policy.get("radius").is_none_or(|radius| radius["kind"] != "bell");
    Plan {
        seed,
        outcomes: if counts { Outcomes::Counts } else { Outcomes::Number },
        columns: if arms { 0 } else { log_uniform(&mut rng, most).max(1) },
        // A table of one row has no column that could tell actions apart.
        rows: log_uniform(&mut rng, rows).max(if arms || given { 1 } else { 2 }),
        steady: policy["kind"] == "elimination" && rng.uniform() < 0.8,
        policy,
        steps,
        context,
        given,
        most: if rng.uniform() < 0.3 { 5 } else { 5000 },
    }
}

/// A plan under the radius `bell`, long enough for outcomes to show which action is better.
pub(crate) fn bell(seed: u64, steps: usize) -> Plan {
    let radius = json!({"kind": "bell", "delta": 0.2, "own_scales": seed % 4 == 3});
    let policy = json!({"kind": "code", "radius": radius}).as_object().unwrap().clone();
    let (columns, context) = ([0, 2, 1, 0][(seed % 4) as usize], seed % 8 == 1);
    // Arms come and go, so that some of those with outcomes are not on offer.
    let (steady_table, given) = (columns > 0, seed % 8 == 2);
    Plan {
        policy,
        columns,
        rows: 5,
        steps,
        context,
        given,
        steady: steady_table,
        ..steady(seed, 0)
    }
}

/// A plan under the radius `logistic`, long enough for outcomes to show which action is better.
pub(crate) fn rates(seed: u64, steps: usize) -> Plan {
    let (context, given) = (seed % 4 == 1, seed % 8 == 2);
    let radius = match seed % 3 {
        0 => json!({"kind": "logistic", "usual": 2.0, "factor": 20.0}),
        1 => json!({"kind": "logistic", "delta": 0.2, "pairs": false, "factor": 50.0}),
        _ => json!({"kind": "logistic"}),
    };
    let radius = if given { json!({"kind": "logistic", "theta_norm_bound": 3.0}) } else { radius };
    let policy = match seed % 5 {
        0 => json!({"kind": "insured", "kappa": 10.0, "radius": radius,
                    "inside": {"kind": "laplace-ts"}}),
        1 => json!({"kind": "code", "greed": 0.0, "radius": radius}),
        2 => json!({"kind": "code", "exclusion": "intervals", "radius": radius}),
        _ => json!({"kind": "code", "radius": radius}),
    };
    Plan {
        policy: policy.as_object().unwrap().clone(),
        columns: 1 + (seed % 3) as usize,
        rows: 4,
        steps,
        context,
        given,
        outcomes: if seed.is_multiple_of(7) { Outcomes::YesNo } else { Outcomes::Counts },
        steady: seed.is_multiple_of(2),
        most: if seed % 6 == 5 { 2 } else { 5000 },
        ..steady(seed, 0)
    }
}

/// A plan of few arms, long enough for outcomes to show which of them is better.
pub(crate) fn few_arms(seed: u64, steps: usize) -> Plan {
    let policy = json!({"kind": "code"}).as_object().unwrap().clone();
    Plan { policy, columns: 0, rows: 3, steps, given: false, ..steady(seed, 0) }
}

/// A plan of elimination among few actions with few features, long enough for phases to end.
pub(crate) fn steady(seed: u64, steps: usize) -> Plan {
    let mut rng = Stream::new(seed, 0, "steady");
    let delta = [0.5, 0.9, 0.99][rng.index(3)];
    Plan {
        seed,
        policy: json!({"kind": "elimination", "delta": delta}).as_object().unwrap().clone(),
        columns: 1,
        rows: 2 + rng.index(3),
        steps,
        context: false,
        outcomes: Outcomes::Number,
        given: rng.uniform() < 0.8,
        steady: true,
        most: 5000,
    }
}
