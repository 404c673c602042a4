//! The metrics that alert rules and Grafana dashboards query, and the metrics that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

/// The metrics of dcgm-exporter (its `etc/default-counters.csv`) and node-exporter that dashboards use.
const OTHERS: [&str; 21] = [
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_MEM_CLOCK",
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "node_cpu_seconds_total",
    "node_memory_MemAvailable_bytes",
    "node_memory_MemTotal_bytes",
    "node_network_receive_bytes_total",
    "node_network_transmit_bytes_total",
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).expect("a file")
}

/// The existing metrics. The server's are in its documentation, which another test compares with the exposed
/// ones.
pub fn known() -> BTreeSet<String> {
    let mut known: BTreeSet<String> = OTHERS.map(ToOwned::to_owned).into();
    for line in text("docs/operating.md").lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", name, kind, _, _, ""] = cells[..]
            && let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'))
        {
            known.insert(name.to_owned());
            if kind == "histogram" {
                known.extend(["bucket", "count", "sum"].map(|part| format!("{name}_{part}")));
            }
        }
    }
    known
}

/// The queried metrics.
pub fn asked() -> BTreeSet<String> {
    let mut queries = text("deploy/chart/rules.yaml");
    let boards = fs::read_dir(root().join("deploy/grafana")).expect("a folder");
    for board in boards {
        let path = board.expect("a file").path();
        let board: Value =
            serde_json::from_str(&text(&path)).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        for panel in board["panels"].as_array().expect("panels") {
            let targets = panel["targets"].as_array().filter(|targets| !targets.is_empty());
            for target in targets.unwrap_or_else(|| panic!("{path:?}: {panel} asks nothing")) {
                queries.push_str(target["expr"].as_str().expect("a query"));
                queries.push('\n');
            }
        }
    }
    let name = Regex::new(r"\b(?:cubeloom|process|node|DCGM)_[A-Za-z0-9_]+").expect("an expression");
    name.find_iter(&queries).map(|found| found.as_str().to_owned()).collect()
}
