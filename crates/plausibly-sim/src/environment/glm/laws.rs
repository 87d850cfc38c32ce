//! Laws of clicks and counts: means lie where they should, rewards have them, and what policies are
//! told is true.

use super::*;
use plausibly::spec::Setting;

const CLICKS: GlmProblems = GlmProblems {
    link: Link::Logistic,
    dim: 4,
    actions: 8,
    intercept: true,
    hidden: false,
    placing: Placing::Between { lowest: 0.01, highest: 0.1 },
};
const COUNTS: GlmProblems = GlmProblems {
    link: Link::Poisson,
    placing: Placing::Between { lowest: 0.2, highest: 5.0 },
    ..CLICKS
};
const LOGISTIC: GlmProblems =
    GlmProblems { intercept: false, placing: Placing::Drawn { scale: 1.0 }, ..CLICKS };
const KINDS: [GlmProblems; 3] = [CLICKS, COUNTS, LOGISTIC];

fn stream(role: &str) -> Stream {
    Stream::new(4, 0, role)
}

/// How far the farthest of these numbers is from the linear rule nearest to them.
fn bend(set: &Bandit, numbers: &[f64]) -> f64 {
    let rows: Vec<f64> = set.actions().iter().flat_map(|row| row.features().to_vec()).collect();
    let set = ActionSet::from_flat(rows, set.actions().dim()).unwrap();
    let rule = nearest_rule(&set, numbers);
    let of_row = |row: &[f64]| row.iter().zip(&rule).map(|(x, y)| x * y).sum::<f64>();
    let rows = set.view().iter().map(|row| of_row(row.features())).collect::<Vec<_>>();
    rows.iter().zip(numbers).map(|(rule, number)| (rule - number).abs()).fold(0.0, f64::max)
}

#[test]
fn means_go_from_one_end_to_the_other_by_a_rule_of_the_features() {
    let mut rng = stream("problem");
    for (problems, lowest, highest) in [(CLICKS, 0.01, 0.1), (COUNTS, 0.2, 5.0)] {
        for (dim, actions) in [(2, 2), (4, 30), (9, 200)] {
            let problem = GlmProblems { dim, actions, ..problems }.draw(&mut rng);
            let bandit = problem.bandit();
            let ends = |(low, high): (f64, f64), mean: &f64| (low.min(*mean), high.max(*mean));
            let (least, most) = bandit.means().iter().fold((f64::INFINITY, 0.0), ends);
            assert_eq!([least, most].map(f64::to_bits), [lowest, highest].map(f64::to_bits));
            assert_eq!(bandit.best_mean().to_bits(), most.to_bits());
            let z: Vec<f64> =
                bandit.means().iter().map(|mean| problems.link.of_mean(*mean)).collect();
            // The fit is moved by the share that its ridge of 1e-6 has in the least eigenvalue,
            // which for two actions can be small.
            assert!(actions == 2 || bend(bandit, &z) < 1e-5, "{dim} {actions}");
            // Means that were linear themselves would be noticed.
            assert!(actions == 2 || bend(bandit, bandit.means()) > 1e-4, "{dim} {actions}");
        }
    }
    // A single action has nothing to be stretched by.
    let one = GlmProblems { actions: 1, ..CLICKS }.draw(&mut rng);
    assert_eq!(one.bandit().means()[0].to_bits(), 0.01_f64.to_bits());
}

#[test]
fn a_drawn_parameter_has_its_scale_and_an_intercept_changes_no_mean() {
    let steep = GlmProblems { placing: Placing::Drawn { scale: 3.0 }, ..LOGISTIC };
    for run in 0..50 {
        let stream = || Stream::new(4, run, "problem");
        let logit = |problems: GlmProblems| -> Vec<f64> {
            let problem = problems.draw(&mut stream());
            problem.bandit().means().iter().map(|mean| Link::Logistic.of_mean(*mean)).collect()
        };
        let (plain, steep) = (logit(LOGISTIC), logit(steep));
        for (one, three) in plain.iter().zip(steep) {
            // Logits near 20 lose digits where the mean is near 1.
            assert!((3.0 * one - three).abs() < 1e-6, "{one} {three}");
        }
        let with = GlmProblems { dim: 5, intercept: true, ..LOGISTIC }.draw(&mut stream());
        let without = LOGISTIC.draw(&mut stream());
        assert_eq!(with.bandit().means(), without.bandit().means());
        for (with, without) in with.bandit().actions().iter().zip(without.bandit().actions().iter())
        {
            assert_eq!(with.features()[0].to_bits(), 1.0_f64.to_bits());
            assert_eq!(with.features()[1..], *without.features());
        }
    }
    // The logit of an action is N(0, ‖x‖²), and E‖x‖² = 4/3. Its square has variance
    // 3·E‖x‖⁴ − 16/9 = 3·(4/5 + 12/9) − 16/9 = 4.63, so the mean of 3,000 has a standard error of
    // 0.0393. Six of them are passed with probability 1e-9, and at most 20 times that, because
    // squares are skewed.
    let one = GlmProblems { actions: 1, ..LOGISTIC };
    let square = |run| {
        let problem = one.draw(&mut Stream::new(4, run, "problem"));
        Link::Logistic.of_mean(problem.bandit().means()[0]).powi(2)
    };
    let mean = (0..3_000).map(square).sum::<f64>() / 3_000.0;
    let tolerance = 6.0 * 0.0393;
    assert!((mean - 4.0 / 3.0).abs() < tolerance, "{mean}");
    // Entries uniform on [−1, 1] have variance 1/3, and would be noticed.
    assert!(4.0 / 3.0 - 4.0 / 9.0 > 2.0 * tolerance);
}

#[test]
fn hidden_features_change_neither_means_nor_rewards() {
    let problem = |hidden| GlmProblems { hidden, ..CLICKS }.draw(&mut stream("problem"));
    let (shown, hidden) = (problem(false), problem(true));
    assert_eq!(hidden.bandit().means(), shown.bandit().means());
    assert_eq!(hidden.bandit().theta_star(), shown.bandit().means());
    let (seen, known) = (hidden.facts(10), shown.facts(10));
    assert_eq!((seen.setting, known.setting), (Setting::Arms, Setting::Fixed));
    assert_eq!((seen.noise_scale, seen.reward_range), (known.noise_scale, known.reward_range));
    let mut noise = stream("noise");
    for round in 0..1_000 {
        let (luck, action) = (shown.luck(&mut noise), round % 8);
        let rewards = [&shown, &hidden].map(|one| one.reward(action, luck).to_bits());
        assert_eq!(rewards[0], rewards[1]);
    }
}

const ROUNDS: u32 = 100_000;

/// The largest distance of the average reward of an action from its mean, in standard errors, if
/// the average is compared with the mean of the action that is `shift` further.
fn deviation(problem: &dyn Environment, shift: usize) -> f64 {
    let mut noise = stream("noise");
    let means = problem.bandit().means();
    let mut sums = vec![0.0; means.len()];
    for _ in 0..ROUNDS {
        let luck = problem.luck(&mut noise);
        for (action, sum) in sums.iter_mut().enumerate() {
            *sum += problem.reward(action, luck);
        }
    }
    let counts = problem.facts(1).reward_range.is_none();
    let of = |(action, sum): (usize, &f64)| {
        let mean = means[(action + shift) % means.len()];
        let variance = if counts { mean } else { mean * (1.0 - mean) };
        (sum / f64::from(ROUNDS) - mean).abs() / (variance / f64::from(ROUNDS)).sqrt()
    };
    sums.iter().enumerate().map(of).fold(0.0, f64::max)
}

#[test]
fn rewards_have_the_stated_means() {
    // At least 1,000 yeses and noes are expected, so averages are nearly Gaussian: beyond 5.7
    // standard errors with probability 1.2e-8, and at most three times that for the skew of 1,000.
    // For 24 of them below 1e-6 together.
    let limit = 5.7;
    for problems in KINDS {
        let problem = problems.draw(&mut stream("problem"));
        let rare = |mean: &f64| problems.link == Link::Logistic && (mean - 0.5).abs() > 0.490_001;
        assert!(!problem.bandit().means().iter().any(rare));
        let found = deviation(&problem, 0);
        assert!(found < limit, "{problems:?}: {found}");
        // Rewards of another action would be noticed.
        assert!(deviation(&problem, 1) > limit, "{problems:?}");
    }
}

#[test]
fn with_the_same_luck_a_larger_mean_has_no_smaller_reward() {
    let mut noise = stream("noise");
    for problems in KINDS {
        let problem = problems.draw(&mut stream("problem"));
        let means = problem.bandit().means();
        let mut order: Vec<usize> = (0..means.len()).collect();
        order.sort_by(|a, b| means[*a].total_cmp(&means[*b]));
        let mut apart = 0;
        for _ in 0..2_000 {
            let position = noise.position();
            let luck = problem.luck(&mut noise);
            // One draw of two words, whatever is chosen.
            assert_eq!(noise.position(), position + 2);
            let rewards: Vec<f64> = order.iter().map(|a| problem.reward(*a, luck)).collect();
            assert!(rewards.is_sorted(), "{luck}: {rewards:?}");
            assert!(rewards.iter().all(|reward| *reward >= 0.0 && reward.fract() == 0.0));
            apart += u32::from(rewards[0] < rewards[rewards.len() - 1]);
        }
        assert!(apart > 50, "rewards that are all equal are in any order: {apart}");
    }
}

#[test]
fn policies_are_told_what_is_true() {
    for problems in KINDS {
        let problem = problems.draw(&mut stream("problem"));
        let (facts, bandit) = (problem.facts(10), problem.bandit());
        assert_eq!(facts.setting, plausibly::spec::Setting::Fixed);
        assert_eq!((facts.dim, facts.actions), (problems.dim, problems.actions));
        assert_eq!(facts.reward_range, problems.reward_range());
        let counts = problems.link == Link::Poisson;
        let highest = if counts { f64::INFINITY } else { 1.0 };
        assert_eq!(facts.reward_range, Some((0.0, highest)));
        // A count of the largest mean has its root as standard deviation.
        let noise = if counts { 5.0_f64.sqrt() } else { 0.5 };
        assert!((facts.noise_scale - noise).abs() < 1e-12, "{}", facts.noise_scale);
        assert_eq!(
            facts.theta_norm_bound.to_bits(),
            (if counts { 5.0_f64 } else { 1.0 }).to_bits()
        );
        let norm = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let largest = bandit.actions().iter().map(|row| norm(row.features())).fold(0.0, f64::max);
        assert!((facts.action_norm_bound - largest).abs() < 1e-12);
        // Nothing forces the nearest linear rule to keep the bound, but it does.
        assert!(norm(bandit.theta_star()) <= facts.theta_norm_bound, "{problems:?}");
    }
}

#[test]
fn the_rows_of_a_table_have_means_by_the_same_rule() {
    let features = vec![1.0, 1.0, 0.0, -1.0, 1.0, 0.0, 1.0, 0.2, 1.0, 1.0, 0.0, 0.9];
    let rows = TableRows {
        dim: 4,
        features: features.clone(),
        lines: vec![2, 3, 4],
        theta_norm_bound: 0.5_f64.sqrt(),
        means: None,
    };
    for (problems, norm) in [(CLICKS, 2.0_f64.sqrt()), (COUNTS, 50.0_f64.sqrt())] {
        let problem =
            GlmProblems { actions: 3, ..problems }.draw_rule(&rows, &mut stream("problem"));
        let mut means = problem.bandit().means().to_vec();
        means.sort_by(f64::total_cmp);
        let Placing::Between { lowest, highest } = problems.placing else { unreachable!() };
        assert!(
            (means[0] / lowest - 1.0).abs() < 1e-13 && (means[2] / highest - 1.0).abs() < 1e-13
        );
        let offered: Vec<f64> =
            problem.bandit().actions().iter().flat_map(|row| row.features().to_vec()).collect();
        assert_eq!(offered, features);
        // The bound of a table is for means of at most one half.
        let known = problem.facts(10).theta_norm_bound;
        assert!((known / norm - 1.0).abs() < 1e-12, "{known}");
    }
}
