//! Judges claims about policies on paired runs.
//!
//! Policies of a comparison play the same problems and noise, so a claim is a set of ratios of
//! paired means. A ratio gets an interval, and the interval alone decides.

use crate::quantile::student_t;
use plausibly_report::number::Estimate;
use plausibly_sim::JointMoments;

/// Confidence that all intervals of a claim hold together.
pub const CONFIDENCE: f64 = 0.95;

/// What the measurements say about a claim, the most favourable verdict first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All intervals obey the claim.
    Holds,
    /// The intervals allow both.
    Undecided,
    /// An interval contradicts it.
    DoesNotHold,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Undecided => "undecided",
            Self::DoesNotHold => "does not hold",
        }
    }

    /// The verdict on a claim with several parts: it holds if all hold, and fails if one fails.
    pub fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().max().unwrap_or(Self::Holds)
    }
}

/// The range a ratio must lie in for a part of a claim to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Above this.
    Above(f64),
    /// Between these.
    Within(f64, f64),
}

impl Rule {
    /// Holds if the whole interval obeys the rule, fails if none of it does.
    pub fn judge(self, estimate: &Estimate) -> Verdict {
        let (low, high) = match self {
            Self::Above(bound) => (bound, f64::INFINITY),
            Self::Within(low, high) => (low, high),
        };
        if estimate.low > low && estimate.high <= high {
            Verdict::Holds
        } else if estimate.high < low || estimate.low > high {
            Verdict::DoesNotHold
        } else {
            Verdict::Undecided
        }
    }
}

/// The ratio of two policies' mean figures, and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The policy in the numerator.
    pub over: String,
    /// The policy in the denominator.
    pub under: String,
    /// Mean over mean.
    pub ratio: Estimate,
    /// The rule it is judged by.
    pub rule: Rule,
    /// What the rule says.
    pub verdict: Verdict,
}

/// One figure of several policies over the same runs.
#[derive(Clone, Copy, Debug)]
pub struct Paired<'a> {
    /// Names of the policies.
    pub labels: &'a [String],
    /// The figure, in their order.
    pub moments: &'a JointMoments,
}

impl Paired<'_> {
    /// Ratios of mean figures, each with its rule; their intervals hold together at [`CONFIDENCE`]
    /// (Bonferroni).
    ///
    /// A part is `(over, under, rule)`. Parts that name a policy which did not play are left out.
    pub fn judge(&self, parts: &[(&str, &str, Rule)]) -> Vec<Evidence> {
        self.judge_at(parts, CONFIDENCE)
    }

    /// Like [`Paired::judge`], at another confidence, for statements that rest on more ratios than
    /// these.
    pub fn judge_at(&self, parts: &[(&str, &str, Rule)], confidence: f64) -> Vec<Evidence> {
        let place = |label: &str| self.labels.iter().position(|known| known == label);
        let known: Vec<_> = parts
            .iter()
            .filter_map(|&(over, under, rule)| Some((place(over)?, place(under)?, rule)))
            .collect();
        let error = (1.0 - confidence) / known.len() as f64;
        let evidence = |&(over, under, rule): &(usize, usize, Rule)| {
            let ratio = self.ratio(over, under, 1.0 - error);
            let verdict = rule.judge(&ratio);
            Evidence {
                over: self.labels[over].clone(),
                under: self.labels[under].clone(),
                ratio,
                rule,
                verdict,
            }
        };
        known.iter().map(evidence).collect()
    }

    /// Mean over mean with Fieller's interval: all ρ ≥ 0 for which the paired difference `x − ρ·y`
    /// is compatible with a mean of zero by Student's t. So 1 is outside exactly if the means
    /// differ significantly. It has no upper end if the denominator is itself compatible with zero,
    /// and no lower end for fewer than two runs. The figures must not be negative.
    fn ratio(&self, over: usize, under: usize, confidence: f64) -> Estimate {
        let moments = self.moments;
        let (x, y) = (moments.mean(over), moments.mean(under));
        let value = x / y;
        let from = |low: f64| Estimate { value, low, high: f64::INFINITY };
        let n = moments.count() as f64;
        let of_mean = |i, j| Some(moments.covariance(i, j)? / n);
        let (Some(xx), Some(xy), Some(yy)) =
            (of_mean(over, over), of_mean(over, under), of_mean(under, under))
        else {
            return from(0.0);
        };
        let t = student_t(f64::midpoint(1.0, confidence), n - 1.0);
        let t_sq = t * t;
        // (x − ρy)² ≤ t²·(xx − 2ρ·xy + ρ²·yy), a quadratic in ρ.
        let (a, b, c) = (y * y - t_sq * yy, x * y - t_sq * xy, x * x - t_sq * xx);
        let root = (b * b - a * c).max(0.0).sqrt();
        if a > 0.0 {
            // ρ = x/y satisfies the inequality, so up to rounding there are two roots, and it holds
            // between them.
            return Estimate { value, low: ((b - root) / a).max(0.0), high: (b + root) / a };
        }
        // It holds outside the roots, or everywhere. Between two positive roots the sign of x − ρ·y
        // is certain; since y ≥ 0, the ratio lies on the same side of them as the estimate.
        let (small, large) = ((b + root) / a, (b - root) / a);
        if root > 0.0 && large > 0.0 && value >= large {
            from(large)
        } else if root > 0.0 && small > 0.0 && value <= small {
            Estimate { value, low: 0.0, high: small }
        } else {
            from(0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(runs: &[[f64; 2]], judge: impl FnOnce(Paired<'_>)) {
        let mut moments = JointMoments::new(2);
        for run in runs {
            moments.add(run);
        }
        judge(Paired { labels: &["A".into(), "B".into()], moments: &moments });
    }

    fn verdict(runs: &[[f64; 2]], rule: Rule) -> Verdict {
        let mut found = None;
        paired(runs, |paired| found = Some(paired.judge(&[("A", "B", rule)])[0].verdict));
        found.unwrap()
    }

    #[test]
    fn verdicts_are_known_where_the_truth_is() {
        // A is B and a half, but for a little noise of its own: pairing sees through the spread of
        // B.
        let clear: Vec<[f64; 2]> = (0..30)
            .map(|i| f64::from(i) + 1.0)
            .map(|b| [1.5 * b + (b * 7.0).sin() * 0.1, b])
            .collect();
        assert_eq!(verdict(&clear, Rule::Above(1.0)), Verdict::Holds);
        assert_eq!(verdict(&clear, Rule::Above(2.0)), Verdict::DoesNotHold);
        assert_eq!(verdict(&clear, Rule::Within(0.5, 2.0)), Verdict::Holds);
        assert_eq!(verdict(&clear, Rule::Within(0.5, 1.2)), Verdict::DoesNotHold);
        assert_eq!(verdict(&clear, Rule::Within(2.0, 3.0)), Verdict::DoesNotHold);
        // The other way round.
        let reversed: Vec<[f64; 2]> = clear.iter().map(|[a, b]| [*b, *a]).collect();
        assert_eq!(verdict(&reversed, Rule::Above(1.0)), Verdict::DoesNotHold);
        // Noise alone, and too few runs.
        let noise: Vec<[f64; 2]> = (0..30)
            .map(f64::from)
            .map(|i| [10.0 + (i * 3.0).sin(), 10.0 + (i * 5.0).cos()])
            .collect();
        assert_eq!(verdict(&noise, Rule::Above(1.0)), Verdict::Undecided);
        assert_eq!(verdict(&clear[..1], Rule::Above(1.0)), Verdict::Undecided);
    }

    #[test]
    fn one_is_outside_the_ratio_exactly_if_the_difference_is_significant() {
        for shift in [0.0, 0.1, 0.2, 0.24, 0.25, 0.26, 0.3, 0.5, -0.24, -0.3] {
            let runs: Vec<[f64; 2]> = (0..20)
                .map(f64::from)
                .map(|i| [5.0 + shift + (i * 3.0).sin(), 5.0 + (i * 2.0).cos()])
                .collect();
            let mut difference = plausibly_sim::Moments::default();
            for [a, b] in &runs {
                difference.add(a - b);
            }
            let t = difference.mean() / difference.standard_error().unwrap();
            let significant = t.abs() > student_t(0.975, 19.0);
            paired(&runs, |paired| {
                let ratio = paired.judge(&[("A", "B", Rule::Above(1.0))])[0].ratio;
                assert!(ratio.low < ratio.value && ratio.value < ratio.high);
                assert_eq!(
                    ratio.low > 1.0 || ratio.high < 1.0,
                    significant,
                    "{shift}: {ratio:?}, t {t}"
                );
            });
        }
    }

    #[test]
    fn more_parts_make_wider_intervals() {
        let runs: Vec<[f64; 2]> =
            (0..20).map(f64::from).map(|i| [6.0 + (i * 3.0).sin(), 5.0]).collect();
        paired(&runs, |paired| {
            let part = ("A", "B", Rule::Above(1.0));
            let (one, three) =
                (paired.judge(&[part])[0].ratio, paired.judge(&[part, part, part])[0].ratio);
            assert!(three.low < one.low && one.high < three.high);
            // Bonferroni's 1 − 0.05/3 by the t distribution itself, B being constant.
            let half = student_t(1.0 - 0.05 / 6.0, 19.0)
                * (paired.moments.covariance(0, 0).unwrap() / 20.0).sqrt();
            assert!((three.high - (paired.moments.mean(0) + half) / 5.0).abs() < 1e-9);
        });
    }

    #[test]
    fn a_mean_that_could_be_zero_still_bounds_the_ratio_from_below() {
        // B is 0 but in one run of twenty, so its mean is compatible with zero; A is 100 in all.
        let runs: Vec<[f64; 2]> =
            (0..20).map(|i| [100.0, if i == 0 { 20.0 } else { 0.0 }]).collect();
        paired(&runs, |paired| {
            let ratio = paired.judge(&[("A", "B", Rule::Above(1.0))])[0].ratio;
            assert!(ratio.high.is_infinite());
            // The upper end of B's own interval: its mean is 1, its standard error 1.
            assert!((ratio.low - 100.0 / (1.0 + student_t(0.975, 19.0))).abs() < 1e-9, "{ratio:?}");
        });
        assert_eq!(verdict(&runs, Rule::Above(1.0)), Verdict::Holds);
        assert_eq!(verdict(&runs, Rule::Above(50.0)), Verdict::Undecided);
    }

    #[test]
    fn a_shared_run_that_makes_both_means_does_not_hide_a_difference() {
        // One run in twenty makes both means, which are compatible with zero; the difference is 0.5
        // in every run.
        let runs: Vec<[f64; 2]> = (0..20)
            .map(|i| (f64::from(i), if i == 0 { 100.0 } else { 0.0 }))
            .map(|(i, b)| [b + 0.5 + 0.01 * i.sin(), b])
            .collect();
        assert_eq!(verdict(&runs, Rule::Above(1.0)), Verdict::Holds);
        let reversed: Vec<[f64; 2]> = runs.iter().map(|[a, b]| [*b, *a]).collect();
        assert_eq!(verdict(&reversed, Rule::Above(1.0)), Verdict::DoesNotHold);
    }

    #[test]
    fn too_little_decides_nothing() {
        assert_eq!(
            verdict(&[[1.0, 1.0], [2.0, 0.0], [1.5, 0.1]], Rule::Above(1.0)),
            Verdict::Undecided
        );
        assert_eq!(Verdict::of_all([]), Verdict::Holds);
        let parts = [Verdict::Holds, Verdict::Undecided];
        assert_eq!(Verdict::of_all(parts), Verdict::Undecided);
        assert_eq!(Verdict::of_all([Verdict::DoesNotHold, parts[1]]), Verdict::DoesNotHold);
    }
}
