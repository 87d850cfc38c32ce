//! A certificate in plain English. Every sentence is made from the certificate alone, when it is
//! shown; a certificate stores no sentences, so they can change without making old certificates
//! invalid.

mod choice;
mod rates;

use crate::assumed::rate;
use crate::certificate::{
    Alarm, Certificate, Comparison, ENOUGH_VALUES, Finding, Grounds, Reason, RuledOut, Standing,
};
use crate::table::MOST_CHARACTERS;
use std::fmt::{self, Write};

/// Names at most ten actions that are out of the race, and counts the rest.
const NAMED: usize = 10;

/// A certificate for readers who know nothing about bandits: as text through `Display`, and piece
/// by piece for other layouts. Labels appear as they are in the table.
#[derive(Debug)]
pub struct Words<'a>(&'a Certificate);

impl Certificate {
    /// The certificate in plain English: which actions could still be best and why the others
    /// cannot, what was chosen and why, what is known about it, and what would change it.
    pub fn words(&self) -> Words<'_> {
        Words(self)
    }
}

/// An action out of the race.
#[derive(Clone, Copy, Debug)]
pub struct Beaten<'a> {
    /// The action.
    pub action: &'a Finding,
    /// The action that rules it out.
    pub by: &'a Finding,
    /// What shows it.
    pub how: RuledOut,
}

impl Beaten<'_> {
    /// How close the call was, from 0: the share of the range by which it is behind at least, or by
    /// which evidence exceeds what was needed.
    fn closeness(&self, range: f64) -> f64 {
        match (self.how.at_least(), self.how.evidence, self.how.needed) {
            (Some(at_least), ..) => at_least / range,
            (_, Some(evidence), Some(needed)) => evidence / needed - 1.0,
            _ => 0.0,
        }
    }
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chosen = quoted(&self.0.findings.chosen.label);
        writeln!(f, "Decision {}: {chosen} is tried next", self.0.grounds.decision)?;
        // With one action left, the two are the same.
        let note = match self.plausible() {
            1 => "",
            _ => "; this says what to try next, not which one is best",
        };
        writeln!(f, "{}{note}", self.occasion())?;
        write_section(f, "WHY THIS ONE", &self.why())?;
        self.write_race(f)?;
        self.write_beaten(f)?;
        write_section(f, "HOW SURE", &self.how_sure())?;
        self.write_conditions(f)?;
        write_section(f, &format!("WHAT IS KNOWN ABOUT {chosen}"), &self.known())?;
        write_section(f, &format!("WHAT WOULD PUT {chosen} OUT OF THE RACE"), &[self.change()])
    }
}

fn write_section(f: &mut fmt::Formatter<'_>, title: &str, sentences: &[String]) -> fmt::Result {
    writeln!(f, "\n{title}")?;
    sentences.iter().try_for_each(|sentence| writeln!(f, "  {sentence}"))
}

impl Certificate {
    /// A value in units of reward, with as many digits as the range needs; a rate of yes in percent
    /// where the model is one of rates.
    pub fn number(&self, value: f64) -> String {
        self.grounds.number(value)
    }

    /// A difference of two such values; of rates, in percentage points.
    pub fn gap(&self, value: f64) -> String {
        self.grounds.gap(value)
    }
}

impl Grounds {
    /// A value in units of reward, with as many digits as the range needs.
    pub(crate) fn number(&self, value: f64) -> String {
        if self.has_rates() {
            return rate((value - self.reward_range.0) / self.range(), 3);
        }
        written(value, self.range())
    }
}

/// A value in units of reward, with as many digits as rewards in a range of this length need.
pub fn written(value: f64, range: f64) -> String {
    let digits = (3.0 - range.log10().floor()).clamp(0.0, 12.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 12")]
    let text = format!("{value:.*}", digits as usize);
    // Prints −0 as 0.
    if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-').into()
    } else {
        text
    }
}

impl<'a> Words<'a> {
    /// Introduces [`Words::conditions`].
    pub fn assumes(&self) -> &'static str {
        if self.0.findings.alarm.is_some() {
            "This assumes the following, which the outcomes contradict. So the statements above \
             may be false:"
        } else {
            "This assumes the following. Outcomes cannot prove it; those so far do not contradict \
             it. If any of it is false, the statements above may be false too:"
        }
    }

    fn number(&self, value: f64) -> String {
        self.0.number(value)
    }

    fn gap(&self, value: f64) -> String {
        self.0.gap(value)
    }

    /// An estimate, or "no outcome yet" without one.
    pub fn estimate(&self, value: Option<f64>) -> String {
        value.map_or_else(|| "no outcome yet".into(), |value| self.number(value))
    }

    /// When the decision was taken, and in which context.
    pub fn occasion(&self) -> String {
        let grounds = &self.0.grounds;
        let at = grounds.at.replace('T', " ");
        let mut text = format!("taken {} UTC", at.split('.').next().unwrap_or(&at));
        if !grounds.context.is_empty() {
            let pairs: Vec<String> = grounds
                .context
                .iter()
                .map(|(key, value)| {
                    format!(
                        "{key} = {}",
                        value.as_str().map_or_else(|| value.to_string(), Into::into)
                    )
                })
                .collect();
            let _ = write!(text, ", for {}", pairs.join(", "));
        }
        text
    }

    /// How many actions could still be best, listed or not.
    pub fn plausible(&self) -> u64 {
        self.0.findings.plausible + self.0.grounds.unlisted.map_or(0, |unlisted| unlisted.plausible)
    }

    /// How many actions are out of the race, listed or not.
    pub fn out(&self) -> u64 {
        (self.0.grounds.offered() as u64).saturating_sub(self.plausible())
    }

    /// The listed actions that could still be best, the most promising first and those without
    /// an outcome last.
    pub fn racing(&self) -> Vec<&'a Finding> {
        let listed = self.0.findings.actions.iter();
        let mut racing: Vec<_> =
            listed.filter(|action| action.standing == Standing::Plausible).collect();
        racing.sort_by(|a, b| {
            b.mean.unwrap_or(f64::NEG_INFINITY).total_cmp(&a.mean.unwrap_or(f64::NEG_INFINITY))
        });
        racing
    }

    fn write_race(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offered = self.0.grounds.offered();
        writeln!(
            f,
            "\nSTILL IN THE RACE: {} of {offered} could still be best; a higher average is better",
            self.plausible()
        )?;
        if let Some(rule) = self.rule() {
            writeln!(f, "  {rule}")?;
        }
        let racing = self.racing();
        let longest = racing.iter().map(|action| action.label.chars().count()).max().unwrap_or(0);
        // Logs of earlier versions may hold longer labels; those exceed the column.
        let width = longest.clamp(8, MOST_CHARACTERS);
        let shown = 2 * NAMED;
        let estimates = racing.iter().take(shown).map(|action| self.estimate(action.mean).len());
        let wide = estimates.fold(10, usize::max);
        writeln!(
            f,
            "  {:width$}  {:>wide$}  {:>10}  {:>10}  {:>10}",
            "action", "estimate", "at least", "at most", "plus/minus"
        )?;
        for action in racing.iter().take(shown) {
            let chosen = if action.id == self.0.findings.chosen.id { "  <- chosen" } else { "" };
            let (estimate, lower, upper) =
                (self.estimate(action.mean), self.number(action.lower), self.number(action.upper));
            let within = self.within(action);
            writeln!(
                f,
                "  {:width$}  {estimate:>wide$}  {lower:>10}  {upper:>10}  {within:>10}{chosen}",
                action.label
            )?;
        }
        let more = self.plausible().saturating_sub(racing.len().min(shown) as u64);
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
        let (low, high) = self.0.grounds.reward_range;
        if racing.iter().any(|action| action.lower <= low || action.upper >= high) {
            // These intervals end inside the range by themselves.
            let widest = if self.is_two_point() || self.0.grounds.is_glm() {
                "."
            } else {
                "; the action we know least about is the one whose range was widest before that."
            };
            writeln!(
                f,
                "  Averages lie between {low} and {high}, so the ranges shown end there{widest}"
            )?;
        }
        Ok(())
    }

    /// How far the true average may be from the estimate, as ±; "open" without an outcome.
    fn within(&self, action: &Finding) -> String {
        let within =
            |mean: f64| format!("±{}", self.gap((action.upper - mean).max(mean - action.lower)));
        action.mean.map_or_else(|| "open".into(), within)
    }

    /// The rule that puts actions out of the race; `None` while it cannot apply to any.
    pub fn rule(&self) -> Option<String> {
        let best = self.best_lower(|_| true)?;
        // Bounds that are a rule of thumb say nothing about where the true averages lie.
        let meaning = self.0.findings.confidence.map_or(
            "",
            |_| "Each true average is believed to lie between \"at least\" and \"at most\". ",
        );
        if !self.compares_intervals() {
            let how = if self.0.grounds.features.is_empty() {
                "An action is out once outcomes show that another one is better, even where the \
                 two ranges still overlap."
            } else {
                "An action is out once outcomes show that another one is better. The two ranges \
                 may still overlap: part of the uncertainty is that of both, moves both up or down \
                 together, and cannot change which is better."
            };
            return (self.out() > 0).then(|| format!("{meaning}{how}"));
        }
        (best > self.0.grounds.reward_range.0).then(|| {
            format!(
                "{meaning}The highest \"at least\" is {}, and every action with an \"at most\" \
                 below it is out.",
                self.number(best)
            )
        })
    }

    /// Whether an action is out if its "at most" is below the "at least" of another, and only then.
    pub fn compares_intervals(&self) -> bool {
        let by_differences = self.0.grounds.policy.get("exclusion") != Some(&"intervals".into());
        let is_arms = self.0.grounds.features.is_empty();
        let radius = self.0.grounds.policy.get("radius");
        let bounded = self.0.grounds.is_bell()
            || radius.is_none_or(|radius| radius.get("kind") == Some(&"two-point".into()));
        self.0.grounds.format < 2 || if is_arms { !bounded } else { !by_differences }
    }

    /// Whether the ranges of arms depend on what each has paid.
    fn is_two_point(&self) -> bool {
        let grounds = &self.0.grounds;
        grounds.features.is_empty() && !self.compares_intervals() && !grounds.is_bell()
    }

    /// The highest "at least" among the listed actions that `which` selects.
    fn best_lower(&self, which: impl Fn(&Finding) -> bool) -> Option<f64> {
        self.0
            .findings
            .actions
            .iter()
            .filter(|action| which(action))
            .map(|action| action.lower)
            .reduce(f64::max)
    }

    /// A difference between two numbers as they are printed, so that readers can check it.
    fn difference(&self, from: f64, to: f64) -> String {
        let texts = [from, to].map(|value| self.number(value));
        if let [Some(a), Some(b)] = [&texts[0], &texts[1]].map(|text| text.strip_suffix(" %")) {
            let places = |text: &str| text.split_once('.').map_or(0, |(_, rest)| rest.len());
            let (digits, [a, b]) = (places(a).max(places(b)), [a, b].map(str::parse::<f64>));
            if let (Ok(a), Ok(b)) = (a, b) {
                return format!("{:.digits$} points", a - b);
            }
        }
        let printed = |value: f64| self.number(value).parse::<f64>().unwrap_or(value);
        self.gap(printed(from) - printed(to))
    }

    /// The listed actions that are out of the race, the closest calls first.
    pub fn beaten(&self) -> Vec<Beaten<'a>> {
        let actions = &self.0.findings.actions;
        let mut beaten: Vec<_> = actions
            .iter()
            .filter_map(|action| match action.standing {
                Standing::RuledOut(how) => {
                    let by = actions.iter().find(|other| other.id == how.by)?;
                    Some(Beaten { action, by, how })
                }
                Standing::Plausible => None,
            })
            .collect();
        let range = self.0.grounds.range();
        beaten.sort_by(|a, b| a.closeness(range).total_cmp(&b.closeness(range)));
        beaten
    }

    /// Why an action is out.
    pub fn beaten_by(&self, beaten: &Beaten<'_>) -> String {
        let by = quoted(&beaten.by.label);
        match (beaten.how.kind, beaten.how.behind_by) {
            (Some(Comparison::Difference), Some((at_least, at_most))) => {
                return format!(
                    "{by} beats it by {} to {}.",
                    self.gap(at_least),
                    self.gap(at_most)
                );
            }
            (Some(Comparison::Pair), Some((at_least, at_most))) => {
                return format!(
                    "the outcomes of both show that {by} beats it by {} to {}.",
                    self.gap(at_least),
                    self.gap(at_most)
                );
            }
            (Some(Comparison::Pair), None) => {
                let [evidence, needed] =
                    [beaten.how.evidence, beaten.how.needed].map(Option::unwrap_or_default);
                return format!(
                    "its outcomes and those of {by} show that it is not the best (evidence \
                     {evidence:.1}, where {needed:.1} is enough)."
                );
            }
            _ => {}
        }
        format!(
            "its \"at most\" ({}) is {} below the \"at least\" of {} ({}).",
            self.number(beaten.action.upper),
            self.difference(beaten.by.lower, beaten.action.upper),
            quoted(&beaten.by.label),
            self.number(beaten.by.lower)
        )
    }

    fn write_beaten(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.out();
        if total == 0 {
            return writeln!(f, "\nOUT OF THE RACE: none");
        }
        let beaten = self.beaten();
        writeln!(
            f,
            "\nOUT OF THE RACE: {total}, the closest calls first; more outcomes can still change \
             this"
        )?;
        for one in beaten.iter().take(NAMED) {
            writeln!(f, "  {}: {}", quoted(&one.action.label), self.beaten_by(one))?;
        }
        let more = total.saturating_sub(beaten.len().min(NAMED) as u64);
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
        Ok(())
    }

    /// The probability that all bounds hold at all times; `None` where they are a rule of thumb.
    pub fn confidence(&self) -> Option<String> {
        self.0.findings.confidence.map(|confidence| format!("{} %", percent(confidence)))
    }

    fn write_conditions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.conditions();
        if !conditions.is_empty() {
            writeln!(f, "  {}", self.assumes())?;
        }
        conditions.iter().try_for_each(|condition| writeln!(f, "  - {condition}"))
    }

    /// How sure the statements are. [`Words::conditions`] lists what this assumes.
    pub fn how_sure(&self) -> Vec<String> {
        let (grounds, findings) = (&self.0.grounds, &self.0.findings);
        let mut said = Vec::new();
        if let (Some(confidence), Some(alarm)) = (self.confidence(), &findings.alarm) {
            let rates = findings.likelihood.is_some();
            said.push(alarm_said(alarm, &confidence, rates));
        } else if let Some(confidence) = self.confidence() {
            let ranges = match grounds.offered() {
                1 => "its range contains the true average".into(),
                2 => "both ranges contain the true averages".into(),
                all => format!("all {all} ranges contain the true averages"),
            };
            let kept = match grounds.offered() {
                _ if self.compares_intervals() => "",
                1 => "",
                _ => " and that the best action is still in the race",
            };
            said.push(format!(
                "We are {confidence} sure that {ranges}{kept}, now and at every later look: \
                 looking often does not weaken this."
            ));
        } else {
            said.push(
                "The bounds are a rule of thumb of this policy. They say nothing about \
                 probability, so do not read them as confidence intervals."
                    .into(),
            );
        }
        said.extend(self.waiting_for_scale());
        said.extend(self.leaning());
        said.push(match findings.known_within {
            Some(within) => {
                format!(
                    "Among the actions still in the race, the widest range is ±{} around its \
                     estimate.",
                    self.gap(within)
                )
            }
            None => {
                "Some actions still in the race have no outcome yet: nothing is known about them."
                    .into()
            }
        });
        said.extend(self.outlook());
        if let Some(target) = &findings.target {
            let name = self.target_name();
            said.push(if target.met {
                format!("At present {name} is reached.")
            } else if findings.chosen.reason == Reason::MostPromising {
                format!(
                    "By the outcomes so far, {name} is not reached at present; counting tries \
                     with pending outcomes, it is."
                )
            } else {
                format!("At present {name} is not reached.")
            });
        }
        let come = count(grounds.statistics.observations, "outcome");
        said.push(match self.pending() {
            0 => format!("All of this rests on {come} so far."),
            1 => format!("All of this rests on {come} so far; 1 more is still to come."),
            pending => {
                format!("All of this rests on {come} so far; {pending} more are still to come.")
            }
        });
        said
    }

    /// Why ranges have no end yet, where how much outcomes scatter is to be learned.
    fn waiting_for_scale(&self) -> Option<String> {
        let (grounds, findings) = (&self.0.grounds, &self.0.findings);
        let bell = grounds.bell.as_ref()?;
        if findings.sqrt_beta.is_some() || findings.alarm.is_some() {
            return None;
        }
        let own = grounds.policy.get("radius").and_then(|radius| radius.get("own_scales"));
        let different = bell.values.len() as u64;
        Some(if different < ENOUGH_VALUES as u64 {
            format!(
                "How much outcomes scatter is learned from them. So far they have had {}, and \
                 nothing is ruled out before there are {ENOUGH_VALUES}.",
                count(different, "different value")
            )
        } else if own == Some(&true.into()) {
            "Each action may scatter by an amount of its own, so there are no ranges: actions are \
             compared two at a time."
                .into()
        } else {
            "How much outcomes scatter is learned from them, and there are too few yet for ranges."
                .into()
        })
    }

    /// When the next action will probably be out; `None` where only one is left, and in
    /// certificates of version 1.
    pub fn outlook(&self) -> Option<String> {
        let findings = &self.0.findings;
        if self.0.grounds.format < 2 || self.confidence().is_none() || self.plausible() < 2 {
            return None;
        }
        let Some(outlook) = findings.outlook else { return Some(next_out(None)) };
        let next = findings.actions.iter().find(|action| action.id == outlook.action)?;
        Some(next_out(Some((&next.label, outlook.outcomes))))
    }

    /// The target of the policy, as the subject of a sentence.
    fn target_name(&self) -> String {
        let wanted = self.0.findings.target.as_ref().map_or(0.0, |target| target.wanted);
        match self.0.grounds.policy.get("target").and_then(|target| target.get("kappa")) {
            Some(kappa) => format!("the target you set (kappa = {kappa})"),
            None => format!("the accuracy you asked for (±{})", self.gap(wanted)),
        }
    }

    /// The conditions of the confidence, one sentence each; [`Words::assumes`] introduces them.
    /// Empty where the bounds are a rule of thumb.
    pub fn conditions(&self) -> Vec<String> {
        let grounds = &self.0.grounds;
        if self.0.findings.confidence.is_none() {
            return Vec::new();
        }
        let (low, high) = grounds.reward_range;
        let mut conditions = vec![format!("Every outcome lies between {low} and {high}.")];
        let noise =
            grounds.policy.get("radius").and_then(|radius| radius.get("noise_scale")?.as_f64());
        conditions.extend(noise.map(|noise| {
            format!(
                "Outcomes scatter around their average at most like a bell curve with a standard \
                 deviation of {noise}."
            )
        }));
        if grounds.is_bell() {
            let own = grounds.policy.get("radius").and_then(|radius| radius.get("own_scales"));
            let same = if own == Some(&true.into()) { "" } else { " and is the same for all" };
            conditions.push(format!(
                "Outcomes of the same action scatter around their average like a bell curve, by an \
                 amount that is not known{same}."
            ));
        }
        if let Some(rates) = self.about_rates() {
            conditions.extend(rates);
        } else if grounds.features.is_empty() {
            conditions.push("No true average changes over time.".into());
        } else if grounds.as_given {
            conditions.extend([
                "A true average is the sum of the features, each times a fixed weight, and depends \
                 on nothing else."
                    .into(),
                format!(
                    "The length of the weights (the square root of the sum of their squares) is at \
                     most {}.",
                    self.bound()
                ),
            ]);
        } else {
            conditions.extend([
                "Each feature adds a fixed multiple of its value to the true average, whatever the \
                 other features are and whenever the action is tried."
                    .into(),
                match self.own_bound() {
                    Some(bound) => format!(
                        "The length of the weights is at most {bound}, for outcomes scaled to an \
                         interval of length one."
                    ),
                    None => format!(
                        "No combination of features has an average outside {low} to {high}."
                    ),
                },
            ]);
        }
        conditions.push("Whether and when an outcome arrives does not depend on its value.".into());
        conditions
    }

    /// The bound on θ* behind the ranges of vectors as given, in units of reward: the policy's own,
    /// or the one declared with the recipe.
    fn bound(&self) -> f64 {
        let grounds = &self.0.grounds;
        let own = self.own_bound();
        // The bound was divided by the range and multiplied again; rounding restores the declared
        // digits.
        own.unwrap_or_else(|| {
            let bound = grounds.theta_norm_bound * grounds.range();
            format!("{bound:.12e}").parse().unwrap_or(bound)
        })
    }

    /// The bound on θ* that the policy sets.
    fn own_bound(&self) -> Option<f64> {
        self.0.grounds.policy.get("radius")?.get("theta_norm_bound")?.as_f64()
    }

    /// How many outcomes were pending.
    pub fn pending(&self) -> u64 {
        let settled = self.0.grounds.statistics.observations;
        self.0
            .grounds
            .design
            .as_ref()
            .map_or(0, |design| design.observations.saturating_sub(settled))
    }

    /// What was found about the chosen action.
    fn chosen(&self) -> Option<&'a Finding> {
        self.0.findings.actions.iter().find(|action| action.id == self.0.findings.chosen.id)
    }

    /// What is known about the chosen action.
    pub fn known(&self) -> Vec<String> {
        let findings = &self.0.findings;
        let chosen = &findings.chosen;
        let mut said = Vec::new();
        if let Some(known) = self.chosen() {
            said.push(match known.mean {
                Some(mean) => format!(
                    "{}Its average is estimated at {}; at least {}, at most {}.",
                    self.tries(),
                    self.number(mean),
                    self.number(known.lower),
                    self.number(known.upper)
                ),
                None => "Nothing: it has no outcomes yet.".into(),
            });
        }
        let directions: Vec<String> = chosen
            .directions
            .iter()
            .filter(|direction| direction.share >= 0.05)
            .map(|direction| {
                let name = if direction.feature == "intercept" {
                    "the overall level"
                } else {
                    &direction.feature
                };
                format!("{name} ({} % of it)", percent(direction.share))
            })
            .collect();
        if !directions.is_empty() {
            said.push(format!("Its uncertainty comes mostly from: {}.", directions.join(", ")));
        }
        if let Some(propensity) = chosen.propensity.filter(|propensity| *propensity < 1.0) {
            said.push(format!("It was chosen with a probability of {} %.", percent(propensity)));
        }
        said
    }

    /// How many outcomes the chosen action has, for actions without features.
    fn tries(&self) -> String {
        let grounds = &self.0.grounds;
        let place =
            grounds.actions.iter().position(|action| action.id == self.0.findings.chosen.id);
        let plays = place.and_then(|place| grounds.statistics.plays.get(place));
        plays.map_or_else(String::new, |plays| {
            format!("It has {} so far. ", count(*plays, "outcome"))
        })
    }
}

/// Rounded to two significant digits.
fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// A label in quotes.
/// Which action will probably be the next to be out, after about how many more outcomes; `None` if
/// that cannot be said.
pub fn next_out(next: Option<(&str, u64)>) -> String {
    match next {
        None => "How many more outcomes it takes until the next action is out cannot be said yet."
            .into(),
        Some((label, outcomes)) => format!(
            "If outcomes go on like this, {} is probably the next to be out, after about {}.",
            quoted(label),
            count(outcomes, "more outcome")
        ),
    }
}

fn quoted(label: &str) -> String {
    format!("\"{label}\"")
}

/// Whole percents, with a decimal near 0 and 100 where rounding would mislead.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (percent - percent.round()).abs() < 0.05 || (2.0..=98.0).contains(&percent) {
        format!("{percent:.0}")
    } else {
        format!("{percent:.1}")
    }
}

fn count(number: u64, what: &str) -> String {
    let plural =
        what.strip_suffix('y').map_or_else(|| format!("{what}s"), |stem| format!("{stem}ies"));
    format!("{number} {}", if number == 1 { what } else { &plural })
}

/// What contradicts the assumptions, what follows, and what mends it.
fn alarm_said(alarm: &Alarm, confidence: &str, rates: bool) -> String {
    match alarm {
        Alarm::Refuted {} if rates => format!(
            "The ranges would hold with a probability of {confidence} if outcomes followed the \
             columns as assumed below. But no such rates agree with them, so nothing is called out \
             of the race. Either odds differ by more than was said, and a larger --odds-factor \
             mends it, or they do not follow the columns: judge each action by its own outcomes \
             alone then, in a new log without the columns."
        ),
        Alarm::Noise { declared, suggested } => format!(
            "The ranges would hold with a probability of {confidence} if the declared noise of \
             {declared} were right. But outcomes scatter more than it allows, so nothing is called \
             out of the race. About {} would fit them: set it with --set radius.noise_scale, or \
             leave the noise undeclared.",
            two_digits(*suggested)
        ),
        Alarm::Refuted {} => format!(
            "The ranges would hold with a probability of {confidence} if outcomes followed the \
             columns as assumed below. But no such rule agrees with them, so nothing is called out \
             of the race. Leave out the columns to judge each action by its own outcomes alone, in \
             a new log."
        ),
        Alarm::FewValues { values } => format!(
            "The ranges would hold with a probability of {confidence} if outcomes scattered like a \
             bell curve. But they have had only {}, as yes and no or counts of few do, so nothing \
             is called out of the race. Say how much they scatter (--noise N), or that you do not \
             know (--noise unknown).",
            count(*values, "different value")
        ),
    }
}
