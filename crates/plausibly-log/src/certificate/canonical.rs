//! The canonical form of a JSON document (RFC 8785): the same document gives the same bytes in any
//! language, whatever the order of its fields and the way its numbers were written.

use serde_json::Value as Json;
use std::fmt::Write;

/// A document in its canonical form. Whole numbers keep all their digits, also beyond 2⁵³, where
/// the standard has no form for them.
pub(super) fn canonical(document: &Json) -> String {
    let mut out = String::new();
    write_value(&mut out, document);
    out
}

fn write_value(out: &mut String, value: &Json) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) => write_number(out, number),
            None => out.push_str(&number.to_string()),
        },
        Json::String(text) => out.push_str(&Json::from(text.as_str()).to_string()),
        Json::Array(items) => {
            write_list(out, ('[', ']'), items.iter(), write_value);
        }
        Json::Object(entries) => {
            let mut sorted: Vec<(&String, &Json)> = entries.iter().collect();
            // The standard sorts names by their UTF-16 code units.
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            write_list(out, ('{', '}'), sorted.into_iter(), |out, (name, value)| {
                out.push_str(&Json::from(name.as_str()).to_string());
                out.push(':');
                write_value(out, value);
            });
        }
    }
}

fn write_list<T>(
    out: &mut String,
    (open, close): (char, char),
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(close);
}

/// A double as ECMAScript writes it: the shortest digits that read back as the same double, without
/// an exponent from 10⁻⁶ to below 10²¹.
fn write_number(out: &mut String, number: f64) {
    if number == 0.0 {
        // Minus zero too.
        out.push('0');
        return;
    }
    // Of two shortest forms that are equally close, the standard takes the even one, as this does.
    let text = Json::from(number.abs()).to_string();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{rest}");
    let digits = all.trim_start_matches('0');
    let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
    // The point stands after this many digits.
    let point =
        exponent.parse::<i32>().unwrap_or(0) + length(whole) - (length(&all) - length(digits));
    let digits = digits.trim_end_matches('0');
    let count = length(digits);
    if number < 0.0 {
        out.push('-');
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let split = digits.split_at(usize::try_from(point.clamp(0, count)).unwrap_or(0));
    let _ = match point {
        _ if count <= point && point <= 21 => write!(out, "{digits}{}", zeros(point - count)),
        1..=21 => write!(out, "{}.{}", split.0, split.1),
        -5..=0 => write!(out, "0.{}{digits}", zeros(-point)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            write!(out, "{first}{dot}{rest}e{:+}", point - 1)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The numbers of appendix B of RFC 8785, by their bits.
    #[test]
    fn numbers_are_those_of_the_standard() {
        for (bits, text) in [
            (0x0000_0000_0000_0000_u64, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            let mut out = String::new();
            write_number(&mut out, f64::from_bits(bits));
            assert_eq!(out, text, "{bits:016x}");
        }
    }

    #[test]
    fn names_are_sorted_and_text_is_escaped_as_the_standard_says() {
        let document = serde_json::json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet",
            "1": "One", "\u{1f600}": "Smiley", "\u{80}": "Control", "\u{f6}": "Latin",
            "list": [1.0, 1, u64::MAX, -0.0, true, null, {}, []],
        });
        assert_eq!(
            canonical(&document),
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\
             \"list\":[1,1,18446744073709551615,0,true,null,{},[]],\"\u{80}\":\"Control\",\
             \"\u{f6}\":\"Latin\",\"\u{20ac}\":\"Euro Sign\",\"\u{1f600}\":\"Smiley\",\
             \"\u{fb33}\":\"Hebrew Letter Dalet\"}"
        );
        assert_eq!(canonical(&serde_json::json!("\u{1f}\t\"\\/é")), "\"\\u001f\\t\\\"\\\\/é\"");
    }

    proptest! {
        #[test]
        fn every_number_reads_back(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let mut out = String::new();
            write_number(&mut out, number);
            // Adding zero turns −0 into 0.
            prop_assert_eq!(out.parse::<f64>().unwrap().to_bits(), (number + 0.0).to_bits());
        }
    }
}
