//! Checks that a drawing is well-formed XML.

/// Panics unless elements are opened and closed in order, attributes are quoted and XML allows
/// every character. Returns the text between tags.
pub(crate) fn well_formed(xml: &str) -> Vec<String> {
    let allowed = |c: char| {
        let forbidden = matches!(c, '\u{fffe}' | '\u{ffff}');
        matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !forbidden)
    };
    assert!(xml.chars().all(allowed), "characters that XML forbids");
    let (mut open, mut texts, mut rest) = (Vec::new(), Vec::new(), xml);
    while let Some(at) = rest.find('<') {
        texts.push(unescaped(&rest[..at]));
        let end = at + tag_end(&rest[at..]);
        let tag = &rest[at + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed out of order");
        } else {
            attributes(tag);
            let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
            assert!(!name.is_empty(), "<{tag}");
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "left open: {open:?} {rest}");
    texts
}

/// Where a tag ends: a `>` in a quoted value does not count.
fn tag_end(tag: &str) -> usize {
    let mut quoted = false;
    let ends = |(_, c): &(usize, char)| {
        quoted ^= *c == '"';
        *c == '>' && !quoted
    };
    tag.char_indices().find(ends).unwrap_or_else(|| panic!("never ends: {tag}")).0
}

fn attributes(tag: &str) {
    let parts: Vec<&str> = tag.split('"').collect();
    assert!(parts.len() % 2 == 1, "a quote is open in <{tag}>");
    for pair in parts.chunks_exact(2) {
        assert!(pair[0].ends_with('='), "{} in <{tag}>", pair[0]);
        assert!(!pair[1].contains('<'), "< in a value of <{tag}>");
        unescaped(pair[1]);
    }
}

/// A text with its references resolved; panics at an ampersand that is none.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    for (place, part) in text.split('&').enumerate() {
        let known = [("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\"")];
        match known.iter().find_map(|(name, c)| Some((part.strip_prefix(name)?, c))) {
            _ if place == 0 => plain += part,
            Some((after, c)) => plain = plain + c + after,
            None => panic!("a bare & before {part:?}"),
        }
    }
    plain
}
