//! Makes a self-contained HTML file.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Identifies a page written by plausibly; the version follows it.
pub const PAGE_MARK: &str = r#"<meta name="generator" content="plausibly "#;

/// A page with this title and body, with style and script inside.
///
/// It loads nothing and is readable without the script. The policy in its head forbids every load,
/// so a mistake shows as an error in the browser and not as a request to a server.
pub fn page(title: &str, body: &Markup) -> String {
    Page { title, style: "", script: Script::Figures }.with(body)
}

/// A page without its body.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// Rules beyond those of every page.
    pub(crate) style: &'a str,
    pub(crate) script: Script,
}

/// Which script a page has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// The script of figures.
    Figures,
    /// No script; the policy forbids any.
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
                    // An empty icon, because without one browsers request it from the server.
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
