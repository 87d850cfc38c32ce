use plausibly::{
    ActionSet, Code, Determinant, Estimator, Glm, GlmPrior, Isa, LaplaceTs, Likelihood, LinTs,
    LinUcb, Link, Paper, Plausible, Policy, Reach, Ridge, Stream,
};

/// The results of every kernel, through the code that uses it, as bits.
fn fingerprint(isa: Isa, dim: usize, actions: usize) -> Vec<u64> {
    let mut rng = Stream::new(9, 0, "problem");
    let mut features = vec![0.0; dim * actions];
    let mut draw = |features: &mut [f64]| features.iter_mut().for_each(|x| *x = rng.normal());
    draw(&mut features);
    let mut set = ActionSet::from_flat(features, dim).unwrap();
    let model = || Ridge::new(dim, 0.7).unwrap().with_isa(isa);
    let paper = Paper {
        delta: 0.1,
        lambda: 2.0,
        noise_scale: 1.0,
        theta_norm_bound: 0.5,
        action_norm_bound: 3.0,
    };
    let determinant = Determinant { delta: 0.1, noise_scale: 1.0, theta_norm_bound: 1.0 };
    let mut policies: [Box<dyn Policy>; 4] = [
        Box::new(Code::new(model(), determinant)),
        Box::new(Code::new(model(), determinant).tempered(0.3).unwrap()),
        Box::new(LinUcb::new(model(), paper)),
        Box::new(LinTs::new(model(), 0.8).unwrap()),
    ];
    let mut watcher = model();
    let mut plausible = Plausible::new();
    let truth: Vec<f64> = (0..actions).map(|i| (i as f64).sin()).collect();
    let mut noise = Stream::new(9, 0, "noise");
    let mut bits = Vec::new();
    for round in 0..60 {
        if round % 20 == 19 {
            set.refill(&mut draw).unwrap();
        }
        for (which, policy) in policies.iter_mut().enumerate() {
            let chosen = policy.select(set.view(), &mut noise);
            let reward = truth[chosen] + noise.normal();
            policy.update(set.view().get(chosen), reward);
            bits.push(chosen as u64);
            if which == 0 {
                watcher.update(set.view().get(chosen), reward);
            }
        }
        bits.push(
            watcher
                .deviation(
                    &truth[..dim.min(actions)]
                        .iter()
                        .copied()
                        .chain([0.0; 64])
                        .take(dim)
                        .collect::<Vec<_>>(),
                )
                .to_bits(),
        );
        let scores = &crate::scores(&watcher, set.view());
        plausible.assess(scores, Reach::Ellipsoid { sqrt_beta: 1.5 });
        bits.push(plausible.tempered(scores, 0.4) as u64);
        let summary = plausible.summary(scores, &truth);
        bits.extend([summary.error_sq.to_bits(), summary.count as u64]);
        bits.extend(scores.mean().iter().chain(scores.width_sq()).map(|x| x.to_bits()));
    }
    bits
}

/// Choices of policies over a generalised linear model, with its scores and its design as bits.
fn curved_fingerprint(isa: Isa, dim: usize, actions: usize) -> Vec<u64> {
    let mut rng = Stream::new(9, 1, "problem");
    let features = (0..dim * actions).map(|_| rng.normal()).collect();
    let set = ActionSet::from_flat(features, dim).unwrap();
    let rewards = Link::Logistic.reward_range();
    let prior = GlmPrior::around(Link::Logistic, rewards, 0.3, 9.0, (dim, 2.0), 0.05).unwrap();
    let model = || Glm::new(dim, prior).unwrap().with_isa(isa);
    let code = || Code::new(model(), Likelihood::default());
    let mut policies: [Box<dyn Policy>; 4] = [
        Box::new(code()),
        Box::new(code().tempered(0.3).unwrap()),
        Box::new(code().tempered(1.0).unwrap()),
        Box::new(LaplaceTs::new(model())),
    ];
    let (mut watcher, mut noise, mut bits) =
        (model(), Stream::new(9, 0, "noise"), Vec::<u64>::new());
    for _ in 0..40 {
        for (which, policy) in policies.iter_mut().enumerate() {
            let chosen = policy.select(set.view(), &mut noise);
            let (action, reward) = (set.view().get(chosen), noise.uniform().round());
            // Every third decision waits for good.
            policy.decided(action);
            if chosen % 3 < 2 {
                policy.update(action, reward);
            }
            if which == 0 {
                watcher.update(action, reward);
            }
            bits.push(chosen as u64);
        }
        let scores = &crate::scores(&watcher, set.view());
        bits.extend(scores.mean().iter().chain(scores.width_sq()).map(|x| x.to_bits()));
        bits.push(watcher.budget().total().to_bits());
    }
    bits
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let available = Isa::available();
    // Sizes around whole blocks of lanes, and dimensions around whole registers.
    for (dim, actions) in [(2, 1), (2, 7), (3, 8), (5, 100), (8, 17), (13, 64), (33, 41)] {
        let expected = fingerprint(available[0], dim, actions);
        for &isa in &available[1..] {
            assert!(
                fingerprint(isa, dim, actions) == expected,
                "{isa:?} differs at d = {dim}, K = {actions}"
            );
        }
        let expected = curved_fingerprint(available[0], dim, actions);
        for &isa in &available[1..] {
            assert!(
                curved_fingerprint(isa, dim, actions) == expected,
                "{isa:?} differs on a curved scale at d = {dim}, K = {actions}"
            );
        }
    }
    for name in ["avx2", "avx512"] {
        if !available.iter().any(|isa| isa.name() == name) {
            eprintln!(
                "skipped: this machine has no {name}, so its kernels were compiled and not run"
            );
        }
    }
}
