//! The outcome of a comparison: one page, two pictures and a table.

use crate::figure::Curves;
use crate::outcome::{self, FinalTable, curves_figure};
use crate::{label, latex, number};
use maud::{Markup, html};
use plausibly_sim::{Moments, Point, PolicySummary, Summary};

/// A comparison to show. The same contents give the same bytes.
#[derive(Clone, Copy, Debug)]
pub struct Simulation<'a> {
    /// Its name in the spec.
    pub name: &'a str,
    /// The spec that made it, word for word.
    pub spec: &'a str,
    /// The file name under which `command` expects the spec.
    pub spec_file: &'a str,
    /// The command that gives the same results again.
    pub command: &'a str,
    /// Seed of all randomness.
    pub seed: u64,
    /// Rounds per run.
    pub horizon: u64,
    /// The results.
    pub summary: &'a Summary,
}

/// Number of line styles of the page. With more policies styles repeat, and only labels differ.
const STYLES: usize = 8;

impl Simulation<'_> {
    /// The page: curves, final figures and what they mean, the spec, and how to run it again.
    pub fn html(&self) -> String {
        let Self { summary, horizon, .. } = self;
        let title = label::readable(self.name);
        let policies = summary.policies.len();
        let body = html! {
            header.top {
                p.eyebrow {
                    "Plausibly " (env!("CARGO_PKG_VERSION")) " · "
                    (policies) (if policies == 1 { " policy" } else { " policies" })
                    " compared in " (number::counted(summary.runs, "run", "runs")) " of "
                    (number::counted(*horizon, "round", "rounds"))
                }
                h1 { (title) }
                (self.lead())
                nav {
                    a href="#curves" { "Curves" } a href="#figures" { "Final figures" }
                    a href="#spec" { "Spec" } a href="#again" { "Run it again" }
                }
            }
            main {
                h2 #curves { "Curves" }
                div.figures {
                    (curves_figure(&self.regret(), "Regret", &title))
                    (curves_figure(&self.model_error(), "Model error", &title))
                }
                h2 #figures { "Final figures" }
                (self.table().markup())
                (columns())
                h2 #spec { "Spec" }
                p {
                    "Every policy played the same problems, action sets and noise. This is the "
                    "spec they come from, as it was given:"
                }
                pre { code { (self.spec) } }
                h2 #again { "Run it again" }
                p { "Save the spec as " code { (self.spec_file) } " and run:" }
                pre { code { (self.command) } }
                p {
                    "The same spec, seed and version give this page again, byte for byte, on any "
                    "number of threads. Seed " (self.seed) "."
                }
            }
            footer { p { "Made by Plausibly " (env!("CARGO_PKG_VERSION")) "." } }
        };
        crate::page(&format!("{title} – Plausibly"), &body)
    }

    fn table(&self) -> FinalTable<'_> {
        let caption = html! { "At the last round: means over runs ± standard errors." };
        FinalTable { summary: self.summary, model_error: "model error", highlighted: None, caption }
    }

    /// Regret by round, as an SVG file.
    pub fn regret_svg(&self) -> String {
        self.regret().file(&format!("{}: regret", label::readable(self.name)))
    }

    /// Model error by round, as an SVG file.
    pub fn model_error_svg(&self) -> String {
        self.model_error().file(&format!("{}: model error", label::readable(self.name)))
    }

    /// The final figures as a LaTeX table.
    pub fn latex(&self) -> String {
        latex::final_table(&label::readable(self.name), self.summary)
    }

    /// Names the policies with the lowest means; empty for a single policy.
    fn lead(&self) -> Markup {
        let Summary { policies, .. } = self.summary;
        let lowest = |pick: fn(&Point) -> Moments| {
            let mean = |policy: &&PolicySummary| pick(policy.last()).mean();
            policies
                .iter()
                .min_by(|a, b| mean(a).total_cmp(&mean(b)))
                .map(|policy| (policy, mean(&policy)))
        };
        let (Some((cheap, regret)), Some((knowing, error))) =
            (lowest(|point| point.regret), lowest(|point| point.model_error))
        else {
            return html! {};
        };
        html! {
            @if policies.len() > 1 {
                p.lead {
                    "The lowest mean regret is that of " b { (label::readable(&cheap.label)) } " ("
                    (number::figure(regret)) "), the lowest mean model error that of "
                    b { (label::readable(&knowing.label)) } " (" (number::figure(error)) ")."
                }
            }
        }
    }

    fn regret(&self) -> Curves<'_> {
        self.curves("Regret", "cumulative regret", |point| point.regret)
    }

    fn model_error(&self) -> Curves<'_> {
        self.curves("Model error", "cumulative model error", |point| point.model_error)
    }

    fn curves(&self, title: &str, y_name: &'static str, pick: fn(&Point) -> Moments) -> Curves<'_> {
        outcome::curves(self.summary, title, y_name, pick, |position, _| position % STYLES)
    }
}

/// Explains the columns of the final figures.
fn columns() -> Markup {
    html! {
        ul {
            li {
                b { "Regret" } ": the expected reward lost against always taking the best action, "
                "summed over the rounds. Lower is better."
            }
            li {
                b { "Model error" } ": in each round the largest squared error of an estimate "
                "among the actions that could still be best, summed over the rounds. Lower means "
                "better knowledge of the candidates."
            }
            li {
                b { "Plausible" } ": how many actions could still be best in the last round, "
                "judged by each policy’s own data."
            }
            li {
                b { "θ* left" } ": the share of runs in which the truth was ever outside the "
                "confidence set used to measure model error and plausible actions."
            }
            li {
                b { "±" } ": the standard error of the mean; a single run has none. Bands in the "
                "figures are 95 % intervals of the mean, round by round."
            }
        }
    }
}
