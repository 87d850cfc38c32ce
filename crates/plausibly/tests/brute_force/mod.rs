//! Every policy chooses as a brute force does that shares no code with it, but for ties within
//! rounding.

mod curved;
mod mutants;
mod players;
mod problem;
mod same_choices;

use plausibly::{Action, ActionSet, Design, Policy, Stream};
use plausibly_testkit::{BrutePolicy, Inputs, Verdict};
use players::{Player, players};
use problem::{Event, Kind, Problem, Rewards};

/// What the brute force is given: the numbers that the policy draws, and designs.
struct Given {
    stream: Stream,
    /// The rows of the last design, and their weights.
    design: Option<(Vec<Vec<f64>>, Weights)>,
}

type Weights = Vec<(usize, f64)>;

impl Inputs for Given {
    fn uniform(&mut self) -> f64 {
        self.stream.uniform()
    }

    fn normal(&mut self) -> f64 {
        self.stream.normal()
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.stream.below(bound)
    }

    fn design(&mut self, rows: &[Vec<f64>], among: &[usize]) -> Vec<(usize, f64)> {
        let chosen: Vec<Vec<f64>> = among.iter().map(|row| rows[*row].clone()).collect();
        if self.design.as_ref().is_none_or(|(of, _)| *of != chosen) {
            let set = ActionSet::from_rows(rows).unwrap();
            let support = Design::d_optimal(set.view(), among, 1e-3).support().collect();
            self.design = Some((chosen, support));
        }
        self.design.as_ref().unwrap().1.clone()
    }
}

/// How choices compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    rounds: u64,
    /// Rounds whose choice differed within rounding.
    ties: u64,
    /// Games given up because rounding decided about more than one choice.
    unclear: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.ties += other.ties;
        self.unclear += other.unclear;
    }
}

/// Plays a problem; the error is the round of the first choice that breaks the rule.
fn play(problem: &Problem, player: &mut Player) -> Result<Tally, String> {
    let Player { name, policy, brute, laps, counts_pending } = player;
    let sets: Vec<ActionSet> = (0..problem.sets.len()).map(|set| problem.action_set(set)).collect();
    let mut rng = Stream::new(2026, problem.number, name);
    let (mut given, mut noise) =
        (Given { stream: rng.clone(), design: None }, Stream::new(2026, problem.number, "rewards"));
    let (mut waiting, mut tally) = (Vec::new(), Tally::default());
    for &set in (0..*laps).flat_map(|_| &problem.schedule) {
        given.stream = rng.clone();
        let chosen = policy.select(sets[set].view(), &mut rng);
        tally.rounds += 1;
        match brute.judge(&problem.sets[set], chosen, &mut given) {
            Verdict::Same => {
                let (own, other) = (rng.position(), given.stream.position());
                assert!(own == other, "{name} drew up to {own}, and not up to {other}");
            }
            Verdict::Tie => tally.ties += 1,
            Verdict::Unclear => {
                tally.unclear += 1;
                return Ok(tally);
            }
            Verdict::Wrong { expected } => {
                let round = tally.rounds;
                return Err(format!("{name}, round {round}: {chosen}, and not {expected}"));
            }
        }
        if problem.rewards != Rewards::AtOnce {
            policy.decided(Action::new(chosen, &problem.sets[set][chosen]));
            if *counts_pending {
                brute.decided(chosen, &problem.sets[set][chosen]);
            }
        }
        waiting.push((set, chosen));
        for event in problem.events(waiting.len(), set, &mut noise) {
            happen(problem, event, &mut waiting, set, &mut **policy, brute, &mut noise);
        }
    }
    Ok(tally)
}

/// Lets an event happen to a policy and to the brute force.
fn happen(
    problem: &Problem,
    event: Event,
    waiting: &mut Vec<(usize, usize)>,
    offered: usize,
    policy: &mut dyn Policy,
    brute: &mut BrutePolicy,
    noise: &mut Stream,
) {
    let (set, action, reward) = happen_to(problem, event, waiting, offered, policy, noise);
    let row = &problem.sets[set][action];
    match reward {
        Some(reward) => brute.update(action, row, reward),
        None => brute.dropped(action, row),
    }
}

/// Lets an event happen to a policy. Returns the set, the action and the reward, which is `None` if
/// it will never come.
fn happen_to(
    problem: &Problem,
    event: Event,
    waiting: &mut Vec<(usize, usize)>,
    offered: usize,
    policy: &mut dyn Policy,
    noise: &mut Stream,
) -> (usize, usize, Option<f64>) {
    let (set, action) = match event {
        Event::Settles { place } | Event::Drops { place } => waiting.remove(place),
        Event::Elsewhere { action } => (offered, action),
    };
    let taken = Action::new(action, &problem.sets[set][action]);
    let comes = !matches!(event, Event::Drops { .. });
    let reward = comes.then(|| problem.reward(set, action, noise));
    match reward {
        Some(reward) => policy.update(taken, reward),
        None => policy.dropped(taken),
    }
    (set, action, reward)
}

/// Plays problems with every policy that can play them; tallies of those without and with ties by
/// construction.
fn compare(kind: Kind, numbers: std::ops::Range<u64>) -> [Tally; 2] {
    let mut tallies = [Tally::default(); 2];
    for number in numbers {
        let problem = Problem::draw(kind, number);
        for mut player in players(&problem) {
            match play(&problem, &mut player) {
                Ok(tally) => tallies[usize::from(problem.style.ties())].add(tally),
                Err(mistake) => {
                    let Problem { style, offers, rewards, dim, .. } = problem;
                    let count = problem.count();
                    panic!(
                        "problem {number}, {kind:?}: {mistake} ({style:?}, {offers:?}, \
                         {rewards:?}, d = {dim}, K = {count})"
                    )
                }
            }
        }
    }
    tallies
}

/// Plays problems, and asserts that rounding decides seldom where no ties are built in.
fn assert_agreement(kind: Kind, numbers: std::ops::Range<u64>) {
    let [without, with] = compare(kind, numbers);
    assert!(without.rounds > 0 && without.ties * 10_000 <= without.rounds, "{without:?}");
    assert!(with.ties * 50 <= with.rounds, "{with:?}");
    let given_up = without.unclear + with.unclear;
    assert!(given_up * 10_000 <= without.rounds + with.rounds, "{without:?}, {with:?}");
}

#[test]
fn features_first_half() {
    assert_agreement(Kind::Features, 0..700);
}

#[test]
fn features_second_half() {
    assert_agreement(Kind::Features, 700..1400);
}

#[test]
fn arms() {
    assert_agreement(Kind::Arms, 0..300);
}

#[test]
fn arms_in_a_context() {
    assert_agreement(Kind::Contexts, 0..300);
}

mod full {
    use super::*;

    #[test]
    fn ten_thousand_more() {
        assert_agreement(Kind::Features, 10_000..18_000);
        assert_agreement(Kind::Arms, 10_000..11_000);
        assert_agreement(Kind::Contexts, 10_000..11_000);
    }
}
