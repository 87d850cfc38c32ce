//! One HTML file that needs nothing else.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page with this title and body: style and script inside, no request to anywhere, readable without the script.
///
/// The policy in its head forbids every load, so that a later mistake shows as an error in the browser and not as a
/// request to somebody's server.
pub fn page(title: &str, body: &Markup) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                // An empty icon: without one browsers ask the server for theirs.
                link rel="icon" href="data:,";
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                (body)
                script { (PreEscaped(include_str!("page.js"))) }
            }
        }
    };
    markup.into_string()
}
