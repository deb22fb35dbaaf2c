//! What an agent says at the end of a turn: whatever it is, it is an answer, and one that was kept is read as the same.

use orange_core::work::answer::Answer;

pub fn answer(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
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
