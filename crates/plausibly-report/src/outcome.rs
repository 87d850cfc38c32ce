//! Final figures and curves of a comparison, as every page shows them.

use crate::figure::{Curves, Series};
use crate::label;
use crate::number::{figure, percent};
use maud::{Markup, html};
use plausibly_sim::{JointMoments, Moments, Point, Summary};

/// Number of letters that fit beside a curve.
const LETTERS: usize = 17;

/// The figures at the last round, one row per policy.
#[derive(Clone, Debug)]
pub struct FinalTable<'a> {
    /// The results.
    pub summary: &'a Summary,
    /// The caption.
    pub caption: Markup,
    /// Name of the model error.
    pub model_error: &'a str,
    /// The label of the policy in bold.
    pub highlighted: Option<&'a str>,
}

impl FinalTable<'_> {
    /// The table, with a note below it for every mean that one run dominates.
    pub fn markup(&self) -> Markup {
        let Self { summary, caption, model_error, highlighted } = self;
        html! {
            div.scroll {
                table {
                    caption { (caption) }
                    thead {
                        tr {
                            th scope="col" { "policy" }
                            th.n scope="col" colspan="2" { "regret" }
                            th.n scope="col" colspan="2" { (model_error) }
                            th.n scope="col" { "plausible" }
                            th.n scope="col" { "θ* left" }
                        }
                    }
                    tbody {
                        @for policy in &summary.policies {
                            tr.code[Some(policy.label.as_str()) == *highlighted] {
                                th scope="row" { (label::readable(&policy.label)) }
                                (mean_cells(policy.last().regret))
                                (mean_cells(policy.last().model_error))
                                td.n { (figure(policy.last().plausible.mean())) }
                                td.n { (percent(policy.runs_left, summary.runs)) }
                            }
                        }
                    }
                }
            }
            @for (label, share, what) in heavy(summary, model_error) {
                p.note {
                    "One run of " (summary.runs) " carries " (format!("{:.0}", 100.0 * share)) " % "
                    "of " (label) "’s summed " (what) ": no interval on its mean is reliable."
                }
            }
        }
    }
}

/// `x` with its standard error, as two cells.
pub fn mean_cells(moments: Moments) -> Markup {
    html! {
        td.n { (figure(moments.mean())) }
        td.se { @if let Some(error) = moments.standard_error() { "± " (figure(error)) } }
    }
}

/// A mean is unreliable if a single run contributes more than this share.
const HEAVY: f64 = 0.2;

/// Figures that one run dominates: the policy, the run's share, and the name of the figure.
pub fn heavy<'a>(summary: &'a Summary, model_error: &'a str) -> Vec<(&'a str, f64, &'a str)> {
    let of = |moments: &JointMoments, what: &'a str| -> Vec<(&'a str, f64, &'a str)> {
        let shares = summary
            .policies
            .iter()
            .enumerate()
            .map(|(i, policy)| (policy.label.as_str(), moments.largest_share(i), what));
        // With few runs every run has a large share.
        let usual = 4.0 / summary.runs as f64;
        shares.filter(|(_, share, _)| *share > HEAVY.max(usual)).collect()
    };
    [of(&summary.final_regret, "regret"), of(&summary.final_model_error, model_error)].concat()
}

/// The curves of one figure, one per policy; `style` gives a policy's style by position and label.
pub fn curves<'a>(
    summary: &'a Summary,
    title: &str,
    y_name: &'a str,
    pick: impl Fn(&Point) -> Moments,
    style: impl Fn(usize, &str) -> usize,
) -> Curves<'a> {
    let (mut series, mut finals, mut longest) = (Vec::new(), Vec::new(), 0);
    for (position, policy) in summary.policies.iter().enumerate() {
        let label = label::readable(&policy.label);
        let points = policy.points.iter().map(&pick);
        series.push(Series {
            label: label::cut(&label, LETTERS).into(),
            style: style(position, &policy.label),
            points: points.map(|value| (value.mean(), value.standard_error())).collect(),
        });
        finals.push(format!("{label} {}", figure(pick(policy.last()).mean())));
        longest = longest.max(label::columns(&policy.label));
    }
    Curves {
        description: format!(
            "{title} by round, logarithmic scales; at the last round: {}.",
            finals.join(", ")
        ),
        y_name,
        label_room: Curves::room_for(longest.min(LETTERS)),
        rounds: &summary.rounds,
        series,
    }
}

/// Curves with their caption, and a place where the page's script shows values.
pub fn curves_figure(curves: &Curves<'_>, title: &str, place: &str) -> Markup {
    html! {
        figure {
            figcaption { b { (title) } " by round, " (place) "; bands are 95 % intervals" }
            (curves.svg())
            div.readout aria-hidden="true" {}
        }
    }
}
