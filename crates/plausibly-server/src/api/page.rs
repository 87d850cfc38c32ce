//! The page `/docs`: the description of the interface for people. It needs no network.

use crate::problem::Code;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

/// The page that shows this description.
pub(super) fn page(document: &Value) -> String {
    let routes = routes(document);
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Plausibly: the interface" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "Plausibly" }
                    p { (said(&document["info"]["description"])) }
                    p {
                        "Bodies are JSON, sent with " code { "Content-Type: application/json" }
                        ". With keys, requests carry " code { "Authorization: Bearer KEY" } ". "
                        a href="/openapi.json" { "The description for programs" } "."
                    }
                    (contents(&routes))
                    @for (tag, routes) in &routes {
                        h2 { (tag) }
                        @for route in routes { (shown(document, route)) }
                    }
                    (problems())
                }
            }
        }
    };
    text.into_string()
}

/// A route with its method and path.
struct Route<'a> {
    name: String,
    about: &'a Value,
}

impl Route<'_> {
    /// The place of the route in the page.
    fn id(&self) -> String {
        let parts = self.name.split(|c: char| !c.is_ascii_alphanumeric());
        let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("-").to_lowercase()
    }
}

/// The routes by what they are for.
fn routes(document: &Value) -> Vec<(&str, Vec<Route<'_>>)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let all: Vec<Route<'_>> = paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, about)| {
                let name = format!("{} {path}", method.to_uppercase());
                Route { name, about }
            })
        })
        .collect();
    let mut tags: Vec<(&Value, Vec<Route<'_>>)> =
        document["tags"].as_array().into_iter().flatten().map(|tag| (tag, Vec::new())).collect();
    for route in all {
        let tag = &route.about["tags"][0];
        if let Some((_, routes)) = tags.iter_mut().find(|(one, _)| one["name"] == *tag) {
            routes.push(route);
        }
    }
    tags.into_iter().map(|(tag, routes)| (said(&tag["description"]), routes)).collect()
}

/// Links to all routes, and to what can be wrong.
fn contents(routes: &[(&str, Vec<Route<'_>>)]) -> Markup {
    html! {
        nav {
            table {
                @for route in routes.iter().flat_map(|(_, routes)| routes) {
                    tr {
                        th { a href={ "#" (route.id()) } { (said(&route.about["summary"])) } }
                        td { code { (route.name) } }
                    }
                }
                tr { th { a href="#problems" { "What can be wrong" } } td {} }
            }
        }
    }
}

fn said(text: &Value) -> &str {
    text.as_str().unwrap_or_default()
}

/// Text with parts in code, as comments in the program mark them.
fn prose(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// A route with what it takes and answers.
fn shown(document: &Value, own: &Route<'_>) -> Markup {
    let route = own.about;
    let parameters = route["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let body = &route["requestBody"]["content"]["application/json"]["schema"];
    let empty = serde_json::Map::new();
    let answers = route["responses"].as_object().unwrap_or(&empty);
    html! {
        section id=(own.id()) {
            h3 { code { (own.name) } }
            p class="what" { (said(&route["summary"])) }
            @for paragraph in said(&route["description"]).split("\n\n") { p { (prose(paragraph)) } }
            @let named: Vec<_> =
                parameters.iter().filter(|one| one["in"] != "path").collect();
            @if !named.is_empty() {
                table {
                    @for one in named {
                        tr {
                            th { code { (said(&one["name"])) } }
                            td { (said(&one["in"])) }
                            td { (prose(said(&one["description"]))) }
                        }
                    }
                }
            }
            @if !body.is_null() { h4 { "Body" } (fields(document, body, 0)) }
            @let good: Vec<_> =
                answers.iter().filter(|(status, _)| status.starts_with('2')).collect();
            @for (place, (status, answer)) in good.iter().enumerate() {
                h4 { "Answer " (status) ": " (said(&answer["description"])) }
                @if place > 0 && answer["content"] == good[0].1["content"] {
                    p { "the same fields" }
                } @else {
                    @for kind in answer["content"].as_object().unwrap_or(&empty).values() {
                        (fields(document, &kind["schema"], 0))
                    }
                }
            }
        }
    }
}

/// The fields of a schema, as deep as people read.
fn fields(document: &Value, schema: &Value, depth: usize) -> Markup {
    let schema = resolved(document, schema);
    let either = ["oneOf", "anyOf"].iter().find_map(|name| schema[*name].as_array());
    let empty = serde_json::Map::new();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        @if let Some(either) = either.filter(|_| depth < 3) {
            @for (place, one) in either.iter().filter(|one| one["type"] != "null").enumerate() {
                @if place > 0 { p class="or" { "or" } }
                (fields(document, one, depth))
            }
        } @else if schema["type"] == "array" && depth < 3 {
            p { "an array of" }
            (fields(document, &schema["items"], depth + 1))
        } @else if let Some(all) = schema["allOf"].as_array() {
            @for one in all { (fields(document, one, depth)) }
        } @else if let Some(properties) = schema["properties"].as_object() {
            table {
                @for (name, field) in properties {
                    tr {
                        th {
                            code { (name) }
                            @if !required.iter().any(|one| one == name) { " (optional)" }
                        }
                        td { (kind(document, field)) }
                        td {
                            (prose(description(document, field)))
                            @if depth < 2 && has_fields(document, field) {
                                details {
                                    summary { "fields" }
                                    (fields(document, field, depth + 1))
                                }
                            }
                        }
                    }
                }
            }
        } @else {
            @let additional = schema["additionalProperties"].as_object().unwrap_or(&empty);
            @if additional.is_empty() { p { (kind(document, schema)) } }
            @else { p { "an object with any keys" } }
        }
    }
}

/// Follows a reference.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    name.and_then(|path| document.pointer(path)).unwrap_or(schema)
}

fn has_fields(document: &Value, field: &Value) -> bool {
    let field = resolved(document, field);
    let inner = resolved(document, &field["items"]);
    let optional = field["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |schema: &Value| schema["properties"].is_object();
    has(field) || has(inner) || optional.iter().any(|one| has(resolved(document, one)))
}

/// What a field is: its own description, or that of its schema.
fn description<'a>(document: &'a Value, field: &'a Value) -> &'a str {
    let mut places = std::iter::once(field)
        .chain(alternatives(field))
        .flat_map(|one| [one, resolved(document, one)]);
    places.find_map(|one| one["description"].as_str()).unwrap_or_default()
}

/// The schemas that a value may have, without null.
fn alternatives(field: &Value) -> impl Iterator<Item = &Value> {
    let found = ["oneOf", "anyOf"].iter().find_map(|name| field[*name].as_array());
    found.into_iter().flatten().filter(|one| one["type"] != "null")
}

/// The type of a field in a few words. Null is left out: such fields are optional, or say what it
/// means.
fn kind(document: &Value, field: &Value) -> String {
    let field = resolved(document, field);
    let mut kinds: Vec<String> = alternatives(field).map(|one| kind(document, one)).collect();
    if let Some(values) = field["enum"].as_array() {
        kinds.extend(values.iter().map(ToString::to_string));
    } else if let Some(one) = field["type"].as_str() {
        kinds.push(one.into());
    } else if let Some(several) = field["type"].as_array() {
        let several = several.iter().filter_map(Value::as_str);
        kinds.extend(several.filter(|one| *one != "null").map(String::from));
    }
    if kinds == ["array"] && field["items"].is_object() {
        return format!("array of {}", kind(document, &field["items"]));
    }
    kinds.dedup();
    if kinds.is_empty() { "object".into() } else { kinds.join(" or ") }
}

/// What can be wrong.
fn problems() -> Markup {
    html! {
        h2 id="problems" { "What can be wrong" }
        p {
            "A request that is not carried out is answered by " code { "application/problem+json" }
            " with one of these codes, what is wrong in words, and where it can be said the JSON "
            "pointer of the field. Nothing was written then. Only after " code { "stopped" } " and "
            code { "internal" } " it is not known."
        }
        table {
            @for code in Code::ALL {
                tr id=(code.text()) {
                    th { code { (code.text()) } }
                    td { (code.status().as_u16()) }
                    td { (code.title()) }
                }
            }
        }
    }
}

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 58rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 2.5rem; }
h3 { margin: 2rem 0 0.2rem; font-size: 1rem; }
h3 code { background: var(--soft); padding: 0.2rem 0.4rem; overflow-wrap: anywhere; }
h4 { margin: 0.8rem 0 0.2rem; font-size: 0.9rem; }
.what { font-weight: 600; margin: 0.2rem 0; }
.or { margin: 0.2rem 0; font-style: italic; }
p { margin: 0.3rem 0; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 0.6rem 0.2rem 0;
         border-top: 1px solid var(--line); font-weight: normal; }
th { width: 14rem; }
th + td:not(:last-child) { width: 9rem; }
nav { margin: 1rem 0; }
nav th { width: 21rem; }
nav code { overflow-wrap: anywhere; }
nav th, nav td { border-top: 0; padding: 0 0.6rem 0 0; }
:target { background: var(--soft); }
@media (max-width: 46rem) {
  tr, th, td { display: block; width: auto !important; }
  td { border-top: 0; padding-top: 0; }
  tr:first-child th { border-top: 1px solid var(--line); }
  td:empty { display: none; }
  nav td { padding-bottom: 0.4rem; }
}
";
