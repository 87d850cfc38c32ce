//! Why the one chosen was chosen, and what would put it out.

use super::{Words, count, quoted};
use crate::certificate::{Finding, Reason, RuleOut, Standing};

impl Words<'_> {
    /// Why this one, and what it costs.
    pub fn why(&self) -> Vec<String> {
        let mut said = vec![self.reason()];
        if self.0.findings.chosen.reason == Reason::LeastKnown && self.plausible() > 1 {
            said.extend(self.ties());
            let ignored =
                self.0.grounds.policy.get("count_pending").is_some_and(|counts| counts == false);
            if self.0.grounds.design.is_some() && !ignored {
                said.push("Tries whose outcome is still to come count as known here.".into());
            }
        }
        said.extend(self.price());
        said
    }

    /// What is known as little as the one chosen, exactly and by a hair.
    fn ties(&self) -> Vec<String> {
        let actions = &self.0.findings.actions;
        let Some(chosen) = actions.iter().find(|action| action.id == self.0.findings.chosen.id)
        else {
            return Vec::new();
        };
        let rivals = || {
            let racing = actions.iter().filter(|action| action.standing == Standing::Plausible);
            racing.filter(|action| action.id != chosen.id)
        };
        let equal = |action: &&Finding| {
            action.design_width.map(f64::to_bits) == chosen.design_width.map(f64::to_bits)
        };
        // What the printed digits do not tell apart.
        let near = |action: &&Finding| match (action.design_width, chosen.design_width) {
            (Some(width), Some(own)) => !equal(action) && (width - own).abs() <= 5e-3 * own,
            _ => false,
        };
        let mut said = Vec::new();
        if let Some(names) = listed(rivals().filter(equal)) {
            said.push(format!("Exactly as little is known about {names}; of equals, the one that has been in the log longest is tried."));
        }
        if let Some(names) = listed(rivals().filter(near)) {
            said.push(format!("Only by a hair more is known about {names}."));
        }
        said
    }

    /// What learning costs today, by the estimates.
    fn price(&self) -> Option<String> {
        let actions = &self.0.findings.actions;
        let chosen = actions.iter().find(|action| action.id == self.0.findings.chosen.id)?;
        let leader = *self.racing().first()?;
        let (most, own) = (leader.mean?, chosen.mean?);
        (leader.id != chosen.id && most > own).then(|| {
            format!(
                "{} has the highest estimate. Trying it instead would be expected to bring {} more this time: that is the price of learning.",
                quoted(&leader.label),
                self.difference(most, own)
            )
        })
    }

    fn reason(&self) -> String {
        let findings = &self.0.findings;
        let label = quoted(&findings.chosen.label);
        let plausible = self.plausible();
        match findings.chosen.reason {
            Reason::LeastKnown if plausible == 1 => {
                format!("{label} is the only one left that could be best.")
            }
            Reason::LeastKnown => format!(
                "Of the {plausible} that could still be best, {label} is the one least is known about: a try of it narrows the widest range."
            ),
            Reason::Tempered => format!(
                "Of the {plausible} that could still be best, {label} has the best mix of a high estimate and little being known about it."
            ),
            Reason::MostPromising => {
                format!(
                    "Enough is known for the accuracy asked for, so the most promising one is taken: {label}."
                )
            }
            Reason::DrawnPlausible => format!(
                "This round was drawn at random among the {plausible} that could still be best, so that others can be evaluated later; {label} was drawn."
            ),
            Reason::LargestUpper => {
                format!("{label} has the highest upper end: nothing else could turn out better.")
            }
            Reason::LargestSample => {
                format!(
                    "{label} came out best when what is known was drawn once at random within its uncertainty."
                )
            }
            Reason::LargestIndex => {
                format!(
                    "{label} has the highest index: estimate plus a bonus for having been tried little."
                )
            }
            Reason::DrawnInPhase => self.phase(&label),
            Reason::Explored => format!("This round was for exploring, and {label} was drawn."),
            Reason::LargestMean => format!("{label} has the highest estimate."),
            Reason::Committed => {
                format!(
                    "{label} had the highest estimate when exploring ended; from then on that is what is taken."
                )
            }
        }
    }

    /// Why phased elimination took it.
    fn phase(&self, label: &str) -> String {
        let Some(phase) = &self.0.grounds.phase else { return String::new() };
        let (number, survivors) = (phase.number, phase.survivors.len());
        let offered = self.0.grounds.offered();
        let left = self.0.findings.plays_left.map_or_else(String::new, |left| {
            format!(" of the {} that it has left, this one included,", count(left, "try"))
        });
        format!(
            "Phase {number} of an elimination is on: {survivors} of {offered} have not been dropped in earlier phases, and each phase tries a fixed mix of those, in random order, before any is dropped. {label} was drawn{left} as the next one."
        )
    }

    /// What would put the one chosen out of the race.
    pub fn change(&self) -> String {
        let findings = &self.0.findings;
        let label = quoted(&findings.chosen.label);
        match self.0.findings.chosen.rule_out {
            None => {
                format!(
                    "{label} is out of the race already; it was taken all the same, as the policy says."
                )
            }
            Some(RuleOut { shift: Some(shift), .. }) if shift >= self.0.grounds.range() => {
                format!("Too little is known for any outcome to put {label} out of the race yet.")
            }
            Some(RuleOut { shift: None, .. }) => {
                format!(
                    "Nothing can put {label} out of the race before more is known of the others."
                )
            }
            Some(RuleOut { shift: Some(shift), observations }) => {
                self.narrowing(shift, observations)
            }
        }
    }

    fn narrowing(&self, shift: f64, observations: Option<u64>) -> String {
        let findings = &self.0.findings;
        let chosen = findings.actions.iter().find(|action| action.id == findings.chosen.id);
        let best = self.best_lower(|action| action.id != findings.chosen.id);
        let (Some(chosen), Some(best)) = (chosen, best) else { return String::new() };
        // At the end of the scale the number printed is not the bound itself.
        let cut = chosen.upper >= self.0.grounds.reward_range.1;
        let by = if cut { self.number(shift) } else { self.difference(chosen.upper, best) };
        let needed = format!(
            "Its \"at most\" ({}) would have to fall by {by}, below {}, the best \"at least\" of the others.",
            self.number(chosen.upper),
            self.number(best)
        );
        let tries = match (observations, chosen.mean) {
            (Some(tries), Some(mean)) => format!(
                "If about {} of it average {}, it is out: its estimate stays and its range narrows. With lower outcomes it is out sooner, with higher ones later or not at all.",
                count(tries, "more try"),
                self.number(mean)
            ),
            _ => "More tries alone would not do that: its estimate is too high.".into(),
        };
        format!(
            "{needed} {tries} It is also out once another's \"at least\" rises above its \"at most\"."
        )
    }
}

/// Some names, at most three of them; `None` if there are none.
fn listed<'f>(findings: impl Iterator<Item = &'f Finding>) -> Option<String> {
    let names: Vec<String> = findings.map(|finding| quoted(&finding.label)).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [before @ .., last] if names.len() <= 3 => {
            Some(format!("{} and {last}", before.join(", ")))
        }
        [first, second, rest @ ..] => Some(format!("{first}, {second} and {} more", rest.len())),
    }
}
