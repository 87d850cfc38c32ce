//! A round of any policy must not allocate.
#![expect(
    unsafe_code,
    reason = "counting allocations takes a global allocator, and that trait is unsafe"
)]

use crate::policies::{Entrant, arm_entrants, linear_entrants, teach};
use plausibly::{
    ActionSet, Code, Explanation, Fixed, Glm, GlmPrior, Likelihood, Link, Stream, Target,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Counted per thread, because other tests run at the same time.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

pub(crate) fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert!(allocations() > before);
}

/// CODE over a generalised linear model.
fn curved_entrants(dim: usize) -> Vec<Entrant> {
    let code = move || {
        let rewards = Link::Logistic.reward_range();
        let prior = GlmPrior::around(Link::Logistic, rewards, 0.2, 9.0, (dim, 2.0), 0.05).unwrap();
        Code::new(Glm::new(dim, prior).unwrap(), Likelihood::default())
    };
    vec![
        Entrant { name: "code, logistic", make: Box::new(move || Box::new(code())) },
        Entrant {
            name: "code, logistic, tempered",
            make: Box::new(move || Box::new(code().tempered(0.4).unwrap())),
        },
        Entrant {
            name: "code, logistic, to a kappa",
            make: Box::new(move || Box::new(code().to_target(Target::Kappa(3.0)).unwrap())),
        },
    ]
}

#[test]
fn a_round_allocates_nothing() {
    let mut rng = Stream::new(1, 0, "problem");
    let set = ActionSet::from_flat((0..4 * 50).map(|_| rng.normal()).collect(), 4).unwrap();
    let arms = ActionSet::arms(50).unwrap();
    let linear = linear_entrants(4, 50).into_iter().chain(curved_entrants(4));
    let linear = linear.map(|entrant| (entrant, &set));
    for (entrant, set) in linear.chain(arm_entrants(50).into_iter().map(|entrant| (entrant, &arms)))
    {
        let mut policy = (entrant.make)();
        let mut explanation = Explanation::new();
        let radius = Fixed { sqrt_beta: 1.0 };
        let (mut allocating_rounds, mut judged_rounds) = (0, 0);
        for _ in 0..3000 {
            let (before, generation) = (allocations(), policy.model().generation());
            let chosen = policy.select(set.view(), &mut rng);
            policy.decided(set.view().get(chosen));
            teach(&mut *policy, set.view().get(chosen), rng.normal());
            policy.explain(set.view(), &radius, policy.exclusion(), &mut explanation);
            // A model that makes its estimate again from all rewards may need room for that.
            if policy.model().generation() == generation {
                judged_rounds += 1;
                allocating_rounds += u64::from(allocations() > before);
            }
        }
        assert!(judged_rounds > 2000, "{}: {judged_rounds} rounds", entrant.name);
        // The first rounds size the buffers, a refactorisation comes each time the determinant has
        // grown a hundredfold (4·log(3000)/log(100) ≈ 7 times here, a few more with few data), and
        // a phase of elimination begins with a design.
        assert!(
            allocating_rounds < 25,
            "{} allocated in {allocating_rounds} of 3000 rounds",
            entrant.name
        );
    }
}
