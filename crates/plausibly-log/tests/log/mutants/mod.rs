//! Forged certificates with a valid seal: the check finds forged findings without the log, and
//! forged grounds with it.

mod counts;
mod findings;
mod grounds;

use super::{Memory, bell, few_arms, open, plan, play, rates, steady};
use crate::log::certificates::from_log;
use findings::FINDINGS;
use grounds::GROUNDS;
use plausibly::Stream;
use plausibly_log::certificate::Certificate;

/// A forgery: its name, whether the certificate alone reveals it, and how it is made; `false` if
/// this certificate has no such part.
struct Forgery {
    name: &'static str,
    alone: bool,
    forge: fn(&mut Certificate, &mut Stream) -> bool,
}

fn nudge(value: &mut f64, rng: &mut Stream) {
    // From a unit in the last place to a whole.
    *value += [f64::EPSILON * value.abs().max(f64::MIN_POSITIVE), 1e-9, 0.01, 1.0][rng.index(4)]
        .copysign(rng.uniform() - 0.5);
}

/// Changes a value to another number.
fn nudged(value: Option<&mut f64>, rng: &mut Stream) -> bool {
    let Some(value) = value else { return false };
    let before = *value;
    nudge(value, rng);
    value.to_bits() != before.to_bits()
}

fn any<'a, T>(items: &'a mut [T], rng: &mut Stream) -> Option<&'a mut T> {
    if items.is_empty() {
        return None;
    }
    let at = rng.index(items.len());
    items.get_mut(at)
}

/// A forgery with a valid seal and, for forged grounds, with findings derived again; `None` if no
/// certificate results.
fn forged(genuine: &Certificate, forgery: &Forgery, rng: &mut Stream) -> Option<Certificate> {
    let mut forged = genuine.clone();
    if !(forgery.forge)(&mut forged, rng) {
        return None;
    }
    if !forgery.alone {
        forged = Certificate::new(forged.grounds).ok()?;
    }
    forged.seal = forged.expected_seal();
    (forged != *genuine).then_some(forged)
}

fn forgeries_are_found(count: usize, mut seed: u64, largest: (usize, usize)) {
    let all: Vec<&Forgery> = FINDINGS.iter().chain(&GROUNDS).collect();
    let mut found = vec![0_usize; all.len()];
    let mut total = 0;
    let last = seed + 2000;
    while total < count || found.contains(&0) && seed < last {
        let disk = Memory::default();
        // Every third log has phases that end. Those logs are long, so only some decisions are
        // tried.
        let (plan, every) = if seed.is_multiple_of(3) {
            (steady(seed, 700), 17)
        } else if seed % 7 == 1 {
            (few_arms(seed, 600), 23)
        } else if seed % 7 == 2 {
            (bell(seed, 200), 11)
        } else if seed % 7 == 3 {
            (rates(seed, 120), 5)
        } else {
            (plan(seed, largest, 40), 1)
        };
        play(&mut open(&disk), &plan);
        let mut rng = Stream::new(seed, 0, "forgery");
        for genuine in from_log(&disk, plan.most).into_iter().rev().step_by(every) {
            for (at, forgery) in all.iter().enumerate() {
                let Some(forged) = forged(&genuine, forgery, &mut rng) else { continue };
                let alone = forged.check();
                // Certificates travel as text, so the forgery must be found after a round trip.
                let travelled: Certificate = serde_json::from_str(&forged.to_json()).unwrap();
                assert_eq!(travelled.check(), alone, "{}", forgery.name);
                if forgery.alone {
                    assert!(alone.is_err(), "not found: {} in {plan:?}", forgery.name);
                } else {
                    assert_eq!(
                        alone,
                        Ok(()),
                        "{}: the findings follow from the forged grounds",
                        forgery.name
                    );
                    assert!(
                        forged.check_against(&genuine).is_err(),
                        "not found with the log: {}",
                        forgery.name
                    );
                }
                found[at] += 1;
                total += 1;
            }
        }
        seed += 1;
    }
    for (forgery, found) in all.iter().zip(&found) {
        assert!(*found > 0, "never tried: {}", forgery.name);
    }
}

#[test]
fn forgeries_are_found_alone_or_with_the_log() {
    forgeries_are_found(15_000, 50, (8, 20));
}

#[test]
fn a_broken_seal_is_found() {
    let disk = Memory::default();
    let plan = plan(3, (4, 6), 20);
    let genuine = play(&mut open(&disk), &plan).pop().unwrap();
    let mut broken = genuine.clone();
    broken.seal = broken.seal.replace(['0', '1', '2', '3'], "4");
    assert!(genuine.check().is_ok() && broken.check().unwrap_err().to_string().starts_with("seal"));
    let mut newer = genuine;
    newer.version += 1;
    assert!(newer.check().is_err());
}

mod full {
    #[test]
    fn forgeries_are_found_alone_or_with_the_log() {
        super::forgeries_are_found(10_000, 20_000, (30, 200));
    }
}
