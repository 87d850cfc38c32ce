//! A certificate in plain words.

use crate::certificate::{Certificate, Finding, Reason, RuleOut, Standing};
use std::fmt::{self, Write};

/// Actions ruled out that are named one by one before the rest is counted.
const NAMED: usize = 10;

/// A certificate for a person who knows no bandits: as text by its `Display`, and piece by piece for those who lay it out otherwise. Labels stand in it as they are in the
/// table.
#[derive(Debug)]
pub struct Words<'a>(&'a Certificate);

impl Certificate {
    /// In plain words: which actions could still be best and why the others cannot, what was chosen and why, what is known about it, and what would change it.
    pub fn words(&self) -> Words<'_> {
        Words(self)
    }
}

/// An action out of the race.
#[derive(Clone, Copy, Debug)]
pub struct Beaten<'a> {
    /// Which.
    pub action: &'a Finding,
    /// What rules it out.
    pub by: &'a Finding,
    /// How far it is out, in units of reward.
    pub margin: f64,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Decision {}: {}", self.0.grounds.decision, self.0.findings.chosen.label)?;
        writeln!(f, "{}\n", self.occasion())?;
        writeln!(f, "WHY THIS ONE\n  {}", self.why())?;
        self.write_race(f)?;
        self.write_beaten(f)?;
        write_section(f, "HOW SURE", &self.how_sure())?;
        write_section(f, &format!("WHAT IS KNOWN ABOUT {}", self.0.findings.chosen.label), &self.known())?;
        write_section(f, "WHAT WOULD CHANGE THIS", &[self.change()])
    }
}

fn write_section(f: &mut fmt::Formatter<'_>, title: &str, sentences: &[String]) -> fmt::Result {
    writeln!(f, "\n{title}")?;
    sentences.iter().try_for_each(|sentence| writeln!(f, "  {sentence}"))
}

impl Certificate {
    /// A value in units of reward, with as many digits as the range asks for.
    pub fn number(&self, value: f64) -> String {
        let digits = (3.0 - self.grounds.range().log10().floor()).clamp(0.0, 12.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 12")]
        let text = format!("{value:.*}", digits as usize);
        // Minus nothing is nothing.
        if text.trim_start_matches(['-', '0', '.']).is_empty() {
            text.trim_start_matches('-').into()
        } else {
            text
        }
    }
}

impl<'a> Words<'a> {
    fn number(&self, value: f64) -> String {
        self.0.number(value)
    }

    /// An estimate, of which there is none before the first try.
    pub fn estimate(&self, value: Option<f64>) -> String {
        value.map_or_else(|| "never tried".into(), |value| self.number(value))
    }

    /// When the decision was taken, and for what.
    pub fn occasion(&self) -> String {
        let grounds = &self.0.grounds;
        let at = grounds.at.replace('T', " ");
        let mut text = format!("taken {} UTC", at.split('.').next().unwrap_or(&at));
        if !grounds.context.is_empty() {
            let pairs: Vec<String> = grounds
                .context
                .iter()
                .map(|(key, value)| {
                    format!("{key} = {}", value.as_str().map_or_else(|| value.to_string(), Into::into))
                })
                .collect();
            let _ = write!(text, ", for {}", pairs.join(", "));
        }
        text
    }

    /// Why this one.
    pub fn why(&self) -> String {
        let findings = &self.0.findings;
        let label = &findings.chosen.label;
        let plausible = self.plausible();
        match findings.chosen.reason {
            Reason::LeastKnown if plausible == 1 => {
                format!("{label} is the only one left that could be best.")
            }
            Reason::LeastKnown => format!(
                "Of the {plausible} that could still be best, {label} is the one least is known about: trying it teaches most.{}",
                if self.0.grounds.design.is_some() {
                    " (Tries whose outcome is still to come count as known here.)"
                } else {
                    ""
                }
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
                format!("{label} has the highest index: estimate plus a bonus for having been tried little.")
            }
            Reason::Explored => format!("This round was for exploring, and {label} was drawn."),
            Reason::LargestMean => format!("{label} has the highest estimate."),
            Reason::Committed => {
                format!(
                    "{label} had the highest estimate when exploring ended; from then on that is what is taken."
                )
            }
        }
    }

    /// How many could still be best, listed or not.
    pub fn plausible(&self) -> u64 {
        self.0.findings.plausible + self.0.grounds.unlisted.map_or(0, |unlisted| unlisted.plausible)
    }

    /// How many are out of the race, listed or not.
    pub fn out(&self) -> u64 {
        (self.0.grounds.offered() as u64).saturating_sub(self.plausible())
    }

    /// Those listed that could still be best, the most promising first and those never tried last.
    pub fn racing(&self) -> Vec<&'a Finding> {
        let listed = self.0.findings.actions.iter();
        let mut racing: Vec<_> = listed.filter(|action| action.standing == Standing::Plausible).collect();
        racing.sort_by(|a, b| {
            b.mean.unwrap_or(f64::NEG_INFINITY).total_cmp(&a.mean.unwrap_or(f64::NEG_INFINITY))
        });
        racing
    }

    fn write_race(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offered = self.0.grounds.offered();
        writeln!(f, "\nSTILL IN THE RACE: {} of {offered} could still be best", self.plausible())?;
        let racing = self.racing();
        let width = racing.iter().map(|action| action.label.chars().count()).max().unwrap_or(0).max(6);
        writeln!(f, "  {:width$}  {:>10}  {:>10}  {:>10}", "", "estimate", "at least", "at most")?;
        let shown = 2 * NAMED;
        for action in racing.iter().take(shown) {
            let chosen = if action.id == self.0.findings.chosen.id { "  <- chosen" } else { "" };
            let (estimate, lower, upper) =
                (self.estimate(action.mean), self.number(action.lower), self.number(action.upper));
            writeln!(f, "  {:width$}  {estimate:>10}  {lower:>10}  {upper:>10}{chosen}", action.label)?;
        }
        let more = self.plausible().saturating_sub(racing.len().min(shown) as u64);
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
        Ok(())
    }

    /// Those listed that are out of the race, the closest calls first.
    pub fn beaten(&self) -> Vec<Beaten<'a>> {
        let actions = &self.0.findings.actions;
        let mut beaten: Vec<_> = actions
            .iter()
            .filter_map(|action| match action.standing {
                Standing::RuledOut { by, margin } => {
                    let by = actions.iter().find(|other| other.id == by)?;
                    Some(Beaten { action, by, margin })
                }
                Standing::Plausible => None,
            })
            .collect();
        beaten.sort_by(|a, b| a.margin.total_cmp(&b.margin));
        beaten
    }

    /// Why an action is out: what it pays at most, and what the other pays at least.
    pub fn beaten_by(&self, beaten: &Beaten<'_>) -> String {
        format!(
            "pays {} at most, and {} pays {} at least. Out by {}.",
            self.number(beaten.action.upper),
            beaten.by.label,
            self.number(beaten.by.lower),
            self.number(beaten.margin)
        )
    }

    fn write_beaten(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.out();
        if total == 0 {
            return writeln!(f, "\nOUT OF THE RACE: none");
        }
        let beaten = self.beaten();
        writeln!(f, "\nOUT OF THE RACE: {total}, the closest calls first")?;
        for one in beaten.iter().take(NAMED) {
            writeln!(f, "  {}: {}", one.action.label, self.beaten_by(one))?;
        }
        let more = total.saturating_sub(beaten.len().min(NAMED) as u64);
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
        Ok(())
    }

    /// With which probability the bounds hold, all and always; `None` where they are a rule of thumb.
    pub fn confidence(&self) -> Option<String> {
        self.0.findings.confidence.map(|confidence| format!("{} %", percent(confidence)))
    }

    /// How sure all of this is, and on which conditions.
    pub fn how_sure(&self) -> Vec<String> {
        let (grounds, findings) = (&self.0.grounds, &self.0.findings);
        let mut said = Vec::new();
        if let Some(confidence) = self.confidence() {
            said.push(format!(
                "With a probability of {confidence} every true average lies between its \"at least\" and \"at most\", now and at every later look."
            ));
            let (low, high) = grounds.reward_range;
            let linear = if grounds.features.is_empty() {
                "each average stays what it is"
            } else {
                "the average reward is a sum of effects of the features"
            };
            let noise = grounds.policy.get("radius").and_then(|radius| radius.get("noise_scale")?.as_f64());
            let scatter = noise.map_or_else(String::new, |noise| {
                format!(", scatter around their averages by no more than {noise} (their standard deviation)")
            });
            said.push(format!("This holds if rewards stay within {low} to {high}{scatter}, and {linear}."));
        } else {
            said.push("The bounds are a rule of thumb of this policy, and no statement about probability: do not read them as confidence intervals.".into());
        }
        said.push(match findings.known_within {
            Some(within) => {
                format!("Everything still in the race is known to within ±{}.", self.number(within))
            }
            None => {
                "Some of those still in the race were never tried, so nothing is known about them.".into()
            }
        });
        if let Some(target) = &findings.target {
            let met = if target.met { "met" } else { "not met yet" };
            let by_accuracy =
                grounds.policy.get("target").is_some_and(|table| table.get("accuracy").is_some());
            said.push(if by_accuracy {
                format!("You asked for ±{}: {met}.", self.number(target.wanted))
            } else {
                format!("The target asked for: {met}.")
            });
        }
        let come = count(grounds.statistics.observations, "reward");
        said.push(match self.pending() {
            0 => format!("All of this comes from {come} so far."),
            pending => {
                format!("All of this comes from {come} so far; {} still to come.", count(pending, "outcome"))
            }
        });
        said
    }

    /// How many outcomes were still to come.
    pub fn pending(&self) -> u64 {
        let settled = self.0.grounds.statistics.observations;
        self.0.grounds.design.as_ref().map_or(0, |design| design.observations.saturating_sub(settled))
    }

    /// What is known about the one chosen.
    pub fn known(&self) -> Vec<String> {
        let findings = &self.0.findings;
        let chosen = &findings.chosen;
        let mut said = Vec::new();
        if let Some(known) = findings.actions.iter().find(|action| action.id == chosen.id) {
            said.push(match known.mean {
                Some(mean) => format!(
                    "Estimated to pay {}; at least {}, at most {}.",
                    self.number(mean),
                    self.number(known.lower),
                    self.number(known.upper)
                ),
                None => "Nothing: it was never tried.".into(),
            });
        }
        let directions: Vec<String> = chosen
            .directions
            .iter()
            .filter(|direction| direction.share >= 0.05)
            .map(|direction| {
                let name =
                    if direction.feature == "intercept" { "the overall level" } else { &direction.feature };
                format!("{name} ({} %)", percent(direction.share))
            })
            .collect();
        if !directions.is_empty() {
            said.push(format!("What is not known about it lies mostly in: {}.", directions.join(", ")));
        }
        if let Some(propensity) = chosen.propensity.filter(|propensity| *propensity < 1.0) {
            said.push(format!("It was taken with a probability of {} %.", percent(propensity)));
        }
        said
    }

    /// What would put the one chosen out of the race.
    pub fn change(&self) -> String {
        let label = &self.0.findings.chosen.label;
        match self.0.findings.chosen.rule_out {
            None => {
                format!("{label} is out of the race already; it was taken all the same, as the policy says.")
            }
            Some(RuleOut { shift: Some(shift), .. }) if shift >= self.0.grounds.range() => {
                format!("Too little is known for any outcome to put {label} out of the race yet.")
            }
            Some(RuleOut { shift: None, .. }) => {
                format!("Nothing can put {label} out of the race before more is known of the others.")
            }
            Some(RuleOut { shift: Some(shift), observations }) => {
                let shift = self.number(shift);
                let tries = match observations {
                    Some(tries) => format!(
                        ", or after about {} of it that pay what it is estimated to pay.",
                        count(tries, "more try")
                    ),
                    None => {
                        ". More tries alone would not do it: it is estimated to be too good for that.".into()
                    }
                };
                format!("{label} would be out of the race if its estimate were lower by {shift}{tries}")
            }
        }
    }
}

/// Whole percents, with a digit more where the whole would say too much.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (percent - percent.round()).abs() < 0.05 || (2.0..=98.0).contains(&percent) {
        format!("{percent:.0}")
    } else {
        format!("{percent:.1}")
    }
}

fn count(number: u64, what: &str) -> String {
    let plural = what.strip_suffix('y').map_or_else(|| format!("{what}s"), |stem| format!("{stem}ies"));
    format!("{number} {}", if number == 1 { what } else { &plural })
}
