//! A policy that is written down and read back goes on as if nothing had happened, to the last bit.

use crate::policies::{Entrant, arm_entrants, linear_entrants, teach};
use plausibly::spec::{Defaults, Facts, Fields, Node, PolicySpec, Setting, Value};
use plausibly::state::{Durable, PolicyState, StateError};
use plausibly::{ActionSet, Explanation, Fixed, Stream};
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
        reward_range: None,
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
        let spec = PolicySpec::read(
            &mut Fields::new("policy", &table, &mut problems),
            setting,
            Defaults::Current,
        )
        .unwrap();
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
                teach(&mut *self.policy, action, mean + 0.3 * round.reward);
            }
        }
        let (fixed, mut explanation) = (Fixed { sqrt_beta: 1.0 }, Explanation::new());
        self.policy.explain(
            sets[round.set].view(),
            self.policy.radius().unwrap_or(&fixed),
            self.policy.exclusion(),
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
}

const SMALL: usize = 4;
/// Long enough, and on enough actions, for lists of contenders to come and go.
const MANY: Size = Size { dim: 3, actions: 60, rounds: 300 };

fn small(dim: usize) -> Size {
    Size { dim, actions: SMALL, rounds: 80 }
}

/// Plays one game twice. The second time the policy is written down after `cut` rounds, changed by
/// `mutate`, and read back beside new sets of the same rows, with no set handed over. Whether all
/// that can be seen is the same, and the state in the end too.
fn goes_on(
    entrant: &Entrant,
    seed: u64,
    size: Size,
    cut: usize,
    mutate: impl Fn(PolicyState) -> PolicyState,
) -> Result<bool, StateError> {
    let (sets, rounds) = (problem(seed, size.dim, size.actions), rounds(seed, size.rounds));
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
    let (mut second, other) = (game(), sets());
    second.policy.restore(&mutate(first.policy.state()))?;
    second.rng = Stream::new(seed, 0, "policy").at(first.rng.position());
    second.waiting = first.waiting;
    let same = rounds[cut..]
        .iter()
        .zip(&seen[cut..])
        .all(|(round, seen)| second.play(&other, *round) == *seen);
    Ok(same && whole.policy.state() == second.policy.state())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_policy_goes_on_to_the_bit(seed in any::<u64>(), dim in 0..4_usize, cut in 0..80_usize) {
        for entrant in entrants(dim, 4) {
            // Elimination and K-armed kinds know actions by place, and take what stands there.
            prop_assert_eq!(
                goes_on(&entrant, seed, small(dim), cut, |state| state),
                Ok(true),
                "{}",
                entrant.name,
            );
        }
    }

    #[test]
    fn and_so_does_one_that_has_looked_at_few_of_many_actions(
        seed in any::<u64>(),
        cut in 0..300_usize,
    ) {
        for entrant in entrants(MANY.dim, MANY.actions) {
            prop_assert_eq!(
                goes_on(&entrant, seed, MANY, cut, |state| state),
                Ok(true),
                "{}",
                entrant.name,
            );
        }
    }
}

/// A state with one of its words of eight bytes changed; `None` behind its end.
fn changed(state: &PolicyState, word: usize) -> Option<PolicyState> {
    let mut bytes = state.as_bytes().to_vec();
    let words = (bytes.len() - HEADER) / 8;
    let start = HEADER + 8 * word;
    let slot = bytes.get_mut(start..start + 8).filter(|_| word < words)?;
    let value = u64::from_le_bytes(slot.try_into().unwrap());
    // A count becomes another one, a number another number.
    let other = if value < 1 << 53 { value ^ 1 } else { value ^ (1 << 51) };
    slot.copy_from_slice(&other.to_le_bytes());
    PolicyState::from_bytes(bytes).ok()
}

/// Bytes of the header, `plausibly policy 4` and a line break.
const HEADER: usize = 19;

#[test]
fn every_word_of_a_state_matters() {
    for (dim, entrant) in [0, 2]
        .into_iter()
        .flat_map(|dim| entrants(dim, SMALL).into_iter().map(move |entrant| (dim, entrant)))
    {
        let size = small(dim);
        // A model that does not hold together may also fall over, which is noticed as well.
        let noticed = |seed: u64, word: usize| {
            let played = || {
                let end = std::cell::Cell::new(false);
                let outcome = goes_on(&entrant, seed, size, 40, |state| {
                    changed(&state, word).unwrap_or_else(|| {
                        end.set(true);
                        state
                    })
                });
                (!end.get()).then_some(outcome != Ok(true))
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(played)).unwrap_or(Some(true))
        };
        let (mut words, mut unnoticed) = (0, 0);
        loop {
            let outcomes: Vec<Option<bool>> = (0..4).map(|seed| noticed(seed, words)).collect();
            if outcomes.iter().all(Option::is_none) {
                break;
            }
            words += 1;
            unnoticed += usize::from(!outcomes.contains(&Some(true)));
        }
        // The design of pending decisions counts them without rewards, and nothing reads what it
        // would estimate.
        let counts_pending = entrant.name.starts_with("code") || entrant.name == "insured";
        let unread = if counts_pending { words / 3 } else { 0 };
        let name = entrant.name;
        assert!(words > 10 && unnoticed <= unread, "{name}: {unnoticed} of {words} words");
    }
}

#[test]
fn what_is_not_a_state_of_this_policy_is_refused() {
    let (all, sets) = (entrants(2, 4), problem(1, 2, 4)());
    let view = sets[0].view();
    let played = |name: &str| {
        let entrant = all.iter().find(|entrant| entrant.name == name).unwrap();
        let mut policy = (entrant.make)();
        let chosen = policy.select(view, &mut Stream::new(1, 0, "policy"));
        policy.update(view.get(chosen), 0.5);
        policy
    };
    let fresh = || (all.iter().find(|entrant| entrant.name == "code").unwrap().make)();
    let refused = |state: &PolicyState| {
        let mut policy = fresh();
        let refused = policy.restore(state).unwrap_err();
        assert_eq!(policy.model().evidence().observations, 0, "unchanged");
        refused
    };
    let state = played("code").state();
    assert_eq!(fresh().restore(&state), Ok(()));
    assert_eq!(refused(&played("lin-ts").state()), StateError::Kind { what: "the policy" });
    assert_eq!(played("code").restore(&state), Err(StateError::NotFresh { observations: 1 }));
    // Of every length, and with bytes behind the end.
    let bytes = state.as_bytes();
    for len in HEADER..bytes.len() {
        let cut = PolicyState::from_bytes(bytes[..len].to_vec()).unwrap();
        assert_eq!(refused(&cut), StateError::Cut, "{len}");
    }
    let longer = PolicyState::from_bytes([bytes, &[0]].concat()).unwrap();
    assert_eq!(refused(&longer), StateError::Cut);
    let other_model = entrants(3, 4).into_iter().find(|entrant| entrant.name == "code").unwrap();
    let length = (other_model.make)().restore(&state).unwrap_err();
    assert_eq!(length, StateError::Length { what: "gram", expected: 9, found: 4 });
    for other in [&b"plausibly policy 2"[..], b"{}", b""] {
        assert_eq!(PolicyState::from_bytes(other.to_vec()), Err(StateError::Version));
    }
}
