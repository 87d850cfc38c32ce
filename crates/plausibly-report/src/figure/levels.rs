//! Means at a few levels of one setting: one line per policy, one mean with its interval per level.

use super::{Frame, LogAxis, labels, point, px};
use crate::number::Estimate;
use maud::{Markup, html};

/// The shape of a line's marks. Shape and filling distinguish lines without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A circle.
    Circle,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
}

/// One policy.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Its name.
    pub label: &'a str,
    /// Its style, by number.
    pub style: usize,
    /// Shape of its marks.
    pub shape: Shape,
    /// Whether it is a variant of the policy with the same style and shape: drawn hollow and
    /// dashed.
    pub variant: bool,
    /// Mean and interval at each level.
    pub points: Vec<Estimate>,
}

/// Lines over the same levels, on logarithmic scales.
#[derive(Clone, Debug)]
pub struct Levels<'a> {
    /// A sentence that describes the figure, for readers who cannot see it.
    pub description: String,
    /// Name of the horizontal axis.
    pub x_name: &'a str,
    /// Name of the vertical axis.
    pub y_name: &'a str,
    /// The levels, increasing.
    pub levels: &'a [f64],
    /// The lines.
    pub lines: Vec<Line<'a>>,
}

const FRAME: Frame =
    Frame { width: 440.0, height: 290.0, left: 64.0, right: 138.0, top: 9.0, bottom: 36.0 };
/// Distance between marks of one level, so that equal means are all visible.
const ASIDE: f64 = 6.0;
/// Room on both sides of the levels, as a factor.
const MARGIN: f64 = 1.7;
/// Smallest factor that an axis spans; a shorter one would have few ticks.
const LEAST_RANGE: f64 = 4.0;

impl Levels<'_> {
    /// The drawing.
    pub fn svg(&self) -> Markup {
        let (first, last) =
            (self.levels.first().unwrap_or(&1.0), self.levels.last().unwrap_or(&1.0));
        let (x, y) = (FRAME.x_axis(first / MARGIN, last * MARGIN), self.y_axis());
        let middle = (self.lines.len().max(1) - 1) as f64 / 2.0;
        // Positions of a mean and of the ends of its interval.
        let bar = |point: &Estimate| Estimate {
            value: y.at(point.value),
            low: y.at(floor(point)),
            high: y.at(point.high),
        };
        let place = |(position, line): (usize, &Line<'_>)| {
            let aside = ASIDE * (position as f64 - middle);
            let points = self.levels.iter().zip(&line.points);
            points.map(|(level, point)| (x.at(*level) + aside, bar(point))).collect()
        };
        let places: Vec<Vec<(f64, Estimate)>> = self.lines.iter().enumerate().map(place).collect();
        let ends: Vec<(f64, f64)> = places
            .iter()
            .filter_map(|line| line.last())
            .map(|(at, bar)| (*at, bar.value))
            .collect();
        let labels =
            labels::spread(&ends.iter().map(|(_, mean)| *mean).collect::<Vec<_>>(), &FRAME);
        let right = FRAME.width - FRAME.right;
        html! {
            svg.levels viewBox={ "0 0 " (FRAME.width) " " (FRAME.height) } role="img"
                aria-label=(self.description) {
                (FRAME.axes(&x, &y, self.x_name, self.y_name))
                @for (line, places) in self.lines.iter().zip(&places) {
                    path class={ "trail s" (line.style) @if line.variant { " variant" } } d={
                        @for (position, (at, bar)) in places.iter().enumerate() {
                            (if position == 0 { "M" } else { "L" }) (point(*at, bar.value))
                        }
                    } {}
                }
                @for ((line, (at, mean)), label) in self.lines.iter().zip(&ends).zip(&labels) {
                    path class={ "leader s" (line.style) }
                        d={ "M" (point(*at, *mean)) "L" (point(right + 6.0, *label)) } {}
                }
                @for (line, places) in self.lines.iter().zip(&places) {
                    @for (at, bar) in places {
                        path class={ "bar s" (line.style) }
                            d={ "M" (point(*at, bar.low)) "V" (px(bar.high)) } {}
                        (mark(line, *at, bar.value))
                    }
                }
                @for (line, label) in self.lines.iter().zip(&labels) {
                    (mark(line, right + 11.0, *label))
                    text class={ "label s" (line.style) } x=(px(right + 19.0)) y=(px(label + 4.0)) {
                        (line.label)
                    }
                }
            }
        }
    }

    /// From the lowest end of an interval to the highest.
    fn y_axis(&self) -> LogAxis {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let low = points().map(floor).filter(|low| *low > 0.0).fold(f64::INFINITY, f64::min);
        let high =
            points().map(|point| point.high).filter(|high| high.is_finite()).fold(0.0, f64::max);
        let widen = (LEAST_RANGE * low / high).max(1.0).sqrt();
        FRAME.y_axis(0.85 * low / widen, 1.18 * high * widen)
    }
}

/// The lower end of an interval; kept above zero for the logarithm.
fn floor(point: &Estimate) -> f64 {
    point.low.max(0.2 * point.value)
}

fn mark(line: &Line<'_>, x: f64, y: f64) -> Markup {
    let outline = match line.shape {
        Shape::Circle => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", x - 4.0),
        Shape::Square => format!("M{:.1} {:.1}h7.4v7.4h-7.4Z", x - 3.7, y - 3.7),
        Shape::Diamond => format!("M{:.1} {y:.1}l5.2 -5.2l5.2 5.2l-5.2 5.2Z", x - 5.2),
    };
    html! { path class={ "mark s" (line.style) @if line.variant { " hollow" } } d=(outline) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'a>(label: &'a str, points: &[(f64, f64, f64)]) -> Line<'a> {
        let points =
            points.iter().map(|&(value, low, high)| Estimate { value, low, high }).collect();
        Line { label, style: 0, shape: Shape::Circle, variant: false, points }
    }

    fn drawn(lines: Vec<Line<'_>>) -> String {
        let levels = Levels {
            description: "Lines.".into(),
            x_name: "delay",
            y_name: "regret",
            levels: &[1.0, 10.0],
            lines,
        };
        levels.svg().into_string()
    }

    #[test]
    fn equal_means_stand_side_by_side_and_every_line_has_its_name() {
        let svg = drawn(vec![
            line("A", &[(5.0, 4.0, 6.0), (9.0, 8.0, 9.5)]),
            line("B", &[(5.0, 4.0, 6.0), (9.0, 8.0, 9.5)]),
        ]);
        let trails: Vec<&str> = svg.split("class=\"trail s0\" d=\"M").skip(1).collect();
        let start = |trail: &str| trail.split(' ').next().and_then(|x| x.parse::<f64>().ok());
        let (one, other) = (start(trails[0]).unwrap_or(0.0), start(trails[1]).unwrap_or(0.0));
        assert!((other - one - ASIDE).abs() < 0.11, "{one} and {other}");
        assert!(svg.contains(">A</text>") && svg.contains(">B</text>"));
    }

    #[test]
    fn what_a_logarithm_does_not_have_is_still_drawn() {
        // An interval below zero, one without an end, means that hardly differ, and nothing at all.
        for points in [
            vec![(1.0, -3.0, 5.0), (1.0, 0.5, f64::INFINITY)],
            vec![(100.0, 99.9, 100.1), (100.0, 99.9, 100.1)],
            vec![(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)],
            vec![],
        ] {
            let svg = drawn(vec![line("A", &points)]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.matches("class=\"tick\"").count() >= 3, "{svg}");
        }
        assert!(drawn(Vec::new()).contains("svg"));
    }
}
