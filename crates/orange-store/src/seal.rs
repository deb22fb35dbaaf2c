//! Seals: keyed digests of what Orange writes into files that agents could write too. The key is in orange.db. Each
//! sealed event of a journal names and covers the seal before it, so that none can be copied, moved or taken out unnoticed,
//! and those that are left are still known to be Orange's own.

use hmac::{Hmac, KeyInit, Mac};
use orange_core::history::Event;
use sha2::Sha256;
use std::collections::HashSet;

/// The block size of SHA-256: a key of this length is used as it is.
pub const KEY_BYTES: usize = 64;

/// The key of one home.
#[derive(Clone)]
pub struct SealKey {
    /// The digest of nothing yet: the key is worked in once.
    keyed: Hmac<Sha256>,
}

/// What the seals of a journal say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SealedJournal {
    /// For each event: does it carry the right seal for its place?
    pub genuine: Vec<bool>,
    /// For each event: should it carry a seal, since one before it does, and does it not carry one of Orange's own?
    pub foreign: Vec<bool>,
    /// An event is missing before another one, or was moved.
    pub has_gap: bool,
    /// The last seal of Orange's own; empty if there is none.
    pub last: String,
    right: HashSet<String>,
}

impl SealedJournal {
    pub fn has(&self, seal: &str) -> bool {
        self.right.contains(seal)
    }

    /// Notes the seal of an event that is appended.
    fn extend(&mut self, seal: &str) {
        self.genuine.push(true);
        self.foreign.push(false);
        seal.clone_into(&mut self.last);
        self.right.insert(seal.to_owned());
    }
}

/// What the seal of a run's end is called.
pub const END: &str = "run end";

impl SealKey {
    pub fn new(bytes: [u8; KEY_BYTES]) -> SealKey {
        SealKey {
            keyed: Hmac::new(&bytes.into()),
        }
    }

    /// The seal of a file's content: of what kind it is, and under which name it counts.
    pub fn of_file(&self, kind: &str, name: &str, content: &[u8]) -> String {
        self.digest(&[b"file", kind.as_bytes(), name.as_bytes(), content])
    }

    /// The seal of an event after the one that carries the seal `before`.
    pub fn of_event(&self, task: &str, before: &str, event: &Event) -> String {
        self.linked(task, link_to(before), event)
    }

    fn linked(&self, task: &str, link: &str, event: &Event) -> String {
        let bytes = event.unsealed_bytes();
        let digest = self.digest(&[b"event", task.as_bytes(), link.as_bytes(), &bytes]);
        format!("{link}.{digest}")
    }

    /// Seals events that follow on a journal.
    pub fn put(&self, task: &str, journal: &mut SealedJournal, events: &mut [Event]) {
        for event in events {
            event.seal = None;
            let seal = self.of_event(task, &journal.last, event);
            journal.extend(&seal);
            event.seal = Some(seal);
        }
    }

    /// Compares every seal of a journal.
    pub fn compare(&self, task: &str, events: &[Event]) -> SealedJournal {
        let mut found = SealedJournal::default();
        for event in events {
            let own = event.seal.as_ref().filter(|seal| {
                let link = seal.split_once('.').map_or("", |(link, _)| link);
                **seal == self.linked(task, link, event) && !found.has(seal)
            });
            let in_place = own.is_some_and(|seal| seal.starts_with(link_to(&found.last)));
            found.genuine.push(in_place);
            found.foreign.push(own.is_none() && !found.right.is_empty());
            if let Some(seal) = own {
                found.has_gap |= !in_place;
                found.last.clone_from(seal);
                found.right.insert(seal.clone());
            }
        }
        found
    }

    fn digest(&self, parts: &[&[u8]]) -> String {
        let mut mac = self.keyed.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        hex(&mac.finalize().into_bytes())
    }
}

/// A long journal has many digests, and formatting each byte would cost more than computing them.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]);
    digits.collect()
}

/// How the seal after this one names it; the first seal of a journal names none.
fn link_to(before: &str) -> &str {
    let digest = before.split_once('.').map_or("", |(_, digest)| digest);
    digest.get(..16).unwrap_or("first")
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::Timestamp;
    use orange_core::history::EventType;
    use std::sync::LazyLock;

    static KEY: LazyLock<SealKey> = LazyLock::new(|| SealKey::new([7; KEY_BYTES]));

    /// A journal of sealed events.
    fn journal() -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        for (kind, head) in [
            (EventType::TaskCreated, "a0"),
            (EventType::HookCompleted, ""),
            (EventType::StatusChanged, "a1"),
            (EventType::TaskVerified, "a1"),
        ] {
            let mut event = Event::new(kind, Timestamp::UNIX_EPOCH).with_head(head);
            let before = KEY.compare("t1", &events).last;
            event.seal = Some(KEY.of_event("t1", &before, &event));
            events.push(event);
        }
        events
    }

    fn genuine(events: &[Event]) -> Vec<bool> {
        KEY.compare("t1", events).genuine
    }

    #[test]
    fn what_was_sealed_is_genuine_only_in_its_task_and_home() {
        let events = journal();
        assert_eq!(genuine(&events), [true; 4]);
        let nothing = [false; 4];
        assert_eq!(KEY.compare("t2", &events).genuine, nothing);
        let other = SealKey::new([8; KEY_BYTES]);
        assert_eq!(other.compare("t1", &events).genuine, nothing);
    }

    #[test]
    fn a_changed_copied_moved_or_missing_event_shows() {
        let sealed = journal();
        let mut changed = sealed.clone();
        changed[3] = changed[3].clone().with_head("b1");
        assert_eq!(genuine(&changed), [true, true, true, false]);
        let mut copied = sealed.clone();
        copied.push(sealed[2].clone());
        assert_eq!(genuine(&copied), [true, true, true, true, false]);
        let mut moved = sealed.clone();
        moved.swap(2, 3);
        assert_eq!(genuine(&moved), [true, true, false, false]);
        let mut missing = sealed.clone();
        missing.remove(2);
        assert_eq!(genuine(&missing), [true, true, false]);
        assert!(KEY.compare("t1", &missing).has_gap);
        let last = sealed[3].seal.clone().unwrap();
        assert!(KEY.compare("t1", &sealed).has(&last));
        assert!(!KEY.compare("t1", &sealed[..3]).has(&last));
    }

    #[test]
    fn what_is_left_after_a_loss_is_not_foreign_and_what_is_added_is() {
        let foreign = |events: &[Event]| KEY.compare("t1", events).foreign;
        let mut events = journal();
        assert_eq!(foreign(&events), [false; 4]);
        events.remove(2);
        assert_eq!(foreign(&events), [false; 3]);
        events.insert(
            1,
            Event::new(EventType::StatusChanged, Timestamp::UNIX_EPOCH),
        );
        events.push(events[0].clone());
        assert_eq!(foreign(&events), [false, true, false, false, true]);
        // What an earlier version wrote, before there were seals.
        events.insert(0, Event::new(EventType::TaskUpdated, Timestamp::UNIX_EPOCH));
        assert!(!foreign(&events)[0]);
    }

    #[test]
    fn parts_of_a_file_cannot_be_shifted() {
        assert_ne!(KEY.of_file("a", "bc", b"d"), KEY.of_file("ab", "c", b"d"));
        assert_ne!(KEY.of_file("a", "b", b"cd"), KEY.of_file("a", "bc", b"d"));
    }

    #[test]
    fn the_digest_is_hmac_sha256() {
        // RFC 4231, test case 2, with its key filled up with zeros to the block size, as HMAC does.
        let mut key = [0; KEY_BYTES];
        key[..4].copy_from_slice(b"Jefe");
        let mut mac = SealKey::new(key).keyed;
        mac.update(b"what do ya want for nothing?");
        assert_eq!(
            hex(&mac.finalize().into_bytes()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
