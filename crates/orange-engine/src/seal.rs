//! Seals: keyed digests of what Orange writes into files that agents could write too. The key is in orange.db. Each
//! sealed event of a journal also covers the seal before it, so that none can be copied, moved or taken out unnoticed.

use hmac::{Hmac, KeyInit, Mac};
use orange_core::evidence::is_sealed;
use orange_core::history::Event;
use sha2::Sha256;

/// The block size of SHA-256: a key of this length is used as it is.
pub(crate) const KEY_BYTES: usize = 64;

/// The key of one home.
pub(crate) struct SealKey([u8; KEY_BYTES]);

/// What the seals of a journal say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SealedJournal {
    /// For each event: does it carry the right seal for its place?
    pub(crate) genuine: Vec<bool>,
    /// The last right seal; empty if there is none.
    pub(crate) last: String,
    right: Vec<String>,
}

impl SealedJournal {
    pub(crate) fn has(&self, seal: &str) -> bool {
        self.right.iter().any(|right| right == seal)
    }
}

impl SealKey {
    pub(crate) fn new(bytes: [u8; KEY_BYTES]) -> SealKey {
        SealKey(bytes)
    }

    /// The seal of a file's content: of what kind it is, and under which name it counts.
    pub(crate) fn of_file(&self, kind: &str, name: &str, content: &[u8]) -> String {
        self.digest(&[b"file", kind.as_bytes(), name.as_bytes(), content])
    }

    /// The seal of an event after the one that carries the seal `before`.
    pub(crate) fn of_event(&self, task: &str, before: &str, event: &Event) -> String {
        let bytes = event.unsealed_bytes();
        self.digest(&[b"event", task.as_bytes(), before.as_bytes(), &bytes])
    }

    /// Compares every seal of a journal.
    pub(crate) fn compare(&self, task: &str, events: &[Event]) -> SealedJournal {
        let mut found = SealedJournal::default();
        for event in events {
            let seal = event.seal.as_ref().filter(|_| is_sealed(event));
            let right = seal.filter(|seal| **seal == self.of_event(task, &found.last, event));
            found.genuine.push(right.is_some());
            if let Some(seal) = right {
                found.last.clone_from(seal);
                found.right.push(seal.clone());
            }
        }
        found
    }

    fn digest(&self, parts: &[&[u8]]) -> String {
        let mut mac = Hmac::<Sha256>::new(&self.0.into());
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        let digest = mac.finalize().into_bytes();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::Timestamp;
    use orange_core::history::EventType;

    const KEY: SealKey = SealKey([7; KEY_BYTES]);

    /// A journal of sealed events, with one between them that is not sealed.
    fn journal() -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        for (kind, head) in [
            (EventType::TaskCreated, "a0"),
            (EventType::HookCompleted, ""),
            (EventType::StatusChanged, "a1"),
            (EventType::TaskVerified, "a1"),
        ] {
            let mut event = Event::new(kind, Timestamp::UNIX_EPOCH).detail("head", head);
            if is_sealed(&event) {
                let before = KEY.compare("t1", &events).last;
                event.seal = Some(KEY.of_event("t1", &before, &event));
            }
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
        assert_eq!(genuine(&events), [true, false, true, true]);
        let nothing = [false; 4];
        assert_eq!(KEY.compare("t2", &events).genuine, nothing);
        let other = SealKey([8; KEY_BYTES]);
        assert_eq!(other.compare("t1", &events).genuine, nothing);
    }

    #[test]
    fn a_changed_copied_moved_or_missing_event_shows() {
        let sealed = journal();
        let mut changed = sealed.clone();
        changed[3].details.insert("head".into(), "b1".into());
        assert_eq!(genuine(&changed), [true, false, true, false]);
        let mut copied = sealed.clone();
        copied.push(sealed[2].clone());
        assert_eq!(genuine(&copied), [true, false, true, true, false]);
        let mut moved = sealed.clone();
        moved.swap(2, 3);
        // The first of the two has lost what it follows; the other follows it as before.
        assert_eq!(genuine(&moved), [true, false, false, true]);
        let mut missing = sealed.clone();
        missing.remove(2);
        assert_eq!(genuine(&missing), [true, false, false]);
        let last = sealed[3].seal.clone().unwrap();
        assert!(KEY.compare("t1", &sealed).has(&last));
        assert!(!KEY.compare("t1", &missing).has(&last));
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
        let mut mac = Hmac::<Sha256>::new(&key.into());
        mac.update(b"what do ya want for nothing?");
        let digest: String = mac
            .finalize()
            .into_bytes()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(
            digest,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
