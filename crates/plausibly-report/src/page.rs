//! One HTML file that needs nothing else.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// By this a page that plausibly wrote is recognised; a version follows.
pub const PAGE_MARK: &str = r#"<meta name="generator" content="plausibly "#;

/// A page with this title and body: style and script inside, no request to anywhere, readable
/// without the script.
///
/// The policy in its head forbids every load, so that a later mistake shows as an error in the
/// browser and not as a request to somebody's server.
pub fn page(title: &str, body: &Markup) -> String {
    Page { title, style: "", script: Script::Figures }.with(body)
}

/// What a page is made of beside its body.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// Rules beyond those of every page.
    pub(crate) style: &'a str,
    pub(crate) script: Script,
}

/// Which script a page has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// That of figures.
    Figures,
    /// None, and none is let in.
    None,
}

impl Page<'_> {
    pub(crate) fn with(&self, body: &Markup) -> String {
        let scripts =
            if self.script == Script::Figures { " script-src 'unsafe-inline';" } else { "" };
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline';{scripts} img-src data:; \
             base-uri 'none'; form-action 'none'"
        );
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    (PreEscaped(PAGE_MARK)) (env!("CARGO_PKG_VERSION")) (PreEscaped("\">"))
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    // An empty icon: without one browsers ask the server for theirs.
                    link rel="icon" href="data:,";
                    style { (PreEscaped(include_str!("page.css"))) (PreEscaped(self.style)) }
                }
                body {
                    (body)
                    @if self.script == Script::Figures {
                        script { (PreEscaped(include_str!("page.js"))) }
                    }
                }
            }
        };
        markup.into_string()
    }
}
