//! Final figures and specs as JSON.

use crate::summary::{PolicySummary, Summary};
use plausibly::spec::{Node, Value as SpecValue};
use serde_json::{Map, Value, json};

/// The figures at the horizon, one object per policy.
pub fn final_figures(summary: &Summary) -> Value {
    let figures = |policy: &PolicySummary| {
        let point = policy.last();
        json!({
            "policy": policy.label,
            "regret_mean": point.regret.mean(),
            "regret_se": point.regret.standard_error(),
            "model_error_mean": point.model_error.mean(),
            "model_error_se": point.model_error.standard_error(),
            "plausible_mean": point.plausible.mean(),
            "theta_star_left": policy.runs_left as f64 / summary.runs as f64,
        })
    };
    summary.policies.iter().map(figures).collect()
}

/// A spec as JSON.
pub fn spec_json(value: &SpecValue) -> Value {
    let inner = |node: &Node| spec_json(&node.value);
    match value {
        SpecValue::Bool(truth) => json!(truth),
        SpecValue::Integer(integer) => json!(integer),
        SpecValue::Float(float) => json!(float),
        SpecValue::Text(text) => json!(text),
        SpecValue::List(items) => items.iter().map(inner).collect(),
        SpecValue::Table(entries) => entries
            .iter()
            .map(|(name, node)| (name.clone(), inner(node)))
            .collect::<Map<_, _>>()
            .into(),
        SpecValue::Other(name) => json!(name),
    }
}
