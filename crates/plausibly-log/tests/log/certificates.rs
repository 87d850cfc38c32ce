//! Genuine certificates check, alone and with their log.

use super::{Memory, Plan, open, plan, play, policies, rates, steady};
use plausibly_log::certificate::{Certificate, Reason, Standing};
use plausibly_log::event::Outcomes;
use plausibly_log::{certify, event::Event, fold};
use std::collections::BTreeSet;

/// The certificates of all decisions, derived from the log alone.
pub(crate) fn from_log(disk: &Memory, most: usize) -> Vec<Certificate> {
    let mut all = Vec::new();
    fold(disk, |step| {
        if let Event::Decided { set, context, .. } = step.event {
            all.push(certify(step.state, &step.occasion(*set, context), most)?);
        }
        Ok(())
    })
    .unwrap();
    all
}

/// The length of the list does not change the statements.
fn same_statements(partial: &Certificate, full: &Certificate) {
    let (a, b) = (&partial.findings, &full.findings);
    assert_eq!(
        (a.chosen.id, a.chosen.reason, a.chosen.rule_out),
        (b.chosen.id, b.chosen.reason, b.chosen.rule_out)
    );
    assert_eq!(
        (a.known_within, a.confidence, &a.target),
        (b.known_within, b.confidence, &b.target)
    );
    assert_eq!(partial.words().plausible(), full.words().plausible());
    for action in &a.actions {
        let same = b.actions.iter().find(|other| other.id == action.id).unwrap();
        assert_eq!(
            (action.lower, action.upper, &action.standing),
            (same.lower, same.upper, &same.standing)
        );
    }
}

/// Counts what the certificates cover: kinds of policy, features, actions on offer, and phases.
#[derive(Default)]
struct Covered {
    kinds: BTreeSet<String>,
    features: BTreeSet<usize>,
    given: BTreeSet<usize>,
    actions: BTreeSet<usize>,
    phases: BTreeSet<u32>,
    /// With the logistic set, and those of them in which an action is out.
    rates: (usize, usize),
    dropped: usize,
    pending: usize,
    partial: usize,
}

impl Covered {
    fn count(&mut self, Certificate { grounds, findings, .. }: &Certificate) {
        self.kinds.insert(grounds.policy["kind"].as_str().unwrap().into());
        self.features.insert(grounds.dim());
        if grounds.as_given {
            self.given.insert(grounds.dim());
        }
        self.actions.insert(grounds.offered());
        if let Some(phase) = &grounds.phase {
            self.phases.insert(phase.number);
            self.dropped += usize::from(phase.survivors.len() < grounds.offered());
        }
        let out = |one: &plausibly_log::certificate::Finding| one.standing != Standing::Plausible;
        if grounds.glm.is_some() {
            self.rates.0 += 1;
            self.rates.1 += usize::from(findings.actions.iter().any(out));
        }
        self.pending += usize::from(grounds.design.is_some());
        self.partial += usize::from(grounds.unlisted.is_some());
    }

    fn summary(&self) -> String {
        let ends = |set: &BTreeSet<usize>| format!("{:?} to {:?}", set.first(), set.last());
        format!(
            "{:?}; features {}, given {}; actions {}; phases {:?}, after drops {}; pending {}; \
             partial {}; rates {:?}",
            self.kinds,
            ends(&self.features),
            ends(&self.given),
            ends(&self.actions),
            self.phases,
            self.dropped,
            self.pending,
            self.partial,
            self.rates
        )
    }
}

fn genuine_ones_check(count: usize, mut seed: u64, largest: (usize, usize)) -> Covered {
    let (mut checked, mut logs) = (0, 0);
    let mut covered = Covered::default();
    while checked < count {
        let disk = Memory::default();
        let mut plan = plan(seed, largest, 40);
        // The largest logs are rare among random ones.
        match logs {
            0 => plan.rows = largest.1,
            1 => {
                let (given, columns) = (true, largest.0 + 1);
                let policy = policies(false)[0].clone();
                plan = Plan {
                    policy,
                    given,
                    columns,
                    context: false,
                    outcomes: Outcomes::Number,
                    steady: false,
                    ..plan
                };
            }
            2..6 => plan = rates(seed, 150),
            6 => plan = steady(seed, 300),
            _ if logs % 16 == 7 => plan = rates(seed, 150),
            _ if logs % 16 == 15 => plan = steady(seed, 600),
            _ => {}
        }
        logs += 1;
        let certificates = play(&mut open(&disk), &plan);
        let whole = from_log(&disk, usize::MAX);
        let from_log = from_log(&disk, plan.most);
        for (partial, full) in from_log.iter().zip(&whole) {
            same_statements(partial, full);
        }
        assert_eq!(certificates.len(), from_log.len());
        for (certificate, again) in certificates.iter().zip(&from_log) {
            covered.count(certificate);
            certificate.check().unwrap_or_else(|flaw| panic!("{flaw}\n{plan:?}"));
            certificate.check_against(again).unwrap_or_else(|flaw| panic!("{flaw}\n{plan:?}"));
            let text = certificate.to_json();
            let read: Certificate = serde_json::from_str(&text).unwrap();
            assert_eq!(&read, certificate, "JSON loses nothing");
            assert!(!certificate.words().to_string().contains("NaN"));
            if certificate.findings.chosen.reason == Reason::LeastKnown {
                let chosen = certificate.findings.chosen.id;
                let rank = certificate
                    .findings
                    .actions
                    .iter()
                    .find(|action| action.id == chosen)
                    .unwrap()
                    .rank;
                assert_eq!(rank, Some(1), "{plan:?}");
            }
        }
        checked += certificates.len();
        seed += 1;
    }
    covered
}

#[test]
fn genuine_certificates_check() {
    let covered = genuine_ones_check(1_400, 0, (12, 60));
    assert!(
        covered.kinds.contains("elimination")
            && covered.given.contains(&1)
            && covered.rates.0 > 300
            && covered.rates.1 > 60,
        "{}",
        covered.summary()
    );
}

mod full {
    #[test]
    fn genuine_certificates_check() {
        let covered = super::genuine_ones_check(10_000, 10_000, (63, 2000));
        let summary = covered.summary();
        eprintln!("{summary}");
        let mut all = plausibly::spec::POLICY_KINDS.to_vec();
        // Logs refuse it.
        all.retain(|kind| *kind != "beta-thompson");
        all.sort_unstable();
        assert!(covered.kinds.iter().eq(&all), "every policy: {summary}");
        // Plain arms have no features; a single feature, or a single action, is possible only with
        // vectors as given.
        assert!([0, 1, 2, 64].iter().all(|d| covered.features.contains(d)), "{summary}");
        assert!([1, 2, 64].iter().all(|d| covered.given.contains(d)), "{summary}");
        assert!(covered.actions.contains(&1) && covered.actions.contains(&2000), "{summary}");
        assert!(covered.phases.contains(&3) && covered.dropped > 100, "{summary}");
        assert!(covered.rates.0 > 1000 && covered.rates.1 > 100, "{summary}");
        assert!(covered.pending > 1000 && covered.partial > 500, "{summary}");
    }
}
