//! Policies as specs build them: ellipsoid and pairs share δ on one small table, or on arms. All
//! means are zero, so any verdict against the first action is wrong.

use super::bounded::case;
use plausibly::spec::{Facts, PolicyKind, PolicySpec, RadiusKind, RadiusSpec, Setting};
use plausibly::{
    Action, ActionSet, Doubt, Exclusion, Explain as _, Explanation, Policy as _, Standing, Stream,
};

const ACTIONS: usize = 7;
const DIM: usize = 4;

/// A `code` policy with pairs, and how its rewards are entered.
#[derive(Clone, Copy, Debug)]
struct Told {
    kind: RadiusKind,
    setting: Setting,
    own_scales: bool,
    /// How often each reward is entered. More than once is a mistake of users, and makes every set
    /// too small.
    times: u32,
}

impl Told {
    fn new(kind: RadiusKind, setting: Setting) -> Self {
        Self { kind, setting, own_scales: false, times: 1 }
    }

    fn spec(self, delta: f64) -> PolicySpec {
        let radius = RadiusSpec {
            delta,
            // The truth is zero: with this bound the forecast set has nothing to spare.
            theta_norm_bound: Some(0.0),
            pairs: true,
            own_scales: self.own_scales,
            ..RadiusSpec::new(self.kind)
        };
        let kind = PolicyKind::Code {
            ridge: Some(0.1),
            radius,
            exclusion: Exclusion::Differences,
            greed: 0.0,
            target: None,
            randomise: 0.0,
            count_pending: true,
        };
        PolicySpec { label: "told".into(), kind }
    }

    fn facts(self, rounds: u64) -> Facts {
        Facts {
            setting: self.setting,
            dim: if self.setting == Setting::Arms { 0 } else { DIM },
            actions: ACTIONS,
            horizon: rounds,
            noise_scale: 0.5,
            theta_norm_bound: 1.0,
            action_norm_bound: 3.0,
            reward_range: Some((-0.5, 0.5)),
        }
    }

    /// The actions of a run: an intercept and three features, or arms.
    fn set(self, run: u64) -> ActionSet {
        if self.setting == Setting::Arms {
            return ActionSet::arms(ACTIONS).unwrap();
        }
        let rng = &mut Stream::new(101, run, "table");
        let mut row = || [1.0, 0.6 * rng.normal(), 0.6 * rng.normal(), 0.6 * rng.normal()];
        let rows: [[f64; DIM]; ACTIONS] = std::array::from_fn(|_| row());
        ActionSet::from_rows(&rows).unwrap()
    }

    /// A fair coin for forecasts, else normal noise; with scales of their own that of the last
    /// action is five times that of the first.
    fn reward(self, chosen: usize, noise: &mut Stream) -> f64 {
        if self.kind == RadiusKind::Forecast {
            return if noise.index(2) == 0 { -0.5 } else { 0.5 };
        }
        let share = chosen as f64 / (ACTIONS - 1) as f64;
        noise.normal() * if self.own_scales { 5.0_f64.powf(share) } else { 1.0 }
    }

    /// Whether in this run, at any time, the set or an interval excludes the truth, the first
    /// action is ruled out although none is better, or no parameter is left.
    fn misses(self, delta: f64, rounds: u64, run: u64) -> bool {
        let mut policy = self.spec(delta).build(&self.facts(rounds)).unwrap();
        let (set, mut shown) = (self.set(run), Explanation::new());
        let (mut noise, mut choice) =
            (Stream::new(101, run, "noise"), Stream::new(101, run, "choice"));
        (0..rounds).any(|_| {
            let chosen = policy.select(set.view(), &mut choice);
            let action: Action<'_> = set.view().get(chosen);
            policy.decided(action);
            let reward = self.reward(chosen, &mut noise);
            (0..self.times).for_each(|_| policy.update(action, reward));
            let radius = policy.radius().expect("CODE decides by a radius");
            policy.explain(set.view(), radius, policy.exclusion(), &mut shown);
            let mut intervals = shown.intervals().iter();
            let model = policy.model();
            intervals.any(|interval| interval.lower > 0.0 || interval.upper < 0.0)
                || !model.holds(&[0.0; ACTIONS], radius.reach(&model.evidence()))
                || shown.standings()[0] != Standing::Plausible
                || shown.doubt() == Some(Doubt::Refuted)
        })
    }
}

/// Forecasts and pairs, announced decisions.
pub(super) fn forecasts(full: bool) {
    check("forecast with pairs, table of 7", Told::new(RadiusKind::Forecast, Setting::Fixed), full);
}

/// The bell set and pairs, on a table and on arms, also with scales of their own.
pub(super) fn bells(full: bool) {
    for (place, setting) in [("table of 7", Setting::Fixed), ("7 arms", Setting::Arms)] {
        let told = Told::new(RadiusKind::Bell, setting);
        check(&format!("bell with pairs, {place}"), told, full);
        let own = Told { own_scales: true, ..told };
        check(&format!("bell with pairs, own scales, {place}"), own, full);
    }
}

fn check(name: &str, told: Told, full: bool) {
    // Two scales to find cost twice the evidence, so that a smaller mistake stays hidden.
    let times = if told.own_scales { 8 } else { 4 };
    for delta in [0.05, 0.01] {
        let mutant = Told { times, ..told };
        case(
            name,
            delta,
            full,
            |rounds, run| told.misses(delta, rounds, run),
            &[(&format!("rewards told {times} times"), &|rounds, run| {
                mutant.misses(delta, rounds, run)
            })],
        );
    }
}
