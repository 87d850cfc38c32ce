//! The paper's claims about its experiments, as ratios that can be judged.

use crate::judge::{CONFIDENCE, Evidence, Paired, Rule, Verdict};
use plausibly_sim::{JointMoments, Moments, Point, Summary};

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Regret at the last round.
    Regret,
    /// Model error `Q_n` at the last round.
    ModelError,
}

impl Measure {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::ModelError => "Qₙ",
        }
    }

    /// Of one policy at one round.
    pub(super) fn at(self, point: &Point) -> Moments {
        match self {
            Self::Regret => point.regret,
            Self::ModelError => point.model_error,
        }
    }

    /// Of all policies at the last round.
    pub(super) fn last(self, summary: &Summary) -> &JointMoments {
        match self {
            Self::Regret => &summary.final_regret,
            Self::ModelError => &summary.final_model_error,
        }
    }

    /// Judges ratios of this figure: see [`Paired::judge_at`].
    pub(super) fn judge(
        self,
        summary: &Summary,
        parts: &[Part<'_>],
        confidence: f64,
    ) -> Vec<Evidence> {
        let labels: Vec<_> = summary.policies.iter().map(|policy| policy.label.clone()).collect();
        Paired { labels: &labels, moments: self.last(summary) }.judge_at(parts, confidence)
    }
}

/// A claim, its evidence and its verdict.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its letter.
    pub key: &'static str,
    /// What it says.
    pub statement: &'static str,
    /// Whether the paper makes it about this experiment; if not, it is judged for comparison only.
    pub stated: bool,
    /// What is compared.
    pub measure: Measure,
    /// The ratios it rests on.
    pub evidence: Vec<Evidence>,
    /// What they say.
    pub verdict: Verdict,
}

impl Claim {
    /// The ratio that decides: among those with the claim's own verdict, the least favourable one.
    pub fn deciding(&self) -> Option<&Evidence> {
        let favour = |evidence: &&Evidence| match evidence.rule {
            Rule::Above(bound) => evidence.ratio.value / bound,
            Rule::Within(low, high) => {
                (evidence.ratio.value / low).min(high / evidence.ratio.value)
            }
        };
        let decides = |evidence: &&Evidence| evidence.verdict == self.verdict;
        self.evidence.iter().filter(decides).min_by(|a, b| favour(a).total_cmp(&favour(b)))
    }
}

/// “Comparable”: within a factor of two.
const COMPARABLE: Rule = Rule::Within(0.5, 2.0);
/// “Lower”: anything above one, significantly.
const LOWER: Rule = Rule::Above(1.0);
/// “By a large margin”: beyond the factor that still counts as comparable.
const LARGE_MARGIN: Rule = Rule::Above(2.0);

/// The parts that policies play in the claims about an experiment.
struct Roles {
    optimistic: &'static str,
    sampling: &'static str,
    interpretable: &'static [&'static str],
    /// Claim (a).
    comparable: &'static str,
    /// Claim (c).
    lowest: &'static str,
}

const LINEAR: Roles = Roles {
    optimistic: "LinUCB",
    sampling: "LinTS",
    interpretable: &["Elim", "ε-greedy", "EtC"],
    comparable: "CODE’s regret is comparable to LinUCB’s.",
    lowest: "LinTS has the lowest regret.",
};
const ARMS: Roles = Roles {
    optimistic: "UCB1",
    sampling: "Thompson",
    interpretable: &["ε-greedy", "EtC"],
    comparable: "CODE’s regret is comparable to UCB1’s.",
    lowest: "Thompson sampling has the lowest regret.",
};

/// One ratio to judge: numerator, denominator, rule.
type Part<'a> = (&'a str, &'a str, Rule);

/// The claims of the paper about a study, judged; `study` is the `id` of one of [`super::STUDIES`].
pub fn claims(study: &str, summary: &Summary) -> Vec<Claim> {
    let judged = |(key, statement, measure, parts): Asked| {
        let evidence = measure.judge(summary, &parts, CONFIDENCE);
        let verdict = Verdict::of_all(evidence.iter().map(|evidence| evidence.verdict));
        Claim { key, statement, stated: stated(study, key), measure, evidence, verdict }
    };
    asked(study).into_iter().map(judged).filter(|claim| !claim.evidence.is_empty()).collect()
}

/// Which claims the paper makes of which experiment. It makes none of K-armed problems, and other
/// ones of wine and heart.
fn stated(study: &str, key: &str) -> bool {
    match study {
        "linear" | "changing" | "movielens" => matches!(key, "a" | "b" | "c" | "d" | "e"),
        "wine" => matches!(key, "d" | "w"),
        "heart" => matches!(key, "h" | "m"),
        _ => false,
    }
}

type Asked = (&'static str, &'static str, Measure, Vec<Part<'static>>);

fn asked(study: &str) -> Vec<Asked> {
    use Measure::{ModelError, Regret};
    let arms = study == "k-armed";
    let Roles { optimistic, sampling, interpretable, comparable, lowest: sampling_lowest } =
        if arms { ARMS } else { LINEAR };
    let others = |but: &str| -> Vec<&'static str> {
        let all = ["CODE", optimistic, sampling].into_iter().chain(interpretable.iter().copied());
        all.filter(|label| *label != but).collect()
    };
    let over = |over: &[&'static str], under: &'static str, rule: Rule| -> Vec<Part<'static>> {
        over.iter().map(|over| (*over, under, rule)).collect()
    };
    let lowest = |under| over(&others(under), under, LOWER);
    let mut asked: Vec<Asked> = vec![
        ("a", comparable, Regret, vec![("CODE", optimistic, COMPARABLE)]),
        (
            "b",
            "CODE’s regret is below that of every interpretable baseline.",
            Regret,
            over(interpretable, "CODE", LOWER),
        ),
        ("c", sampling_lowest, Regret, lowest(sampling)),
        ("d", "CODE has the lowest model error.", ModelError, lowest("CODE")),
    ];
    if !arms {
        let next = |over: &[&'static str]| -> Vec<Part<'static>> {
            over.iter().flat_map(|over| [(*over, "Elim", LOWER), (*over, "EtC", LOWER)]).collect()
        };
        let statement = "Among the interpretable baselines, Elim and EtC come next in model error.";
        asked.push(("e", statement, ModelError, next(&["ε-greedy"])));
        let statement = "Among all methods, Elim and EtC come next in model error \
                         (the sentence read literally).";
        asked.push(("e′", statement, ModelError, next(&["LinUCB", "LinTS", "ε-greedy"])));
    }
    if study == "wine" {
        let statement = "LinTS is the only baseline with a significantly lower regret than CODE.";
        let mut parts = over(&["CODE"], "LinTS", LOWER);
        parts.extend(over(&["LinUCB", "Elim", "ε-greedy", "EtC"], "CODE", LOWER));
        asked.push(("w", statement, Regret, parts));
    }
    if study == "heart" {
        let statement = "LinTS has the lowest regret, then come all others but Elim.";
        let mut parts = lowest("LinTS");
        parts.extend(["CODE", "LinUCB", "ε-greedy", "EtC"].map(|under| ("Elim", under, LOWER)));
        asked.push(("h", statement, Regret, parts));
        let parts = over(&others("CODE"), "CODE", LARGE_MARGIN);
        asked.push(("m", "CODE has the lowest model error by a large margin.", ModelError, parts));
    }
    asked
}
