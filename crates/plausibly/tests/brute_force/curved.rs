//! Policies over generalised linear models, beside a brute force that makes every set from all
//! rewards by the formulas of the documentation.

use super::{Given, Tally};
use plausibly::{
    Action, ActionSet, Code, ConfidenceRadius, EpsilonGreedy, Evidence, Exclusion, Glm, GlmPrior,
    Likelihood, Link, Policy, Reach, RowSums, Stream, Target,
};
use plausibly_testkit::{BruteCurved, BruteLink, BrutePrior, CurvedRule, Verdict};

/// The radius of the model times a constant; another one than 1 makes a mutant.
#[derive(Clone, Copy, Debug)]
struct Scaled(f64);

impl ConfidenceRadius for Scaled {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        self.0 * Likelihood::default().sqrt_beta(evidence)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        match Likelihood::default().reach(evidence) {
            Reach::Curved(it) => {
                Reach::Curved(plausibly::Curved { radius: self.0 * it.radius, ..it })
            }
            other => other,
        }
    }
}

/// A random problem: rows, what is assumed, and rewards that were there before.
struct Problem {
    number: u64,
    sets: Vec<Vec<Vec<f64>>>,
    prior: GlmPrior,
    theta: Vec<f64>,
    before: Vec<(Vec<f64>, f64)>,
    late: bool,
}

impl Problem {
    fn draw(number: u64) -> Self {
        let rng = &mut Stream::new(2027, number, "problem");
        let (dim, count) = (1 + rng.index(4), 2 + rng.index(14));
        let link = [Link::Logistic, Link::Poisson][rng.index(2)];
        let usual = if link == Link::Logistic { [0.05, 0.3, 0.5][rng.index(3)] } else { 0.8 };
        let factor = [3.0, 30.0][rng.index(2)];
        let shape = (dim, 1.0);
        let mut prior =
            GlmPrior::around(link, link.reward_range(), usual, factor, shape, 0.1).unwrap();
        prior.delta = [0.05, 0.5][rng.index(2)];
        let one_hot = rng.index(5) == 0;
        let row = |rng: &mut Stream| -> Vec<f64> {
            if one_hot {
                let at = rng.index(dim);
                return (0..dim).map(|i| if i == at { 0.8 } else { 0.0 }).collect();
            }
            (0..dim).map(|_| 2.0 * rng.uniform() - 1.0).collect()
        };
        let sets: Vec<Vec<Vec<f64>>> =
            (0..[1, 3][rng.index(2)]).map(|_| (0..count).map(|_| row(rng)).collect()).collect();
        let direction: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
        let length = dot(&direction, &direction).sqrt();
        // Rarely refuted.
        let size = 0.8 * prior.theta_norm_bound.min(2.0) / length;
        let theta = direction.iter().map(|x| size * x).collect();
        let mut problem = Self { number, sets, prior, theta, before: Vec::new(), late: false };
        for _ in 0..[0, 0, 30, 210, 420][rng.index(5)] {
            let row = problem.sets[0][rng.index(count)].clone();
            let reward = problem.reward(&row, rng);
            problem.before.push((row, reward));
        }
        problem.late = rng.index(2) == 0;
        problem
    }

    fn reward(&self, row: &[f64], rng: &mut Stream) -> f64 {
        let mean = self.prior.link.mean(self.prior.offset + dot(row, &self.theta));
        match self.prior.link {
            Link::Logistic => f64::from(u8::from(rng.uniform() < mean)),
            Link::Poisson => rng.poisson(mean) as f64,
        }
    }

    fn model(&self) -> Glm {
        let mut sums = RowSums::new(self.theta.len());
        for (row, reward) in &self.before {
            sums.add(row, &plausibly::Tally::of(&[*reward]).unwrap()).unwrap();
        }
        Glm::from_rows(sums, self.prior).unwrap()
    }

    fn brute(&self, rule: CurvedRule, differences: bool) -> BruteCurved {
        let GlmPrior { link, offset, theta_norm_bound, delta, .. } = self.prior;
        let link = if link == Link::Logistic { BruteLink::YesNo } else { BruteLink::Count };
        let prior = BrutePrior { link, offset, theta_norm_bound, delta };
        BruteCurved::new(prior, rule, differences, self.theta.len(), self.before.clone())
    }

    /// Policies with the rules that judge them.
    fn players(&self, radius: f64) -> Vec<(&'static str, Box<dyn Policy>, BruteCurved)> {
        let rng = &mut Stream::new(2027, self.number, "players");
        let differences = rng.index(2) == 0;
        let exclusion = if differences { Exclusion::Differences } else { Exclusion::Intervals };
        let code = || Code::new(self.model(), Scaled(radius)).excluding(exclusion);
        let (greed, ten) = (rng.uniform(), 10.0_f64.powf(2.0 * rng.uniform() - 1.0));
        let accuracy = 0.2 * rng.uniform() + 0.02;
        let to = |target| Box::new(code().to_target(target).unwrap());
        let tempered = |greed| Box::new(code().tempered(greed).unwrap());
        let brute = |rule| self.brute(rule, differences);
        let epsilon_greedy = Box::new(EpsilonGreedy::constant(self.model(), 0.3).unwrap());
        vec![
            ("code", tempered(0.0), brute(CurvedRule::Code(0.0))),
            ("code, tempered", tempered(greed), brute(CurvedRule::Code(greed))),
            ("upper bound", tempered(1.0), brute(CurvedRule::Code(1.0))),
            ("to a kappa", to(Target::Kappa(ten)), brute(CurvedRule::Kappa(ten))),
            (
                "to an accuracy",
                to(Target::Accuracy(accuracy)),
                brute(CurvedRule::Accuracy(accuracy)),
            ),
            ("epsilon-greedy", epsilon_greedy, brute(CurvedRule::EpsilonGreedy(0.3))),
        ]
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

const ROUNDS: usize = 24;

/// Plays a problem; the error is the first choice that breaks the rule.
fn play(
    problem: &Problem,
    name: &str,
    policy: &mut dyn Policy,
    brute: &mut BruteCurved,
) -> Result<Tally, String> {
    let sets: Vec<ActionSet> =
        problem.sets.iter().map(|rows| ActionSet::from_rows(rows).unwrap()).collect();
    let mut rng = Stream::new(2027, problem.number, name);
    let mut luck = Stream::new(2027, problem.number, "rewards");
    let mut given = Given { stream: rng.clone(), design: None };
    let (mut tally, mut waiting) = (Tally::default(), Vec::<Vec<f64>>::new());
    for round in 0..ROUNDS {
        let set = luck.index(sets.len());
        let rows = &problem.sets[set];
        given.stream = rng.clone();
        let chosen = policy.select(sets[set].view(), &mut rng);
        tally.rounds += 1;
        match brute.judge(rows, chosen, &mut given) {
            Verdict::Same => {}
            Verdict::Tie => tally.ties += 1,
            Verdict::Unclear => {
                tally.unclear += 1;
                return Ok(tally);
            }
            Verdict::Wrong { expected } => {
                return Err(format!("{name}, round {round}: {chosen}, and not {expected}"));
            }
        }
        let row = rows[chosen].clone();
        if problem.late {
            policy.decided(Action::new(0, &row));
            brute.decided(&row);
        }
        waiting.push(row);
        let most = if problem.late { luck.index(4) } else { 1 };
        for _ in 0..most.min(waiting.len()) {
            let row = waiting.remove(luck.index(waiting.len()));
            let action = Action::new(0, &row);
            if problem.late && luck.index(8) == 0 {
                policy.dropped(action);
                brute.dropped(&row);
            } else {
                let reward = problem.reward(&row, &mut luck);
                policy.update(action, reward);
                brute.update(&row, reward);
            }
        }
    }
    Ok(tally)
}

fn assert_agreement(numbers: std::ops::Range<u64>) {
    let mut tally = Tally::default();
    for number in numbers {
        let problem = Problem::draw(number);
        for (name, mut policy, mut brute) in problem.players(1.0) {
            match play(&problem, name, &mut *policy, &mut brute) {
                Ok(played) => tally.add(played),
                Err(mistake) => panic!("problem {number}: {mistake}, {:?}", problem.prior),
            }
        }
    }
    // Sets agree up to a share of 1e-5, and a round compares a few numbers.
    assert!(tally.ties * 1000 <= tally.rounds && tally.unclear * 1000 <= tally.rounds, "{tally:?}");
}

#[test]
fn a_brute_force_chooses_the_same_on_a_curved_scale() {
    assert_agreement(0..120);
}

/// On how many of the first problems a choice breaks a rule.
fn noticed(make: impl Fn(&Problem) -> Vec<(&'static str, Box<dyn Policy>, BruteCurved)>) -> usize {
    let breaks = |number: &u64| {
        let problem = Problem::draw(*number);
        make(&problem).into_iter().any(|(name, mut policy, mut brute)| {
            play(&problem, name, &mut *policy, &mut brute).is_err()
        })
    };
    (0..60).filter(breaks).count()
}

#[test]
fn mistakes_on_a_curved_scale_are_noticed() {
    let off = noticed(|problem| problem.players(1.05));
    assert!(off >= 15, "a radius that is off by a twentieth: {off} of 60");
    let ignoring = noticed(|problem| {
        let code = Code::new(problem.model(), Scaled(1.0)).ignoring_pending();
        vec![("code", Box::new(code), problem.brute(CurvedRule::Code(0.0), true))]
    });
    assert!(ignoring >= 10, "pending decisions that do not count: {ignoring} of 60");
}

mod full {
    #[test]
    fn a_thousand_more_on_a_curved_scale() {
        super::assert_agreement(10_000..11_000);
    }
}
