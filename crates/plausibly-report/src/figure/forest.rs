//! Every action's estimate and interval, one row each, and the line below which actions are ruled
//! out.

use super::{LinearAxis, point, px};
use crate::{label, number};
use maud::{Markup, html};
use plausibly_log::certificate::{Certificate, Comparison, Finding, RuledOut, Standing};

/// Label of the line at the best lower bound.
const LINE: &str = "bars that end left of this line are out";
/// Width of a letter relative to the font size, rounded up.
const LETTER: f64 = 0.6;
/// Width of a bold letter relative to the font size.
const BOLD: f64 = 0.66;

/// Sizes, in units of the drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Outer width.
    pub(crate) width: f64,
    /// Height of a row.
    pub(crate) row: f64,
    /// Size of the font.
    pub(crate) font: f64,
    /// Most letters of a label to the left; above its bar, a label has the room that the value
    /// leaves.
    pub(crate) letters: usize,
    /// Whether labels are above their bars, as on a phone, or to the left.
    pub(crate) above: bool,
    /// Most rows.
    pub(crate) most: usize,
}

impl Layout {
    /// For screens and paper.
    pub(crate) const WIDE: Self =
        Self { width: 920.0, row: 25.0, font: 13.0, letters: 34, above: false, most: 40 };
    /// For phones.
    pub(crate) const NARROW: Self =
        Self { width: 360.0, row: 40.0, font: 12.5, letters: 0, above: true, most: 40 };
}

/// How a row is drawn. Kinds differ in shape, not in colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A diamond on a thick bar.
    Chosen,
    /// A dot on a bar.
    Racing,
    /// A ring on a thin bar.
    Out,
    /// Nothing on a dashed bar.
    Unknown,
}

impl Mark {
    fn class(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Racing => "racing",
            Self::Out => "out",
            Self::Unknown => "racing unknown",
        }
    }

    /// The mark of an estimate.
    pub(crate) fn at(self, x: f64, y: f64, size: f64) -> Markup {
        let wide = 1.4 * size;
        html! {
            @match self {
                Self::Chosen => path.point d={
                    "M" (point(x - wide, y)) "L" (point(x, y - wide))
                    "L" (point(x + wide, y)) "L" (point(x, y + wide)) "Z"
                } {},
                Self::Racing | Self::Out => circle.point cx=(px(x)) cy=(px(y)) r=(px(size)) {},
                Self::Unknown => {},
            }
        }
    }

    /// A sample of this width for a legend.
    pub(crate) fn sample(self, width: f64, height: f64) -> Markup {
        let y = height / 2.0;
        html! {
            g class=(self.class()) {
                line.reach x1="1" x2=(px(width - 1.0)) y1=(px(y)) y2=(px(y)) {}
                (self.at(width / 2.0, y, height / 4.4))
            }
        }
    }
}

/// The rows of a certificate, ready to be drawn.
#[derive(Debug)]
pub(crate) struct Forest<'a> {
    certificate: &'a Certificate,
    rows: Vec<&'a Finding>,
    chosen: u64,
    /// The best lower bound, drawn as a line if it rules actions out.
    pub(crate) line: Option<f64>,
    /// Actions not drawn: how many could still be best, and how many are out.
    left_out: (u64, u64),
    pub(crate) layout: Layout,
}

impl<'a> Forest<'a> {
    /// Selects the rows that matter most, in the order of their estimates. The certificate's labels
    /// must be safe to show.
    pub(crate) fn new(certificate: &'a Certificate, layout: Layout) -> Self {
        let (words, findings) = (certificate.words(), &certificate.findings);
        let best = findings.actions.iter().max_by(|a, b| a.lower.total_cmp(&b.lower));
        let beaten = words.beaten();
        let needed = findings.actions.iter().filter(|action| {
            action.id == findings.chosen.id || best.is_some_and(|best| best.id == action.id)
        });
        let mut rows: Vec<&Finding> = Vec::new();
        for action in needed.chain(words.racing()).chain(beaten.iter().map(|one| one.action)) {
            if rows.len() < layout.most && !rows.iter().any(|row| row.id == action.id) {
                rows.push(action);
            }
        }
        let estimate = |action: &Finding| action.mean.unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|a, b| estimate(b).total_cmp(&estimate(a)).then(a.id.cmp(&b.id)));
        let racing = rows.iter().filter(|row| row.standing == Standing::Plausible).count();
        let left_out = (
            words.plausible().saturating_sub(racing as u64),
            words.out().saturating_sub((rows.len() - racing) as u64),
        );
        // A bound at the lowest possible reward rules nothing out.
        let line = best.map(|best| best.lower).filter(|lower| {
            words.compares_intervals() && *lower > certificate.grounds.reward_range.0
        });
        Self { certificate, rows, chosen: findings.chosen.id, line, left_out, layout }
    }

    /// The kinds of rows drawn, for a legend.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let all = [Mark::Chosen, Mark::Racing, Mark::Out, Mark::Unknown];
        all.into_iter().filter(|mark| self.rows.iter().any(|row| self.mark(row) == *mark)).collect()
    }

    /// Says how many actions are not drawn.
    pub(crate) fn left_out(&self) -> Option<String> {
        let (racing, out) = self.left_out;
        let more = racing + out;
        let also = if more == 1 { "1 more is not drawn" } else { "more are not drawn" };
        let lead = if more == 1 { also.to_string() } else { format!("{more} {also}") };
        match (racing, out) {
            (0, 0) => None,
            (0, _) => Some(format!("{lead}: out of the race.")),
            (_, 0) => Some(format!("{lead}: still in the race.")),
            _ => Some(format!("{lead}: {racing} still in the race, {out} out of it.")),
        }
    }

    /// A sentence that describes the figure, for readers who cannot see it.
    pub(crate) fn description(&self) -> String {
        let out = self.rows.iter().filter(|row| row.standing != Standing::Plausible).count();
        let mut text = format!(
            "One row for each of {} actions, sorted by estimate: where its average reward may lie. \
             {} could still be best, {out} are out of the race",
            self.rows.len(),
            self.rows.len() - out
        );
        if let (Some(line), true) = (self.line, out > 0) {
            text.push_str(" because they do not reach ");
            text.push_str(&self.number(line));
        }
        text + "."
    }

    /// Height of the drawing.
    pub(crate) fn height(&self) -> f64 {
        self.top() + self.layout.row * self.rows.len() as f64 + 3.1 * self.layout.font
    }

    /// The drawing, as wide as its layout and as high as [`height`](Self::height) says.
    pub(crate) fn drawing(&self) -> Markup {
        let layout = self.layout;
        let (labels, values) =
            if layout.above { (0.0, 0.0) } else { (self.label_width(), self.value_width()) };
        // Half a letter on each side of the axis, for the labels of its ends.
        let edge = 0.6 * layout.font;
        let x = self.axis(labels + edge, layout.width - values - edge);
        let floor = self.top() + layout.row * self.rows.len() as f64;
        html! {
            g font-size=(layout.font) {
                @let ticks = x.ticks((layout.width - labels - values) / (4.5 * layout.font), 0.0);
                @for (text, at) in ticks {
                    line.grid x1=(px(at)) x2=(px(at)) y1=(px(self.top())) y2=(px(floor)) {}
                    text.tick x=(px(at)) y=(px(floor + 1.35 * layout.font)) text-anchor="middle" {
                        (text)
                    }
                }
                line.axis x1=(px(labels)) x2=(px(layout.width - values)) y1=(px(floor))
                    y2=(px(floor)) {}
                text.name x=(px(f64::midpoint(labels, layout.width - values)))
                    y=(px(floor + 2.75 * layout.font)) text-anchor="middle" {
                    "average reward"
                }
                @for (position, row) in self.rows.iter().enumerate() {
                    @if row.id == self.chosen {
                        rect.stripe x="0" width=(px(layout.width))
                            y=(px(self.top() + layout.row * position as f64))
                            height=(px(layout.row)) rx="3" {}
                    }
                }
                @if let Some(line) = self.line { (self.best_bound(&x, line, floor)) }
                @for (position, row) in self.rows.iter().enumerate() {
                    (self.row(row, self.top() + layout.row * position as f64, labels, &x))
                }
            }
        }
    }

    fn number(&self, value: f64) -> String {
        number::minus(&self.certificate.number(value))
    }

    fn gap(&self, value: f64) -> String {
        number::minus(&self.certificate.gap(value))
    }

    /// Room above the rows for the label of the line.
    fn top(&self) -> f64 {
        if self.line.is_some() { 2.1 * self.layout.font } else { 0.4 * self.layout.font }
    }

    /// Room for the longest label, and for the arrow before the chosen one.
    fn label_width(&self) -> f64 {
        let width = |row: &&Finding| {
            label::columns(&row.label).min(self.room(row)) as f64 * self.letter(row)
        };
        let widest = self.rows.iter().map(width).fold(4.0 * LETTER * self.layout.font, f64::max);
        widest + 2.4 * self.layout.font
    }

    /// Width of a letter of a label.
    fn letter(&self, row: &Finding) -> f64 {
        self.layout.font * if row.id == self.chosen { BOLD } else { LETTER }
    }

    /// Number of letters of a label that fit.
    fn room(&self, row: &Finding) -> usize {
        let layout = self.layout;
        if !layout.above {
            return layout.letters;
        }
        // Values have a slightly smaller font.
        let value =
            0.92 * label::columns(&self.value(row)) as f64 * self.letter(row) + 2.4 * layout.font;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 8 to the width of a drawing"
        )]
        let letters = ((layout.width - value) / self.letter(row)).max(8.0) as usize;
        letters
    }

    /// Room for the estimates and their intervals.
    fn value_width(&self) -> f64 {
        let letters =
            self.rows.iter().map(|row| label::columns(&self.value(row))).max().unwrap_or(0);
        (letters as f64 * LETTER + 1.0) * self.layout.font
    }

    /// The estimate, and its interval or how far it is behind.
    fn value(&self, row: &Finding) -> String {
        match row.mean {
            None => "no outcome yet".into(),
            Some(mean) => {
                let [mean, lower, upper] =
                    [mean, row.lower, row.upper].map(|value| self.number(value));
                match self.behind(row) {
                    Some(behind) => format!("{mean}, {behind}"),
                    None => format!("{mean} ({lower} to {upper})"),
                }
            }
        }
    }

    /// How far a row is behind the action that rules it out, where ranges alone do not show it.
    fn behind(&self, row: &Finding) -> Option<String> {
        let Standing::RuledOut(RuledOut { kind, behind_by, .. }) = row.standing else {
            return None;
        };
        match (kind?, behind_by) {
            (Comparison::Difference, Some((at_least, at_most))) => {
                Some(format!("behind by {} to {}", self.gap(at_least), self.gap(at_most)))
            }
            (Comparison::Pair, _) => Some("its outcomes are worse".into()),
            _ => None,
        }
    }

    /// From the lowest end to the highest.
    fn axis(&self, from: f64, to: f64) -> LinearAxis {
        let values = || {
            self.rows.iter().flat_map(|row| [Some(row.lower), row.mean, Some(row.upper)]).flatten()
        };
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let margin = 0.03 * (high - low);
        LinearAxis::new(low - margin, high + margin, from, to)
    }

    fn best_bound(&self, x: &LinearAxis, line: f64, floor: f64) -> Markup {
        let (layout, at) = (self.layout, x.at(line));
        let half = 0.5 * LETTER * layout.font * label::columns(LINE) as f64;
        let middle = at.clamp(half, (layout.width - half).max(half));
        html! {
            line.best x1=(px(at)) x2=(px(at)) y1=(px(1.45 * layout.font)) y2=(px(floor)) {}
            text.best-name x=(px(middle)) y=(px(1.05 * layout.font)) text-anchor="middle" { (LINE) }
        }
    }

    fn mark(&self, row: &Finding) -> Mark {
        match row.standing {
            _ if row.id == self.chosen => Mark::Chosen,
            Standing::RuledOut(_) => Mark::Out,
            Standing::Plausible if row.mean.is_none() => Mark::Unknown,
            Standing::Plausible => Mark::Racing,
        }
    }

    fn row(&self, row: &Finding, top: f64, labels: f64, x: &LinearAxis) -> Markup {
        let (layout, mark) = (self.layout, self.mark(row));
        let (text_y, y) = if layout.above {
            (top + 1.15 * layout.font, top + layout.row - 0.75 * layout.font)
        } else {
            (top + 0.5 * layout.row + 0.35 * layout.font, top + 0.5 * layout.row)
        };
        let size = 0.34 * layout.font;
        let (name_x, anchor) = if layout.above {
            (if mark == Mark::Chosen { 1.4 * layout.font } else { 0.3 * layout.font }, "start")
        } else {
            (labels - 0.6 * layout.font, "end")
        };
        let never = if row.mean.is_none() && mark == Mark::Chosen { " unknown" } else { "" };
        html! {
            g class={ "row " (mark.class()) (never) } {
                title { (row.label) ": " (self.value(row)) }
                @if mark == Mark::Chosen {
                    (pointer(0.3 * layout.font, text_y - 0.36 * layout.font, 0.4 * layout.font))
                }
                text.who x=(px(name_x)) y=(px(text_y)) text-anchor=(anchor) {
                    (label::cut(&row.label, self.room(row)))
                }
                text.value x=(px(layout.width - 0.3 * layout.font)) y=(px(text_y))
                    text-anchor="end" {
                    (self.value(row))
                }
                (self.interval(row, x, y, size))
                @if let Some(mean) = row.mean { (mark.at(x.at(mean), y, size)) }
            }
        }
    }

    /// The bar. An end inside the range of rewards has a cap; an end at the limit of the range has
    /// an arrow.
    fn interval(&self, row: &Finding, x: &LinearAxis, y: f64, size: f64) -> Markup {
        let (least, most) = self.certificate.grounds.reward_range;
        let (left, right) = (x.at(row.lower), x.at(row.upper));
        let arrow = |at: f64, inwards: f64| {
            let base = at + inwards * 1.5 * size;
            html! {
                path.tip d={
                    "M" (point(at, y)) "L" (point(base, y - size)) "L" (point(base, y + size)) "Z"
                } {}
            }
        };
        let cap = |at: f64| {
            html! {
                line.cap x1=(px(at)) x2=(px(at)) y1=(px(y - size)) y2=(px(y + size)) {}
            }
        };
        html! {
            line.reach x1=(px(left)) x2=(px(right)) y1=(px(y)) y2=(px(y)) {}
            @if row.lower > least { (cap(left)) } @else { (arrow(left, 1.0)) }
            @if row.upper < most { (cap(right)) } @else { (arrow(right, -1.0)) }
        }
    }
}

/// An arrow to the right, before the name of the chosen one.
fn pointer(x: f64, y: f64, size: f64) -> Markup {
    html! {
        path.pointer d={
            "M" (point(x, y - size)) "L" (point(x + 1.5 * size, y)) "L" (point(x, y + size)) "Z"
        } {}
    }
}
