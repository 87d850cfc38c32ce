//! Regret against model error: one point per policy.

use super::{Frame, LogAxis, point, px};
use maud::{Markup, html};

/// One policy's point.
#[derive(Clone, Debug)]
pub struct Mark<'a> {
    /// Its name.
    pub label: &'a str,
    /// Its style, by number.
    pub style: usize,
    /// Horizontal mean and standard error.
    pub x: (f64, f64),
    /// Vertical mean and standard error.
    pub y: (f64, f64),
    /// Whether it is drawn hollow: a variant of the policy with the same style.
    pub hollow: bool,
}

/// Points with error bars, on logarithmic scales.
#[derive(Clone, Debug)]
pub struct TradeOff<'a> {
    /// A sentence that describes the figure, for readers who cannot see it.
    pub description: String,
    /// Name of the horizontal axis.
    pub x_name: &'a str,
    /// Name of the vertical axis.
    pub y_name: &'a str,
    /// The points.
    pub marks: Vec<Mark<'a>>,
    /// Lines through some of them.
    pub trails: Vec<Trail>,
}

/// A line through points that belong together, in this order.
#[derive(Clone, Debug)]
pub struct Trail {
    /// Its style, by number.
    pub style: usize,
    /// Which points, by position.
    pub through: Vec<usize>,
}

const FRAME: Frame =
    Frame { width: 560.0, height: 350.0, left: 54.0, right: 14.0, top: 12.0, bottom: 36.0 };

impl TradeOff<'_> {
    /// The drawing.
    pub fn svg(&self) -> Markup {
        let range = |pick: fn(&Mark<'_>) -> (f64, f64)| {
            let ends = || {
                self.marks.iter().map(pick).flat_map(|value| [end(value, -1.0), end(value, 1.0)])
            };
            (0.7 * ends().fold(f64::INFINITY, f64::min), 1.4 * ends().fold(0.0, f64::max))
        };
        let ((x_low, x_high), (y_low, y_high)) = (range(|mark| mark.x), range(|mark| mark.y));
        let (x, y) = (FRAME.x_axis(x_low, x_high), FRAME.y_axis(y_low, y_high));
        let places: Vec<(f64, f64)> =
            self.marks.iter().map(|mark| (x.at(mark.x.0), y.at(mark.y.0))).collect();
        let bars: Vec<Bars> = self.marks.iter().map(|mark| Bars::of(mark, &x, &y)).collect();
        let mut labels = Labels::new(&places, &bars);
        // From the bottom up, so that in a crowd the lowest point gets the label below it.
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|a, b| places[*b].1.total_cmp(&places[*a].1));
        let mut placed = vec![(0.0, 0.0, ""); places.len()];
        for index in order {
            let (cx, cy) = places[index];
            placed[index] = labels.place(cx, cy, self.marks[index].label.chars().count());
        }
        html! {
            svg.trade-off viewBox={ "0 0 " (FRAME.width) " " (FRAME.height) } role="img"
                aria-label=(self.description) {
                (FRAME.axes(&x, &y, self.x_name, self.y_name))
                @for trail in &self.trails {
                    path class={ "trail s" (trail.style) } d={
                        @for (position, mark) in trail.through.iter().enumerate() {
                            (if position == 0 { "M" } else { "L" })
                            (point(places[*mark].0, places[*mark].1))
                        }
                    } {}
                }
                @let drawn = self.marks.iter().zip(&places).zip(&bars).zip(&placed);
                @for (((mark, &(cx, cy)), bars), &(lx, ly, anchor)) in drawn {
                    path class={ "bar s" (mark.style) } d={
                        "M" (point(bars.left, cy)) "H" (px(bars.right))
                        "M" (point(cx, bars.bottom)) "V" (px(bars.top))
                    } {}
                    circle class={ "mark s" (mark.style) @if mark.hollow { " hollow" } }
                        cx=(px(cx)) cy=(px(cy)) r="5.5" {}
                    // A line connects a label to its point if it had to move away.
                    @let away = (ly - 4.0 - cy).abs();
                    @if away > 20.0 || (anchor != "middle" && away > 3.0) {
                        @let end = if ly < cy { ly + 2.0 } else { ly - 10.0 };
                        path class={ "leader s" (mark.style) }
                            d={ "M" (point(cx, cy)) "L" (point(lx, end)) } {}
                    }
                    text class={ "label s" (mark.style) } x=(px(lx)) y=(px(ly))
                        text-anchor=(anchor) {
                        (mark.label)
                    }
                }
            }
        }
    }
}

/// The ends of a point's error bars.
struct Bars {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Bars {
    fn of(mark: &Mark<'_>, x: &LogAxis, y: &LogAxis) -> Self {
        let (left, right) = (x.at(end(mark.x, -1.0)), x.at(end(mark.x, 1.0)));
        Self { left, right, top: y.at(end(mark.y, 1.0)), bottom: y.at(end(mark.y, -1.0)) }
    }
}

/// The mean minus or plus its standard error, kept above zero for the logarithm.
fn end((mean, error): (f64, f64), sign: f64) -> f64 {
    (mean + sign * error).max(0.2 * mean)
}

/// Areas that labels must not cover: points and placed labels, as boxes of left, top, right,
/// bottom.
struct Labels(Vec<[f64; 4]>);

impl Labels {
    /// No labels placed yet, around these points and error bars.
    fn new(places: &[(f64, f64)], bars: &[Bars]) -> Self {
        let points = places.iter().map(|(x, y)| [x - 7.0, y - 7.0, x + 7.0, y + 7.0]);
        let across =
            places.iter().zip(bars).map(|((_, y), bars)| [bars.left, y - 1.0, bars.right, y + 1.0]);
        let up =
            places.iter().zip(bars).map(|((x, _), bars)| [x - 1.0, bars.top, x + 1.0, bars.bottom]);
        Self(points.chain(across).chain(up).collect())
    }

    /// The nearest place around a point where a label of this many letters covers nothing.
    fn place(&mut self, x: f64, y: f64, letters: usize) -> (f64, f64, &'static str) {
        let width = 7.4 * letters as f64;
        // Away from the crowd: points below the others get labels below, so that no lines cross.
        let (crowd, up) = self.0.iter().fold((0, 0), |(crowd, up), [left, top, right, bottom]| {
            let (dx, dy) = (f64::midpoint(*left, *right) - x, f64::midpoint(*top, *bottom) - y);
            let near = dx.abs() < 30.0 && dy.abs() < 40.0 && dy.abs() > 1.0;
            (crowd + usize::from(near), up + usize::from(near && dy < 0.0))
        });
        let away_is = if 2 * up > crowd { 1.0 } else { -1.0 };
        let around = |away: f64| {
            let shift = away_is * away;
            [
                (x + 10.0, y + 4.0 + shift, "start", x + 10.0),
                (x - 10.0, y + 4.0 + shift, "end", x - 10.0 - width),
                (x, y + 4.5 + 16.5 * away_is + shift, "middle", x - width / 2.0),
                (x + 10.0, y + 4.0 - shift, "start", x + 10.0),
                (x - 10.0, y + 4.0 - shift, "end", x - 10.0 - width),
                (x, y + 4.5 - 16.5 * away_is - shift, "middle", x - width / 2.0),
            ]
        };
        let covers =
            |left: f64, baseline: f64| [left, baseline - 11.0, left + width, baseline + 3.0];
        let inside = |b: &[f64; 4]| {
            b[0] > FRAME.left
                && b[2] < FRAME.width
                && b[1] > 0.0
                && b[3] < FRAME.height - FRAME.bottom
        };
        let clear = |b: &[f64; 4]| {
            self.0.iter().all(|o| b[2] < o[0] || o[2] < b[0] || b[3] < o[1] || o[3] < b[1])
        };
        let mut places = (0..12).flat_map(|ring| around(6.0 * f64::from(ring)));
        let free = |(_, baseline, _, left): &(f64, f64, &str, f64)| {
            let covered = covers(*left, *baseline);
            inside(&covered) && clear(&covered)
        };
        let (lx, ly, anchor, left) = places.find(free).unwrap_or(around(0.0)[0]);
        self.0.push(covers(left, ly));
        (lx, ly, anchor)
    }
}
