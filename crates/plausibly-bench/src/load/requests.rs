//! Requests, formatted before a run: of this service, and of BanditDB 2.0.0.

use super::setup::DIM;
use super::{Kind, Target};
use plausibly::Stream;
use std::io::Write;

/// Rewards are one of these, which all have the same length.
const REWARDS: [&str; 8] = ["0.125", "0.250", "0.375", "0.500", "0.625", "0.750", "0.875", "1.000"];
/// Contexts that requests to BanditDB take turns with.
const CONTEXTS: usize = 16;

/// The requests for decisions and rewards of some experiments.
#[derive(Clone, Debug)]
pub struct Requests {
    decide: Vec<Vec<u8>>,
    /// The field of a decision's answer by which its reward names it.
    field: &'static [u8],
    reward: Form,
    experiments: usize,
}

/// The request for a reward, around the decision it names.
#[derive(Clone, Debug)]
enum Form {
    /// The decision is in the path: what comes before it, by experiment, and after it.
    Path(Vec<Vec<u8>>, Vec<Vec<u8>>),
    /// The decision is in the body: the head without its length.
    Body(Vec<u8>),
}

impl Requests {
    /// Requests about experiments of this service.
    pub fn new(target: &Target, experiments: &[String]) -> Self {
        let (mut decide, mut before) = (Vec::new(), Vec::new());
        for name in experiments {
            let path = format!("/v1/experiments/{name}/decisions");
            decide.push(target.request("POST", &path, b"{}"));
            before.push(format!("PUT {path}/").into_bytes());
        }
        let after = REWARDS.map(|reward| {
            let body = format!("{{\"value\":{reward}}}");
            let request = target.request("PUT", "", body.as_bytes());
            // From after `PUT `, where the path would end.
            [b"/reward", &request[b"PUT ".len()..]].concat()
        });
        Self {
            decide,
            field: b"\"decision\":",
            reward: Form::Path(before, after.to_vec()),
            experiments: experiments.len(),
        }
    }

    /// Requests about a campaign of BanditDB.
    pub fn rival(target: &Target, campaign: &str) -> Self {
        let mut rng = Stream::new(4, 0, "contexts");
        let decide = (0..CONTEXTS)
            .map(|_| {
                let context: Vec<String> =
                    (0..DIM).map(|_| format!("{:.3}", rng.normal())).collect();
                let context = context.join(",");
                let body = format!("{{\"campaign_id\":\"{campaign}\",\"context\":[{context}]}}");
                target.request("POST", "/predict", body.as_bytes())
            })
            .collect();
        let head = target.head("POST", "/reward", None);
        let head = head.trim_end_matches("\r\n");
        let head = format!("{head}\r\nContent-Type: application/json\r\nContent-Length: ");
        Self {
            decide,
            field: b"\"interaction_id\":",
            reward: Form::Body(head.into_bytes()),
            experiments: 1,
        }
    }

    /// Writes the request for the `number`-th decision, and returns its experiment.
    pub(super) fn decide(&self, number: u64, request: &mut Vec<u8>) -> usize {
        // Less than the number of requests, so it fits.
        let which = usize::try_from(number % self.decide.len() as u64).unwrap_or(0);
        request.extend_from_slice(&self.decide[which]);
        which % self.experiments
    }

    /// Writes the request for the reward of a decision.
    pub(super) fn reward(&self, experiment: usize, decision: &[u8], request: &mut Vec<u8>) {
        let reward = decision.last().map_or(0, |&digit| usize::from(digit) % REWARDS.len());
        match &self.reward {
            Form::Path(before, after) => {
                for part in [&before[experiment][..], decision, &after[reward]] {
                    request.extend_from_slice(part);
                }
            }
            Form::Body(head) => {
                let mut body = b"{\"interaction_id\":".to_vec();
                body.extend_from_slice(decision);
                body.extend_from_slice(b",\"reward\":");
                body.extend_from_slice(REWARDS[reward].as_bytes());
                body.push(b'}');
                request.extend_from_slice(head);
                // Writing to memory does not fail.
                let _ = write!(request, "{}\r\n\r\n", body.len());
                request.extend_from_slice(&body);
            }
        }
    }

    /// The decision that an answer is about, as it stands in its JSON.
    pub(super) fn decision<'a>(&self, kind: Kind, body: &'a [u8]) -> Option<&'a [u8]> {
        if kind != Kind::Decide {
            return None;
        }
        let at = body.windows(self.field.len()).position(|part| part == self.field)?;
        let value = body[at + self.field.len()..].trim_ascii_start();
        let end = value.iter().position(|byte| matches!(byte, b',' | b'}' | b'\n' | b' '))?;
        Some(&value[..end]).filter(|value| !value.is_empty())
    }
}
