//! The state rebuilt from the log equals the live one.

use super::{Memory, open, plan, play};
use plausibly_log::fold;
use plausibly_log::state::State;

fn rebuilt_is_live(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let disk = Memory::default();
        let mut log = open(&disk);
        let plan = plan(seed, (8, 12), 40);
        play(&mut log, &plan);
        let (state, end) = fold(&disk, |_| Ok(())).unwrap();
        let (state, live) = (state.unwrap(), log.state().unwrap());
        assert_eq!(&state, live, "{plan:?}");
        assert_eq!(state.digest(), live.digest());
        // Equal maps may have their fields in another order, and certificates would show it.
        let policy = |state: &State| serde_json::to_string(state.policy().1).unwrap();
        assert_eq!(policy(&state), policy(live));
        assert_eq!(state.pending().count() as u64, state.statistics().pending());
        assert_eq!(end.unfinished, 0);
        // The reopened log continues like the live one.
        drop(log);
        let mut log = open(&disk);
        assert_eq!(log.state(), Some(&state));
        play(&mut log, &plan);
        assert_eq!(log.state(), fold(&disk, |_| Ok(())).unwrap().0.as_ref());
    }
}

#[test]
fn a_rebuilt_state_is_the_live_one() {
    rebuilt_is_live(0..200);
}

mod full {
    #[test]
    fn a_rebuilt_state_is_the_live_one() {
        super::rebuilt_is_live(1000..11_000);
    }
}
