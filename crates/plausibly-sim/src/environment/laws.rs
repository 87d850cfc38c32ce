//! Laws of the problems with rewards in a range: means are exact, rewards keep to the range, and
//! what policies are told is true.

use super::scattered::{Days, Rewards, Scattered};
use super::{ArmProblems, Bandit, Environment, Rule, Spacing, TableProblems};
use plausibly::Stream;

const ARMS: ArmProblems = ArmProblems {
    actions: 6,
    lowest: 0.2,
    highest: 0.34,
    spacing: Spacing::Even,
    rewards: Rewards::Bounded,
    noise: 0.03,
    noise_by_action: 1.0,
    days: None,
};

const TABLE: TableProblems = TableProblems {
    actions: 7,
    theta_norm_bound: 1.0,
    centre: -0.2,
    spread: 0.1,
    rule: Rule::Linear,
    misspecified: 0.0,
    rewards: Rewards::Bounded,
    noise: 0.03,
};

fn stream(role: &str) -> Stream {
    Stream::new(4, 0, role)
}

/// Luck is put at the middles of this number of equal parts of `[0, 1]`.
const PARTS: u32 = 1000;

/// Mean and standard deviation of a reward over all luck.
fn moments(reward: impl Fn(f64) -> f64) -> (f64, f64) {
    let rewards = (0..PARTS).map(|part| reward((f64::from(part) + 0.5) / f64::from(PARTS)));
    let (sum, squares) = rewards.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let mean = sum / f64::from(PARTS);
    (mean, (squares / f64::from(PARTS) - mean * mean).sqrt())
}

#[test]
fn the_mean_of_a_reward_is_the_stated_one() {
    // The middles of equal parts give the mean of a linear function of luck up to rounding, and
    // that of a step up to half a part; the variance of a linear one up to a share of 1/PARTS².
    let half = 0.5 / f64::from(PARTS) + 1e-12;
    for (rewards, tolerance) in [(Rewards::Bounded, 1e-12), (Rewards::YesNo, half)] {
        let arms = ArmProblems { rewards, noise_by_action: 3.0, ..ARMS };
        let problem = arms.draw(&mut stream("problem"));
        for (action, stated) in problem.bandit().means().iter().enumerate() {
            let (mean, _) = moments(|luck| problem.reward(action, luck));
            assert!((mean - stated).abs() <= tolerance, "{rewards:?}: {mean} for {stated}");
        }
    }
    let table = TABLE.draw(&mut stream("problem"));
    for (action, stated) in table.bandit().means().iter().enumerate() {
        let (mean, noise) = moments(|luck| table.reward(action, luck));
        assert!((mean - stated).abs() <= 1e-12 && (noise - TABLE.noise).abs() <= 1e-6);
    }
    // Noise that is cut off at the end of the range would be noticed.
    let (cut, _) = moments(|luck| (0.01 + 0.03 * (2.0 * luck - 1.0)).clamp(0.0, 1.0));
    assert!((cut - 0.01).abs() > half);
}

#[test]
fn rewards_keep_to_the_range_also_where_they_just_fit() {
    let least_noise = 0.2 / 3.0_f64.sqrt();
    let arms = ArmProblems { highest: 0.8, noise: least_noise, ..ARMS };
    let days = Days { largest: 0.25, length: 3 };
    let dependent = ArmProblems { highest: 0.8, rewards: Rewards::YesNo, days: Some(days), ..ARMS };
    // The last luck below 1.
    let ends = [0.0, 0.5, 1.0 - 2.0_f64.powi(-53)];
    for problems in [arms, dependent] {
        assert!(problems.excess() <= 1e-12);
        let mut problem = problems.draw(&mut stream("problem"));
        let mut offers = stream("actions");
        for _ in 0..50 {
            problem.advance(&mut offers);
            for action in 0..problems.actions {
                let rewards = ends.map(|luck| problem.reward(action, luck));
                assert!(rewards.iter().all(|reward| (0.0..=1.0).contains(reward)), "{rewards:?}");
            }
        }
    }
    let too_noisy = ArmProblems { noise: 1.1 * least_noise, highest: 0.8, ..ARMS };
    assert!(too_noisy.excess() > 0.01);
}

#[test]
#[should_panic(expected = "leave the range")]
fn rewards_that_do_not_fit_are_refused() {
    let bandit = Bandit::arms(vec![0.05], 1.0);
    Scattered::new(bandit, Rewards::Bounded, (0.0, 1.0), vec![0.1], None);
}

#[test]
fn policies_are_told_the_range_or_else_the_noise() {
    let told = |rewards| {
        let problem = ArmProblems { rewards, noise_by_action: 2.0, ..ARMS };
        let facts = problem.draw(&mut stream("problem")).facts(10);
        (facts.noise_scale, facts.reward_range)
    };
    assert_eq!(told(Rewards::YesNo), (0.5, Some((0.0, 1.0))));
    assert_eq!(told(Rewards::Bounded), (0.5, Some((0.0, 1.0))));
    // The largest of all actions, up to the rounding of an exponential.
    let (noise, range) = told(Rewards::Normal);
    assert!((noise - 0.06).abs() < 1e-15 && range.is_none());
    let facts = TABLE.draw(&mut stream("problem")).facts(10);
    assert_eq!((facts.noise_scale, facts.reward_range), (0.5, Some((-0.5, 0.5))));
    assert_eq!((facts.dim, facts.theta_norm_bound), (10, 1.0));
}

#[test]
fn means_and_noise_of_arms_are_spread_as_stated() {
    let mut rng = stream("problem");
    let mut first = [0; 6];
    for _ in 0..600 {
        let mut means = ARMS.means(&mut rng);
        let rank = means.iter().filter(|mean| **mean < means[0]).count();
        first[rank] += 1;
        means.sort_by(f64::total_cmp);
        let even = |(rank, mean): (usize, &f64)| (mean - 0.2 - 0.028 * rank as f64).abs() < 1e-12;
        assert!(means.iter().enumerate().all(even), "{means:?}");
    }
    // Binomial(600, 1/6): 100 ± 9.13. Six counts beyond 5.4 sd: 6 · 6.7e-8 (Gaussian tails), below
    // 1e-6 together. An order that is never shuffled has a count of 600.
    assert!(first.iter().all(|count: &i32| count.abs_diff(100) < 50), "{first:?}");

    let drawn = ArmProblems { spacing: Spacing::Uniform, ..ARMS }.means(&mut rng);
    assert!(drawn.iter().all(|mean| (0.2..0.34).contains(mean)), "{drawn:?}");
    let distance = |means: &[f64]| (means[1] - means[0]).abs();
    assert!((distance(&drawn) / 0.028).fract() > 1e-6, "drawn means are not on the even grid");

    let rates = ArmProblems { spacing: Spacing::Ratios, lowest: 0.01, highest: 0.32, ..ARMS };
    let mut means = rates.means(&mut rng);
    means.sort_by(f64::total_cmp);
    let doubled = means.windows(2).all(|two| (two[1] / two[0] - 2.0).abs() < 1e-12);
    assert!(doubled && (means[0] - 0.01).abs() < 1e-15, "{means:?}");

    let unequal = ArmProblems { noise_by_action: 32.0, noise: 0.001, ..ARMS };
    let problem = unequal.draw(&mut rng);
    let mut noise: Vec<f64> =
        (0..6).map(|action| moments(|luck| problem.reward(action, luck)).1).collect();
    noise.sort_by(f64::total_cmp);
    for (step, noise) in noise.iter().enumerate() {
        let stated = 0.001 * 2.0_f64.powi(i32::try_from(step).unwrap());
        assert!((noise / stated - 1.0).abs() < 1e-5, "{noise} for {stated}");
    }
}

#[test]
fn a_day_moves_all_means_together_and_regret_does_not_see_it() {
    let days = Days { largest: 0.5, length: 4 };
    let problems = ArmProblems { days: Some(days), ..ARMS };
    let mut problem = problems.draw(&mut stream("problem"));
    let stated = problem.bandit().means().to_vec();
    let mut offers = stream("actions");
    let (mut total, count) = (0.0, 10_000);
    for _ in 0..count {
        let mut of_day = None;
        for _ in 0..days.length {
            problem.advance(&mut offers);
            assert_eq!(problem.bandit().means(), stated);
            for (action, mean) in stated.iter().enumerate() {
                // The reward at middle luck is the mean of the day.
                let factor = problem.reward(action, 0.5) / mean;
                let shared = *of_day.get_or_insert(factor);
                assert!((factor - shared).abs() < 1e-12 && (0.5..=1.5).contains(&factor));
            }
        }
        total += of_day.unwrap();
    }
    // Uniform on 1 ± ½: the mean of 10,000 days is 1 ± 0.5/√(3·10,000) = 1 ± 0.0029; 5 sd are
    // passed with probability 6e-7.
    let (mean, tolerance) = (total / f64::from(count), 5.0 * 0.5 / (3.0 * f64::from(count)).sqrt());
    assert!((mean - 1.0).abs() < tolerance, "{mean}");
    // Days that were uniform in logarithm, from log ⅔ to log 3/2, would be noticed.
    let wrong = libm::sinh(libm::log(1.5)) / libm::log(1.5);
    assert!((wrong - 1.0).abs() > tolerance);
}

#[test]
fn every_theta_of_a_table_keeps_its_bound_and_every_mean_its_range() {
    let mut rng = stream("problem");
    let mut exact = 0;
    for actions in [1, 2, 7, 300] {
        for (centre, spread) in [(-0.2, 0.1), (0.3, 0.02), (-0.4, 0.5), (0.0, 0.5)] {
            for rule in [Rule::Linear, Rule::Logistic] {
                for misspecified in [0.0, 0.03] {
                    let problems =
                        TableProblems { actions, centre, spread, rule, misspecified, ..TABLE };
                    exact += u32::from(check_table(&problems, &mut rng));
                }
            }
        }
    }
    assert!(exact >= 12, "most tables have room for the stated spread: {exact}");
}

/// Checks one draw, and returns whether its means have the stated spread.
fn check_table(problems: &TableProblems, rng: &mut Stream) -> bool {
    let problem = problems.draw(rng);
    let bandit = problem.bandit();
    let norm = bandit.theta_star().iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(norm <= 1.0 + 1e-12, "{norm}");
    let room = 0.5 - 3.0_f64.sqrt() * problems.noise;
    assert!(bandit.means().iter().all(|mean| mean.abs() <= room + 1e-9), "{problems:?}");
    let scores: Vec<f64> = bandit
        .actions()
        .iter()
        .map(|row| row.features().iter().zip(bandit.theta_star()).map(|(x, y)| x * y).sum())
        .collect();
    for (score, mean) in scores.iter().zip(bandit.means()) {
        // The logistic function in its usual form.
        let by_rule = match problems.rule {
            Rule::Linear => *score,
            Rule::Logistic => 1.0 / (1.0 + (-4.0 * score).exp()) - 0.5,
        };
        assert!(((by_rule - mean).abs() - problems.misspecified).abs() < 1e-12);
    }
    let count = scores.len() as f64;
    let centre = scores.iter().sum::<f64>() / count;
    if problems.rule == Rule::Linear {
        assert!((centre - problems.centre).abs() < 1e-12, "{centre}");
    }
    let variance = scores.iter().map(|score| (score - centre).powi(2)).sum::<f64>() / count;
    assert!(variance.sqrt() <= problems.spread + 1e-12);
    (variance.sqrt() - problems.spread).abs() < 1e-12
}

#[test]
fn rows_of_a_table_have_an_intercept_one_category_per_column_and_two_numbers() {
    let problem = TableProblems { actions: 500, ..TABLE }.draw(&mut stream("problem"));
    for row in problem.bandit().actions().iter() {
        let row = row.features();
        let is = |x: f64, value: f64| x.to_bits() == value.to_bits();
        let one_of = |part: &[f64]| {
            part.iter().filter(|x| is(**x, 1.0)).count() == 1
                && part.iter().filter(|x| is(**x, 0.0)).count() == part.len() - 1
        };
        assert!(is(row[0], 1.0) && one_of(&row[1..5]) && one_of(&row[5..8]), "{row:?}");
        assert!(row.len() == 10 && row[8..].iter().all(|x| x.abs() <= 1.0), "{row:?}");
    }
}
