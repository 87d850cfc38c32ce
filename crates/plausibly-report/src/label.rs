//! Makes names from users' tables safe to show. Templates escape markup. This module handles what
//! remains: characters that XML forbids, that reorder the text around them, or that are invisible.

/// Isolate text that runs from right to left, so that it does not reorder the sentence around it.
const ISOLATE: (char, char) = ('\u{2068}', '\u{2069}');

/// A name that is safe to show anywhere. One that looks empty is shown by its code points; control
/// characters, including those of direction, become replacement characters.
pub(crate) fn readable(name: &str) -> String {
    if name.chars().all(|c| c.is_whitespace() || c.is_control() || invisible(c)) {
        let points: Vec<String> = name.chars().map(|c| format!("U+{:04X}", u32::from(c))).collect();
        return if points.is_empty() {
            "blank".into()
        } else {
            format!("blank ({})", points.join(" "))
        };
    }
    let shown = name.chars().map(|c| match c {
        '\t' | '\n' | '\r' => ' ',
        _ if c.is_control() || reorders(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        _ => c,
    });
    if name.chars().any(right_to_left) {
        std::iter::once(ISOLATE.0).chain(shown).chain([ISOLATE.1]).collect()
    } else {
        shown.collect()
    }
}

/// Cuts a name to at most `most` columns.
pub(crate) fn cut(name: &str, most: usize) -> String {
    if columns(name) <= most {
        return name.into();
    }
    let mut room = most.saturating_sub(1);
    let fits = |c: &char| {
        let taken = column(*c);
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    };
    let mut text: String = name.chars().take_while(fits).collect();
    text.truncate(text.trim_end().len());
    text.push('…');
    // Closes the isolation that the cut removed.
    if name.starts_with(ISOLATE.0) {
        text.push(ISOLATE.1);
    }
    text
}

/// The approximate width of a text, in letters.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(column).sum()
}

fn column(c: char) -> usize {
    let wide = matches!(
        u32::from(c),
        0x1100..=0x115e
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe4f
            | 0xff00..=0xff60
            | 0x1f300..=0x1faff
            | 0x20000..=0x3fffd
    );
    // Marks on the previous letter take no room.
    let none = invisible(c) || matches!(c, '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}');
    if none { 0 } else { 1 + usize::from(wide) }
}

/// Whether a character has no ink or no width.
fn invisible(c: char) -> bool {
    matches!(
        u32::from(c),
        0xad | 0x34f
            | 0x115f
            | 0x1160
            | 0x180e
            | 0x200b..=0x200f
            | 0x2028..=0x202e
            | 0x2060..=0x206f
            | 0x2800
            | 0x3164
            | 0xfeff
    )
}

/// Embeddings, overrides, isolates and separators, which would affect text beyond the name.
fn reorders(c: char) -> bool {
    matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character belongs to a script that runs from right to left.
fn right_to_left(c: char) -> bool {
    matches!(
        u32::from(c),
        0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc | 0x10800..=0x10fff | 0x1e800..=0x1efff
    )
}

#[cfg(test)]
mod tests {
    use super::{columns, cut, readable};

    #[test]
    fn every_name_can_be_seen_and_stays_in_its_place() {
        assert_eq!(readable("oat milk <b>"), "oat milk <b>", "markup is not its business");
        assert_eq!(readable(""), "blank");
        assert_eq!(readable(" \u{200b}"), "blank (U+0020 U+200B)");
        assert_eq!(readable("a\u{1}b\u{202e}c\nd"), "a\u{fffd}b\u{fffd}c d");
        assert_eq!(readable("שלום"), "\u{2068}שלום\u{2069}");
    }

    #[test]
    fn cutting_keeps_to_the_room_and_closes_what_was_opened() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("茶茶茶茶", 6), "茶茶…");
        let hebrew = cut(&readable(&"ש".repeat(50)), 10);
        assert!(hebrew.ends_with("…\u{2069}") && columns(&hebrew) == 10, "{hebrew:?}");
    }
}
