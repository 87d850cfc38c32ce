use plausibly::Exclusion;
use plausibly::spec::{Defaults, Fields, Node, PolicyKind, RadiusKind, RadiusSpec, Setting, Value};
use plausibly_sim::{Experiment, LoadPool, Metric, Overrides, Pools, TableRows};
use proptest::prelude::*;

const MINIMAL: &str =
    "[environment]\nkind = 'linear'\ndim = 2\nactions = 3\n[[policy]]\nkind = 'code'\n";

fn read(text: &str) -> Experiment {
    Experiment::from_toml(text, Overrides::default(), &()).unwrap()
}

#[test]
fn unset_fields_take_their_defaults() {
    let experiment = read(MINIMAL);
    assert_eq!((experiment.name.as_str(), experiment.seed), ("experiment", 0));
    assert_eq!((experiment.runs, experiment.horizon), (100, 10_000));
    assert_eq!(experiment.policies[0].label, "code");
    let additive = RadiusSpec::new(RadiusKind::Additive);
    assert_eq!(
        experiment.policies[0].kind,
        PolicyKind::Code {
            ridge: None,
            radius: additive,
            exclusion: Exclusion::Differences,
            greed: 0.0,
            target: None,
            randomise: 0.0,
            count_pending: true
        }
    );
    assert_eq!(experiment.metric, Metric::default_for(Setting::Fixed, Defaults::Current));
}

#[test]
fn the_metric_is_that_of_the_first_code_policy_unless_set() {
    let policies = "[[policy]]\nkind = 'lin-ucb'\nridge = 9\n\
                    [[policy]]\nkind = 'code'\nlabel = 'narrow'\nridge = 3\n\
                    radius = { kind = 'fixed', sqrt_beta = 0.5 }\n";
    let narrow = RadiusSpec { sqrt_beta: 0.5, ..RadiusSpec::new(RadiusKind::Fixed) };
    let text = format!("[environment]\nkind = 'linear'\ndim = 2\nactions = 3\n{policies}");
    let metric = read(&text).metric;
    assert_eq!((metric.ridge, metric.radius), (Some(3.0), narrow));
    assert_eq!(metric.exclusion, Exclusion::Differences);
    let metric = read(&format!("{text}[metric]\nridge = 7.0\nexclusion = 'intervals'\n")).metric;
    assert_eq!((metric.ridge, metric.radius), (Some(7.0), narrow));
    assert_eq!(metric.exclusion, Exclusion::Intervals);
}

#[test]
fn overrides_replace_what_the_text_says_and_are_recorded() {
    let text = format!("runs = 5\nseed = 1\n{MINIMAL}");
    let experiment =
        Experiment::from_toml(&text, Overrides { runs: Some(9), seed: Some(8) }, &()).unwrap();
    assert_eq!((experiment.runs, experiment.seed), (9, 8));
    let Value::Table(entries) = experiment.resolved else { panic!("a table") };
    let recorded =
        |name: &str| entries.iter().find(|(key, _)| key == name).unwrap().1.value.clone();
    assert_eq!((recorded("runs"), recorded("seed")), (Value::Integer(9), Value::Integer(8)));
}

#[test]
fn all_problems_are_found_at_once_with_their_lines() {
    let text = "runs = 0\ncolour = 'red'\n[environment]\nkind = 'linear'\ndim = 2\nactions = 3\n\
                [[policy]]\nkind = 'code'\nradius = { kind = 'paper', delta = 2 }\n\
                [[policy]]\nkind = 'code'\n";
    let error = Experiment::from_toml(text, Overrides::default(), &()).unwrap_err();
    let found: Vec<(usize, &str)> =
        error.problems.iter().map(|p| (p.line, p.path.as_str())).collect();
    let expected =
        [(1, "runs"), (2, "colour"), (9, "policy[1].radius.delta"), (10, "policy[2].label")];
    assert_eq!(found, expected, "{error}");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*", cut in 0..200_usize) {
        let _ = Experiment::from_toml(&text, Overrides::default(), &());
        // Nearly valid text goes deeper: the example cut short and continued with anything.
        let start: String = MINIMAL.chars().take(cut).collect();
        let _ = Experiment::from_toml(&format!("{start}{text}"), Overrides::default(), &());
    }

    #[test]
    fn any_number_in_any_field_is_read_or_refused(
        field in prop::sample::select(vec![
            "runs", "seed", "horizon", "noise", "ridge", "delta", "sqrt_beta", "dim",
        ]),
        number in prop_oneof![
            any::<f64>().prop_map(|x| format!("{x:?}")),
            any::<i64>().prop_map(|x| x.to_string()),
            Just("inf".to_string()),
            Just("nan".to_string()),
        ],
    ) {
        let set = |name: &str, default: &str| {
            if name == field {
                format!("{name} = {number}\n")
            } else {
                format!("{name} = {default}\n")
            }
        };
        let text = format!(
            "{}{}{}[environment]\nkind = 'linear'\nactions = 2\n{}{}[[policy]]\nkind = 'code'\n{}\
             radius = {{ kind = 'paper', {} }}\n[[policy]]\nkind = 'lin-ucb'\n\
             radius = {{ kind = 'fixed', {} }}\n",
            set("runs", "2"), set("seed", "1"), set("horizon", "40"), set("dim", "3"),
            set("noise", "0.5"),
            set("ridge", "1.0"), set("delta", "0.1").trim(), set("sqrt_beta", "1.0").trim(),
        );
        let overrides = Overrides { runs: Some(2), seed: None };
        if let Ok(experiment) = Experiment::from_toml(&text, overrides, &())
            && experiment.horizon < 1000 && field != "dim"
        {
            // An accepted spec must also run and give finite figures.
            let summary = experiment.comparison().run(std::num::NonZeroUsize::MIN, &()).unwrap();
            for policy in &summary.policies {
                let last = policy.last();
                let means = [last.model_error.mean(), last.regret.mean()];
                prop_assert!(means.iter().all(|mean| mean.is_finite()), "{}", text);
            }
        }
    }
}

#[test]
fn a_share_of_uniform_rounds_is_refused_where_no_bound_is_known() {
    let with = |settings: &str| {
        let text = format!("{MINIMAL}randomise = 0.2\n{settings}");
        Experiment::from_toml(&text, Overrides::default(), &()).map(drop)
    };
    for refused in ["greed = 1.0", "target = { accuracy = 0.5, by_round = 100 }"] {
        let message = with(refused).unwrap_err().to_string();
        assert!(message.contains("randomise"), "{message}");
    }
    for accepted in ["greed = 0.9", "target = { accuracy = 0.5 }", "target = { kappa = 4.0 }"] {
        with(accepted).unwrap();
    }
}

#[test]
fn problems_with_rewards_in_a_range_are_read_and_run() {
    for environment in [
        "kind = 'arms'",
        "kind = 'arms'\nrewards = 'yes-no'\nlowest = 0.01\nhighest = 0.1\ndays = 0.3",
        "kind = 'arms'\nrewards = 'yes-no'\nlowest = 0.01\nspread = 'ratios'",
        "kind = 'arms'\nrewards = 'normal'\nnoise = 2.0\nnoise_by_action = 4.0\nspread = 'uniform'",
        "kind = 'table'",
        "kind = 'table'\nrewards = 'yes-no'\nactions = 7\nrule = 'logistic'\nmisspecified = 0.05",
        "kind = 'table'\nrewards = 'normal'\nactions = 1",
        "kind = 'logistic'",
        "kind = 'logistic'\nscale = 3.0\nintercept = true\ndim = 2\nactions = 1",
        "kind = 'clicks'",
        "kind = 'clicks'\nlowest = 0.2\nhighest = 0.2",
        "kind = 'poisson'",
        "kind = 'poisson'\nhighest = 500\nactions = 2\ndim = 2",
        "kind = 'poisson'\nactions = 1",
    ] {
        let text = format!("runs = 3\nhorizon = 60\n[environment]\n{environment}\n{CODE}");
        let experiment = read(&text);
        let summary = experiment.comparison().run(std::num::NonZeroUsize::MIN, &()).unwrap();
        let last = summary.policies[0].last();
        assert!(last.regret.mean().is_finite() && last.model_error.mean().is_finite(), "{text}");
    }
}

const CODE: &str = "[[policy]]\nkind = 'code'\n";

#[test]
fn a_policy_for_rewards_from_0_to_1_is_refused_elsewhere() {
    let with = |environment: &str| {
        let policy = "[[policy]]\nkind = 'beta-thompson'\n";
        let text = format!("[environment]\n{environment}\n{policy}");
        Experiment::from_toml(&text, Overrides::default(), &()).map(drop)
    };
    with("kind = 'arms'\nrewards = 'yes-no'").unwrap();
    with("kind = 'arms'").unwrap();
    for refused in
        ["kind = 'arms'\nrewards = 'normal'", "kind = 'k-armed'\nactions = 3", "kind = 'table'"]
    {
        let error = with(refused).unwrap_err();
        assert_eq!(error.problems[0].path, "policy[1].kind");
        assert!(error.to_string().contains("use thompson"), "{error}");
    }
}

#[test]
fn rewards_that_cannot_stay_in_their_range_are_refused() {
    for (environment, path, words) in [
        ("kind = 'arms'\nlowest = 0.5", "environment.highest", "at least lowest, 0.5"),
        ("kind = 'arms'\nnoise = 0.2", "environment.noise", "up to 0.15 out of range"),
        ("kind = 'arms'\nnoise_by_action = 9", "environment.noise", "noise_by_action"),
        (
            "kind = 'arms'\nrewards = 'yes-no'\nhighest = 0.9\ndays = 0.2",
            "environment.days",
            "stay in [0, 1]",
        ),
        (
            "kind = 'arms'\nlowest = 0\nnoise = 1e-6\nspread = 'ratios'\nrewards = 'normal'",
            "environment.spread",
            "even or uniform",
        ),
        // Yes-no rewards have no noise to set.
        ("kind = 'arms'\nrewards = 'yes-no'\nnoise = 0.1", "environment.noise", "unknown"),
        ("kind = 'arms'\nrewards = 'coin'", "environment.rewards", "yes-no, bounded, normal"),
        ("kind = 'table'\ncentre = 0.46", "environment.centre", "at most 0.45"),
        ("kind = 'table'\ncentre = -0.4\nnoise = 0.1", "environment.centre", "within ±0.327"),
        ("kind = 'table'\nnoise = 0.3", "environment.centre", "make them smaller"),
        ("kind = 'table'\nmisspecified = 0.4", "environment.centre", "within ±0.048"),
        ("kind = 'table'\nrewards = 'normal'\nnoise = 0", "environment.noise", "1e-6"),
        ("kind = 'clicks'\nlowest = 0.2", "environment.highest", "at least lowest, 0.2"),
        ("kind = 'clicks'\nhighest = 1", "environment.highest", "at most 0.999999"),
        ("kind = 'clicks'\nlowest = 0", "environment.lowest", "at least 1e-6"),
        ("kind = 'clicks'\ndim = 1", "environment.dim", "from 2 to 1024"),
        ("kind = 'clicks'\nactions = 9999999", "environment.actions", "1000000"),
        ("kind = 'clicks'\ndim = 1024\nactions = 10000", "environment.actions", "features in all"),
        ("kind = 'clicks'\nscale = 2", "environment.scale", "unknown"),
        ("kind = 'poisson'\nhighest = 501", "environment.highest", "at most 500"),
        ("kind = 'poisson'\nlowest = 6", "environment.highest", "at least lowest, 6"),
        ("kind = 'poisson'\nnoise = 1", "environment.noise", "unknown"),
        ("kind = 'logistic'\nscale = 0", "environment.scale", "1e-6"),
        ("kind = 'logistic'\nintercept = 1", "environment.intercept", "true or false"),
        ("kind = 'logistic'\nintercept = true\ndim = 1", "environment.dim", "from 2 to 1024"),
        ("kind = 'logistic'\nlowest = 0.1", "environment.lowest", "unknown"),
    ] {
        let text = format!("[environment]\n{environment}\n{CODE}");
        let error = Experiment::from_toml(&text, Overrides::default(), &()).unwrap_err();
        assert_eq!(error.problems.len(), 1, "{error}");
        assert_eq!(error.problems[0].path, path, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// A file of actions in memory: an intercept and a number.
struct Memory(&'static [f64], Option<&'static [f64]>);

impl Pools for Memory {
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }

    fn default_actions(&self, _: &str) -> i64 {
        1
    }

    fn read(&self, _: &str, _: &mut Fields<'_>) -> Box<LoadPool<'_>> {
        Box::new(|| Err("no kinds".into()))
    }

    fn table(&self, path: &str, mean_column: Option<&str>) -> Result<TableRows, String> {
        assert_eq!(path, "own.csv");
        Ok(TableRows {
            dim: usize::from(!self.0.is_empty()) * 2,
            features: self.0.iter().flat_map(|x| [1.0, *x]).collect(),
            lines: (2..).take(self.0.len().max(self.1.map_or(0, <[f64]>::len))).collect(),
            theta_norm_bound: 0.5,
            means: mean_column.and(self.1).map(<[f64]>::to_vec),
        })
    }
}

const OWN: &str = "kind = 'csv'\npath = 'own.csv'";

#[test]
fn a_table_of_your_own_is_read_and_run() {
    let table = Memory(&[-1.0, 0.0, 1.0], Some(&[0.2, 0.9, 0.5]));
    let arms = Memory(&[], Some(&[0.2, 0.9]));
    for (environment, pools, setting) in [
        ("mean_column = 'm'", &table, Setting::Fixed),
        ("mean_column = 'm'\nrewards = 'yes-no'", &table, Setting::Fixed),
        ("mean_column = 'm'\nrewards = 'normal'\nnoise = 3", &table, Setting::Fixed),
        ("rule = 'logistic'\ncentre = 0.3\nspread = 0.5", &table, Setting::Fixed),
        ("rewards = 'yes-no'\nmisspecified = 0.1", &table, Setting::Fixed),
        ("mean_column = 'm'\nrewards = 'clicks'", &table, Setting::Fixed),
        ("mean_column = 'm'\nrewards = 'poisson'", &table, Setting::Fixed),
        ("rewards = 'clicks'\nlowest = 0.05\nhighest = 0.4", &table, Setting::Fixed),
        ("rewards = 'poisson'", &table, Setting::Fixed),
        ("mean_column = 'm'\nrewards = 'poisson'", &arms, Setting::Arms),
        ("mean_column = 'm'\nrewards = 'yes-no'", &arms, Setting::Arms),
    ] {
        let text = format!("runs = 3\nhorizon = 60\n[environment]\n{OWN}\n{environment}\n{CODE}");
        let experiment = Experiment::from_toml(&text, Overrides::default(), pools).unwrap();
        assert_eq!(experiment.environment.setting(), setting);
        let root = Node { value: experiment.resolved.clone(), line: 0 };
        assert_eq!(Experiment::from_node(root, Overrides::default(), pools).unwrap(), experiment);
        let summary = experiment.comparison().run(std::num::NonZeroUsize::MIN, &()).unwrap();
        assert!(summary.policies[0].last().model_error.mean().is_finite(), "{text}");
    }
}

#[test]
fn a_table_that_makes_no_problem_is_refused_with_its_lines() {
    let column = "mean_column = 'm'\n";
    let three: &[f64] = &[-1.0, 0.0, 1.0];
    for (environment, pools, path, words) in [
        ("", Memory(&[1.0], None), "path", "one action"),
        ("", Memory(&[1.0, 0.5, 1.0], None), "path", "lines 2 and 4 have the same features"),
        ("rule = 'logistic'\ncentre = 0.4", Memory(three, None), "centre", "within ±0.381"),
        ("rewards = 'yes-no'", Memory(three, Some(&[0.1, 1.2, 0.3])), "mean_column", "line 3"),
        ("rewards = 'yes-no'", Memory(three, Some(&[0.1, 0.2, -0.3])), "mean_column", "line 4"),
        ("noise = 0.1", Memory(three, Some(&[0.5, 0.9, 0.3])), "mean_column", "0.173 (√3·noise)"),
        ("rule = 'linear'", Memory(three, Some(&[0.5, 0.9, 0.3])), "rule", "unknown"),
        ("lowest = 0.1", Memory(three, None), "lowest", "unknown"),
        ("rewards = 'clicks'\ncentre = 0.1", Memory(three, None), "centre", "unknown"),
        ("rewards = 'clicks'\nnoise = 0.1", Memory(three, None), "noise", "unknown"),
        ("rewards = 'clicks'\nlowest = 0.5", Memory(three, None), "highest", "at least lowest"),
        ("rewards = 'clicks'", Memory(three, Some(&[0.1, 5.0, 0.3])), "mean_column", "line 3"),
        ("rewards = 'poisson'", Memory(three, Some(&[0.1, 5.0, -0.3])), "mean_column", "line 4"),
        ("rewards = 'poisson'", Memory(three, Some(&[0.1, 501.0, 3.0])), "mean_column", "0 to 500"),
    ] {
        let column = if pools.1.is_some() { column } else { "" };
        let text = format!("[environment]\n{OWN}\n{column}{environment}\n{CODE}");
        let error = Experiment::from_toml(&text, Overrides::default(), &pools).unwrap_err();
        assert_eq!(error.problems.len(), 1, "{error}");
        assert_eq!(error.problems[0].path, format!("environment.{path}"), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let arms = Memory(&[], Some(&[0.2, 0.9]));
    let text = format!("[environment]\n{OWN}\n{CODE}");
    let error = Experiment::from_toml(&text, Overrides::default(), &arms).unwrap_err();
    assert!(error.to_string().contains("name a mean_column"), "{error}");
    // A program that reads no files says where to go, and still checks the other fields.
    let text = format!("[environment]\n{OWN}\nspread = 2\n{CODE}");
    let error = Experiment::from_toml(&text, Overrides::default(), &()).unwrap_err();
    assert_eq!(error.problems.len(), 2, "{error}");
    assert!(error.to_string().contains("plausibly simulate"), "{error}");
    let error = Experiment::from_toml("[environment]\nkind = 'csv'", Overrides::default(), &());
    assert!(error.unwrap_err().to_string().contains("environment.path: missing"));
}
