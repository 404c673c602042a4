//! Texts of messages, in the channel's language. Mails to users are in English, as their language is unknown.

use cubeloom_alerts::Message;
use cubeloom_alerts::message::Told;
use cubeloom_domain::alert::{Alert, AlertKind, Channel, Delivery, Language, delivery_id};
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::StoreError;

use crate::said::said;
use crate::show;
use crate::state::Web;
use crate::texts::{Lang, text, text_with};

/// Maximum number of alerts listed in a combined message.
const NAMED: usize = 30;

/// One message for deliveries that are sent together.
pub(super) async fn message(
    web: &Web,
    channel: &Channel,
    deliveries: &[Delivery],
) -> Result<Message, StoreError> {
    let lang = lang(channel.rules.language);
    let url = &web.settings().url;
    let told: Vec<Told> = deliveries
        .iter()
        .map(|delivery| Told {
            id: delivery.id.clone(),
            title: title(lang, &channel.name, &delivery.alert),
            url: address(url, &delivery.alert),
            alert: delivery.alert.clone(),
        })
        .collect();
    match deliveries {
        [one] => {
            let failure = failure(web, &one.alert).await?;
            Ok(single(channel.rules.language, &told[0], failure.as_ref()))
        }
        _ => Ok(digest(lang, channel, url, told)),
    }
}

/// Mail to the owner of a run: the same text, and how to unsubscribe.
pub(super) fn mail(web: &Web, delivery: &Delivery) -> Message {
    mailed(&web.settings().url, Language::default(), delivery)
}

fn mailed(url: &str, language: Language, delivery: &Delivery) -> Message {
    let lang = lang(language);
    let told = Told {
        id: delivery.id.clone(),
        title: title(lang, "", &delivery.alert),
        url: address(url, &delivery.alert),
        alert: delivery.alert.clone(),
    };
    let foot = text_with(lang, "alerts.say-foot", &[("url", format!("{url}/me"))]);
    Message { foot: Some(foot), ..single(language, &told, None) }
}

/// Test message of a channel.
pub(crate) fn test_message(web: &Web, channel: &Channel, delivery: &Delivery) -> Message {
    let lang = lang(channel.rules.language);
    let told = Told {
        id: delivery.id.clone(),
        alert: delivery.alert.clone(),
        title: title(lang, &channel.name, &delivery.alert),
        url: Some(format!("{}/projects/{}/alerts", web.settings().url, channel.project)),
    };
    single(channel.rules.language, &told, None)
}

fn single(language: Language, told: &Told, failure: Option<&(String, Failure)>) -> Message {
    let lang = lang(language);
    Message {
        id: told.id.clone(),
        at: told.alert.at,
        language,
        title: told.title.clone(),
        lines: lines(lang, &told.alert, failure),
        link: told.url.clone().map(|url| (text(lang, "alerts.say-open").to_owned(), url)),
        foot: None,
        alerts: vec![told.clone()],
    }
}

/// One message for several alerts. Its id is derived from theirs, so that a retry has the same id.
fn digest(lang: Lang, channel: &Channel, url: &str, told: Vec<Told>) -> Message {
    let ids: Vec<&str> = told.iter().map(|one| one.id.as_str()).collect();
    let at = told.iter().map(|one| one.alert.at).max().unwrap_or_default();
    let n = told.len().to_string();
    let mut lines: Vec<String> = told
        .iter()
        .take(NAMED)
        .map(|one| format!("{} {}", clock(channel, one.alert.at), one.title))
        .collect();
    if told.len() > NAMED {
        lines.push(text_with(lang, "alerts.say-more", &[("n", told.len() - NAMED)]));
    }
    let title = text_with(lang, "alerts.say-digest", &[("n", n.as_str()), ("project", &channel.project)]);
    let runs = format!("{url}/projects/{}/runs", channel.project);
    Message {
        id: delivery_id(at, &ids),
        at,
        language: channel.rules.language,
        title,
        lines,
        link: Some((text(lang, "alerts.say-open-runs").to_owned(), runs)),
        foot: None,
        alerts: told,
    }
}

/// Time of day in the time zone of the channel's quiet hours.
fn clock(channel: &Channel, at: Timestamp) -> String {
    let zone = channel.rules.quiet.as_ref().and_then(|quiet| jiff::tz::TimeZone::get(&quiet.zone).ok());
    let time = jiff::Timestamp::from_microsecond(at.0).unwrap_or_default();
    time.to_zoned(zone.unwrap_or(jiff::tz::TimeZone::UTC)).strftime("%m-%d %H:%M").to_string()
}

/// `channel` is the channel's name, which a test message contains.
fn title(lang: Lang, channel: &str, alert: &Alert) -> String {
    let key = match alert.kind {
        AlertKind::RunFailed if alert.run.is_none() => "alerts.say-date-failed",
        AlertKind::RunFailed => "alerts.say-run-failed",
        AlertKind::RunRecovered => "alerts.say-run-recovered",
        AlertKind::RunLate => "alerts.say-run-late",
        AlertKind::TaskWaiting if alert.task.is_none() => "alerts.say-run-waiting",
        AlertKind::TaskWaiting => "alerts.say-task-waiting",
        AlertKind::QuotaNearlyUsed => "alerts.say-quota",
        AlertKind::BudgetNearlyUsed => "alerts.say-budget",
        AlertKind::NodeSetAside => "alerts.say-node",
        AlertKind::SizeChanged => "alerts.say-size",
        AlertKind::GpuIdle => "alerts.say-gpu-idle",
        AlertKind::TaskHangs => "alerts.say-task-hangs",
        AlertKind::Test => "alerts.say-test",
    };
    let waited = alert.since.map(|since| alert.at.since(since).as_secs_f64()).unwrap_or_default();
    let values = [
        ("project", alert.project.as_str()),
        ("pipeline", alert.pipeline.as_deref().unwrap_or_default()),
        ("task", alert.task.as_deref().unwrap_or_default()),
        ("channel", channel),
        ("time", &show::duration(waited)),
    ];
    text_with(lang, key, &values)
}

fn lines(lang: Lang, alert: &Alert, failure: Option<&(String, Failure)>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((task, failure)) = failure {
        let why = said(lang, &failure.message);
        lines.push(text_with(lang, "alerts.say-why", &[("task", task.as_str()), ("why", &why)]));
    } else if let Some(sentence) = &alert.sentence {
        lines.push(said(lang, sentence));
    }
    if let Some(count) = alert.count.filter(|count| *count > 1) {
        lines.push(text_with(lang, "alerts.say-instances", &[("n", count)]));
    }
    if let Some(user) = &alert.user {
        lines.push(text_with(lang, "alerts.say-user", &[("user", user)]));
    }
    lines
}

/// The task of a failed run that failed first, and the reason.
async fn failure(web: &Web, alert: &Alert) -> Result<Option<(String, Failure)>, StoreError> {
    let Some(run) = alert.run.as_ref().filter(|_| alert.kind == AlertKind::RunFailed) else {
        return Ok(None);
    };
    let Some(instance) = web.store().first_failed(run).await? else { return Ok(None) };
    let InstanceState::Failed { failure } = instance.state else { return Ok(None) };
    let task = web.store().planned_tasks(run, &[instance.task]).await?.remove(&instance.task);
    Ok(task.map(|task| (task.name, failure)))
}

/// Link to details of an alert.
fn address(url: &str, alert: &Alert) -> Option<String> {
    let of_task = |run: &RunId| match (&alert.kind, &alert.task) {
        (AlertKind::TaskWaiting | AlertKind::GpuIdle | AlertKind::TaskHangs, Some(task)) => {
            format!("{url}/runs/{run}/tasks/{task}")
        }
        _ => format!("{url}/runs/{run}"),
    };
    match (&alert.run, alert.kind) {
        (_, AlertKind::SizeChanged) => {
            let (pipeline, task) = (alert.pipeline.as_ref()?, alert.task.as_ref()?);
            Some(format!("{url}/projects/{}/pipelines/{pipeline}/tasks/{task}/sizing", alert.project))
        }
        (Some(run), _) => Some(of_task(run)),
        (None, AlertKind::BudgetNearlyUsed) => Some(format!("{url}/usage?project={}", alert.project)),
        (None, AlertKind::QuotaNearlyUsed) => Some(format!("{url}/projects/{}", alert.project)),
        (None, AlertKind::NodeSetAside) => Some(format!("{url}/clusters")),
        (None, AlertKind::RunFailed) => {
            let pipeline = alert.pipeline.as_ref()?;
            Some(format!("{url}/projects/{}/pipelines/{pipeline}?tab=schedule", alert.project))
        }
        (None, _) => None,
    }
}

fn lang(language: Language) -> Lang {
    match language {
        Language::En => Lang::En,
        Language::Zh => Lang::Zh,
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::alert::{ChannelKind, QuietHours, Rules};
    use cubeloom_domain::outcome::FailureKind;

    use super::*;

    fn channel(language: Language) -> Channel {
        let quiet = QuietHours { from: "22:00".into(), until: "07:00".into(), zone: "Asia/Shanghai".into() };
        Channel {
            id: "c".into(),
            project: "shop".into(),
            name: "ops".into(),
            kind: ChannelKind::Webhook,
            shown: String::new(),
            address: String::new(),
            secret: None,
            rules: Rules {
                events: Vec::new(),
                pipelines: Vec::new(),
                waiting_seconds: 60,
                repeat_seconds: 0,
                language,
                quiet: Some(quiet),
            },
            enabled: true,
            created_by: "ada".into(),
            created_at: Timestamp(1),
            revision: 1,
        }
    }

    fn told(kind: AlertKind, lang: Lang, n: i64) -> Told {
        let at = Timestamp(1_790_000_000_000_000 + n);
        let mut alert = Alert::new(kind, at, "shop", format!("k{n}"), "t".into());
        alert.pipeline = Some("ctr".into());
        alert.task = Some("train".into());
        alert.user = Some("ada".into());
        alert.count = Some(3);
        alert.since = Some(Timestamp(at.0 - 2_000_000_000));
        alert.sentence = Some("requests 8 CPU, 4 are free".into());
        Told { id: format!("id-{n}"), title: title(lang, "ops", &alert), url: None, alert }
    }

    fn said_of(kind: AlertKind, language: Language) -> String {
        let lang = lang(language);
        single(language, &told(kind, lang, 0), None).plain(1000)
    }

    #[test]
    fn it_says_what_happened_in_the_channels_language() {
        let english = said_of(AlertKind::TaskWaiting, Language::En);
        assert_eq!(
            english,
            "[Cubeloom] train of ctr in shop has been pending for 33 min 20 s\nrequests 8 CPU, 4 are free\n\
             3 instances are pending\nstarted by ada"
        );
        let chinese = said_of(AlertKind::TaskWaiting, Language::Zh);
        assert!(chinese.contains("需要 8 CPU 核，空闲 4"), "{chinese}");
        let kinds = AlertKind::OFFERED.into_iter().chain([AlertKind::Test]);
        for kind in kinds {
            let (english, chinese) = (said_of(kind, Language::En), said_of(kind, Language::Zh));
            assert!(
                english.is_ascii() && !chinese.is_ascii() && !english.contains('{'),
                "{english} {chinese}"
            );
        }
    }

    #[test]
    fn why_a_run_failed_is_said_of_the_task() {
        let failure = Failure::new(FailureKind::Exit, "worker-1 ended with exit code 3 after 12s");
        let told = told(AlertKind::RunFailed, Lang::Zh, 0);
        let message = single(Language::Zh, &told, Some(&("train".into(), failure)));
        assert!(
            message.lines[0].contains("train") && message.lines[0].contains("退出码 3"),
            "{:?}",
            message.lines
        );
    }

    #[test]
    fn a_mail_to_a_person_says_how_to_get_no_more() {
        let alert = told(AlertKind::TaskHangs, Lang::En, 0).alert;
        let said = |language| {
            mailed("https://c.example", language, &Delivery::new("ada", alert.clone())).plain(1000)
        };
        let english = said(Language::En);
        assert!(english.starts_with("[Cubeloom] train of ctr in shop hangs\n"), "{english}");
        assert!(english.ends_with("https://c.example/me") && english.is_ascii(), "{english}");
        assert!(said(Language::Zh).ends_with("https://c.example/me") && !said(Language::Zh).is_ascii());
    }

    #[test]
    fn a_digest_names_a_bounded_number_and_is_the_same_again() {
        let many = || (0..50).map(|n| told(AlertKind::RunFailed, Lang::En, n)).collect::<Vec<_>>();
        let channel = channel(Language::En);
        let (one, again) = (digest(Lang::En, &channel, "u", many()), digest(Lang::En, &channel, "u", many()));
        assert_eq!(one, again);
        assert_eq!((one.lines.len(), one.alerts.len()), (NAMED + 1, 50));
        // 14:13 UTC is 22:13 in Shanghai.
        assert_eq!(one.lines[0], "09-21 22:13 A scheduled run of ctr in shop did not start");
        assert_eq!(one.lines[NAMED], "and 20 more");
        assert_ne!(digest(Lang::En, &channel, "u", many().split_off(1)).id, one.id);
    }
}
