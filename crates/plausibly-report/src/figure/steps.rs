//! A step curve over decisions: each value holds until the next decision.

use super::{LinearAxis, LogAxis, px, tick};
use maud::{Markup, html};

/// Figures that span more than this factor are drawn on a logarithmic scale.
const WIDE_SPAN: f64 = 20.0;

/// Label of stretches without a value.
const GAP: &str = "some had no outcome yet";

/// A step curve.
#[derive(Debug)]
pub(crate) struct Steps<'a> {
    /// Decisions in order, each with its value if it had one.
    pub(crate) points: Vec<(u64, Option<f64>)>,
    /// The largest possible value at the same decisions.
    pub(crate) ceiling: Option<Vec<f64>>,
    /// The last value as text.
    pub(crate) last: String,
    /// Name of the vertical axis.
    pub(crate) name: &'a str,
    /// Whether the figures are counts.
    pub(crate) counts: bool,
    /// Outer size.
    pub(crate) size: (f64, f64),
    /// Size of the font.
    pub(crate) font: f64,
}

/// An axis of either scale: the position of a value, and the ticks with labels and positions.
struct Axis {
    at: Box<dyn Fn(f64) -> f64>,
    ticks: Vec<(String, f64)>,
}

impl Steps<'_> {
    /// The drawing.
    pub(crate) fn drawing(&self) -> Markup {
        let ((width, height), font) = (self.size, self.font);
        let floor = height - 3.1 * font;
        let Axis { at: y, mut ticks } = self.y_axis(floor, 0.7 * font, height / (3.4 * font));
        if self.points.iter().all(|point| point.1.is_none()) {
            ticks.clear();
        }
        let letters = ticks.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(1);
        let left = (0.6 * letters as f64 + 2.4) * font;
        let right = width - (0.62 * self.last.chars().count() as f64 + 1.2) * font;
        let first = self.points.first().map_or(1, |point| point.0);
        let last = self.points.last().map_or(2, |point| point.0);
        let x = LinearAxis::new(first as f64, last as f64, left, right);
        let end = self.points.last().and_then(|(_, value)| *value);
        html! {
            g font-size=(font) {
                @for (text, at) in &ticks {
                    line.grid x1=(px(left)) x2=(px(right)) y1=(px(*at)) y2=(px(*at)) {}
                    text.tick x=(px(left - 0.5 * font)) y=(px(at + 0.35 * font)) text-anchor="end" {
                        (text)
                    }
                }
                @for (text, at) in x.ticks((right - left) / (4.2 * font), 1.0) {
                    text.tick x=(px(at)) y=(px(floor + 1.4 * font)) text-anchor="middle" { (text) }
                }
                @for (from, to) in self.gaps() {
                    rect.gap x=(px(x.at(from))) width=(px(x.at(to) - x.at(from)))
                        y=(px(0.7 * font)) height=(px(floor - 0.7 * font)) {}
                    @if x.at(to) - x.at(from) > 0.6 * font * GAP.len() as f64 {
                        text.tick x=(px(f64::midpoint(x.at(from), x.at(to)))) y=(px(floor / 2.0))
                            text-anchor="middle" {
                            (GAP)
                        }
                    }
                }
                line.axis x1=(px(left)) x2=(px(right)) y1=(px(floor)) y2=(px(floor)) {}
                text.name x=(px(f64::midpoint(left, right))) y=(px(height - 0.35 * font))
                    text-anchor="middle" {
                    "decision"
                }
                text.name transform={ "rotate(-90 " (px(font)) " " (px(floor / 2.0)) ")" }
                    x=(px(font)) y=(px(floor / 2.0)) text-anchor="middle" {
                    (self.name)
                }
                @if let Some(ceiling) = &self.ceiling {
                    path.ceiling d=(self.path(&x, &y, ceiling.iter().map(|value| Some(*value)))) {}
                }
                path.steps d=(self.path(&x, &y, self.points.iter().map(|point| point.1))) {}
                @if let Some(end) = end {
                    circle.end cx=(px(right)) cy=(px(y(end))) r=(px(0.3 * font)) {}
                    text.end-name x=(px(right + 0.6 * font)) y=(px(y(end) + 0.35 * font)) {
                        (self.last)
                    }
                }
            }
        }
    }

    /// Whether some decisions had no value.
    pub(crate) fn has_gaps(&self) -> bool {
        self.points.iter().any(|point| point.1.is_none())
    }

    fn y_axis(&self, bottom: f64, top: f64, about: f64) -> Axis {
        let values = || self.points.iter().filter_map(|point| point.1);
        let ceiling = self.ceiling.iter().flatten().copied();
        let high = values().chain(ceiling).fold(0.0, f64::max);
        let low = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        if !self.counts && high > WIDE_SPAN * low {
            let axis = LogAxis::new(0.8 * low, 1.2 * high, bottom, top);
            let ticks = axis.ticks().into_iter().map(|(value, at)| (tick(value), at)).collect();
            Axis { at: Box::new(move |value| axis.at(value)), ticks }
        } else {
            let axis = LinearAxis::new(0.0, 1.06 * high, bottom, top);
            let ticks = axis.ticks(about, if self.counts { 1.0 } else { 0.0 });
            Axis { at: Box::new(move |value| axis.at(value)), ticks }
        }
    }

    /// The line: horizontal from each decision to the next, broken by gaps.
    fn path(
        &self,
        x: &LinearAxis,
        y: &dyn Fn(f64) -> f64,
        values: impl Iterator<Item = Option<f64>>,
    ) -> String {
        let mut drawing = false;
        let parts = self.points.iter().zip(values).map(|((decision, _), value)| {
            let at = px(x.at(*decision as f64));
            let part = match (value, drawing) {
                (Some(value), true) => format!("H{at}V{}", px(y(value))),
                (Some(value), false) => format!("M{at} {}", px(y(value))),
                (None, true) => format!("H{at}"),
                (None, false) => String::new(),
            };
            drawing = value.is_some();
            part
        });
        parts.collect()
    }

    /// The ranges of decisions without values.
    fn gaps(&self) -> Vec<(f64, f64)> {
        let mut gaps: Vec<(f64, f64)> = Vec::new();
        for (place, (decision, value)) in self.points.iter().enumerate() {
            let next = self.points.get(place + 1).map_or(*decision, |point| point.0) as f64;
            match gaps.last_mut() {
                _ if value.is_some() => {}
                Some(gap) if gap.1 >= *decision as f64 => gap.1 = next,
                _ => gaps.push((*decision as f64, next)),
            }
        }
        gaps
    }
}
