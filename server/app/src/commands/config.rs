//! `cubeloom config`: the effective settings and their sources.

use serde_json::{Value, json};

use crate::config::{Config, FREE, KEYS, Origin};
use crate::exit::Exit;
use crate::show::{self, Align, Cell, Output, Style, Styles, Table};

/// Prints every setting.
pub fn config(config: &Config, output: Output) -> anyhow::Result<Exit> {
    let values = serde_json::to_value(&config.settings)?;
    let rows = rows(config, &values);
    if output == Output::Json {
        let list: Vec<Value> = rows
            .iter()
            .map(|row| json!({"key": row.key, "value": row.value, "origin": row.origin.to_string(), "meaning": row.help}))
            .collect();
        show::json(&list)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&[
        ("setting", Align::Left),
        ("value", Align::Left),
        ("from", Align::Left),
        ("meaning", Align::Left),
    ]);
    for row in rows {
        let style = if row.origin == Origin::Default { Style::Dim } else { Style::Plain };
        let value = row.value.as_str().map_or_else(|| row.value.to_string(), ToOwned::to_owned);
        table.row([
            row.key.into(),
            value.into(),
            Cell::styled(row.origin.to_string(), style),
            Cell::styled(row.help, Style::Dim),
        ]);
    }
    show::line(table.render(Styles::detect()));
    Ok(Exit::Ok)
}

struct Row {
    key: String,
    help: &'static str,
    value: Value,
    origin: Origin,
}

fn rows(config: &Config, values: &Value) -> Vec<Row> {
    let row = |section: &str, name: &str, value: Value| Row {
        key: format!("{section}.{name}"),
        help: crate::config::help(section, name),
        value,
        origin: config.origin(section, name),
    };
    let mut rows: Vec<Row> = KEYS
        .iter()
        .map(|key| {
            let value = match (key.section, key.name) {
                ("server", "data") => json!(config.data),
                ("database", "url") => database_url(config),
                (section, name) => values
                    .get(section)
                    .and_then(|section| section.get(name))
                    .cloned()
                    .unwrap_or(json!(key.unset)),
            };
            row(key.section, key.name, value)
        })
        .collect();
    for section in FREE {
        // The source of a secret is not secret.
        for (name, value) in values.get(section).and_then(Value::as_object).into_iter().flatten() {
            rows.push(row(section, name, value.clone()));
        }
    }
    rows
}

/// The URL without its password.
fn database_url(config: &Config) -> Value {
    let Some(url) = &config.settings.database.url else {
        return json!(format!("sqlite:{}", config.data.join("db/cubeloom.sqlite").display()));
    };
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let (login, place) = rest.rsplit_once('@')?;
        let (user, _) = login.split_once(':')?;
        Some(format!("{scheme}://{user}:***@{place}"))
    });
    json!(hidden.unwrap_or_else(|| url.clone()))
}
