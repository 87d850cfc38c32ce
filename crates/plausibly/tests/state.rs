//! A policy that is written down and read back goes on as if nothing had happened, to the last bit.

use crate::policies::{Entrant, arm_entrants, linear_entrants};
use plausibly::spec::{Facts, Fields, Node, PolicySpec, Setting, Value};
use plausibly::state::{
    Durable, ListState, ModelState, OwnState, PolicyState, RidgeState, StateError,
};
use plausibly::{ActionSet, Actions, Explanation, Fixed, Stream};
use proptest::prelude::*;

/// CODE with settings that keep more than the plain one does.
fn codes(setting: Setting, dim: usize, actions: usize) -> Vec<Entrant> {
    let facts = Facts {
        setting,
        dim,
        actions,
        horizon: 60,
        noise_scale: 0.3,
        theta_norm_bound: 1.0,
        action_norm_bound: 2.0,
    };
    let node = |value| Node { value, line: 0 };
    let deadline = Value::Table(vec![
        ("accuracy".into(), node(Value::Float(0.8))),
        ("by_round".into(), node(Value::Integer(25))),
    ]);
    let made = |name, settings: Vec<(&str, Value)>| {
        let mut table = vec![("kind".into(), node(Value::Text("code".into())))];
        table.extend(settings.into_iter().map(|(name, value)| (name.to_string(), node(value))));
        let (table, mut problems) = (node(Value::Table(table)), Vec::new());
        let spec =
            PolicySpec::read(&mut Fields::new("policy", &table, &mut problems), setting).unwrap();
        assert_eq!(problems, []);
        Entrant { name, make: Box::new(move || spec.build(&facts).unwrap()) }
    };
    vec![
        made("code, tempered", vec![("greed", Value::Float(0.5))]),
        made("code, to a deadline", vec![("target", deadline)]),
        made("code, randomised", vec![("randomise", Value::Float(0.5))]),
        made("code, pending not counted", vec![("count_pending", Value::Bool(false))]),
    ]
}

fn entrants(dim: usize, actions: usize) -> Vec<Entrant> {
    let setting = if dim == 0 { Setting::Arms } else { Setting::Fixed };
    let mut all = if dim == 0 { arm_entrants(actions) } else { linear_entrants(dim, actions) };
    all.extend(codes(setting, dim, actions));
    all
}

/// One thing that happens to a policy: a decision on one of two sets, and what becomes of decisions
/// waiting.
#[derive(Clone, Copy)]
struct Round {
    set: usize,
    told: bool,
    settled: usize,
    dropped: bool,
    reward: f64,
}

/// On one set, or mostly on it: a deadline is promised on a fixed one alone.
fn rounds(seed: u64, count: usize) -> Vec<Round> {
    let sets = if seed.is_multiple_of(2) { 1 } else { 2 };
    let mut rng = Stream::new(seed, 0, "rounds");
    let round = |_| Round {
        // Mostly the same set again, as scores are kept for that.
        set: if rng.uniform() < 0.8 { 0 } else { rng.index(sets) },
        told: rng.uniform() < 0.7,
        settled: rng.index(3),
        dropped: rng.uniform() < 0.1,
        reward: rng.normal(),
    };
    (0..count).map(round).collect()
}

/// A policy being played, with the decisions that wait for their rewards, as (set, action).
struct Game {
    policy: Box<dyn Durable + Send>,
    rng: Stream,
    waiting: Vec<(usize, usize)>,
}

impl Game {
    /// Plays a round; everything that can be seen of it, as bits.
    fn play(&mut self, sets: &[ActionSet], round: Round) -> Vec<u64> {
        let chosen = self.policy.select(sets[round.set].view(), &mut self.rng);
        let mut seen = vec![chosen as u64];
        if round.told {
            self.policy.decided(sets[round.set].view().get(chosen));
        }
        self.waiting.push((round.set, chosen));
        for _ in 0..round.settled.min(self.waiting.len()) {
            let (set, action) = self.waiting.remove(0);
            let action = sets[set].view().get(action);
            if round.dropped {
                self.policy.dropped(action);
            } else {
                // Some actions are better than others, so that there is something to rule out.
                let mean =
                    action.features().iter().sum::<f64>() + 0.1 * (action.index() % 60) as f64;
                self.policy.update(action, mean + 0.3 * round.reward);
            }
        }
        let (fixed, mut explanation) = (Fixed { sqrt_beta: 1.0 }, Explanation::new());
        self.policy.explain(
            sets[round.set].view(),
            self.policy.radius().unwrap_or(&fixed),
            &mut explanation,
        );
        for interval in explanation.intervals() {
            seen.extend([interval.mean, interval.lower, interval.upper].map(f64::to_bits));
        }
        seen.extend(explanation.width_sq().iter().map(|width_sq| width_sq.to_bits()));
        seen.push(explanation.sqrt_beta().to_bits());
        seen.push(explanation.deadline().map_or(0, |status| 1 + u64::from(status.promised)));
        seen
    }
}

fn problem(seed: u64, dim: usize, actions: usize) -> impl Fn() -> Vec<ActionSet> {
    move || {
        let mut rng = Stream::new(seed, 0, "problem");
        let mut drawn =
            |count: usize| -> Vec<f64> { (0..count).map(|_| 2.0 * rng.uniform() - 1.0).collect() };
        let mut set = || match dim {
            0 => ActionSet::arms(actions).unwrap(),
            _ => ActionSet::from_flat(drawn(actions * dim), dim).unwrap(),
        };
        vec![set(), set()]
    }
}

/// How large a game is.
#[derive(Clone, Copy, Debug)]
struct Size {
    dim: usize,
    actions: usize,
    rounds: usize,
    /// On one set, with every reward at once.
    prompt: bool,
}

const SMALL: usize = 4;
/// Long enough, and on enough actions, for lists of contenders to come and go.
const MANY: Size = Size { dim: 3, actions: 60, rounds: 300, prompt: false };

/// So many features that scores are followed in single precision.
const VAST: Size = Size { dim: 32, actions: 2100, rounds: 24, prompt: true };

fn small(dim: usize) -> Size {
    Size { dim, actions: SMALL, rounds: 80, prompt: false }
}

/// Plays one game twice, the second time written down after `cut` rounds, changed by `mutate`, and
/// read back beside other sets of the same rows; whether all that can be seen is the same, and what
/// is not seen in the end too.
fn goes_on(
    entrant: &Entrant,
    seed: u64,
    size: Size,
    cut: usize,
    mutate: impl Fn(&mut PolicyState),
) -> Result<bool, StateError> {
    let dim = size.dim;
    let (sets, mut rounds) = (problem(seed, dim, size.actions), rounds(seed, size.rounds));
    for round in rounds.iter_mut().filter(|_| size.prompt) {
        *round = Round { set: 0, told: false, settled: 1, dropped: false, ..*round };
    }
    let game = || Game {
        policy: (entrant.make)(),
        rng: Stream::new(seed, 0, "policy"),
        waiting: Vec::new(),
    };
    let (mut whole, uninterrupted) = (game(), sets());
    let seen: Vec<Vec<u64>> =
        rounds.iter().map(|round| whole.play(&uninterrupted, *round)).collect();

    let (mut first, own) = (game(), sets());
    for round in &rounds[..cut] {
        first.play(&own, *round);
    }
    let mut state = first.policy.state(&views(&own));
    mutate(&mut state);
    let mut second = game();
    let other = sets();
    second.policy.restore(state, &views(&other))?;
    second.rng = Stream::new(seed, 0, "policy").at(first.rng.position());
    second.waiting = first.waiting;
    let same = rounds[cut..]
        .iter()
        .zip(&seen[cut..])
        .all(|(round, seen)| second.play(&other, *round) == *seen);
    Ok(same && whole.policy.state(&views(&uninterrupted)) == second.policy.state(&views(&other)))
}

fn views(sets: &[ActionSet]) -> Vec<Actions<'_>> {
    sets.iter().map(ActionSet::view).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_policy_goes_on_to_the_bit(seed in any::<u64>(), dim in 0..4_usize, cut in 0..80_usize) {
        for entrant in entrants(dim, 4) {
            // Elimination and K-armed kinds know actions by place, and take what stands there.
            prop_assert_eq!(goes_on(&entrant, seed, small(dim), cut, |_| {}), Ok(true), "{}", entrant.name);
        }
    }

    #[test]
    fn and_so_does_one_that_has_looked_at_few_of_many_actions(seed in any::<u64>(), cut in 0..300_usize) {
        for entrant in entrants(MANY.dim, MANY.actions) {
            prop_assert_eq!(goes_on(&entrant, seed, MANY, cut, |_| {}), Ok(true), "{}", entrant.name);
        }
    }
}

fn ridge(state: &mut PolicyState) -> &mut RidgeState {
    match &mut state.model {
        ModelState::Features(ridge) => ridge,
        ModelState::Arms(_) => unreachable!("a model of features"),
    }
}

#[test]
fn and_so_does_one_that_follows_scores_in_single_precision() {
    let follows = ["lin-ucb", "code, pending not counted"];
    for entrant in
        entrants(VAST.dim, VAST.actions).iter().filter(|entrant| follows.contains(&entrant.name))
    {
        for (seed, cut) in [(1, 2), (2, 9), (3, 16), (4, 23)] {
            assert_eq!(goes_on(entrant, seed, VAST, cut, |_| {}), Ok(true), "{}", entrant.name);
        }
    }
    // The set may be gone when the policy is read back.
    let all = entrants(VAST.dim, VAST.actions);
    let entrant = all.iter().find(|entrant| entrant.name == follows[1]).unwrap();
    let (rng, sets) = (Stream::new(1, 0, "policy"), problem(1, VAST.dim, VAST.actions)());
    let mut game = Game { policy: (entrant.make)(), rng, waiting: Vec::new() };
    for _ in 0..6 {
        game.play(&sets, Round { set: 0, told: false, settled: 1, dropped: false, reward: 0.1 });
    }
    assert_eq!((entrant.make)().restore(game.policy.state(&[]), &[]), Ok(()));
    let lost = |mutate: fn(&mut RidgeState)| {
        noticed_in("code, pending not counted", VAST, move |state| mutate(ridge(state)))
    };
    assert!(lost(|ridge| ridge.rough.spent = 0));
    assert!(lost(|ridge| ridge.rough.leader = 0));
    assert!(lost(|ridge| ridge.rough.not_before = 1000));
    assert!(lost(|ridge| ridge.scores.iter_mut().for_each(|scores| scores.mean_off = 0.0)));
    assert!(lost(|ridge| ridge.scores.iter_mut().for_each(|scores| scores.width_sq_off = 0.0)));
}

/// Whether the loss of something is noticed in one of many games.
fn noticed(name: &str, dim: usize, mutate: impl Fn(&mut PolicyState) + Copy) -> bool {
    noticed_in(name, small(dim), mutate)
}

fn noticed_in(name: &str, size: Size, mutate: impl Fn(&mut PolicyState) + Copy) -> bool {
    let entrant =
        entrants(size.dim, size.actions).into_iter().find(|entrant| entrant.name == name).unwrap();
    (0..60_u32).any(|seed| {
        let cut = size.rounds / 8 + seed as usize * 7 % (3 * size.rounds / 4);
        let played = || goes_on(&entrant, seed.into(), size, cut, mutate);
        // A model that does not hold together may also fall over, which is noticed as well.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(played)).ok() != Some(Ok(true))
    })
}

#[test]
fn whatever_is_left_out_is_noticed() {
    // Many features: how long ago V⁻¹ was computed decides about the next time only from nine on.
    let lin_ucb =
        |mutate: fn(&mut RidgeState)| noticed("lin-ucb", 20, move |state| mutate(ridge(state)));
    assert!(lin_ucb(|ridge| ridge.observations = 0));
    assert!(lin_ucb(|ridge| ridge.since_refactor = 0));
    assert!(lin_ucb(|ridge| ridge.gram.sum[0] = 1.0));
    assert!(lin_ucb(|ridge| ridge.gram.carry.fill(0.0)));
    assert!(lin_ucb(|ridge| ridge.moment.sum.fill(0.0)));
    assert!(lin_ucb(|ridge| ridge.moment.carry.fill(0.0)));
    assert!(lin_ucb(|ridge| ridge.gram_inverse[0] = 1.0));
    assert!(lin_ucb(|ridge| ridge.theta_hat.fill(0.0)));
    assert!(lin_ucb(|ridge| ridge.log_det_at_refactor = 0.0));
    assert!(lin_ucb(|ridge| ridge.det_growth = 1.0));
    assert!(lin_ucb(|ridge| ridge.step = None));
    assert!(lin_ucb(|ridge| ridge.scores = None));
    assert!(lin_ucb(|ridge| {
        if let Some(scores) = &mut ridge.scores {
            scores.set = 1 - scores.set;
        }
    }));
    assert!(noticed("lin-ts", 3, |state| {
        if let OwnState::Sampler { factor, .. } = &mut state.own {
            factor[1] = 0.0;
        }
    }));
    for name in ["epsilon-greedy", "explore-then-commit"] {
        assert!(noticed(name, 3, |state| {
            if let OwnState::Rounds { decisions, .. } = &mut state.own {
                *decisions = 0;
            }
        }));
    }
    assert!(noticed("explore-then-commit", 3, |state| {
        if let OwnState::Rounds { committed, .. } = &mut state.own {
            *committed = None;
        }
    }));
    assert!(noticed("elimination", 2, |state| state.own = OwnState::Phase(None)));
    for dim in [0, 3] {
        assert!(noticed("code", dim, |state| {
            if let OwnState::Code { pending: Some(pending), .. } = &mut state.own {
                pending.decisions.clear();
            }
        }));
    }
    assert!(noticed("code", 3, |state| {
        if let OwnState::Code { pending: Some(pending), .. } = &mut state.own {
            pending.design = None;
        }
    }));
    for dim in [0, 3] {
        let deadline = |mutate: fn(&mut plausibly::state::DeadlineState)| {
            noticed("code, to a deadline", dim, move |state| {
                if let OwnState::Code { deadline: Some(deadline), .. } = &mut state.own {
                    mutate(deadline);
                }
            })
        };
        assert!(deadline(|deadline| deadline.promised ^= true));
        assert!(deadline(|deadline| deadline.foreseen = false));
        assert!(deadline(|deadline| deadline.survivors.clear()));
        assert!(deadline(|deadline| deadline.met = deadline.met.map(|met| !met)));
        assert!(deadline(|deadline| deadline.set = deadline.set.map(|set| 1 - set)));
    }
    assert!(noticed("thompson", 0, |state| {
        if let ModelState::Arms(arms) = &mut state.model {
            arms.totals.fill(0.0);
        }
    }));
}

#[test]
fn whatever_is_left_out_of_a_list_is_noticed() {
    let ridge = |name: &'static str, mutate: fn(&mut RidgeState)| {
        noticed_in(name, MANY, move |state| mutate(ridge(state)))
    };
    let list = |mutate: fn(&mut ListState)| {
        noticed_in("lin-ucb", MANY, move |state| {
            if let ModelState::Features(ridge) = &mut state.model
                && let Some(list) = &mut ridge.shortlist.list
            {
                mutate(list);
            }
        })
    };
    for name in ["lin-ucb", "code, tempered", "code, randomised"] {
        assert!(ridge(name, |ridge| ridge.shortlist.list = None), "{name}");
    }
    assert!(ridge("lin-ucb", |ridge| ridge.shortlist.ratio = 0.0));
    assert!(ridge("lin-ucb", |ridge| ridge.shortlist.not_before = 0));
    assert!(ridge("lin-ucb", |ridge| ridge.steady ^= true));
    assert!(ridge("lin-ucb", |ridge| ridge.unscored.growth = f64::MAX));
    assert!(ridge("lin-ucb", |ridge| ridge.unscored.trace = 0.0));
    assert!(ridge("lin-ucb", |ridge| ridge.unscored.trace_inverse = 0.0));
    assert!(list(|list| list.scores.mean.fill(0.0)));
    assert!(list(|list| list.scores.observations -= 1));
    assert!(list(|list| list.largest_upper ^= true));
    assert!(list(|list| list.made_at = 0));
    assert!(list(|list| list.origin.gram.fill(0.0)));
    assert!(list(|list| list.origin.theta_hat.fill(0.0)));
    assert!(list(|list| list.ceiling *= 2.0));
    assert!(list(|list| list.leeway = None));
    assert!(list(|list| list.drift = 0.0));
    assert!(list(|list| list.base_origin.gram.fill(0.0)));
    assert!(list(|list| list.base_mean.fill(0.0)));
    assert!(list(|list| list.base_width.fill(0.0)));
    let sampler =
        |mutate: fn(&mut OwnState)| noticed_in("lin-ts", MANY, move |state| mutate(&mut state.own));
    assert!(sampler(|own| {
        if let OwnState::Sampler { offered, .. } = own {
            *offered = None;
        }
    }));
    assert!(sampler(|own| {
        if let OwnState::Sampler { not_before, .. } = own {
            *not_before = 0;
        }
    }));
}

#[test]
fn what_is_not_a_state_of_this_policy_is_refused() {
    let all = entrants(2, 4);
    let sets = problem(1, 2, 4)();
    let views = views(&sets);
    let played = |entrant: &Entrant| {
        let mut policy = (entrant.make)();
        let chosen = policy.select(views[0], &mut Stream::new(1, 0, "policy"));
        policy.update(views[0].get(chosen), 0.5);
        policy
    };
    let named = |name: &str| all.iter().find(|entrant| entrant.name == name).unwrap();
    let (code, lin_ts) = (named("code"), named("lin-ts"));
    let refused = |state, sets: &[_]| {
        let mut policy = (code.make)();
        let refused = policy.restore(state, sets).unwrap_err();
        assert_eq!(policy.model().evidence().observations, 0, "unchanged");
        refused
    };
    let state = || played(code).state(&views);
    assert!(matches!(refused(played(lin_ts).state(&views), &views), StateError::Kind { .. }));
    assert_eq!(refused(state(), &[]), StateError::Set { set: 0, sets: 0 });
    let changed = |mutate: fn(&mut RidgeState)| {
        let mut state = state();
        mutate(ridge(&mut state));
        refused(state, &views)
    };
    let length = changed(|ridge| ridge.theta_hat.push(0.0));
    assert_eq!(length, StateError::Length { what: "theta_hat", expected: 2, found: 3 });
    assert_eq!(
        changed(|ridge| ridge.gram.sum[0] = f64::NAN),
        StateError::Number { what: "gram.sum" }
    );
    assert_eq!(changed(|ridge| ridge.det_growth = 0.5), StateError::Number { what: "det_growth" });
    assert_eq!(
        changed(|ridge| ridge.since_refactor = 9),
        StateError::Number { what: "since_refactor" }
    );
    assert_eq!(
        played(code).restore(state(), &views),
        Err(StateError::NotFresh { observations: 1 })
    );
}

#[test]
fn a_set_is_remembered_while_its_scores_are() {
    let all = entrants(2, 4);
    let code = all.iter().find(|entrant| entrant.name == "code").unwrap();
    let (mut policy, sets, mut rng) =
        ((code.make)(), problem(1, 2, 4)(), Stream::new(1, 0, "policy"));
    assert!(!policy.remembers(sets[0].view().id()));
    policy.select(sets[0].view(), &mut rng);
    assert!(policy.remembers(sets[0].view().id()));
    policy.select(sets[1].view(), &mut rng);
    assert!(!policy.remembers(sets[0].view().id()) && policy.remembers(sets[1].view().id()));
}
