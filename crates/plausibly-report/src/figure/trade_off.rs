//! What each policy paid against how well it knew: one point a policy.

use super::{Frame, px};
use maud::{Markup, html};

/// One policy's point.
#[derive(Clone, Debug)]
pub struct Mark<'a> {
    /// Its name.
    pub label: &'a str,
    /// Which of the page's styles it is drawn in.
    pub style: usize,
    /// Mean and standard error across.
    pub x: (f64, f64),
    /// Mean and standard error up.
    pub y: (f64, f64),
    /// Drawn hollow: a variant of the policy whose style it has.
    pub hollow: bool,
}

/// Points with error bars, on logarithmic scales.
#[derive(Clone, Debug)]
pub struct TradeOff<'a> {
    /// What is shown, in a sentence: for those who cannot see it.
    pub description: String,
    /// What goes across.
    pub x_name: &'a str,
    /// What goes up.
    pub y_name: &'a str,
    /// The points.
    pub marks: Vec<Mark<'a>>,
}

const FRAME: Frame = Frame { width: 760.0, height: 420.0, left: 66.0, right: 20.0, top: 16.0, bottom: 44.0 };

impl TradeOff<'_> {
    /// The drawing.
    pub fn svg(&self) -> Markup {
        let range = |pick: fn(&Mark<'_>) -> (f64, f64)| {
            let ends = || self.marks.iter().map(pick).flat_map(|value| [end(value, -1.0), end(value, 1.0)]);
            (0.7 * ends().fold(f64::INFINITY, f64::min), 1.4 * ends().fold(0.0, f64::max))
        };
        let ((x_low, x_high), (y_low, y_high)) = (range(|mark| mark.x), range(|mark| mark.y));
        let (x, y) = (FRAME.x_axis(x_low, x_high), FRAME.y_axis(y_low, y_high));
        let places: Vec<(f64, f64)> =
            self.marks.iter().map(|mark| (x.at(mark.x.0), y.at(mark.y.0))).collect();
        let mut labels = Labels(places.clone());
        html! {
            svg.trade-off viewBox={ "0 0 " (FRAME.width) " " (FRAME.height) } role="img" aria-label=(self.description) {
                (FRAME.axes(&x, &y, self.x_name, self.y_name))
                @for (mark, &(cx, cy)) in self.marks.iter().zip(&places) {
                    path class={ "bar s" (mark.style) } d={
                        "M" (px(x.at(end(mark.x, -1.0)))) " " (px(cy)) "H" (px(x.at(end(mark.x, 1.0))))
                        "M" (px(cx)) " " (px(y.at(end(mark.y, -1.0)))) "V" (px(y.at(end(mark.y, 1.0))))
                    } {}
                    circle class={ "mark s" (mark.style) @if mark.hollow { " hollow" } } cx=(px(cx)) cy=(px(cy)) r="5.5" {}
                    @let (lx, ly, anchor) = labels.place(cx, cy, mark.label.chars().count());
                    text class={ "label s" (mark.style) } x=(px(lx)) y=(px(ly)) text-anchor=(anchor) { (mark.label) }
                }
            }
        }
    }
}

/// The mean less or more its standard error; kept above zero for the logarithm.
fn end((mean, error): (f64, f64), sign: f64) -> f64 {
    (mean + sign * error).max(0.2 * mean)
}

/// What labels must not cover: points, and the middles of labels already placed.
struct Labels(Vec<(f64, f64)>);

impl Labels {
    /// The first place around a point where a label of so many letters covers nothing.
    fn place(&mut self, x: f64, y: f64, letters: usize) -> (f64, f64, &'static str) {
        let half = 3.8 * letters as f64;
        let places = [
            (x + 10.0, y + 4.0, "start", x + 10.0 + half),
            (x - 10.0, y + 4.0, "end", x - 10.0 - half),
            (x, y - 12.0, "middle", x),
            (x, y + 22.0, "middle", x),
        ];
        let inside = |middle: f64| middle - half > FRAME.left && middle + half < FRAME.width;
        let free = |&&(_, at, _, middle): &&(f64, f64, &str, f64)| {
            let clear =
                |(px, py): &(f64, f64)| (px - middle).abs() > half + 12.0 || (py - (at - 4.0)).abs() > 13.0;
            inside(middle) && self.0.iter().all(clear)
        };
        let &(lx, ly, anchor, middle) = places.iter().find(free).unwrap_or(&places[2]);
        self.0.push((middle, ly - 4.0));
        (lx, ly, anchor)
    }
}
