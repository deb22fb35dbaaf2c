//! What an agent says at the end of a turn: whatever it is, it is an answer, and one that was kept is read as the same. What a
//! judge says is a judgement in the same way.

use orange_core::work::answer::Answer;
use orange_core::work::verdict::{JudgeDecision, Judgement};

pub fn answer(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    judgement(&text);
    let answer = Answer::read(&text);
    assert!(!answer.question_in_words().is_empty());
    let found = Answer::find(&text);
    assert_eq!(found.clone().unwrap_or_default(), answer);
    if found.is_none() {
        return;
    }
    let json = serde_json::to_string(&answer).unwrap_or_default();
    assert_eq!(
        serde_json::from_str::<Answer>(&json).ok().as_ref(),
        Some(&answer)
    );
    assert_eq!(Answer::find(&json).as_ref(), Some(&answer), "{json}");
    let behind = format!("{text}\n{json}\nThat is all.");
    assert!(Answer::find(&behind).is_some());
}

fn judgement(text: &str) {
    let judgement = Judgement::read(text);
    assert!(!judgement.reason.is_empty());
    assert_eq!(Judgement::of_answer(&judgement.clone().into()), judgement);
    let approved = format!(r#"{text} {{"decision": "approved"}}"#);
    let rejected = format!(r#"{approved} {{"decision": "rejected"}}"#);
    // Whatever stands before them, one of both cannot win.
    if Judgement::read(&approved).decision == JudgeDecision::Approved {
        assert_ne!(Judgement::read(&rejected).decision, JudgeDecision::Approved);
    }
}
