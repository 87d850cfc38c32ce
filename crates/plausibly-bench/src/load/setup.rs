//! Experiments to load, made over HTTP; and single requests.

use super::{Target, parse};
use plausibly::Stream;
use serde_json::{Map, Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The number of features of an action, with the intercept.
pub const DIM: usize = 32;
/// The number of actions.
pub const ACTIONS: usize = 50;
/// An answer that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends one request over a connection of its own. Returns status and body.
///
/// # Errors
/// Describes the request that got no answer, and why.
pub fn call(
    target: &Target,
    method: &str,
    path: &str,
    body: &[u8],
) -> Result<(u16, Vec<u8>), String> {
    let call = || -> Result<(u16, Vec<u8>), Box<dyn std::error::Error>> {
        let mut stream = TcpStream::connect_timeout(&target.address(), PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&target.request(method, path, body))?;
        let (mut bytes, mut chunk, mut body) = (Vec::new(), vec![0; 1 << 16], Vec::new());
        loop {
            let count = stream.read(&mut chunk)?;
            if count == 0 {
                return Err("the service closed the connection".into());
            }
            bytes.extend_from_slice(&chunk[..count]);
            if let Some(answer) = parse(&bytes, &mut body)? {
                return Ok((answer.status, body));
            }
        }
    };
    call().map_err(|error| format!("{method} {path} at {}: {error}", target.address()))
}

/// The request that creates an experiment: 31 columns of normal numbers, so 32 features with the
/// intercept, for each of 50 actions; rewards from 0 to 1.
pub fn experiment(name: &str) -> Value {
    let mut rng = Stream::new(1, 0, "table");
    let actions: Vec<Value> = (0..ACTIONS)
        .map(|row| {
            let mut action = Map::new();
            action.insert("name".into(), format!("action {row}").into());
            for column in 0..DIM - 1 {
                let value = (1e3 * rng.normal()).round() / 1e3;
                action.insert(format!("x{column}"), value.into());
            }
            action.into()
        })
        .collect();
    json!({ "name": name, "actions": actions, "label": "name", "reward_range": [0, 1], "seed": 1 })
}

/// The names of this number of experiments.
pub fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count.max(1)).map(|number| format!("{prefix}-{number}")).collect()
}

/// Creates the experiments that do not exist yet.
///
/// # Errors
/// Describes the answer if an experiment is not created, or has another number of features.
pub fn prepare(target: &Target, names: &[String]) -> Result<(), String> {
    for name in names {
        let body = experiment(name).to_string();
        let (status, answer) = call(target, "POST", "/v1/experiments", body.as_bytes())?;
        let text = String::from_utf8_lossy(&answer);
        match status {
            201 => {
                let made: Value = serde_json::from_str(&text)
                    .map_err(|error| format!("{name} was created without JSON: {error}: {text}"))?;
                let features = made["features"].as_array().map_or(0, Vec::len);
                if features != DIM {
                    return Err(format!("{name} has {features} features instead of {DIM}: {text}"));
                }
            }
            409 => {}
            _ => return Err(format!("{name} is not created: {status}: {text}")),
        }
    }
    Ok(())
}

/// Creates a campaign of BanditDB of the same size.
///
/// # Errors
/// Describes the answer if it is not created.
pub fn prepare_rival(target: &Target, campaign: &str) -> Result<(), String> {
    let arms: Vec<String> = (0..ACTIONS).map(|arm| format!("arm_{arm}")).collect();
    let body = json!({ "campaign_id": campaign, "arms": arms, "feature_dim": DIM }).to_string();
    match call(target, "POST", "/campaign", body.as_bytes())? {
        (200..300 | 409, _) => Ok(()),
        (status, answer) => Err(format!(
            "the campaign {campaign} is not created: {status}: {}",
            String::from_utf8_lossy(&answer)
        )),
    }
}
