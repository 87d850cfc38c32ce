//! Arms that join, leave and come back, all of them fair coins, with two-point intervals and pairs.

use super::bounded::case;
use plausibly::state::Durable as _;
use plausibly::{
    ActionSet, ArmMeans, ArmRecord, Code, Explain as _, Explanation, Policy as _, Standing, Stream,
    TwoPoint,
};

const FIRST: usize = 2;
const MOST: usize = 12;
const RATE: f64 = 0.5;

/// How many arms were ever on offer after this many changes of the list.
fn known(changes: usize) -> usize {
    (FIRST + changes).min(MOST)
}

/// The arms on offer after this many changes of the list. One joins at each change, and each of the
/// arms known is away one time in four.
fn offered(changes: usize) -> Vec<usize> {
    (0..known(changes)).filter(|arm| changes == 0 || (arm + changes) % 4 != 3).collect()
}

struct Game {
    code: Code<ArmMeans, TwoPoint>,
    radius: TwoPoint,
    record: ArmRecord,
    arms: Vec<usize>,
    set: ActionSet,
}

impl Game {
    fn new(delta: f64) -> Self {
        let radius = TwoPoint { delta, low: 0.0, high: 1.0, pairs: true };
        let (arms, mut record) = (offered(0), ArmRecord::default());
        record.grow(arms.len());
        let code = Code::new(ArmMeans::new(arms.len()), radius);
        let set = ActionSet::arms(arms.len()).unwrap();
        Self { code, radius, record, arms, set }
    }

    /// Goes on over the list after this many changes.
    fn change(&mut self, changes: usize) {
        let arms = offered(changes);
        self.record.grow(known(changes));
        let state = self.code.state_over(&mut self.record.moving(&self.arms, &arms));
        self.code = Code::new(ArmMeans::new(arms.len()), self.radius);
        self.code.restore(&state).unwrap();
        self.set = ActionSet::arms(arms.len()).unwrap();
        self.arms = arms;
    }

    /// Whether a mean is outside its interval, or the first arm is on offer and ruled out.
    fn is_wrong(&self, shown: &mut Explanation) -> bool {
        let Self { code, radius, set, arms, .. } = self;
        code.explain(set.view(), radius, code.exclusion(), shown);
        let outside = |arm: usize| {
            let interval = shown.intervals()[arm];
            interval.lower > RATE || interval.upper < RATE
        };
        (0..arms.len()).any(outside) || arms[0] == 0 && shown.standings()[0] != Standing::Plausible
    }
}

/// Whether anything is ever wrong in this run, where each reward is entered this many times.
fn misses(delta: f64, times: u32, rounds: u64, run: u64) -> bool {
    let (mut game, mut shown) = (Game::new(delta), Explanation::new());
    let (mut noise, mut choice) = (Stream::new(102, run, "noise"), Stream::new(102, run, "choice"));
    let mut changes = 0;
    (0..rounds).any(|round| {
        if round > 0 && round % (rounds / 20) == 0 {
            changes += 1;
            game.change(changes);
        }
        let chosen = game.code.select(game.set.view(), &mut choice);
        let reward = f64::from(u8::from(noise.uniform() < RATE));
        (0..times).for_each(|_| game.code.update(game.set.view().get(chosen), reward));
        game.is_wrong(&mut shown)
    })
}

pub(super) fn joining_arms(full: bool) {
    for delta in [0.05, 0.01] {
        let told = |times| move |rounds, run| misses(delta, times, rounds, run);
        case(
            "two-point with pairs, from 2 to 12 arms, some away",
            delta,
            full,
            told(1),
            &[("rewards told four times", &told(4))],
        );
    }
}

/// δ is shared among all arms that were ever on offer, and among all of their pairs from the first
/// change on. With shares of the first list only, misses stay within the limit for 12 arms, so that
/// counting them would not show the mistake.
#[test]
fn shares_grow_with_the_arms_ever_seen() {
    let mut game = Game::new(0.05);
    let shares = |game: &Game| {
        let evidence = game.code.model().evidence();
        (evidence.shares, evidence.pair_shares)
    };
    assert_eq!(shares(&game), (2, 4.0));
    for changes in 1..20 {
        game.change(changes);
        let known = known(changes);
        // 2f²·8ʲ with 2ʲ·f ≥ known.
        let doublings = known.div_ceil(FIRST).next_power_of_two().ilog2();
        assert_eq!(shares(&game), (known as u64, 8.0 * f64::from(8_u32.pow(doublings))));
    }
    assert_eq!(shares(&game), (12, 4096.0));
}
