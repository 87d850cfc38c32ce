//! A certificate in plain words.

use crate::certificate::{Certificate, Finding, Reason, RuleOut, Standing};
use std::fmt::{self, Write};

/// Actions ruled out that are named one by one before the rest is counted.
const NAMED: usize = 10;

/// A certificate for a person who knows no bandits.
#[derive(Debug)]
pub struct Words<'a>(&'a Certificate);

impl Certificate {
    /// In plain words: which actions could still be best and why the others cannot, what was chosen and why, what is known about it, and what would change it.
    pub fn words(&self) -> Words<'_> {
        Words(self)
    }
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.headline(f)?;
        self.race(f)?;
        self.ruled_out(f)?;
        self.confidence(f)?;
        self.chosen(f)?;
        self.change(f)
    }
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

impl Words<'_> {
    fn number(&self, value: f64) -> String {
        self.0.number(value)
    }

    fn headline(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (grounds, chosen) = (&self.0.grounds, &self.0.findings.chosen);
        writeln!(f, "Decision {}: {}", grounds.decision, chosen.label)?;
        write!(f, "taken {}", grounds.at.replace('T', " ").split('.').next().unwrap_or(&grounds.at))?;
        write!(f, " UTC")?;
        if !grounds.context.is_empty() {
            let pairs: Vec<String> = grounds
                .context
                .iter()
                .map(|(key, value)| {
                    format!("{key} = {}", value.as_str().map_or_else(|| value.to_string(), Into::into))
                })
                .collect();
            write!(f, ", for {}", pairs.join(", "))?;
        }
        writeln!(f, "\n")?;
        writeln!(f, "WHY THIS ONE")?;
        writeln!(f, "  {}", self.reason())
    }

    fn reason(&self) -> String {
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

    fn plausible(&self) -> u64 {
        self.0.findings.plausible + self.0.grounds.unlisted.map_or(0, |unlisted| unlisted.plausible)
    }

    fn race(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offered = self.0.grounds.offered();
        writeln!(f, "\nSTILL IN THE RACE: {} of {offered} could still be best", self.plausible())?;
        let mut racing: Vec<&Finding> =
            self.0.findings.actions.iter().filter(|action| action.standing == Standing::Plausible).collect();
        racing.sort_by(|a, b| {
            b.mean.unwrap_or(f64::NEG_INFINITY).total_cmp(&a.mean.unwrap_or(f64::NEG_INFINITY))
        });
        let width = racing.iter().map(|action| action.label.chars().count()).max().unwrap_or(0).max(6);
        writeln!(f, "  {:width$}  {:>10}  {:>10}  {:>10}", "", "estimate", "at least", "at most")?;
        let shown = 2 * NAMED;
        for action in racing.iter().take(shown) {
            let chosen = if action.id == self.0.findings.chosen.id { "  <- chosen" } else { "" };
            let (estimate, lower, upper) =
                (self.or_none(action.mean), self.number(action.lower), self.number(action.upper));
            writeln!(f, "  {:width$}  {estimate:>10}  {lower:>10}  {upper:>10}{chosen}", action.label)?;
        }
        let more = self.plausible().saturating_sub(racing.len().min(shown) as u64);
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
        Ok(())
    }

    fn or_none(&self, value: Option<f64>) -> String {
        value.map_or_else(|| "never tried".into(), |value| self.number(value))
    }

    fn ruled_out(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = &self.0.findings;
        let mut out: Vec<(&Finding, u64, f64)> = findings
            .actions
            .iter()
            .filter_map(|action| match action.standing {
                Standing::RuledOut { by, margin } => Some((action, by, margin)),
                Standing::Plausible => None,
            })
            .collect();
        let total = self.0.grounds.offered() as u64 - self.plausible();
        if total == 0 {
            return writeln!(f, "\nOUT OF THE RACE: none");
        }
        // The closest calls first.
        out.sort_by(|a, b| a.2.total_cmp(&b.2));
        writeln!(f, "\nOUT OF THE RACE: {total}, the closest calls first")?;
        for (action, by, margin) in out.iter().take(NAMED) {
            let Some(by) = findings.actions.iter().find(|other| other.id == *by) else { continue };
            writeln!(
                f,
                "  {}: pays {} at most, and {} pays {} at least. Out by {}.",
                action.label,
                self.number(action.upper),
                by.label,
                self.number(by.lower),
                self.number(*margin)
            )?;
        }
        let more = total.saturating_sub(out.len().min(NAMED) as u64);
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
        Ok(())
    }

    fn confidence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (grounds, findings) = (&self.0.grounds, &self.0.findings);
        writeln!(f, "\nHOW SURE")?;
        match findings.confidence {
            Some(confidence) => writeln!(
                f,
                "  With a probability of {} % every true average lies between its \"at least\" and \"at most\", now and at every later look.",
                percent(confidence)
            )?,
            None => writeln!(
                f,
                "  The bounds are a rule of thumb of this policy, and no statement about probability: do not read them as confidence intervals."
            )?,
        }
        if findings.confidence.is_some() {
            let (low, high) = grounds.reward_range;
            write!(f, "  This holds if rewards stay within {low} to {high}")?;
            let linear = if grounds.features.is_empty() {
                " and each average stays what it is."
            } else {
                " and the average reward is a sum of effects of the features."
            };
            writeln!(f, "{linear}")?;
        }
        match findings.known_within {
            Some(within) => {
                writeln!(f, "  Everything still in the race is known to within ±{}.", self.number(within))?;
            }
            None => writeln!(
                f,
                "  Some of those still in the race were never tried, so nothing is known about them."
            )?,
        }
        if let Some(target) = &findings.target {
            let met = if target.met { "met" } else { "not met yet" };
            if self.0.grounds.policy.get("target").is_some_and(|table| table.get("accuracy").is_some()) {
                writeln!(f, "  You asked for ±{}: {met}.", self.number(target.wanted))?;
            } else {
                writeln!(f, "  The target asked for: {met}.")?;
            }
        }
        let (rewards, pending) = (grounds.statistics.observations, self.pending());
        write!(f, "  All of this comes from {} so far", count(rewards, "reward"))?;
        if pending > 0 {
            writeln!(f, "; {} still to come.", count(pending, "outcome"))
        } else {
            writeln!(f, ".")
        }
    }

    fn pending(&self) -> u64 {
        let settled = self.0.grounds.statistics.observations;
        self.0.grounds.design.as_ref().map_or(0, |design| design.observations.saturating_sub(settled))
    }

    fn chosen(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = &self.0.findings;
        let chosen = &findings.chosen;
        writeln!(f, "\nWHAT IS KNOWN ABOUT {}", chosen.label)?;
        if let Some(known) = findings.actions.iter().find(|action| action.id == chosen.id) {
            match known.mean {
                Some(mean) => writeln!(
                    f,
                    "  Estimated to pay {}; at least {}, at most {}.",
                    self.number(mean),
                    self.number(known.lower),
                    self.number(known.upper)
                )?,
                None => writeln!(f, "  Nothing: it was never tried.")?,
            }
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
            writeln!(f, "  What is not known about it lies mostly in: {}.", directions.join(", "))?;
        }
        match chosen.propensity {
            Some(propensity) if propensity < 1.0 => {
                writeln!(f, "  It was taken with a probability of {} %.", percent(propensity))
            }
            _ => Ok(()),
        }
    }

    fn change(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = &self.0.findings.chosen.label;
        writeln!(f, "\nWHAT WOULD CHANGE THIS")?;
        let mut text = String::new();
        match self.0.findings.chosen.rule_out {
            None => write!(
                text,
                "  {label} is out of the race already; it was taken all the same, as the policy says."
            ),
            Some(RuleOut { shift: Some(shift), .. }) if shift >= self.0.grounds.range() => {
                write!(text, "  Too little is known for any outcome to put {label} out of the race yet.")
            }
            Some(RuleOut { shift: None, .. }) => {
                write!(text, "  Nothing can put {label} out of the race before more is known of the others.")
            }
            Some(RuleOut { shift: Some(shift), observations }) => write!(
                text,
                "  {label} would be out of the race if its estimate were lower by {}",
                self.number(shift)
            )
            .and_then(|()| match observations {
                Some(tries) => write!(
                    text,
                    ", or after about {} of it that pay what it is estimated to pay.",
                    count(tries, "more try")
                ),
                None => write!(
                    text,
                    ". More tries alone would not do it: it is estimated to be too good for that."
                ),
            }),
        }?;
        writeln!(f, "{text}")
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
