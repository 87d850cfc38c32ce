//! The sentences about the choice: why it was made, what it costs, and what would rule the action
//! out.

use super::{Words, count, quoted};
use crate::certificate::{Finding, Reason, RuleOut, Standing};

impl Words<'_> {
    /// Why this action was chosen, and what the choice costs.
    pub fn why(&self) -> Vec<String> {
        let mut said = vec![self.reason()];
        if self.0.findings.chosen.reason == Reason::LeastKnown && self.plausible() > 1 {
            said.extend(self.ties());
            let ignored =
                self.0.grounds.policy.get("count_pending").is_some_and(|counts| counts == false);
            if self.0.grounds.design.is_some() && !ignored {
                said.push("Tries with a pending outcome count as known here.".into());
            }
        }
        said.extend(self.price());
        said
    }

    /// The actions that are known as little as the chosen one, or almost as little.
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
        // Less than half a percent apart: the printed digits would look the same.
        let near = |action: &&Finding| match (action.design_width, chosen.design_width) {
            (Some(width), Some(own)) => !equal(action) && (width - own).abs() <= 5e-3 * own,
            _ => false,
        };
        let mut said = Vec::new();
        if let Some(names) = listed(rivals().filter(equal)) {
            said.push(format!(
                "We know exactly as little about {names}; among equals we try the one that has \
                 been in the log longest."
            ));
        }
        if let Some(names) = listed(rivals().filter(near)) {
            said.push(format!("We know only slightly more about {names}."));
        }
        said
    }

    /// What this choice costs compared with the highest estimate.
    fn price(&self) -> Option<String> {
        let actions = &self.0.findings.actions;
        let chosen = actions.iter().find(|action| action.id == self.0.findings.chosen.id)?;
        let leader = *self.racing().first()?;
        let (most, own) = (leader.mean?, chosen.mean?);
        (leader.id != chosen.id && most > own).then(|| {
            format!(
                "{} has the highest estimate. Trying it instead should bring about {} more this \
                 time: that is the price of learning.",
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
                "Among the {plausible} that could still be best we know least about {label}, so \
                 trying it teaches most."
            ),
            Reason::Tempered => format!(
                "Among the {plausible} that could still be best, {label} has the best mix of a \
                 high estimate and much left to learn about it."
            ),
            Reason::MostPromising => {
                format!(
                    "The accuracy you asked for is reached, so we take the most promising one: \
                     {label}."
                )
            }
            Reason::DrawnPlausible => format!(
                "This choice was drawn at random among the {plausible} that could still be best, \
                 so that other policies can be evaluated later; the draw gave {label}."
            ),
            Reason::LargestUpper => {
                format!("{label} has the highest \"at most\": no other could turn out better.")
            }
            Reason::LargestSample => {
                format!(
                    "We drew one value for each action at random within its uncertainty, and \
                     {label} had the highest."
                )
            }
            Reason::LargestIndex => {
                format!(
                    "{label} has the highest index: its estimate plus a bonus for having few tries."
                )
            }
            Reason::DrawnInPhase => self.phase(&label),
            Reason::Explored => format!("This round was for exploring, and the draw gave {label}."),
            Reason::LargestMean => format!("{label} has the highest estimate."),
            Reason::Committed => {
                format!(
                    "{label} had the highest estimate when exploring ended; the policy has taken \
                     it ever since."
                )
            }
        }
    }

    /// Why phased elimination chose it.
    fn phase(&self, label: &str) -> String {
        let Some(phase) = &self.0.grounds.phase else { return String::new() };
        let (number, survivors) = (phase.number, phase.survivors.len());
        let offered = self.0.grounds.offered();
        let left = self.0.findings.plays_left.map_or_else(String::new, |left| {
            format!(" from the {} left in this phase, this one included", count(left, "try"))
        });
        format!(
            "This is phase {number} of an elimination: earlier phases have kept {survivors} of \
             {offered}, and each phase tries a fixed mix of those, in random order, before it \
             drops any. The draw gave {label}{left}."
        )
    }

    /// What would put the chosen action out of the race.
    pub fn change(&self) -> String {
        let findings = &self.0.findings;
        let label = quoted(&findings.chosen.label);
        match self.0.findings.chosen.rule_out {
            None => {
                format!("{label} is already out of the race; this policy takes it all the same.")
            }
            Some(RuleOut { shift: Some(shift), .. }) if shift >= self.0.grounds.range() => {
                format!("We know too little for any outcome to put {label} out of the race yet.")
            }
            Some(RuleOut { shift: None, .. }) => {
                format!(
                    "Nothing can put {label} out of the race before we know more about the others."
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
        // A bound cut off at the end of the range is printed as that end, so the difference of the
        // printed numbers would be wrong.
        let cut = chosen.upper >= self.0.grounds.reward_range.1;
        let by = if cut { self.number(shift) } else { self.difference(chosen.upper, best) };
        let needed = format!(
            "Its \"at most\" ({}) would have to fall by {by}, below {}, the highest \"at least\" \
             of the others.",
            self.number(chosen.upper),
            self.number(best)
        );
        let tries = match (observations, chosen.mean) {
            (Some(tries), Some(mean)) => format!(
                "If about {} of it average {}, it is out: the estimate stays and the range \
                 narrows. Lower outcomes put it out sooner, higher ones later or not at all.",
                count(tries, "more try"),
                self.number(mean)
            ),
            _ => "More tries at its current average would not do that: its estimate is too high."
                .into(),
        };
        format!(
            "{needed} {tries} It is also out once another's \"at least\" rises above its \"at \
             most\"."
        )
    }
}

/// Up to three names, or two and the number of others; `None` if there are none.
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
