//! Responses of Prometheus' API.

use std::collections::BTreeMap;

use serde::Deserialize;

pub(crate) type Labels = BTreeMap<String, String>;

/// A series' value at one time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) labels: Labels,
    pub(crate) value: f64,
}

/// A series' values over time, each with its timestamp in seconds since the epoch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) labels: Labels,
    pub(crate) points: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct Answer<T> {
    data: T,
}

#[derive(Deserialize)]
#[serde(tag = "resultType", content = "result", rename_all = "lowercase")]
enum Instant {
    Vector(Vec<Entry>),
    Scalar((f64, String)),
}

#[derive(Deserialize)]
struct Entry {
    metric: Labels,
    value: (f64, String),
}

#[derive(Deserialize)]
struct Matrix {
    result: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    metric: Labels,
    values: Vec<(f64, String)>,
}

/// Parses the response to an instant query. A scalar is a sample without labels.
pub(crate) fn instant(body: &[u8]) -> Result<Vec<Sample>, String> {
    let answer: Answer<Instant> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    Ok(match answer.data {
        Instant::Vector(entries) => entries
            .into_iter()
            .map(|entry| Sample { labels: entry.metric, value: number(&entry.value.1) })
            .collect(),
        Instant::Scalar((_, value)) => vec![Sample { labels: Labels::new(), value: number(&value) }],
    })
}

/// Parses the response to a range query.
pub(crate) fn range(body: &[u8]) -> Result<Vec<Series>, String> {
    let answer: Answer<Matrix> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let points = |values: Vec<(f64, String)>| values.iter().map(|(at, text)| (*at, number(text))).collect();
    let series = |row: Row| Series { labels: row.metric, points: points(row.values) };
    Ok(answer.data.result.into_iter().map(series).collect())
}

/// Numbers are strings in the response: `NaN`, `+Inf`. Any other text counts as NaN.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_scalars_and_matrices_are_read() {
        let vector = br#"{"status":"success","data":{"resultType":"vector","result":[
            {"metric":{"UUID":"GPU-1"},"value":[1435781451.781,"0.5"]},{"metric":{},"value":[1435781451.781,"NaN"]}]}}"#;
        let found = instant(vector).unwrap();
        assert_eq!((found[0].labels["UUID"].as_str(), found[0].value), ("GPU-1", 0.5));
        assert!(found[1].value.is_nan());
        let scalar = br#"{"status":"success","data":{"resultType":"scalar","result":[1435781451.781,"7"]}}"#;
        assert_eq!(instant(scalar).unwrap()[0].value, 7.0);
        let matrix = br#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{},"values":[[1,"2"],[3,"+Inf"]]}]}}"#;
        assert_eq!(range(matrix).unwrap()[0].points, [(1.0, 2.0), (3.0, f64::INFINITY)]);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        assert!(instant(b"<html>").is_err());
        assert!(range(br#"{"status":"success"}"#).is_err());
    }
}
