//! A choice depends on what was learned and on the rows offered. It does not depend on the object
//! that holds the rows, on the instruction set, or on a policy having been saved and loaded. So
//! choices are compared by index here, without a tolerance.

use super::happen_to;
use super::players::{Player, players_on};
use super::problem::{Kind, Problem, Rewards};
use plausibly::spec::{Facts, PolicyKind, PolicySpec, RadiusKind, RadiusSpec, Setting};
use plausibly::{Action, ActionSet, Exclusion, Exploration, Isa, Policy, Stream, Target};

/// A game in progress.
struct Game<'a> {
    problem: &'a Problem,
    rng: Stream,
    noise: Stream,
    /// Decisions without rewards, as sets and actions.
    waiting: Vec<(usize, usize)>,
}

impl<'a> Game<'a> {
    fn new(problem: &'a Problem, name: &str) -> Self {
        let rng = Stream::new(2026, problem.number, name);
        let noise = Stream::new(2026, problem.number, "rewards");
        Self { problem, rng, noise, waiting: Vec::new() }
    }

    /// Plays a round with the rows of a set; the choice.
    fn play(&mut self, policy: &mut dyn Policy, set: usize, offered: &ActionSet) -> usize {
        let problem = self.problem;
        let chosen = policy.select(offered.view(), &mut self.rng);
        if problem.rewards != Rewards::AtOnce {
            policy.decided(Action::new(chosen, &problem.sets[set][chosen]));
        }
        self.waiting.push((set, chosen));
        for event in problem.events(self.waiting.len(), set, &mut self.noise) {
            happen_to(problem, event, &mut self.waiting, set, policy, &mut self.noise);
        }
        chosen
    }
}

fn objects(problem: &Problem) -> Vec<ActionSet> {
    (0..problem.sets.len()).map(|set| problem.action_set(set)).collect()
}

/// Which object holds the rows of a round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    /// One object per set, for the whole game.
    Kept,
    /// A new one in every round.
    Fresh,
}

fn choices(problem: &Problem, player: &mut Player, object: Object) -> Vec<usize> {
    let (kept, mut game) = (objects(problem), Game::new(problem, player.name));
    let mut round = |set: &usize| {
        let fresh = (object == Object::Fresh).then(|| problem.action_set(*set));
        game.play(&mut *player.policy, *set, fresh.as_ref().unwrap_or(&kept[*set]))
    };
    (0..player.laps).flat_map(|_| &problem.schedule).map(&mut round).collect()
}

/// Problems of every kind; half of them long enough for lists of actions to come and go.
fn problems() -> impl Iterator<Item = Problem> {
    let numbers = [(Kind::Features, 300), (Kind::Arms, 60), (Kind::Contexts, 60)];
    let draw = |kind: Kind, number: u64| {
        let mut problem = Problem::draw(kind, number);
        problem.lengthen(if number.is_multiple_of(2) { 3 } else { 1 });
        problem
    };
    numbers.into_iter().flat_map(move |(kind, count)| (0..count).map(move |n| draw(kind, n)))
}

/// Policies choose the same on kept and on fresh objects.
#[test]
fn fresh_objects() {
    let mut games = 0;
    for problem in problems() {
        let again = players_on(&problem, Isa::detect());
        for (mut one, mut other) in players_on(&problem, Isa::detect()).into_iter().zip(again) {
            games += 1;
            let kept = choices(&problem, &mut one, Object::Kept);
            let fresh = choices(&problem, &mut other, Object::Fresh);
            let differs = kept.iter().zip(&fresh).position(|(kept, fresh)| kept != fresh);
            let (kind, number, name) = (problem.kind, problem.number, one.name);
            assert!(differs.is_none(), "{kind:?} {number}, {name}: round {differs:?} differs");
        }
    }
    assert!(games > 100, "{games} games");
}

#[test]
fn every_instruction_set() {
    let available = Isa::available();
    for problem in problems().filter(|problem| problem.kind == Kind::Features).take(120) {
        let chosen = |isa: Isa| -> Vec<(&str, Vec<usize>)> {
            let players = players_on(&problem, isa).into_iter();
            let play =
                |mut player: Player| (player.name, choices(&problem, &mut player, Object::Kept));
            players.map(play).collect()
        };
        let expected = chosen(available[0]);
        for isa in &available[1..] {
            assert!(chosen(*isa) == expected, "{isa:?} differs on problem {}", problem.number);
        }
    }
}

/// Every kind of policy that can be saved, for a problem.
fn specs(problem: &Problem) -> Vec<PolicyKind> {
    let (ridge, noise_scale) = (problem.ridge, Some(problem.noise));
    let arms = problem.kind == Kind::Arms;
    let radius = if arms {
        RadiusSpec { delta: 0.3, noise_scale, ..RadiusSpec::new(RadiusKind::Mixture) }
    } else {
        let radius = RadiusSpec::new(RadiusKind::Additive);
        RadiusSpec { delta: 0.3, noise_scale, theta_norm_bound: Some(0.0), ..radius }
    };
    let even = problem.number.is_multiple_of(2);
    let exclusion = if even { Exclusion::Differences } else { Exclusion::Intervals };
    let code = |greed, target, randomise, count_pending| PolicyKind::Code {
        ridge: Some(ridge),
        radius,
        exclusion,
        greed,
        target,
        randomise,
        count_pending,
    };
    let (accuracy, by_round) = (problem.noise, problem.schedule.len() as u64 / 2 + 1);
    let exploration = Exploration::Uniform;
    let mut all = vec![
        code(0.0, None, 0.0, true),
        code(0.4, None, 0.0, true),
        code(0.0, Some(Target::Kappa(3.0)), 0.0, true),
        code(0.0, Some(Target::Accuracy(accuracy)), 0.0, true),
        code(0.0, Some(Target::Deadline { accuracy, by_round }), 0.0, true),
        code(0.0, None, 0.4, true),
        code(0.0, None, 0.0, false),
        PolicyKind::EpsilonGreedy { ridge, epsilon: 0.3, exploration, radius: None },
        PolicyKind::ExploreThenCommit { ridge, epsilon: 0.3, exploration },
    ];
    let insured = |kappa, inside: &PolicyKind| PolicyKind::Insured {
        kappa,
        ridge: Some(ridge),
        radius,
        exclusion,
        count_pending: even,
        inside: Box::new(inside.clone()),
    };
    if arms {
        all.extend([PolicyKind::Ucb1 { noise_scale }, PolicyKind::Thompson { noise_scale }]);
    } else {
        all.extend([
            PolicyKind::LinUcb { ridge: Some(ridge), radius },
            PolicyKind::LinTs { ridge, noise_scale },
        ]);
        if problem.same_count() {
            all.push(PolicyKind::Elimination { ridge, delta: 0.9 });
        }
    }
    let inside = all.clone();
    all.extend(inside.iter().map(|inside| insured(3.0, inside)));
    all
}

/// Whether a policy that is saved and loaded again and again chooses as one that is not.
fn goes_on(problem: &Problem, kind: &PolicyKind) -> bool {
    let arms = problem.kind == Kind::Arms;
    let facts = Facts {
        setting: if arms { Setting::Arms } else { Setting::Fixed },
        dim: problem.dim,
        actions: problem.count(),
        horizon: problem.schedule.len() as u64,
        noise_scale: problem.noise,
        theta_norm_bound: 1.0,
        action_norm_bound: problem.largest_norm(),
        reward_range: None,
    };
    let spec = PolicySpec { label: "saved".into(), kind: kind.clone() };
    let make = || spec.build(&facts).unwrap();
    let (mut whole, mut saved) = (make(), make());
    let (mut one, mut other) = (Game::new(problem, "saved"), Game::new(problem, "saved"));
    let (kept, mut held) = (objects(problem), objects(problem));
    let mut cuts = Stream::new(2026, problem.number, "cuts");
    problem.schedule.iter().all(|&set| {
        if cuts.index(6) == 0 {
            let state = saved.state();
            (saved, held) = (make(), objects(problem));
            saved.restore(&state).unwrap();
        }
        one.play(&mut whole, set, &kept[set]) == other.play(&mut saved, set, &held[set])
    })
}

#[test]
fn saved_and_loaded() {
    let saves = |problem: &Problem| problem.kind != Kind::Contexts;
    for problem in problems().filter(saves) {
        for kind in specs(&problem) {
            let number = problem.number;
            assert!(goes_on(&problem, &kind), "{:?} {number}: {kind:?}", problem.kind);
        }
    }
}
