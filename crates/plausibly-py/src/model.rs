//! The model that a caller asked for, as the radius of a policy.
//!
//! In specs the model follows from the radius. Here a caller names the model, and says by arguments
//! what specs say in the table of the radius.

use crate::errors::misfit;
use crate::outcomes::{Noise, Outcomes};
use plausibly::RadiusError;
use plausibly::spec::{Complaint, FieldError, Fields, Node, Range, Value};
use plausibly::{GlmPrior, Link};

const MODEL: &str = "how mean rewards depend on features";
const USUAL: &str = "the mean reward that is usual, which actions are measured against";
const FACTOR: &str = "by what factor one feature can change the odds (the rate, for counts)";

const LINKS: [Link; 2] = [Link::Logistic, Link::Poisson];

/// What a caller said about the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Model {
    /// Whether a model was named.
    said: bool,
    /// What was named, unless it is linear.
    pub(crate) named: Option<Link>,
    usual_rate: Option<f64>,
    odds_factor: Option<f64>,
    theta_norm_bound: Option<f64>,
    /// The argument that said how rewards scatter.
    scatter: Option<&'static str>,
}

impl Model {
    /// Reads the fields of the model; `theta_norm_bound` and `noise_scale` are read already.
    pub(crate) fn read(
        facts: &Node,
        fields: &mut Fields<'_>,
        theta_norm_bound: Option<f64>,
        noise_scale: Option<f64>,
        outcomes: &Outcomes,
    ) -> Self {
        let names = ["linear", Link::Logistic.name(), Link::Poisson.name()];
        let (said, unset) = (entry(facts, "model").is_some(), "unset");
        let word = fields.choice("model", MODEL, Some("linear"), &names);
        let named = LINKS.into_iter().find(|link| Some(link.name()) == word);
        let usual_rate = fields.number_or("usual_rate", USUAL, unset, Range::from_to(-1e50, 1e50));
        let odds_factor = fields.number_or("odds_factor", FACTOR, unset, Range::between(1.0, 1e50));
        let scatter = match outcomes.noise {
            Some(Noise::Scale(_) | Noise::Bell) => Some("noise"),
            None => noise_scale.map(|_| "noise_scale"),
        };
        Self { said, named, usual_rate, odds_factor, theta_norm_bound, scatter }
    }

    /// The model where neither it nor a radius is named.
    fn by_default(policy: &str) -> Option<Link> {
        (policy == "laplace-ts").then_some(Link::Logistic)
    }

    /// Gives a policy the radius of its generalised linear model, with what the caller said.
    /// Returns the link; `None` for a linear model.
    pub(crate) fn give(
        &self,
        policy: &mut Node,
        outcomes: &Outcomes,
        problems: &mut Vec<FieldError>,
    ) -> Option<Link> {
        let radius_is = kind_in(entry(policy, "radius")).map(String::from);
        let of_radius = LINKS.into_iter().find(|link| Some(link.name()) == radius_is.as_deref());
        let kind = kind_in(Some(policy)).unwrap_or_default();
        let radius_said = entry(policy, "radius").is_some();
        let link = if self.said {
            self.named
        } else if radius_said {
            of_radius
        } else {
            Self::by_default(kind)
        };
        if link.is_none() && kind == "laplace-ts" {
            let reason = "is not for Laplace Thompson sampling; use LinTS";
            problems.push(misfit("model", "linear", reason));
        }
        if radius_said && link != of_radius {
            let what = link.map_or("linear", Link::name);
            let reason = "does not go with this radius, which is of another model; leave out one \
                          of the two";
            problems.push(misfit("model", what, reason));
            return None;
        }
        let Some(link) = link else {
            let unused = [("usual_rate", self.usual_rate), ("odds_factor", self.odds_factor)];
            for (name, _) in unused.into_iter().filter(|(_, said)| said.is_some()) {
                let reason = "is for another model; say model=\"logistic\" (yes or no, shares) or \
                              model=\"poisson\" (counts) as well";
                problems.push(misfit(name, "this", reason));
            }
            return None;
        };
        let before = problems.len();
        self.check(link, outcomes, problems);
        if problems.len() == before {
            self.fill(link, policy, problems);
        }
        Some(link)
    }

    /// What a caller said that does not go together.
    fn check(&self, link: Link, outcomes: &Outcomes, problems: &mut Vec<FieldError>) {
        if let Some(name) = self.scatter {
            let reason = "has no scale of noise: how rewards scatter follows from their mean; \
                          leave it out";
            problems.push(misfit(name, link.name(), reason));
        }
        if self.odds_factor.is_some() && self.theta_norm_bound.is_some() {
            let reason = "says the same as theta_norm_bound; leave out one of the two";
            problems.push(misfit("odds_factor", "a factor", reason));
        }
        if link == Link::Poisson && outcomes.range.is_some() {
            let reason = "is for counts without a largest one; leave out outcomes, or say \
                          model=\"logistic\"";
            problems.push(misfit("outcomes", link.name(), reason));
        }
        let range = link.rewards_in(rewards(link, outcomes));
        if let (Some(range), Some(usual)) = (range, self.usual_rate) {
            // One feature and any bound: what is refused is the usual rate.
            let prior = GlmPrior::around(link, range, usual, 2.0, (1, 1.0), 0.05);
            if let Err(error @ (RadiusError::UsualReward { .. } | RadiusError::Offset { .. })) =
                prior
            {
                let complaint = Complaint::Unavailable { reason: error.to_string() };
                problems.push(FieldError { line: 0, path: "usual_rate".into(), complaint });
            }
        }
    }

    fn fill(&self, link: Link, policy: &mut Node, problems: &mut Vec<FieldError>) {
        let Value::Table(entries) = &mut policy.value else { return };
        if !entries.iter().any(|(name, _)| name == "radius") {
            entries.push(("radius".into(), table(vec![("kind", text(link.name()))])));
        }
        let radius = entries.iter_mut().find(|(name, _)| name == "radius");
        let Some((_, Node { value: Value::Table(constants), .. })) = radius else { return };
        let said = [
            ("usual_rate", "usual", self.usual_rate),
            ("odds_factor", "factor", self.odds_factor),
            ("theta_norm_bound", "theta_norm_bound", self.theta_norm_bound),
        ];
        for (argument, constant, value) in said {
            let Some(value) = value else { continue };
            if constants.iter().any(|(name, _)| name == constant) {
                let reason = "is in the radius as well; leave out one of the two";
                problems.push(misfit(argument, "this", reason));
            } else {
                let node = Node { value: Value::Float(value), line: 0 };
                constants.push((constant.into(), node));
            }
        }
        let radius = Node { value: Value::Table(constants.clone()), line: 0 };
        fill_inside(entries, &radius);
    }
}

/// The range of the rewards that a model is told of; counts have no largest one.
pub(crate) fn rewards(link: Link, outcomes: &Outcomes) -> Option<(f64, f64)> {
    match link {
        Link::Logistic => outcomes.range,
        Link::Poisson => Some((0.0, f64::INFINITY)),
    }
}

/// Inside an insured policy the same model decides, unless another policy is named there.
fn fill_inside(entries: &mut Vec<(String, Node)>, radius: &Node) {
    if !entries.iter().any(|(name, node)| name == "kind" && node.value == text("insured").value) {
        return;
    }
    let laplace = text("laplace-ts");
    if !entries.iter().any(|(name, _)| name == "inside") {
        entries.push(("inside".into(), table(vec![("kind", laplace.clone())])));
    }
    let inside = entries.iter_mut().find(|(name, _)| name == "inside");
    if let Some((_, Node { value: Value::Table(inside), .. })) = inside
        && inside.iter().any(|(name, node)| name == "kind" && node.value == laplace.value)
        && !inside.iter().any(|(name, _)| name == "radius")
    {
        inside.push(("radius".into(), radius.clone()));
    }
}

fn entry<'a>(table: &'a Node, name: &str) -> Option<&'a Node> {
    let Value::Table(entries) = &table.value else { return None };
    entries.iter().find(|(known, _)| known == name).map(|(_, node)| node)
}

fn kind_in(table: Option<&Node>) -> Option<&str> {
    match &entry(table?, "kind")?.value {
        Value::Text(kind) => Some(kind),
        _ => None,
    }
}

fn text(word: &str) -> Node {
    Node { value: Value::Text(word.into()), line: 0 }
}

fn table(entries: Vec<(&str, Node)>) -> Node {
    let entries = entries.into_iter().map(|(name, node)| (name.into(), node)).collect();
    Node { value: Value::Table(entries), line: 0 }
}
