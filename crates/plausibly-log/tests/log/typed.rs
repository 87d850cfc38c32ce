//! Policies and times as types.

use super::policies;
use plausibly::spec::Setting;
use plausibly_log::event::FORMAT;
use plausibly_log::journal::LATEST_US;
use plausibly_log::policy::{read_policy, table};
use plausibly_log::{Time, TimeError};
use proptest::prelude::*;
use std::time::{Duration, SystemTime};

#[test]
fn a_typed_policy_is_the_table_it_is_read_from() {
    for (arms, setting) in [(false, Setting::Changing), (true, Setting::Arms)] {
        for given in policies(arms) {
            let (spec, resolved) = read_policy(&given, setting, Some(100), FORMAT).unwrap();
            let (again, same) =
                read_policy(&table(&spec.kind, setting), setting, Some(100), FORMAT).unwrap();
            assert_eq!((again, same), (spec, resolved), "{given:?}");
        }
    }
}

proptest! {
    #[test]
    fn a_time_is_the_text_it_is_read_from(micros in 0..=LATEST_US) {
        let time = Time::from_micros(micros);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        let since = Duration::from_micros(micros.unsigned_abs());
        prop_assert_eq!(Time::from(SystemTime::UNIX_EPOCH + since), time);
    }
}

#[test]
fn what_is_no_time_is_refused_with_how_to_write_one() {
    assert_eq!(
        "2026-11-15T15:10:02Z".parse::<Time>().unwrap().to_string(),
        "2026-11-15T15:10:02.000000Z"
    );
    for text in [
        "",
        "now",
        "2026-02-29T00:00:00Z",
        "2026-11-15",
        "2026-11-15T15:10:02",
        "2026-11-15T15:10:02.5Z",
    ] {
        let refused: TimeError = text.parse::<Time>().unwrap_err();
        assert!(refused.to_string().contains("write it as 2026-11-15T15:10:02Z"), "{refused}");
    }
    assert_eq!(Time::from_micros(-1).to_string(), "-1 µs since 1970");
    assert_eq!(Time::from(SystemTime::UNIX_EPOCH - Duration::from_secs(1)).micros(), -1_000_000);
}
