//! One ridge regression per arm.

use super::{Estimator, Evidence, Ridge, RidgeError, Scores, Shape, assert_reward};
use crate::actions::{Action, ActionIndex, Actions, MAX_MAGNITUDE};
use crate::linalg::{Compensated, CompensatedGram, Isa, dot, scaled_identity};

/// One linear model per arm, over contexts with the same features.
///
/// ```text
/// V_a = λI + Σ_{arm a} x·xᵀ     θ̂_a = V_a⁻¹·Σ_{arm a} x·y
/// mean(a) = ⟨x, θ̂_a⟩            width_sq(a) = xᵀV_a⁻¹x
/// ```
///
/// This is [`Ridge`] over `K·d` features where an action is its context in the block of its arm and
/// zero elsewhere: `V` is then made of blocks, and so are its inverse and its determinant. Kept by
/// block, an observation costs O(d²) of sums where the whole matrix costs O(K²·d²), and arms can
/// come and go. In a set, place is the arm and features are the context, the same in every row
/// where a context is shared.
///
/// Everything is a function of the sums, and they take in one observation after the other: learning
/// many at once, one by one, or before and after [`ArmRidges::sums`] were kept elsewhere, ends in
/// the same bits.
///
/// # Removed arms
/// What was learned of them still counts in [`Evidence`]: an arm may be removed because of what it
/// paid, and a radius that forgot it would promise more than it keeps. Bounds on `θ*` are for the
/// stacked parameters of all arms there ever were.
///
/// # Cost
/// Learning is O(n·d²) and one factorisation, O(d³), per call; scores are O(K·d²). No draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, ArmRidges, Fixed, LinUcb, Policy, Stream};
/// let mut model = ArmRidges::new(2, 2, 1.0)?;
/// model.learn(1, &[1.0, 0.0, 1.0, 1.0], &[0.9, 0.8]); // two rows of arm 1
/// let context = [1.0, 0.5];
/// let offered = ActionSet::from_rows(&[context, context])?;
/// let mut policy = LinUcb::new(model, Fixed { sqrt_beta: 0.1 });
/// assert_eq!(policy.select(offered.view(), &mut Stream::new(1, 0, "policy")), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Li, Chu, Langford, Schapire: A Contextual-Bandit Approach to Personalized News Article
/// Recommendation. WWW 2010 (LinUCB with disjoint linear models).
#[derive(Clone, Debug)]
pub struct ArmRidges {
    dim: usize,
    ridge: f64,
    arms: Vec<Block>,
    /// An arm without observations.
    fresh: Block,
    removed: Removed,
}

/// What was learned of arms that are gone, as far as radii depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Removed {
    /// How many they were.
    pub arms: usize,
    /// Their rewards.
    pub observations: u64,
    /// `Σ log(det V_a / λᵈ)` over them.
    pub log_det_ratio: f64,
}

/// The sums of an arm as they are kept, for keeping them elsewhere: what a sum is, and what its
/// rounding has left aside.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmSums {
    /// Rewards learned from.
    pub observations: u64,
    /// `V` in row-major order (only the upper triangle is read), and its compensation.
    pub gram: [Vec<f64>; 2],
    /// `Σ x·y`, and its compensation.
    pub moment: [Vec<f64>; 2],
}

#[derive(Clone, Debug)]
struct Block {
    gram: CompensatedGram,
    moment: Compensated,
    model: Ridge,
}

impl ArmRidges {
    /// Nothing known about `arms` arms in contexts of `dim` features.
    ///
    /// # Errors
    /// If `dim` is zero or `ridge` is not between 1e-100 and 1e100.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(arms: usize, dim: usize, ridge: f64) -> Result<Self, RidgeError> {
        assert!(arms > 0, "a model of arms needs at least one");
        let fresh = Block::new(dim, ridge)?;
        Ok(Self { dim, ridge, arms: vec![fresh.clone(); arms], fresh, removed: Removed::default() })
    }

    /// From sums that were kept, one per arm.
    ///
    /// # Errors
    /// As [`Ridge::from_statistics`].
    ///
    /// # Panics
    /// If there is no arm.
    pub fn from_sums(
        dim: usize,
        ridge: f64,
        arms: &[ArmSums],
        removed: Removed,
    ) -> Result<Self, RidgeError> {
        let mut model = Self { removed, ..Self::new(arms.len(), dim, ridge)? };
        for (block, sums) in model.arms.iter_mut().zip(arms) {
            *block = Block::from_sums(dim, ridge, sums)?;
        }
        Ok(model)
    }

    /// d, the features of a context.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// K, the arms there are.
    pub fn arms(&self) -> usize {
        self.arms.len()
    }

    /// The sums of each arm, to keep.
    pub fn sums(&self) -> Vec<ArmSums> {
        self.arms.iter().map(Block::sums).collect()
    }

    /// What was learned of arms that are gone.
    pub fn removed(&self) -> Removed {
        self.removed
    }

    /// The model of one arm.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn arm(&self, arm: usize) -> &Ridge {
        &self.arms[arm].model
    }

    /// Learns rewards of one arm: `contexts` row-major, one row per reward.
    ///
    /// # Panics
    /// If there is no such arm, the lengths do not fit, or a number is not finite or beyond
    /// [`MAX_MAGNITUDE`].
    pub fn learn(&mut self, arm: usize, contexts: &[f64], rewards: &[f64]) {
        assert!(
            contexts.len() == self.dim * rewards.len(),
            "{} rewards need {} features each",
            rewards.len(),
            self.dim
        );
        let within = contexts.iter().all(|x| x.abs() <= MAX_MAGNITUDE);
        assert!(within, "features must be finite and at most 1e100 in magnitude");
        let block = &mut self.arms[arm];
        for (x, &reward) in contexts.chunks_exact(self.dim).zip(rewards) {
            assert_reward(reward);
            block.gram.add_observation(&mut block.moment, Isa::detect(), x, reward);
        }
        let observations = block.model.evidence().observations + rewards.len() as u64;
        block.model = derived(self.dim, self.ridge, &block.gram, &block.moment, observations)
            .expect("a ridge and squares of finite numbers are positive definite");
    }

    /// Adds an arm without observations as the last one.
    pub fn add_arm(&mut self) {
        self.arms.push(self.fresh.clone());
    }

    /// Removes an arm; those after it move up.
    ///
    /// # Panics
    /// If there is no such arm, or no other.
    pub fn remove_arm(&mut self, arm: usize) {
        assert!(self.arms.len() > 1, "a model of arms needs at least one");
        let evidence = self.arms.remove(arm).model.evidence();
        self.removed.arms += 1;
        self.removed.observations += evidence.observations;
        self.removed.log_det_ratio += evidence.log_det_ratio();
    }

    fn check(&self, actions: Actions<'_>) {
        let (known, offered) = (self.arms.len(), actions.len());
        assert!(known == offered, "a model of {known} arms was asked about {offered}");
        let (dim, found) = (self.dim, actions.dim());
        assert!(dim == found, "a model of {dim} features was asked about contexts with {found}");
    }
}

impl Block {
    fn new(dim: usize, ridge: f64) -> Result<Self, RidgeError> {
        let (gram, moment) = (scaled_identity(dim, ridge), vec![0.0; dim]);
        let model = Ridge::new(dim, ridge)?;
        Ok(Self { gram: CompensatedGram::new(gram, dim), moment: Compensated::new(moment), model })
    }

    fn from_sums(dim: usize, ridge: f64, sums: &ArmSums) -> Result<Self, RidgeError> {
        let ([gram, gram_carry], [moment, moment_carry]) = (sums.gram.clone(), sums.moment.clone());
        let lengths = (gram.len(), moment.len());
        if lengths != (dim * dim, dim) || lengths != (gram_carry.len(), moment_carry.len()) {
            return Err(RidgeError::Shape { dim, gram: lengths.0, moment: lengths.1 });
        }
        let gram = CompensatedGram::from_parts(gram, gram_carry, dim);
        let moment = Compensated::from_parts(moment, moment_carry);
        let model = derived(dim, ridge, &gram, &moment, sums.observations)?;
        Ok(Self { gram, moment, model })
    }

    fn sums(&self) -> ArmSums {
        let both = |(sum, carry): (&[f64], &[f64])| [sum.to_vec(), carry.to_vec()];
        let observations = self.model.evidence().observations;
        ArmSums { observations, gram: both(self.gram.parts()), moment: both(self.moment.parts()) }
    }
}

/// The model that follows from the sums.
fn derived(
    dim: usize,
    ridge: f64,
    gram: &CompensatedGram,
    moment: &Compensated,
    observations: u64,
) -> Result<Ridge, RidgeError> {
    let mut rounded = Vec::new();
    moment.rounded_into(&mut rounded);
    Ridge::from_statistics(dim, ridge, &gram.rounded(), &rounded, observations)
}

impl Estimator for ArmRidges {
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.means_into(actions, out);
        let mut product = vec![0.0; self.dim];
        let width_sq = self.arms.iter().zip(actions.iter()).map(|(block, action)| {
            let x = action.features();
            Isa::detect().symmetric_product(block.model.gram_inverse(), x, &mut product);
            // A form of a positive matrix; rounding alone can make it negative.
            dot(x, &product).max(0.0)
        });
        out.width_sq.clear();
        out.width_sq.extend(width_sq);
    }

    fn means_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.check(actions);
        let arms = self.arms.iter().zip(actions.iter());
        out.mean.clear();
        out.mean.extend(arms.map(|(arm, action)| dot(action.features(), arm.model.theta_hat())));
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.learn(action.index(), action.features(), &[reward]);
    }

    fn difference_sq(&self, scores: &Scores, one: ActionIndex, other: ActionIndex) -> f64 {
        // One ellipsoid holds the parameters of all arms, and its matrix has a block for each.
        if one == other { 0.0 } else { scores.width_sq[one] + scores.width_sq[other] }
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::ArmsInContext { count: self.arms.len(), dim: self.dim })
    }

    fn evidence(&self) -> Evidence {
        let arms = || self.arms.iter().map(|block| block.model.evidence());
        let Removed { arms: removed, observations, log_det_ratio } = self.removed;
        let dim = (self.arms.len() + removed) * self.dim;
        let observations = observations + arms().map(|arm| arm.observations).sum::<u64>();
        let log_det = log_det_ratio + arms().map(|arm| arm.log_det_ratio()).sum::<f64>();
        Evidence {
            floor: arms().map(|arm| arm.floor).fold(0.0, f64::max),
            ..Evidence::new(observations, dim, self.ridge, log_det)
        }
    }

    /// `theta_star` is the parameters of the arms there are, one after the other.
    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let arms = self.arms.iter().zip(theta_star.chunks_exact(self.dim));
        arms.map(|(block, theta)| block.model.deviation(theta).powi(2)).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::confidence::{ConfidenceRadius, Determinant, Fixed, Radius};
    use crate::policy::{Code, Policy};
    use crate::rng::Stream;

    const ARMS: usize = 4;
    const DIM: usize = 3;

    fn normals(rng: &mut Stream, count: usize) -> Vec<f64> {
        (0..count).map(|_| rng.normal()).collect()
    }

    /// The context in the block of each arm.
    fn blocks(context: &[f64]) -> ActionSet {
        let mut rows = vec![0.0; ARMS * ARMS * DIM];
        for arm in 0..ARMS {
            rows[arm * (ARMS + 1) * DIM..][..DIM].copy_from_slice(context);
        }
        ActionSet::from_flat(rows, ARMS * DIM).unwrap()
    }

    fn shared(context: &[f64]) -> ActionSet {
        ActionSet::from_flat(context.repeat(ARMS), DIM).unwrap()
    }

    /// Sums and factorisations of some hundred terms of size one: 1e-9 leaves four digits to both.
    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * (1.0 + one.abs())
    }

    #[test]
    fn is_the_ridge_over_blocks() {
        let radii = [
            Radius::Fixed(Fixed { sqrt_beta: 0.7 }),
            Radius::Determinant(Determinant {
                delta: 0.05,
                noise_scale: 0.3,
                theta_norm_bound: 2.0,
            }),
        ];
        for (ridge, radius) in
            [0.2, 1.0, 5.0].into_iter().flat_map(|ridge| radii.map(|radius| (ridge, radius)))
        {
            let mut rng = Stream::new(5, 0, "problem");
            let theta = normals(&mut rng, ARMS * DIM);
            let mut by_arm = Code::new(ArmRidges::new(ARMS, DIM, ridge).unwrap(), radius);
            let mut whole = Code::new(Ridge::new(ARMS * DIM, ridge).unwrap(), radius);
            for _ in 0..200 {
                let context = normals(&mut rng, DIM);
                let (shared, blocks) = (shared(&context), blocks(&context));
                let chosen = by_arm.select(shared.view(), &mut rng);
                assert_eq!(chosen, whole.select(blocks.view(), &mut rng));
                let reward = dot(&context, &theta[chosen * DIM..][..DIM]) + 0.3 * rng.normal();
                by_arm.update(shared.view().get(chosen), reward);
                whole.update(blocks.view().get(chosen), reward);

                let (mut some, mut all) = (Scores::new(), Scores::new());
                let (one, other) = (crate::Explain::model(&by_arm), crate::Explain::model(&whole));
                one.score_into(shared.view(), &mut some);
                other.score_into(blocks.view(), &mut all);
                assert!(some.mean.iter().zip(&all.mean).all(|(a, b)| close(*a, *b)));
                assert!(some.width_sq.iter().zip(&all.width_sq).all(|(a, b)| close(*a, *b)));
                assert!(close(one.deviation(&theta), other.deviation(&theta)));
                assert!(close(
                    radius.sqrt_beta(&one.evidence()),
                    radius.sqrt_beta(&other.evidence())
                ));
            }
        }
    }

    #[test]
    fn arms_without_data_have_the_width_of_the_ridge() {
        // A prior of λ in place of 1/λ, a mistake seen elsewhere, gives 4 here.
        let (model, mut scores) = (ArmRidges::new(ARMS, DIM, 4.0).unwrap(), Scores::new());
        model.score_into(shared(&[1.0, 0.0, 0.0]).view(), &mut scores);
        assert_eq!(scores.width_sq, [0.25; ARMS]);
    }

    #[test]
    fn however_it_learned_the_bits_are_the_same() {
        let mut rng = Stream::new(6, 0, "problem");
        let (contexts, rewards) = (normals(&mut rng, 50 * DIM), normals(&mut rng, 50));
        let mut at_once = ArmRidges::new(ARMS, DIM, 1.0).unwrap();
        at_once.learn(2, &contexts, &rewards);
        let mut in_parts = ArmRidges::new(ARMS, DIM, 1.0).unwrap();
        in_parts.learn(2, &contexts[..20 * DIM], &rewards[..20]);
        let mut in_parts =
            ArmRidges::from_sums(DIM, 1.0, &in_parts.sums(), in_parts.removed()).unwrap();
        for (x, reward) in contexts[20 * DIM..].chunks_exact(DIM).zip(&rewards[20..]) {
            in_parts.update(Action::new(2, x), *reward);
        }
        assert_eq!(at_once.sums(), in_parts.sums());
        assert_eq!(at_once.arm(2).theta_hat(), in_parts.arm(2).theta_hat());
        assert_eq!(at_once.arm(2).gram_inverse(), in_parts.arm(2).gram_inverse());
        // What rounding leaves aside is part of it.
        let mut forgetful = at_once.sums();
        forgetful[2].gram[1].fill(0.0);
        assert_ne!(forgetful, at_once.sums());
    }

    #[test]
    fn an_arm_that_is_gone_still_counts_in_the_evidence() {
        let mut model = ArmRidges::new(ARMS, DIM, 1.0).unwrap();
        model.learn(1, &[1.0, 2.0, 3.0], &[1.0]);
        model.learn(2, &[3.0, 2.0, 1.0], &[2.0]);
        let (before, kept) = (model.evidence(), model.arm(2).theta_hat().to_vec());
        model.remove_arm(1);
        assert_eq!(
            (before.observations, before.dim),
            (model.evidence().observations, model.evidence().dim)
        );
        assert!(close(before.log_det_ratio(), model.evidence().log_det_ratio()));
        assert_eq!(model.arm(1).theta_hat(), kept, "those after it move up");
        model.add_arm();
        assert_eq!(model.evidence().dim, (ARMS + 1) * DIM);
        assert_eq!(model.arm(ARMS - 1).theta_hat(), [0.0; DIM]);
    }
}
