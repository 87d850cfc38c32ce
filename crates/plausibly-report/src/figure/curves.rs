//! Curves over rounds, with confidence bands.

use super::{Frame, labels, point, px};
use crate::number;
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};
use std::borrow::Cow;

/// One policy's curve.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// Its name.
    pub label: Cow<'a, str>,
    /// Its style, by number; a policy has the same style in all figures.
    pub style: usize,
    /// Mean and standard error at each round; a single run has no error.
    pub points: Vec<(f64, Option<f64>)>,
}

/// Curves over the same rounds, on logarithmic scales.
#[derive(Clone, Debug)]
pub struct Curves<'a> {
    /// A sentence that describes the figure, for readers who cannot see it.
    pub description: String,
    /// Name of the vertical axis.
    pub y_name: &'a str,
    /// The room for labels beside the curves, [`Curves::LABEL_ROOM`] or more.
    pub label_room: f64,
    /// The rounds.
    pub rounds: &'a [u64],
    /// The curves.
    pub series: Vec<Series<'a>>,
}

const FRAME: Frame = Frame {
    width: 440.0,
    height: 290.0,
    left: 54.0,
    right: Curves::LABEL_ROOM,
    top: 9.0,
    bottom: 36.0,
};

/// Width of a letter of a label on a phone, where text is larger.
const LETTER: f64 = 7.6;

/// Quantile of the normal distribution: bands are 95 % intervals, point by point.
const BAND: f64 = 1.96;
/// First round drawn. Earlier rounds are mostly noise and would take a quarter of a logarithmic
/// axis.
const FIRST_ROUND: u64 = 10;

/// A drawing without its `svg` element.
struct Drawing {
    frame: Frame,
    /// Number of recorded rounds left out at the beginning.
    skip: usize,
    x: super::LogAxis,
    parts: Markup,
}

impl Curves<'_> {
    /// Room for the labels of the paper's policies.
    pub const LABEL_ROOM: f64 = 112.0;

    /// Room for labels of this many letters.
    pub fn room_for(letters: usize) -> f64 {
        Self::LABEL_ROOM.max(15.0 + LETTER * letters as f64)
    }

    /// A frame large enough for the labels of all curves.
    fn frame(&self) -> Frame {
        let height = FRAME.height.max(FRAME.top + FRAME.bottom + labels::room(self.series.len()));
        let width = FRAME.width + self.label_room - FRAME.right;
        Frame { width, height, right: self.label_room, ..FRAME }
    }

    /// The drawing, with the figures beside it for the page's script to read.
    pub fn svg(&self) -> Markup {
        let Drawing { frame, skip, x, parts } = self.drawing();
        html! {
            svg.curves viewBox={ "0 0 " (frame.width) " " (frame.height) } role="img"
                aria-label=(self.description) data-left=(frame.left)
                data-right=(frame.width - frame.right) data-top=(frame.top)
                data-bottom=(frame.height - frame.bottom) {
                (parts)
                line.cursor x1="-9" x2="-9" y1=(frame.top) y2=(frame.height - frame.bottom) {}
            }
            script type="application/json" { (PreEscaped(self.figures(skip, &x))) }
        }
    }

    /// The drawing as a separate file. It refers to nothing outside, and drawing programs
    /// understand its style.
    pub fn file(&self, title: &str) -> String {
        let Drawing { frame, parts, .. } = self.drawing();
        let Frame { width, height, .. } = frame;
        let markup = html! {
            svg xmlns="http://www.w3.org/2000/svg"
                data-generator={ "plausibly " (env!("CARGO_PKG_VERSION")) }
                viewBox={ "0 0 " (width) " " (height) }
                width=(2.0 * width) height=(2.0 * height) role="img" {
                title { (title) }
                desc { (self.description) }
                style { (PreEscaped(include_str!("curves.css"))) }
                rect.paper width=(width) height=(height) {}
                (parts)
            }
        };
        markup.into_string() + "\n"
    }

    fn drawing(&self) -> Drawing {
        let frame = self.frame();
        let first = if self.rounds.last().is_some_and(|last| *last >= 10 * FIRST_ROUND) {
            FIRST_ROUND
        } else {
            1
        };
        let skip = self.rounds.iter().take_while(|round| **round < first).count();
        let rounds = &self.rounds[skip..];
        let ends = |series: &Series<'_>| series.points.last().copied().unwrap_or((1.0, None)).0;
        let seen = || self.series.iter().flat_map(|series| &series.points[skip..]);
        let low =
            seen().map(|(mean, _)| *mean).filter(|mean| *mean > 0.0).fold(f64::INFINITY, f64::min);
        let high = seen().map(|point| band(point).1).fold(0.0, f64::max);
        let x = frame.x_axis(first as f64, self.rounds.last().copied().unwrap_or(1) as f64);
        let y = frame.y_axis(0.8 * low, 1.2 * high);
        let ends_at: Vec<f64> = self.series.iter().map(|series| y.at(ends(series))).collect();
        let labels = labels::spread(&ends_at, &frame);
        let right = frame.width - frame.right;
        let path = |series: &Series<'_>, pick: fn(&(f64, Option<f64>)) -> f64, backwards: bool| {
            let points = rounds.iter().zip(&series.points[skip..]);
            let place = |(round, value): (&u64, _)| point(x.at(*round as f64), y.at(pick(value)));
            let mut places: Vec<String> = points.map(place).collect();
            if backwards {
                places.reverse();
            }
            places.join("L")
        };
        let parts = html! {
            (frame.axes(&x, &y, "round", self.y_name))
            @for series in &self.series {
                path class={ "band s" (series.style) }
                    d={
                        "M" (path(series, |p| band(p).0, false))
                        "L" (path(series, |p| band(p).1, true)) "Z"
                    } {}
            }
            @for series in &self.series {
                path class={ "curve s" (series.style) } d={ "M" (path(series, |p| p.0, false)) } {}
            }
            @for (series, label) in self.series.iter().zip(&labels) {
                path class={ "leader s" (series.style) }
                    d={
                        "M" (point(right + 2.0, y.at(ends(series))))
                        "L" (point(right + 10.0, *label))
                    } {}
                text class={ "label s" (series.style) } x=(px(right + 13.0)) y=(px(label + 4.0)) {
                    (series.label)
                }
            }
        };
        Drawing { frame, skip, x, parts }
    }

    /// Positions, rounds and means as JSON. Labels cannot end the script element: `<` is escaped.
    fn figures(&self, skip: usize, x: &super::LogAxis) -> String {
        let rounds = &self.rounds[skip..];
        let places: Vec<String> = rounds.iter().map(|round| px(x.at(*round as f64))).collect();
        let figures = |series: &Series<'_>| {
            let means = series.points[skip..].iter().map(|(mean, _)| number::figure(*mean));
            json!({
                "label": series.label,
                "style": series.style,
                "means": means.collect::<Vec<_>>(),
            })
        };
        let series: Value = self.series.iter().map(figures).collect();
        let places = places.join(",");
        let json = format!("{{\"x\":[{places}],\"rounds\":{},\"series\":{series}}}", json!(rounds));
        json.replace('<', "\\u003c")
    }
}

fn band(&(mean, error): &(f64, Option<f64>)) -> (f64, f64) {
    let half = BAND * error.unwrap_or(0.0);
    (mean - half, mean + half)
}
