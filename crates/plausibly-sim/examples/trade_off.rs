//! Draws the trade-off of a comparison, regret against model error, as an SVG.
//!
//! `cargo run --release -p plausibly-sim --example trade_off -- examples/first-experiment.toml > trade-off.svg`
#![expect(clippy::print_stdout, reason = "the picture goes to stdout")]

use plausibly_sim::{Experiment, Moments, Overrides, PolicySummary};
use std::fmt::Write;
use std::num::NonZeroUsize;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const MARGIN: f64 = 64.0;

/// A logarithmic axis that covers some values with room to spare.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).log10() - 0.2;
        let high = values.fold(0.0, f64::max).log10() + 0.2;
        Self { low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value.max(1e-9).log10() - self.low) / (self.high - self.low)
    }

    /// 1, 2 and 5 times the powers of ten within.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let inside = self.low..self.high;
        (-3..9_i32)
            .flat_map(|power| [1.0, 2.0, 5.0].map(|digit: f64| digit * 10.0_f64.powi(power)))
            .filter(move |value| inside.contains(&value.log10()))
    }
}

/// The mean less or more its standard error.
fn end(moments: Moments, sign: f64) -> f64 {
    let mean = moments.mean();
    (mean + sign * moments.standard_error().unwrap_or(0.0)).max(0.2 * mean)
}

/// What labels must not cover: points, and the middles of labels already placed.
struct Labels(Vec<(f64, f64)>);

impl Labels {
    /// The first place around a point where a label of so many letters covers nothing.
    fn place(&mut self, x: f64, y: f64, letters: usize) -> (f64, f64, &'static str) {
        let half = 4.0 * letters as f64;
        let places = [
            (x, y - 12.0, "middle", x),
            (x, y + 22.0, "middle", x),
            (x + 10.0, y + 5.0, "start", x + 10.0 + half),
            (x - 10.0, y + 5.0, "end", x - 10.0 - half),
        ];
        let free = |&&(_, at, _, middle): &&(f64, f64, &str, f64)| {
            self.0.iter().all(|(px, py)| (px - middle).abs() > half + 12.0 || (py - (at - 4.0)).abs() > 13.0)
        };
        let &(lx, ly, anchor, middle) = places.iter().find(free).unwrap_or(&places[0]);
        self.0.push((middle, ly - 4.0));
        (lx, ly, anchor)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: trade_off SPEC.toml > FILE.svg")?;
    let experiment = Experiment::from_toml(&std::fs::read_to_string(path)?, Overrides::default(), &())?;
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let summary = experiment.comparison().run(threads, &())?;
    print!("{}", draw(&experiment, &summary.policies)?);
    Ok(())
}

fn draw(experiment: &Experiment, policies: &[PolicySummary]) -> Result<String, std::fmt::Error> {
    let ends = |pick: fn(&PolicySummary) -> Moments| {
        policies.iter().flat_map(move |policy| [-1.0, 1.0].map(|sign| end(pick(policy), sign)))
    };
    let x = Axis::new(ends(|policy| policy.last().regret), MARGIN, WIDTH - 24.0);
    let y = Axis::new(ends(|policy| policy.last().model_error), HEIGHT - MARGIN, 48.0);
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' font-family='system-ui, sans-serif' \
         font-size='13'>\n<style>text {{ fill: #333 }} .axis {{ stroke: #ccc }} .policy {{ fill: #6b7280; stroke: #6b7280 }} \
         .code {{ fill: #c2410c; stroke: #c2410c }} @media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .axis {{ stroke: #444 }} }}\
         </style>\n<text x='{MARGIN}' y='24' font-weight='600'>What each policy paid, and how well it knew the actions that \
         could still be best</text>\n"
    );
    for value in x.ticks() {
        let at = x.at(value);
        writeln!(svg, "<line class='axis' x1='{at:.1}' x2='{at:.1}' y1='48' y2='{}'/>", HEIGHT - MARGIN)?;
        writeln!(
            svg,
            "<text x='{at:.1}' y='{}' text-anchor='middle'>{value}</text>",
            HEIGHT - MARGIN + 18.0
        )?;
    }
    for value in y.ticks() {
        let at = y.at(value);
        writeln!(svg, "<line class='axis' x1='{MARGIN}' x2='{}' y1='{at:.1}' y2='{at:.1}'/>", WIDTH - 24.0)?;
        writeln!(svg, "<text x='{}' y='{:.1}' text-anchor='end'>{value}</text>", MARGIN - 8.0, at + 4.0)?;
    }
    let points: Vec<(f64, f64)> = policies
        .iter()
        .map(|policy| (x.at(policy.last().regret.mean()), y.at(policy.last().model_error.mean())))
        .collect();
    let mut labels = Labels(points.clone());
    for (policy, (cx, cy)) in policies.iter().zip(points) {
        let (regret, error) = (policy.last().regret, policy.last().model_error);
        let class = if policy.label == "CODE" { "code" } else { "policy" };
        let (left, right) = (x.at(end(regret, -1.0)), x.at(end(regret, 1.0)));
        let (bottom, top) = (y.at(end(error, -1.0)), y.at(end(error, 1.0)));
        writeln!(
            svg,
            "<path class='{class}' d='M{left:.1} {cy:.1}H{right:.1}M{cx:.1} {bottom:.1}V{top:.1}'/>"
        )?;
        writeln!(svg, "<circle class='{class}' cx='{cx:.1}' cy='{cy:.1}' r='5'/>")?;
        let (lx, ly, anchor) = labels.place(cx, cy, policy.label.chars().count());
        let text = &policy.label;
        writeln!(
            svg,
            "<text x='{lx:.1}' y='{ly:.1}' text-anchor='{anchor}' font-weight='600'>{text}</text>"
        )?;
    }
    let middle = f64::midpoint(MARGIN, WIDTH - 24.0);
    let (runs, horizon) = (experiment.runs, experiment.horizon);
    writeln!(
        svg,
        "<text x='{middle:.1}' y='{}' text-anchor='middle'>regret after {horizon} rounds ({runs} runs, ± standard error)</text>",
        HEIGHT - 20.0
    )?;
    let centre = f64::midpoint(HEIGHT - MARGIN, 48.0);
    writeln!(
        svg,
        "<text transform='rotate(-90 16 {centre})' x='16' y='{centre}' text-anchor='middle'>model error</text>\n</svg>"
    )?;
    Ok(svg)
}
