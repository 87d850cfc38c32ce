//! Random problems: which sets are offered, what rewards are, and when they come.

use plausibly::{ActionSet, Stream};

/// What actions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows of features under one parameter.
    Features,
    /// Plain arms.
    Arms,
    /// Arms in a context, each with a parameter of its own.
    Contexts,
}

/// How rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Independent normals.
    Normal,
    /// Independent normals, each feature in a unit of its own, over four powers of ten.
    Units,
    /// Few different rows, each many times.
    Copies,
    /// Corners of a cube.
    Cube,
    /// One feature that is not zero.
    OneHot,
}

impl Style {
    /// Whether scores of different actions are equal by construction.
    pub(crate) fn ties(self) -> bool {
        matches!(self, Self::Copies | Self::Cube | Self::OneHot)
    }
}

/// Which sets are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offers {
    /// One set in every round.
    Fixed,
    /// A few sets, in random order.
    Rotating,
    /// Subsets of one table, in random order.
    Subsets,
    /// A new set in every round.
    Changing,
}

/// When rewards come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rewards {
    /// Before the next choice.
    AtOnce,
    /// Before the next choice, after the decision was announced.
    Announced,
    /// In any order, some never, some together with rewards of actions that the policy did not
    /// choose.
    Late,
}

#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    pub(crate) style: Style,
    pub(crate) offers: Offers,
    pub(crate) rewards: Rewards,
    pub(crate) dim: usize,
    pub(crate) ridge: f64,
    /// Standard deviation of rewards.
    pub(crate) noise: f64,
    /// One parameter, or one per arm.
    theta: Vec<Vec<f64>>,
    pub(crate) sets: Vec<Vec<Vec<f64>>>,
    /// The set of each round.
    pub(crate) schedule: Vec<usize>,
}

/// What happens between two choices.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The reward of the waiting decision at this place comes.
    Settles { place: usize },
    /// It will never come.
    Drops { place: usize },
    /// A reward comes of an action that the policy did not choose.
    Elsewhere { action: usize },
}

fn ten_to(rng: &mut Stream, low: f64, high: f64) -> f64 {
    10.0_f64.powf(low + (high - low) * rng.uniform())
}

fn one_of<T: Copy>(rng: &mut Stream, choices: &[T]) -> T {
    choices[rng.index(choices.len())]
}

impl Problem {
    pub(crate) fn draw(kind: Kind, number: u64) -> Self {
        let mut rng = Stream::new(2026, number, "problem");
        let rng = &mut rng;
        let dim = match kind {
            Kind::Arms => 0,
            Kind::Contexts => 1 + rng.index(5),
            Kind::Features if rng.index(20) == 0 => 21 + rng.index(44),
            Kind::Features => 1 + rng.index(20),
        };
        let count = match kind {
            Kind::Features if rng.index(40) == 0 => 1000,
            Kind::Features if rng.index(3) == 0 => 1 + rng.index(300),
            Kind::Features => 1 + rng.index(40),
            Kind::Arms => 1 + rng.index(20),
            Kind::Contexts => 1 + rng.index(6),
        };
        let style = match kind {
            Kind::Features => one_of(
                rng,
                &[
                    Style::Normal,
                    Style::Normal,
                    Style::Units,
                    Style::Copies,
                    Style::Cube,
                    Style::OneHot,
                ],
            ),
            Kind::Arms | Kind::Contexts => Style::Normal,
        };
        let offers = match kind {
            Kind::Features => one_of(
                rng,
                &[
                    Offers::Fixed,
                    Offers::Fixed,
                    Offers::Rotating,
                    Offers::Subsets,
                    Offers::Changing,
                ],
            ),
            Kind::Arms => Offers::Fixed,
            Kind::Contexts => one_of(rng, &[Offers::Fixed, Offers::Rotating, Offers::Changing]),
        };
        let rewards = one_of(rng, &[Rewards::AtOnce, Rewards::Announced, Rewards::Late]);
        let rounds = (400_000 / (count * (dim * dim).max(1))).clamp(12, 60);
        // In units far apart a small ridge would make the condition pass 1e10.
        let ridge = ten_to(rng, if style == Style::Units { -1.0 } else { -3.0 }, 2.0);
        let units: Vec<f64> = (0..dim)
            .map(|_| if style == Style::Units { ten_to(rng, -2.0, 2.0) } else { 1.0 })
            .collect();
        let size = ten_to(rng, -1.0, 1.0);
        let parameters = if kind == Kind::Features { 1 } else { count };
        let per_feature = |rng: &mut Stream, unit: &f64| size * rng.normal() / unit;
        let theta = (0..parameters)
            .map(|_| match kind {
                Kind::Arms => vec![size * rng.normal()],
                _ => units.iter().map(|unit| per_feature(rng, unit)).collect(),
            })
            .collect();
        let noise = size * ten_to(rng, -2.0, 0.5);
        let sets = draw_sets(rng, kind, style, offers, count, &units, rounds);
        let turn = |round: usize| match offers {
            Offers::Fixed => 0,
            Offers::Changing => round,
            // Mostly the set of the round before or one near it.
            Offers::Rotating | Offers::Subsets => (round / 3 + rng.index(2)) % sets.len(),
        };
        let schedule = (0..rounds).map(turn).collect();
        Self { number, kind, style, offers, rewards, dim, ridge, noise, theta, sets, schedule }
    }

    /// Plays the schedule this many times.
    pub(crate) fn lengthen(&mut self, times: usize) {
        self.schedule = self.schedule.repeat(times);
    }

    pub(crate) fn count(&self) -> usize {
        self.sets[0].len()
    }

    /// Whether the number of actions is the same in every round.
    pub(crate) fn same_count(&self) -> bool {
        self.sets.iter().all(|set| set.len() == self.count())
    }

    /// The largest norm that is offered.
    pub(crate) fn largest_norm(&self) -> f64 {
        let norm = |row: &Vec<f64>| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.sets.iter().flatten().map(norm).fold(1e-3, f64::max)
    }

    pub(crate) fn action_set(&self, set: usize) -> ActionSet {
        if self.kind == Kind::Arms {
            ActionSet::arms(self.count()).unwrap()
        } else {
            ActionSet::from_rows(&self.sets[set]).unwrap()
        }
    }

    /// The reward of an action, with this noise.
    pub(crate) fn reward(&self, set: usize, action: usize, rng: &mut Stream) -> f64 {
        let theta = &self.theta[if self.kind == Kind::Features { 0 } else { action }];
        let mean: f64 = if self.kind == Kind::Arms {
            theta[0]
        } else {
            self.sets[set][action].iter().zip(theta).map(|(x, theta)| x * theta).sum()
        };
        mean + self.noise * rng.normal()
    }

    /// What happens after a choice, with this many decisions waiting.
    pub(crate) fn events(&self, waiting: usize, set: usize, rng: &mut Stream) -> Vec<Event> {
        if self.rewards != Rewards::Late {
            return vec![Event::Settles { place: 0 }];
        }
        let mut events = Vec::new();
        let mut left = waiting;
        for _ in 0..rng.index(4) {
            if left > 0 {
                let place = rng.index(left);
                let drops = rng.index(8) == 0;
                events.push(if drops { Event::Drops { place } } else { Event::Settles { place } });
                left -= 1;
            }
        }
        if rng.index(6) == 0 {
            let action = rng.index(self.sets[set].len());
            events.extend(vec![Event::Elsewhere { action }; 1 + rng.index(3)]);
        }
        events
    }
}

fn draw_sets(
    rng: &mut Stream,
    kind: Kind,
    style: Style,
    offers: Offers,
    count: usize,
    units: &[f64],
    rounds: usize,
) -> Vec<Vec<Vec<f64>>> {
    if kind == Kind::Arms {
        return vec![vec![Vec::new(); count]];
    }
    let number = match offers {
        Offers::Fixed => 1,
        Offers::Rotating | Offers::Subsets => 2 + rng.index(3),
        Offers::Changing => rounds,
    };
    let table = draw_rows(rng, style, 2 * count, units);
    let set = |_| match (kind, offers) {
        // One context, and now and then a row per arm.
        (Kind::Contexts, _) if rng.index(4) > 0 => {
            let context = draw_rows(rng, style, 1, units).remove(0);
            vec![context; count]
        }
        (Kind::Features, Offers::Subsets) => {
            let size = 1 + rng.index(2 * count);
            (0..size).map(|_| table[rng.index(2 * count)].clone()).collect()
        }
        _ => draw_rows(rng, style, count, units),
    };
    (0..number).map(set).collect()
}

fn draw_rows(rng: &mut Stream, style: Style, count: usize, units: &[f64]) -> Vec<Vec<f64>> {
    let dim = units.len();
    let normal =
        |rng: &mut Stream| -> Vec<f64> { units.iter().map(|unit| unit * rng.normal()).collect() };
    match style {
        Style::Normal | Style::Units => (0..count).map(|_| normal(rng)).collect(),
        Style::Copies => {
            let originals: Vec<Vec<f64>> = (0..=count / 4).map(|_| normal(rng)).collect();
            (0..count).map(|_| originals[rng.index(originals.len())].clone()).collect()
        }
        Style::Cube => {
            let low = one_of(rng, &[-1.0, 0.0]);
            let corner = |rng: &mut Stream| (0..dim).map(|_| one_of(rng, &[low, 1.0])).collect();
            (0..count).map(|_| corner(rng)).collect()
        }
        Style::OneHot => {
            let height = ten_to(rng, -1.0, 1.0);
            let row =
                |at: usize| (0..dim).map(|i| if i == at % dim { height } else { 0.0 }).collect();
            (0..count).map(row).collect()
        }
    }
}
