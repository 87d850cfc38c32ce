//! The page `/docs`: the description of the interface for people. It needs no network.

use crate::problem::Code;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

/// The page that shows this description.
pub(super) fn page(document: &Value) -> String {
    let empty = serde_json::Map::new();
    let paths = document["paths"].as_object().unwrap_or(&empty);
    let tags = document["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
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
                    @for tag in tags {
                        h2 { (said(&tag["description"])) }
                        @for (path, methods) in paths {
                            @for (method, route) in methods.as_object().unwrap_or(&empty) {
                                @if route["tags"][0] == tag["name"] {
                                    (shown(document, path, method, route))
                                }
                            }
                        }
                    }
                    (problems())
                }
            }
        }
    };
    text.into_string()
}

fn said(text: &Value) -> &str {
    text.as_str().unwrap_or_default()
}

/// A route.
fn shown(document: &Value, path: &str, method: &str, route: &Value) -> Markup {
    let parameters = route["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let body = &route["requestBody"]["content"]["application/json"]["schema"];
    let empty = serde_json::Map::new();
    let answers = route["responses"].as_object().unwrap_or(&empty);
    html! {
        section {
            h3 { code { (method.to_uppercase()) " " (path) } }
            p class="what" { (said(&route["summary"])) }
            @for paragraph in said(&route["description"]).split("\n\n") { p { (paragraph) } }
            @let named: Vec<_> =
                parameters.iter().filter(|one| one["in"] != "path").collect();
            @if !named.is_empty() {
                table {
                    @for one in named {
                        tr {
                            th { code { (said(&one["name"])) } }
                            td { (said(&one["in"])) }
                            td { (said(&one["description"])) }
                        }
                    }
                }
            }
            @if !body.is_null() { h4 { "Body" } (fields(document, body, 0)) }
            @for (status, answer) in answers {
                @if status.starts_with('2') {
                    h4 { "Answer " (status) ": " (said(&answer["description"])) }
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
                            (said(&field["description"]))
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

/// The type of a field in a word or two.
fn kind(document: &Value, field: &Value) -> String {
    let field = resolved(document, field);
    if let Some(values) = field["enum"].as_array() {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        return values.join(" or ");
    }
    match &field["type"] {
        Value::String(one) => one.clone(),
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "object".into(),
    }
}

/// What can be wrong.
fn problems() -> Markup {
    html! {
        h2 { "What can be wrong" }
        p {
            "A request that is not carried out is answered by " code { "application/problem+json" }
            " with one of these codes, what is wrong in words, and where it can be said the JSON "
            "pointer of the field. Nothing was written then, except after a 503 of the code "
            code { "stopped" } ", where that is not known."
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
tr:target { background: var(--soft); }
";
