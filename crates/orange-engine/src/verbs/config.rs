//! Changing the user's config.yaml: one setting, or the whole text.

use crate::access;
use crate::call::{self, Call};
use crate::error::{IoContext, Result, err};
use crate::git::committed::text_of;
use crate::settings::{self, MAX_BYTES, told_of};
use crate::store::locks::Lock;
use crate::store::replace;
use crate::verbs::phased::gates;
use crate::verbs::start;
use orange_core::config::{Config, Layer, PRICE_PARTS, Setting, about, edited, unknown};
use orange_core::suggest::meant;
use orange_core::task::Weight;
use orange_core::work::plan::PhaseKind;
use orange_core::yaml::Node;
use orange_core::{Action, Text, text};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// What became of a setting.
#[derive(Debug, Clone, Serialize)]
pub struct SettingChanged {
    pub key: String,
    /// As the file said it before, whether it could be used or not, and says it now.
    pub before: Option<Value>,
    pub after: Option<Value>,
    pub file: PathBuf,
    /// The file said the same before; of a secret the values do not tell.
    #[serde(skip)]
    pub is_same: bool,
    /// What counts where the file says nothing.
    #[serde(skip)]
    pub default: Value,
    /// Why the file as a whole still cannot be used, if it cannot.
    #[serde(skip)]
    pub trouble: Option<String>,
    /// What overrides it: a variable, or an option of this command.
    #[serde(skip)]
    pub outdone: Option<String>,
}

/// The row of a key that somebody typed.
pub fn setting(key: &str) -> Result<&'static Setting> {
    Setting::of(key).ok_or_else(|| {
        let below = Setting::of_section(key).map(|setting| setting.key);
        let below = below.collect::<Vec<_>>().join(", ");
        if below.is_empty() {
            let list = Action::list_settings();
            return err!(Usage, "{}", unknown(key)).hint(text!("{} lists the settings", list));
        }
        let show = Action::show_setting(key);
        err!(Usage, "{key} is a section, not a setting: it has {below}")
            .hint(text!("{} shows their values", show))
    })
}

/// Changes one setting of config.yaml, or takes it out if there is no value. Everything else stays as it is.
pub fn change_setting(
    call: &mut Call,
    key: &str,
    values: Option<&[String]>,
) -> Result<SettingChanged> {
    access::people_only(call, "change settings")?;
    if values.is_some() {
        whole_price(key)?;
    }
    let setting = setting(key)?;
    let after = values
        .map(|values| usable(setting, key, values))
        .transpose()?;
    call.store.ensure_home()?;
    // Two commands at once: the second one finds what the first one wrote.
    let lock = call.store.lock(Lock::Config)?;
    let old = settings::settings_bytes(call)?;
    let text = text_of(old.clone().unwrap_or_default())
        .map_err(|line| err!(Usage, "config.yaml, line {line}: it is not UTF-8").hint(by_hand()))?;
    let earlier = Layer::of_user(&text).ok();
    let unchanged = |error| err!(Usage, "{error}").hint(by_hand());
    // A line with the name that older files have for it goes, or the file would say it twice.
    let alias = earlier.as_ref().and_then(|layer| layer.get(key)?.alias);
    let without = match alias {
        Some(alias) => edited(&text, alias, None).map_err(unchanged)?,
        None => text.clone(),
    };
    let new = edited(&without, key, after.as_ref()).map_err(unchanged)?;
    let was_bad = |key: &str| {
        let mut bad = earlier.iter().flat_map(|layer| &layer.bad);
        bad.any(|bad| bad.key == key)
    };
    let before = earlier.as_ref().and_then(|layer| {
        let bad = layer.bad.iter().find(|bad| bad.key == key);
        let said = layer.get(key).map(|said| said.value());
        said.or_else(|| bad.map(|bad| bad.value.clone()))
    });
    let now = Layer::of_user(&new).unwrap_or_default();
    // Some mistakes show only beside the rest of the file: a harness may be one of the user's own.
    if let Some(bad) = now.bad.iter().find(|bad| bad.key == key && after.is_some()) {
        return Err(err!(Usage, "{}", bad.mistake.reason).hint(example(setting, key)));
    }
    if let Some(bad) = now.bad.iter().find(|bad| !was_bad(&bad.key)) {
        let reason = &bad.mistake.reason;
        return Err(err!(Usage, "{key} is in use, and without it {reason}")
            .hint(format!("change {} first", bad.key)));
    }
    if new != text {
        put_settings(call, old.as_deref(), new.as_bytes())?;
        // Of a file with worse mistakes, all of them are told.
        if now.bad.is_empty() {
            for ignored in &now.ignored {
                call.notice(told_of(ignored));
            }
        }
    }
    drop(lock);
    if after.is_some() {
        note_unknown_phase(call, key, &now);
        note_stricter_gates(call, key, &now);
    }
    if new != text && lets_start(key) {
        start_what_waits(call);
    }
    let mut overrides = call.overrides.iter();
    Ok(SettingChanged {
        key: key.to_owned(),
        is_same: before == after,
        before: before.map(|value| setting.shown(value)),
        after: after.map(|value| setting.shown(value)),
        file: settings::settings_file(call),
        default: setting.default_of(key),
        trouble: now.usable().err().map(|error| error.to_string()),
        outdone: overrides
            .rfind(|said| said.key == key)
            .map(|said| said.place()),
    })
}

/// `prices.MODEL.input` would be the price of a model with that ending.
fn whole_price(key: &str) -> Result<()> {
    let name = key.strip_prefix("prices.");
    let parts = name.and_then(|name| name.rsplit_once('.'));
    let Some((model, part)) = parts.filter(|(_, part)| PRICE_PARTS.contains(part)) else {
        return Ok(());
    };
    let whole = format!("prices.{model}");
    Err(err!(
        Usage,
        "{key}: all prices of a model stand together in {whole}"
    )
    .hint(text!(
        "for example: {}",
        Action::set_setting(whole, format!("{{{part}: 3}}"))
    )))
}

/// A repository's own plan may have a phase of that name; most often it is a slip.
fn note_unknown_phase(call: &Call, key: &str, layer: &Layer) {
    let Some(gate) = key.strip_prefix("gates.") else {
        return;
    };
    let phase = gate.rsplit('.').next().unwrap_or(gate);
    let mut config = Config::default();
    layer.apply(&mut config);
    let own = Weight::ALL
        .iter()
        .filter_map(|weight| config.weights.plan(*weight));
    let own = own.flatten().map(|phase| phase.name.as_str());
    let known: BTreeSet<&str> = own
        .chain(PhaseKind::WORDS.iter().copied())
        .chain([gates::MERGE])
        .collect();
    if !known.contains(phase) {
        let meant = meant(phase, known.iter().copied());
        let known: Vec<&str> = known.into_iter().collect();
        call.notice(format!(
            "no plan in your settings has a phase {phase:?}; this gate counts only where a repository's plan has one: {meant}there are {}",
            known.join(", ")
        ));
    }
}

/// A repository may only make a gate stricter, and this is the moment to say where one does.
fn note_stricter_gates(call: &Call, key: &str, layer: &Layer) {
    let Some(gate) = key.strip_prefix("gates.") else {
        return;
    };
    let of_weight = gate.strip_prefix("weight_overrides.");
    let of_weight = of_weight.and_then(|gate| gate.split_once('.'));
    let (weight, phase) = match of_weight {
        Some((weight, phase)) => (weight.parse::<Weight>().ok(), phase),
        None => (None, gate),
    };
    let mut config = Config::default();
    layer.apply(&mut config);
    let own = match weight {
        Some(weight) => config.gates.of_weight(weight, phase),
        None => config.gates.named(phase),
    };
    let Some(own) = own else {
        return;
    };
    for project in call.projects().unwrap_or_default() {
        let Ok(config) = settings::config_of(call, &project) else {
            continue;
        };
        let weights = Weight::ALL.iter().copied();
        let weights = weights.filter(|of| weight.is_none_or(|weight| weight == *of));
        let floors = weights.filter_map(|weight| config.gates.floor(weight, phase));
        if let Some(floor) = floors.max().filter(|floor| *floor > own) {
            call.notice(format!(
                "project {}: its repository asks for the gate {floor} for {phase}, and the stricter one counts",
                project.name
            ));
        }
    }
}

/// Replaces the whole file, if it still is what the caller read.
pub fn replace_settings(call: &mut Call, old: Option<&[u8]>, new: &[u8]) -> Result<()> {
    access::people_only(call, "change settings")?;
    call.store.ensure_home()?;
    let lock = call.store.lock(Lock::Config)?;
    put_settings(call, old, new)?;
    drop(lock);
    if old != Some(new) {
        start_what_waits(call);
    }
    Ok(())
}

/// Whether tasks in the queue may wait for this setting.
fn lets_start(key: &str) -> bool {
    key == "agents.limit" || key.starts_with("budget.") || key.starts_with("prices.")
}

/// There may be room now, or money, for what waits. Nobody knows without the index, which is made anew where it is damaged.
/// The setting is written by now, so nothing here makes that a failure.
fn start_what_waits(call: &Call) {
    if start::has_queued(call).unwrap_or(true)
        && let Err(error) = call::request_queue_run(call)
    {
        tracing::warn!(%error, "nobody looks at the queue for a setting that changed");
    }
}

fn put_settings(call: &mut Call, old: Option<&[u8]>, new: &[u8]) -> Result<()> {
    let path = settings::settings_file(call);
    if new.len() as u64 > MAX_BYTES {
        return Err(err!(Usage, "settings may not be larger than 1 MB"));
    }
    if settings::settings_bytes(call)?.as_deref() != old {
        return Err(err!(Busy, "{} was changed meanwhile", path.display()).hint("try again"));
    }
    // Somebody's dotfiles: the file that the name leads to is the one that changes.
    let linked = || std::fs::read_link(&path).map(|to| call.store.home().join(to));
    let target = path.canonicalize().or_else(|_| linked());
    let target = target.unwrap_or_else(|_| path.clone());
    let names = std::fs::metadata(&target).map_or(1, |about| about.nlink());
    replace::write_atomic(&target, new).doing("write", &path)?;
    if names > 1 {
        call.notice(format!(
                "{} had another name (a hard link), which keeps the text from before; a symbolic link would be followed",
                path.display()
            ));
    }
    // What was told of the text from before may not be so any more.
    if let Some(before) = std::mem::take(&mut call.loaded).get() {
        for ignored in &before.user.ignored {
            call.forget_notice(told_of(ignored));
        }
    }
    Ok(())
}

fn by_hand() -> Text {
    text!("{} opens it", Action::edit_settings())
}

/// A value that the setting may have.
fn usable(setting: &Setting, key: &str, values: &[String]) -> Result<Value> {
    let wrong = |problem: &str| err!(Usage, "{}", about(key, problem)).hint(example(setting, key));
    let node = match values {
        [one] => setting.node(one).map_err(|problem| wrong(&problem))?,
        several if setting.kind.is_list() => {
            let quoted = |text: &String| Node::Scalar {
                text: text.clone(),
                plain: false,
                span: 0..0,
            };
            Node::Sequence {
                items: several.iter().map(quoted).collect(),
                flow: true,
                span: 0..0,
            }
        }
        _ => return Err(wrong("has one value, not several")),
    };
    setting
        .check(key, &node)
        .map_err(|problem| wrong(&problem))?;
    let value = setting.value(&node);
    // Nothing where a text should be: none is what the setting has once it is taken out.
    if setting.kind.is_text() && (value.is_null() || value == "") {
        let error = err!(Usage, "{key}: the text is empty");
        return Err(error.hint(text!(
            "to have none: {}",
            Action::unset_setting(key.to_owned())
        )));
    }
    Ok(value)
}

/// A value that would do.
fn example(setting: &Setting, key: &str) -> Text {
    let node = setting.node(setting.example);
    let key = if key != setting.key && node.is_ok_and(|node| setting.check(key, &node).is_ok()) {
        key.to_owned()
    } else {
        setting.example_key()
    };
    text!("for example: {}", Action::set_setting(key, setting.example))
}
