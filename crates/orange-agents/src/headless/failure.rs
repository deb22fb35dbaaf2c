//! What kind of failure ended a turn: it decides whether the same is tried again, and when.

use orange_core::Timestamp;
use orange_core::choice;
use std::time::Duration;

choice! {
    /// Why a turn came to nothing, as far as its harness tells.
    pub enum FailureKind ("kind of failure") {
        /// The model's service failed, or is too busy: the same may succeed a little later.
        Service = "service",
        /// A usage limit whose end is known.
        Limit = "limit",
        /// Nobody is logged in, or the account is not accepted.
        LoggedOut = "logged out",
        /// The same would be refused again: no credit, no such model, a request that is too large.
        Refused = "refused",
        /// It took longer than it may.
        TimedOut = "timed out",
        /// It said nothing for longer than it may.
        Idle = "idle",
        /// It was to stop.
        Interrupted = "interrupted",
        /// It ended with an error of its own, or by a signal, or before its turn was over.
        Failed = "failed",
    }
}

/// A time that is further away is none that anybody meant.
const LONGEST: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// A failure of the model's service, by its HTTP status; None for one that says nothing of it.
pub fn kind_of_status(status: u64) -> Option<FailureKind> {
    match status {
        401 | 403 => Some(FailureKind::LoggedOut),
        // Of a timeout and of a conflict the other side says that the same may be tried again.
        408 | 409 | 429 | 500.. => Some(FailureKind::Service),
        400..500 => Some(FailureKind::Refused),
        _ => None,
    }
}

/// The same by a word, as hooks and reports of harnesses have it.
pub fn kind_of_word(word: &str) -> Option<FailureKind> {
    match word {
        "authentication_failed"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required"
        | "cloud_credential_error" => Some(FailureKind::LoggedOut),
        "billing_error" | "model_not_found" | "invalid_request" | "max_output_tokens" => {
            Some(FailureKind::Refused)
        }
        "rate_limit" | "server_error" | "overloaded" => Some(FailureKind::Service),
        _ => None,
    }
}

/// The kind, and until when it lasts: a limit is one only if its end is known, and known to be soon enough.
pub(super) fn with_end(
    kind: FailureKind,
    until: Option<Timestamp>,
) -> (FailureKind, Option<Timestamp>) {
    let until = until.filter(|until| *until <= Timestamp::now() + LONGEST);
    match (kind, until) {
        (FailureKind::Service | FailureKind::Limit, Some(until)) => {
            (FailureKind::Limit, Some(until))
        }
        (FailureKind::Limit, None) => (FailureKind::Service, None),
        (kind, _) => (kind, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_without_a_sensible_end_is_a_failure_of_the_service() {
        let now = Timestamp::now();
        let soon = Some(now + Duration::from_secs(60));
        assert_eq!(
            with_end(FailureKind::Service, soon),
            (FailureKind::Limit, soon)
        );
        let far = Some(now + 2 * LONGEST);
        for until in [None, far] {
            let found = with_end(FailureKind::Limit, until);
            assert_eq!(found, (FailureKind::Service, None));
        }
        let refused = with_end(FailureKind::Refused, soon);
        assert_eq!(refused, (FailureKind::Refused, None));
    }

    #[test]
    fn a_status_tells_whether_the_same_may_succeed_later() {
        let kind = |status| kind_of_status(status).map(FailureKind::as_str);
        assert_eq!(kind(200), None);
        assert_eq!(kind(401), Some("logged out"));
        assert_eq!(kind(404), Some("refused"));
        for again in [408, 429, 500, 529] {
            assert_eq!(kind(again), Some("service"), "{again}");
        }
    }
}
