//! The canonical form of a JSON document (RFC 8785): the same document gives the same bytes in any
//! language, whatever the order of its fields and the way its numbers were written.

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Error, Serializer};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::Range;
use std::rc::Rc;

/// A document in its canonical form. Whole numbers keep all their digits, also beyond 2⁵³, where
/// the standard has no form for them.
pub(super) fn canonical(document: &impl Serialize) -> Result<Vec<u8>, Error> {
    let out = Text::default();
    document.serialize(&mut Serializer::with_formatter(out.clone(), Canonical::new(&out)))?;
    Ok(out.0.take())
}

/// What is written so far, shared by the serializer and its formatter.
#[derive(Clone, Debug, Default)]
struct Text(Rc<RefCell<Vec<u8>>>);

impl Text {
    fn len(&self) -> usize {
        self.0.borrow().len()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes numbers as the standard says, and sorts the fields of an object when it ends. All else is
/// as in compact JSON.
#[derive(Debug)]
struct Canonical {
    out: Text,
    /// Of each open object, where its fields begin in the text and in `fields`.
    open: Vec<(usize, usize)>,
    fields: Vec<Field>,
    /// Room to sort in.
    sorted: Vec<u8>,
}

/// Where a field of an open object is in the text.
#[derive(Clone, Debug)]
struct Field {
    /// Its name, without quotes.
    name: Range<usize>,
    /// Where its value ends.
    end: usize,
}

impl Canonical {
    fn new(out: &Text) -> Self {
        let (out, open, fields, sorted) = (out.clone(), Vec::new(), Vec::new(), Vec::new());
        Self { out, open, fields, sorted }
    }
}

impl Formatter for Canonical {
    fn write_f64<W: ?Sized + Write>(&mut self, _: &mut W, value: f64) -> io::Result<()> {
        write_number(&mut self.out.0.borrow_mut(), value)
    }

    fn write_f32<W: ?Sized + Write>(&mut self, out: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(out, f64::from(value))
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b"{")?;
        self.open.push((self.out.len(), self.fields.len()));
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        let begin = self.out.len() + 1;
        self.fields.push(Field { name: begin..begin, end: begin });
        Ok(())
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let end = self.out.len() - 1;
        self.fields.last_mut().expect("begun before").name.end = end;
        Ok(())
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        // Objects inside of the value have taken their fields away.
        self.fields.last_mut().expect("begun before").end = self.out.len();
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let (begin, first) = self.open.pop().expect("begun before");
        let (mut text, fields) = (self.out.0.borrow_mut(), &mut self.fields[first..]);
        let by_name = |a: &Field, b: &Field| {
            let [a, b] = [a, b].map(|field| &text[field.name.clone()]);
            in_order(a, b)
        };
        fields.sort_by(by_name);
        self.sorted.clear();
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.sorted.push(b',');
            }
            // With the quote before the name.
            self.sorted.extend_from_slice(&text[field.name.start - 1..field.end]);
        }
        text[begin..].copy_from_slice(&self.sorted);
        self.fields.truncate(first);
        drop(text);
        out.write_all(b"}")
    }
}

/// The order of two names as JSON writes them: the standard sorts by UTF-16 code units.
fn in_order(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    let is_plain = |name: &[u8]| name.is_ascii() && !name.contains(&b'\\');
    if is_plain(a) && is_plain(b) {
        return a.cmp(b);
    }
    let units = |name: &[u8]| unescaped(name).encode_utf16().collect::<Vec<_>>();
    units(a).cmp(&units(b))
}

fn unescaped(name: &[u8]) -> Cow<'_, str> {
    let quoted = [b"\"", name, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).expect("written as JSON").into()
}

/// A double as ECMAScript writes it: the shortest digits that read back as the same double, without
/// an exponent from 10⁻⁶ to below 10²¹.
fn write_number(out: &mut Vec<u8>, number: f64) -> io::Result<()> {
    if number == 0.0 {
        // Minus zero too.
        return out.write_all(b"0");
    }
    let begin = out.len();
    // Of two shortest forms that are equally close, the standard takes the even one, as this does.
    serde_json::to_writer(&mut *out, &number)?;
    let text = &out[begin..];
    if !text.contains(&b'e') {
        if text.ends_with(b".0") {
            out.truncate(out.len() - 2);
        }
        return Ok(());
    }
    let text = String::from_utf8_lossy(text).into_owned();
    out.truncate(begin);
    write_with_exponent(out, &text)
}

/// A number that JSON writes with an exponent.
fn write_with_exponent(out: &mut Vec<u8>, text: &str) -> io::Result<()> {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("-", text));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{rest}");
    let digits = all.trim_start_matches('0');
    let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
    // The point stands after this many digits.
    let point =
        exponent.parse::<i32>().unwrap_or(0) + length(whole) - (length(&all) - length(digits));
    let digits = digits.trim_end_matches('0');
    let count = length(digits);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let split = digits.split_at(usize::try_from(point.clamp(0, count)).unwrap_or(0));
    match point {
        _ if count <= point && point <= 21 => write!(out, "{sign}{digits}{}", zeros(point - count)),
        1..=21 => write!(out, "{sign}{}.{}", split.0, split.1),
        -5..=0 => write!(out, "{sign}0.{}{digits}", zeros(-point)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            write!(out, "{sign}{first}{dot}{rest}e{:+}", point - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(number: f64) -> String {
        let mut out = Vec::new();
        write_number(&mut out, number).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn text(document: &impl Serialize) -> String {
        String::from_utf8(canonical(document).unwrap()).unwrap()
    }

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
            assert_eq!(written(f64::from_bits(bits)), text, "{bits:016x}");
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
            text(&document),
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\
             \"list\":[1,1,18446744073709551615,0,true,null,{},[]],\"\u{80}\":\"Control\",\
             \"\u{f6}\":\"Latin\",\"\u{20ac}\":\"Euro Sign\",\"\u{1f600}\":\"Smiley\",\
             \"\u{fb33}\":\"Hebrew Letter Dalet\"}"
        );
        assert_eq!(text(&serde_json::json!("\u{1f}\t\"\\/é")), "\"\\u001f\\t\\\"\\\\/é\"");
    }

    #[test]
    fn fields_of_structures_are_sorted_at_every_depth() {
        #[derive(Serialize)]
        struct Outer {
            z: Vec<Inner>,
            single: f32,
            nothing: f64,
            a: Inner,
        }
        #[derive(Clone, Serialize)]
        struct Inner {
            long: Option<bool>,
            lo: Vec<Vec<f64>>,
        }
        let inner = Inner { long: None, lo: vec![vec![2.0, -0.5], Vec::new()] };
        let (z, a) = (vec![inner.clone(), inner.clone()], inner);
        let outer = Outer { z, single: 0.5, nothing: f64::NAN, a };
        let inside = "{\"lo\":[[2,-0.5],[]],\"long\":null}";
        let others = "\"nothing\":null,\"single\":0.5";
        let expected = format!("{{\"a\":{inside},{others},\"z\":[{inside},{inside}]}}");
        assert_eq!(text(&outer), expected);
    }

    proptest! {
        #[test]
        fn every_number_reads_back(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            // Adding zero turns −0 into 0.
            let read: f64 = written(number).parse().unwrap();
            prop_assert_eq!(read.to_bits(), (number + 0.0).to_bits());
        }
    }
}
