//! Genuine certificates check, alone and with their log.

use super::{Memory, open, plan, play};
use plausibly_log::certificate::{Certificate, Reason};
use plausibly_log::state::Moment;
use plausibly_log::{certify, event::Event, fold, journal};

/// The certificates that a log gives for its decisions, from nothing.
pub(crate) fn from_log(disk: &Memory, most: usize) -> Vec<Certificate> {
    let mut all = Vec::new();
    fold(disk, |step| {
        if let Event::Decided { set, context, .. } = step.event {
            let at = journal::utc(step.entry.at_us).unwrap();
            let moment = Moment { position: step.position(), at, set: *set, context };
            all.push(certify(step.state, &moment, most)?);
        }
        Ok(())
    })
    .unwrap();
    all
}

/// How much is listed changes nothing that is said.
fn same_statements(partial: &Certificate, full: &Certificate) {
    let (a, b) = (&partial.findings, &full.findings);
    assert_eq!(
        (a.chosen.id, a.chosen.reason, a.chosen.rule_out),
        (b.chosen.id, b.chosen.reason, b.chosen.rule_out)
    );
    assert_eq!((a.known_within, a.confidence, &a.target), (b.known_within, b.confidence, &b.target));
    assert_eq!(partial.words().plausible(), full.words().plausible());
    for action in &a.actions {
        let same = b.actions.iter().find(|other| other.id == action.id).unwrap();
        assert_eq!((action.lower, action.upper, &action.standing), (same.lower, same.upper, &same.standing));
    }
}

fn genuine_ones_check(count: usize, mut seed: u64, largest: (usize, usize)) {
    let mut checked = 0;
    while checked < count {
        let disk = Memory::default();
        let plan = plan(seed, largest, 40);
        let certificates = play(&mut open(&disk), &plan);
        let whole = from_log(&disk, usize::MAX);
        let from_log = from_log(&disk, plan.most);
        for (partial, full) in from_log.iter().zip(&whole) {
            same_statements(partial, full);
        }
        assert_eq!(certificates.len(), from_log.len());
        for (certificate, again) in certificates.iter().zip(&from_log) {
            certificate.check().unwrap_or_else(|flaw| panic!("{flaw}\n{plan:?}"));
            certificate.check_against(again).unwrap_or_else(|flaw| panic!("{flaw}\n{plan:?}"));
            let text = certificate.to_json();
            let read: Certificate = serde_json::from_str(&text).unwrap();
            assert_eq!(&read, certificate, "JSON loses nothing");
            assert!(!certificate.words().to_string().contains("NaN"));
            if certificate.findings.chosen.reason == Reason::LeastKnown {
                let chosen = certificate.findings.chosen.id;
                let rank =
                    certificate.findings.actions.iter().find(|action| action.id == chosen).unwrap().rank;
                assert_eq!(rank, Some(1), "{plan:?}");
            }
        }
        checked += certificates.len();
        seed += 1;
    }
}

#[test]
fn genuine_certificates_check() {
    genuine_ones_check(400, 0, (12, 60));
}

mod full {
    #[test]
    fn genuine_certificates_check() {
        super::genuine_ones_check(10_000, 10_000, (63, 2000));
    }
}
