//! Tables for papers, in LaTeX with the rules of `booktabs`.

use crate::number;
use plausibly_sim::{Moments, Summary};
use std::fmt::Write;

/// The final figures as a `tabular`, one row per policy.
pub(crate) fn final_table(title: &str, summary: &Summary) -> String {
    let runs = number::grouped(summary.runs as f64);
    let mut text = format!(
        "% Written by plausibly {}.\n\
         % {}: means at the last round over {runs} runs, with standard errors.\n\
         % Needs \\usepackage{{booktabs}}; labels in other scripts than Latin and Greek need \
         LuaLaTeX or XeLaTeX.\n\
         \\begin{{tabular}}{{lrrrr}}\n\\toprule\n\
         Policy & Regret & Model error & Plausible & $\\theta^*$ left \\\\\n\\midrule\n",
        env!("CARGO_PKG_VERSION"),
        title.replace(['\n', '\r'], " "),
    );
    for policy in &summary.policies {
        let point = policy.last();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} & {} & {} & {} & {} \\\\",
            escaped(&policy.label),
            with_error(point.regret),
            with_error(point.model_error),
            math(point.plausible.mean()),
            number::percent(policy.runs_left, summary.runs).replace(" %", "\\,\\%"),
        );
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

/// A mean with its standard error, if it has one.
fn with_error(moments: Moments) -> String {
    match moments.standard_error() {
        Some(error) => format!("${} \\pm {}$", digits(moments.mean()), digits(error)),
        None => math(moments.mean()),
    }
}

fn math(value: f64) -> String {
    format!("${}$", digits(value))
}

/// A number as on the page, for use inside `$…$`.
fn digits(value: f64) -> String {
    let shown = number::figure(value).replace('−', "-").replace('∞', "\\infty");
    match shown.split_once('e') {
        Some((factor, power)) => format!("{factor} \\times 10^{{{power}}}"),
        // LaTeX adds space after a bare comma in a formula.
        None => shown.replace(',', "{,}"),
    }
}

/// Escapes every character that LaTeX would read as a command.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut tex, c| {
        match c {
            '\\' => tex.push_str("\\textbackslash{}"),
            '^' => tex.push_str("\\textasciicircum{}"),
            '~' => tex.push_str("\\textasciitilde{}"),
            '<' => tex.push_str("\\textless{}"),
            '>' => tex.push_str("\\textgreater{}"),
            '|' => tex.push_str("\\textbar{}"),
            '"' => tex.push_str("\\textquotedbl{}"),
            '{' | '}' | '#' | '$' | '%' | '&' | '_' => tex.extend(['\\', c]),
            _ => match greek(c) {
                Some(name) => {
                    let _ = write!(tex, "$\\{name}$");
                }
                None => tex.push(c),
            },
        }
        tex
    })
}

/// Greek letters, each before its command. As plain text they would need a font that few documents
/// load.
const GREEK: &str = "α alpha β beta γ gamma δ delta ε varepsilon ζ zeta η eta θ theta ι iota \
    κ kappa λ lambda μ mu µ mu ν nu ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ varphi χ chi ψ psi \
    ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega";

fn greek(c: char) -> Option<&'static str> {
    GREEK.split(' ').skip_while(|word| !word.chars().eq([c])).nth(1)
}

#[cfg(test)]
mod tests {
    use super::{digits, escaped};

    #[test]
    fn labels_hold_no_commands() {
        for (label, tex) in [
            ("LinUCB, narrow", "LinUCB, narrow"),
            ("ε-greedy", "$\\varepsilon$-greedy"),
            ("50% & more_#1 ${x}$", "50\\% \\& more\\_\\#1 \\$\\{x\\}\\$"),
            ("\\end{tabular}", "\\textbackslash{}end\\{tabular\\}"),
            ("a^b~c|d", "a\\textasciicircum{}b\\textasciitilde{}c\\textbar{}d"),
            ("<b>\"x\"", "\\textless{}b\\textgreater{}\\textquotedbl{}x\\textquotedbl{}"),
            ("naïve Å 茶", "naïve Å 茶"),
        ] {
            assert_eq!(escaped(label), tex, "{label}");
        }
    }

    #[test]
    fn every_special_character_is_escaped_by_a_law() {
        // In every label, commands begin only where escaping put them, and braces are balanced.
        for code in 0x20..0x7f_u8 {
            let c = char::from(code);
            let tex = escaped(&c.to_string());
            let special = "\\{}#$%&_^~<>|\"".contains(c);
            assert_eq!(tex.starts_with('\\'), special, "{c} became {tex}");
            assert!(special || tex == c.to_string(), "{c} became {tex}");
        }
    }

    #[test]
    fn numbers_are_formulas() {
        for (value, tex) in [
            (12_345.6, "12{,}346"),
            (-1000.0, "-1{,}000"),
            (1.25, "1.25"),
            (1.2e-5, "1.2 \\times 10^{-5}"),
            (f64::INFINITY, "\\infty"),
        ] {
            assert_eq!(digits(value), tex);
        }
    }
}
