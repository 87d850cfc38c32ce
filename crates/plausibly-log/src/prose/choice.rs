//! The sentences about the choice: why it was made, what it costs, and what would rule the action
//! out.

use super::{Words, count, quoted, two_digits};
use crate::certificate::{Finding, Reason, RuleOut, Standing};

impl Words<'_> {
    /// Why this action was chosen, and what the choice costs.
    pub fn why(&self) -> Vec<String> {
        let mut said = vec![self.reason()];
        said.extend(self.insurance());
        if self.0.findings.chosen.reason == Reason::LeastKnown && self.plausible() > 1 {
            said.extend(self.ties());
            let ignored =
                self.0.grounds.policy.get("count_pending").is_some_and(|counts| counts == false);
            if self.0.grounds.design.is_some() && !ignored {
                said.push("This comparison also counts tries with a pending outcome.".into());
            }
        }
        said.extend(self.price());
        said
    }

    /// The actions that are known as little as the chosen one, or almost as little.
    fn ties(&self) -> Vec<String> {
        let actions = &self.0.findings.actions;
        let Some(chosen) = self.chosen() else { return Vec::new() };
        let rivals = || {
            let racing = actions.iter().filter(|action| action.standing == Standing::Plausible);
            racing.filter(|action| action.id != chosen.id)
        };
        let bounded = self.is_two_point();
        // Where intervals depend on outcomes, their lengths count first.
        let length = |action: &Finding| if bounded { action.upper - action.lower } else { 0.0 };
        let equal = |action: &&Finding| {
            action.design_width.map(f64::to_bits) == chosen.design_width.map(f64::to_bits)
                && length(action).to_bits() == length(chosen).to_bits()
        };
        // Less than half a percent apart: the printed digits would look the same.
        let is_near = |one: f64, other: f64| (one - other).abs() <= 5e-3 * other;
        let near = |action: &&Finding| match (action.design_width, chosen.design_width) {
            _ if equal(action) => false,
            _ if bounded => is_near(length(action), length(chosen)),
            (Some(width), Some(own)) => is_near(width, own),
            _ => false,
        };
        let mut said = Vec::new();
        if let Some(names) = listed(rivals().filter(equal)) {
            said.push(format!(
                "We know exactly as little about {names}; a tie goes to the action that entered \
                 the log first."
            ));
        }
        if let Some(names) = listed(rivals().filter(near)) {
            said.push(format!("We know only slightly more about {names}."));
        }
        said
    }

    /// What this choice costs compared with the highest estimate.
    fn price(&self) -> Option<String> {
        let chosen = self.chosen()?;
        let leader = *self.racing().first()?;
        let (most, own) = (leader.mean?, chosen.mean?);
        (leader.id != chosen.id && most > own).then(|| {
            format!(
                "{} has the highest estimate, {} more than {}. Passing it over is expected to \
                 cost that much this time: the price of learning.",
                quoted(&leader.label),
                self.difference(most, own),
                quoted(&chosen.label)
            )
        })
    }

    fn reason(&self) -> String {
        let findings = &self.0.findings;
        let label = quoted(&findings.chosen.label);
        let plausible = self.plausible();
        match findings.chosen.reason {
            Reason::LeastKnown | Reason::Tempered | Reason::DrawnPlausible if plausible == 1 => {
                format!("{label} is the only one that could still be best.")
            }
            Reason::LeastKnown => format!(
                "Among the {plausible} that could still be best we know least about {label}, so \
                 trying it teaches most."
            ),
            Reason::Tempered if self.chosen().is_some_and(|chosen| chosen.mean.is_none()) => {
                format!("Nothing is known about {label} yet, and such actions come first.")
            }
            Reason::Tempered => format!(
                "Among the {plausible} that could still be best, {label} has the best mix of a \
                 high estimate and much left to learn about it."
            ),
            Reason::MostPromising => {
                format!("{}, so we take the most promising one: {label}.", self.target_reached())
            }
            Reason::DrawnPlausible => format!(
                "This choice was drawn at random among the {plausible} that could still be best, \
                 so that other policies can be evaluated later; the draw gave {label}."
            ),
            Reason::LargestUpper => {
                format!(
                    "{label} has the highest \"at most\": if every action turned out as well as \
                     its range allows, it would be the best."
                )
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
            Reason::Explored => {
                format!("This decision was for exploring, and {label} was drawn at random.")
            }
            Reason::LargestMean => format!("{label} has the highest estimate."),
            Reason::Inside => format!(
                "All actions that could still be best are known well enough, so the rule inside \
                 the insurance decides ({}): it takes {label}.",
                self.rule_inside()
            ),
            Reason::Committed => {
                format!(
                    "{label} had the highest estimate when exploring ended; the policy has taken \
                     it ever since."
                )
            }
        }
    }

    /// The kind of the policy inside.
    fn rule_inside(&self) -> &str {
        let inside = self.0.grounds.policy.get("inside").and_then(|inside| inside.get("kind"));
        inside.and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    /// The width by which an insured policy explored or did not, and what the rule inside wanted.
    fn insurance(&self) -> Vec<String> {
        let Some(insurance) = self.0.findings.insurance else { return Vec::new() };
        let explores = format!(
            "The insurance explores while the uncertainty of one of them is above {}, a limit that \
             falls with the number of outcomes",
            two_digits(insurance.limit)
        );
        let mut said = vec![match insurance.widest {
            None => format!("{explores}; one of them was never tried."),
            Some(widest) => format!("{explores}; the largest is {}.", two_digits(widest)),
        }];
        if let Some(wanted) = insurance.wanted {
            let label = self.0.findings.actions.iter().find(|action| action.id == wanted);
            said.push(format!(
                "The rule wanted {}, which is out of the race; this is its next choice.",
                label.map_or_else(|| "another action".into(), |action| quoted(&action.label))
            ));
        }
        said
    }

    /// Says that the target is reached, for a policy that does not explore now. The policy counts
    /// tries with pending outcomes, so it may stop before the outcomes so far reach the target. It
    /// may also miss the target again later, hence "at present".
    fn target_reached(&self) -> String {
        let target = self.target_name();
        if self.0.findings.target.as_ref().is_some_and(|target| target.met) {
            format!("At present {target} is reached")
        } else {
            format!("Counting tries with pending outcomes, {target} is reached at present")
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
            "This policy eliminates actions in phases. A phase plans how often to try which of \
             the remaining actions, makes these tries in random order, and then drops the actions \
             that did clearly worse. This is phase {number}, with {survivors} of {offered} actions \
             remaining; {label} was drawn at random{left}."
        )
    }

    /// What would put the chosen action out of the race.
    pub fn change(&self) -> String {
        let findings = &self.0.findings;
        let label = quoted(&findings.chosen.label);
        match self.0.findings.chosen.rule_out {
            _ if self.0.grounds.offered() == 1 => "Nothing: it is the only action on offer.".into(),
            None => {
                format!("{label} is already out of the race, but this policy still chooses it.")
            }
            Some(rule_out) if !self.compares_intervals() => self.catching_up(rule_out),
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

    /// What would put the chosen action out of the race where differences or payments decide.
    fn catching_up(&self, RuleOut { shift, observations }: RuleOut) -> String {
        let Some(chosen) = self.chosen() else { return String::new() };
        let fall = match shift {
            Some(shift) if shift < self.0.grounds.range() => {
                format!(
                    "It would be out if its estimate were lower by more than {} and nothing else \
                     changed. ",
                    self.gap(shift)
                )
            }
            Some(_) => "We know too little for any fall of its estimate to be enough yet. ".into(),
            None => String::new(),
        };
        let label = quoted(&chosen.label);
        let tries = match observations {
            None if chosen.mean.is_none() => {
                format!("How many tries would put {label} out cannot be said before its first.")
            }
            None => format!(
                "More tries of {label} with outcomes like those so far would not be enough: it \
                 does too well, or too little is known about the others."
            ),
            Some(1) => format!("One more try with an outcome like those so far puts {label} out."),
            Some(tries) => format!(
                "About {tries} more tries with outcomes like those so far would put {label} out; \
                 with lower outcomes fewer are enough."
            ),
        };
        format!("{fall}{tries}")
    }

    fn narrowing(&self, shift: f64, observations: Option<u64>) -> String {
        let (findings, (low, high)) = (&self.0.findings, self.0.grounds.reward_range);
        let chosen = self.chosen();
        let best = self.best_lower(|action| action.id != findings.chosen.id);
        let (Some(chosen), Some(best)) = (chosen, best) else { return String::new() };
        if best <= low {
            return format!(
                "No \"at least\" of the others is above {low}, the lowest possible average. They \
                 can put {} out of the race only once we know more about them.",
                quoted(&chosen.label)
            );
        }
        // The bound before it was cut off at the end of the range, for which the subtraction holds.
        let upper = if chosen.upper >= high { best + shift } else { chosen.upper };
        let at_most = if chosen.upper >= high {
            format!("Its \"at most\", {} before it was cut off at {high},", self.number(upper))
        } else {
            format!("Its \"at most\" ({})", self.number(upper))
        };
        let needed = format!(
            "{at_most} would have to fall by more than {}, to below {}, the highest \"at least\" \
             of the others.",
            self.difference(upper, best),
            self.number(best)
        );
        format!(
            "{needed} {} It would also be out if the \"at least\" of another action rose above its \
             \"at most\".",
            self.enough_tries(chosen, observations)
        )
    }

    /// How many more tries of the chosen action would put it out of the race.
    fn enough_tries(&self, chosen: &Finding, observations: Option<u64>) -> String {
        let mean = self.estimate(chosen.mean);
        let tries = match observations {
            None => {
                return format!(
                    "More tries with outcomes like its estimate ({mean}) would not be enough: the \
                     estimate is too high."
                );
            }
            Some(1) => {
                return format!(
                    "One more try with an outcome of {mean} or lower would be enough: the range \
                     would narrow. With a higher one it takes more tries, or no number is enough."
                );
            }
            Some(tries) => format!("About {tries} more tries with outcomes of {mean} on average"),
        };
        format!(
            "{tries} would be enough: the estimate would stay and the range would narrow. With \
             lower outcomes fewer tries are enough; with higher ones it takes more, or no number \
             is enough."
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
