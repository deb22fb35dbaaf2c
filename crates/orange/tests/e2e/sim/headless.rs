//! Turns of the scripted agent without a terminal, through `orange headless`.

use crate::env::TestEnvironment;
use serde_json::Value;

const SCRIPT: &str = r#"
worker:
  - say: "First, about {message}"
  - write: first.txt
    text: x
  - end turn
  - ask permission: May I?
    allowed:
      - say: Allowed.
    denied:
      - say: Denied.
  - repeat: 2
    steps:
      - end turn
      - say: Again.
  - end turn
  - fail: the service is down
  - exit: 7
"#;

struct Sim {
    env: TestEnvironment,
    harness: String,
}

impl Sim {
    fn new() -> Sim {
        let env = TestEnvironment::new();
        let script = env.write("script.yaml", SCRIPT);
        let harness = format!("sim:{}", script.display());
        Sim { env, harness }
    }

    /// The turn, with the exit code of the command.
    fn turn(&self, more: &[&str], prompt: &str) -> (Value, i32) {
        let words = ["--json", "headless", "--harness", &self.harness];
        let run = self.env.orange([&words, more, &["--", prompt]].concat());
        (run.json(), run.code)
    }
}

#[test]
fn a_conversation_goes_on_where_the_script_was() {
    let sim = Sim::new();
    let (first, code) = sim.turn(&[], "the\nlogin form");
    let turn = &first["turn"];
    assert_eq!((code, &turn["is_error"]), (0, &false.into()), "{first}");
    assert_eq!(turn["text"], "First, about the\nlogin form");
    assert_eq!(turn["junk_lines"], 0);
    assert!(sim.env.shop().join("first.txt").exists());
    let id = turn["conversation"].as_str().unwrap();

    let resume = ["--resume", id, "--permissions", "ask"];
    let (second, _) = sim.turn(&resume, "go on");
    assert_eq!(second["turn"]["text"], "Denied.", "{second}");
    assert_eq!(second["turn"]["conversation"], id);
    for _ in 0..2 {
        let (again, _) = sim.turn(&["--resume", id], "go on");
        assert_eq!(again["turn"]["text"], "Again.", "{again}");
    }
    let (failed, code) = sim.turn(&["--resume", id], "go on");
    assert_eq!(code, 1, "{failed}");
    assert_eq!(failed["turn"]["error"], "the service is down");
    let (ended, code) = sim.turn(&["--resume", id], "go on");
    assert_eq!((code, &ended["turn"]["exit"]), (1, &7.into()), "{ended}");

    let (other, _) = sim.turn(&["--permissions", "full"], "anew");
    assert_eq!(other["turn"]["text"], "First, about anew");
    assert_ne!(other["turn"]["conversation"], id);
}

#[test]
fn an_unknown_conversation_is_said() {
    let (said, code) = Sim::new().turn(&["--resume", "nobody"], "go on");
    assert_eq!(code, 4, "{said}");
    assert_eq!(said["error"]["code"], "not_found");
}

#[test]
fn the_script_being_over_is_a_turn_too() {
    let env = TestEnvironment::new();
    let script = env.write("script.yaml", "worker:\n  - say: Once.\n");
    let harness = format!("sim:{}", script.display());
    let sim = Sim { env, harness };
    let (first, _) = sim.turn(&[], "a");
    let id = first["turn"]["conversation"].as_str().unwrap();
    let (second, code) = sim.turn(&["--resume", id], "b");
    assert_eq!(code, 0, "{second}");
    let text = second["turn"]["text"].as_str().unwrap();
    assert!(text.contains("nothing left"), "{second}");
}
