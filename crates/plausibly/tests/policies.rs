use plausibly::spec::{Defaults, Facts, Fields, Node, POLICY_KINDS, PolicySpec, Setting, Value};
use plausibly::state::Durable;
use plausibly::{Action, ActionSet, Misfit, Stream};

/// A policy under test, which can be made again as often as needed.
pub(crate) struct Entrant {
    pub(crate) name: &'static str,
    pub(crate) make: Box<dyn Fn() -> Box<dyn Durable + Send>>,
}

/// Every kind of policy that fits a setting, with its default parameters. A new policy is tested
/// once it is listed in `POLICY_KINDS`.
fn entrants(setting: Setting, dim: usize, actions: usize) -> Vec<Entrant> {
    let facts = Facts {
        setting,
        dim,
        actions,
        horizon: 200,
        noise_scale: 0.5,
        theta_norm_bound: 1.5,
        action_norm_bound: 2.0,
        reward_range: None,
    };
    let read = |kind: &'static str| {
        let text = |text: &str| Node { value: Value::Text(text.into()), line: 1 };
        let table = Node { value: Value::Table(vec![("kind".into(), text(kind))]), line: 1 };
        let mut problems = Vec::new();
        let spec = PolicySpec::read(
            &mut Fields::new("policy", &table, &mut problems),
            setting,
            Defaults::Current,
        );
        spec.filter(|_| problems.is_empty())
    };
    let fitting = POLICY_KINDS.into_iter().filter_map(|kind| Some((kind, read(kind)?)));
    fitting
        .map(|(name, spec)| {
            // A generalised linear model needs rewards in a range.
            let reward_range = spec.link().map(|_| (-2.0, 2.0));
            let facts = Facts { reward_range, ..facts };
            Entrant { name, make: Box::new(move || spec.build(&facts).unwrap()) }
        })
        .collect()
}

pub(crate) fn linear_entrants(dim: usize, actions: usize) -> Vec<Entrant> {
    entrants(Setting::Fixed, dim, actions)
}

pub(crate) fn arm_entrants(arms: usize) -> Vec<Entrant> {
    entrants(Setting::Arms, 0, arms)
}

/// Teaches a policy a reward, or the nearest one that it takes.
pub(crate) fn teach(policy: &mut dyn Durable, action: Action<'_>, reward: f64) {
    if let Err(Misfit::RewardRange { low, high, .. }) = policy.try_update(action, reward) {
        policy.update(action, reward.clamp(low, high));
    }
}

/// The first choices of a policy on a fixed problem.
fn choices(entrant: &Entrant, set: &ActionSet, count: usize) -> Vec<usize> {
    let mut policy = (entrant.make)();
    let (mut rng, mut noise) = (Stream::new(1, 0, "policy"), Stream::new(1, 0, "noise"));
    let play = |_| {
        let chosen = policy.select(set.view(), &mut rng);
        let reward = 0.3 * chosen as f64 + 0.5 * noise.normal();
        teach(&mut *policy, set.view().get(chosen), reward);
        chosen
    };
    (0..count).map(play).collect()
}

fn problem() -> ActionSet {
    let mut rng = Stream::new(1, 0, "problem");
    ActionSet::from_flat((0..3 * 6).map(|_| 2.0 * rng.uniform() - 1.0).collect(), 3).unwrap()
}

/// A change of any of these must be intended, and needs a line in CHANGELOG.md.
#[test]
fn first_twelve_choices_are_stable() {
    let line = |setting: &str, entrant: &Entrant, set: &ActionSet| {
        format!("{setting} {}: {:?}\n", entrant.name, choices(entrant, set, 12))
    };
    let (features, arms) = (problem(), ActionSet::arms(6).unwrap());
    let linear =
        linear_entrants(3, 6).into_iter().map(|entrant| line("linear", &entrant, &features));
    let seen: String =
        linear.chain(arm_entrants(6).iter().map(|entrant| line("arms", entrant, &arms))).collect();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/choices.txt");
    plausibly_testkit::assert_golden(&path, &seen);
}

/// These policies draw an index, play a design over indices, or know actions by index alone, so
/// copies are not ties for them.
const BY_INDEX: [&str; 6] =
    ["epsilon-greedy", "explore-then-commit", "elimination", "ucb1", "thompson", "beta-thompson"];

#[test]
fn duplicated_actions_tie_to_the_lowest_index() {
    // Each action three times, far enough apart to be in different lanes and blocks.
    let once = problem();
    let rows: Vec<&[f64]> = (0..18).map(|i| once.view().get(i % 6).features()).collect();
    let tripled = ActionSet::from_rows(&rows).unwrap();
    for entrant in linear_entrants(3, 18).iter().filter(|entrant| !BY_INDEX.contains(&entrant.name))
    {
        let chosen = choices(entrant, &tripled, 60);
        assert!(
            chosen.iter().all(|&action| action < 6),
            "{} took a copy where the original ties with it: {chosen:?}. \
             If copies are no ties to it, list it in BY_INDEX",
            entrant.name
        );
    }
}

#[test]
fn greedy_choices_tie_to_the_lowest_index() {
    let flat = ActionSet::from_rows(&[[1.0], [1.0], [1.0]]).unwrap();
    let mut policy =
        plausibly::ExploreThenCommit::new(plausibly::Ridge::new(1, 1.0).unwrap(), 1e-9, 1).unwrap();
    assert_eq!(
        plausibly::Policy::select(&mut policy, flat.view(), &mut Stream::new(1, 0, "policy")),
        0
    );
}
