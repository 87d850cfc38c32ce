//! Figures as SVG.
//!
//! Colours and fonts come from the page by class, so that one drawing serves light and dark screens
//! and paper. Plotting libraries write colours into the drawing, which then cannot follow the page;
//! therefore this module draws by itself.

mod axis;
mod curves;
mod forest;
mod labels;
mod levels;
mod linear;
mod steps;
mod trade_off;

pub use curves::{Curves, Series};
pub use levels::{Levels, Line, Shape};
pub use trade_off::{Mark, TradeOff, Trail};

pub(crate) use forest::{Forest, Layout, Mark as ForestMark};
pub(crate) use steps::Steps;

use axis::LogAxis;
use linear::LinearAxis;
use maud::{Markup, html};

/// A figure's outer size in its own units, and the room around the plot.
struct Frame {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn x_axis(&self, low: f64, high: f64) -> LogAxis {
        LogAxis::new(low, high, self.left, self.width - self.right)
    }

    fn y_axis(&self, low: f64, high: f64) -> LogAxis {
        LogAxis::new(low, high, self.height - self.bottom, self.top)
    }

    /// Grid, ticks and the names of the axes.
    fn axes(&self, x: &LogAxis, y: &LogAxis, x_name: &str, y_name: &str) -> Markup {
        let (right, floor) = (self.width - self.right, self.height - self.bottom);
        let middle = f64::midpoint(self.top, floor);
        html! {
            @for (value, at) in x.ticks() {
                line.grid x1=(px(at)) x2=(px(at)) y1=(px(self.top)) y2=(px(floor)) {}
                text.tick x=(px(at)) y=(px(floor + 14.0)) text-anchor="middle" { (tick(value)) }
            }
            @for (value, at) in y.ticks() {
                line.grid x1=(px(self.left)) x2=(px(right)) y1=(px(at)) y2=(px(at)) {}
                text.tick x=(px(self.left - 6.0)) y=(px(at + 4.0)) text-anchor="end" {
                    (tick(value))
                }
            }
            line.axis x1=(px(self.left)) x2=(px(right)) y1=(px(floor)) y2=(px(floor)) {}
            text.name x=(px(f64::midpoint(self.left, right))) y=(px(self.height - 5.0))
                text-anchor="middle" {
                (x_name)
            }
            text.name transform={ "rotate(-90 10 " (px(middle)) ")" } x="10" y=(px(middle))
                text-anchor="middle" {
                (y_name)
            }
        }
    }
}

/// A coordinate, rounded to a tenth of a unit, which is finer than a screen.
fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// A point of a path.
fn point(x: f64, y: f64) -> String {
    format!("{} {}", px(x), px(y))
}

/// A tick's label, such as 10,000 or 0.01, not as a power.
fn tick(value: f64) -> String {
    if value >= 1.0 { crate::number::grouped(value) } else { format!("{value}") }
}
