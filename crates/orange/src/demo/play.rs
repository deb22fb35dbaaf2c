//! The play itself: makes the stage ready, creates the tasks, reads their journals, and does what the user would do.
//! Everything is done with Orange's own commands.

use super::DemoEnding;
use super::USER;
use super::actor::{DemoActor, UserAction};
use super::demo_task::{DEMO_TASKS, DemoTask};
use super::landed::Main;
use super::screen::DemoScreen;
use super::stage::{DemoStage, cannot, failed};
use crate::commands::demo::DemoArgs;
use crate::signals::Signals;
use orange_engine::{Error, Result};
use serde_json::Value;
use std::fmt::Write;
use std::fs::File;
use std::process::Command;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(25);

/// How long the user thinks before doing something: long enough to read what it is about.
const THINKING: Duration = Duration::from_millis(1500);

pub(super) struct Play<'p> {
    pub(super) stage: &'p DemoStage,
    pub(super) screen: &'p mut DemoScreen,
    pub(super) args: &'p DemoArgs,
    pub(super) deadline: Instant,
    pub(super) signals: &'p Signals,
    pub(super) cast: Vec<DemoActor>,
    /// What the user is about to do, with whom, and when.
    pub(super) actions: Vec<(Instant, usize, UserAction)>,
}

/// Why a command was not waited for, or the play not played to its end.
enum PlayStop {
    Early(DemoEnding),
    Error(Error),
}

impl From<Error> for PlayStop {
    fn from(error: Error) -> PlayStop {
        PlayStop::Error(error)
    }
}

type Played<T> = std::result::Result<T, PlayStop>;

impl Play<'_> {
    pub(super) fn run(&mut self) -> Result<DemoEnding> {
        let played = self.prepare().and_then(|()| self.watch());
        self.close(played)
    }

    /// The screen as it stays.
    fn close(&mut self, played: Played<()>) -> Result<DemoEnding> {
        self.screen.close(&self.cast);
        match played {
            Ok(()) => Ok(DemoEnding::Complete),
            Err(PlayStop::Early(ending)) => Ok(ending),
            Err(PlayStop::Error(error)) => Err(error),
        }
    }

    /// Only what comes before the agents' work: who watches and answers is somebody else.
    pub(super) fn run_until_begun(&mut self) -> Result<DemoEnding> {
        let prepared = self.prepare();
        self.close(prepared)
    }

    fn prepare(&mut self) -> Played<()> {
        self.screen.tell(
            "demo",
            "a new repository with two commits, a home and a tmux server of its own",
            &[],
        );
        for command in self.stage.chapters()? {
            self.perform(command, "git")?;
        }
        self.stage.configure()?;
        self.user(
            &["project", "add", ".", "--pool-size", "3"],
            "orange project add . --pool-size 3",
        )?;
        for demo_task in &DEMO_TASKS {
            self.create(demo_task)?;
        }
        Ok(())
    }

    fn create(&mut self, demo_task: &'static DemoTask) -> Played<()> {
        let script = demo_task.script(self.args.is_fast());
        let script = self
            .stage
            .write(&format!("scripts/{}.yaml", demo_task.name), &script)?;
        let harness = format!("sim:{}", script.display());
        let mut words = vec![
            "new",
            demo_task.summary,
            "--harness",
            &harness,
            "--review-harness",
            &harness,
            "--json",
        ];
        let mut more = String::new();
        if let Some(weight) = demo_task.weight {
            let options = ["--workflow", "phased", "--weight", weight.as_str()];
            words.extend(options);
            more = format!(" {}", options.join(" "));
        }
        let shown = format!(
            "orange new {:?}{more} --harness sim:{}.yaml …",
            demo_task.summary, demo_task.name
        );
        let said = self.user(&words, &shown)?;
        let task = &said["task"];
        let word = |name: &str| task[name].as_str().unwrap_or_default().to_owned();
        let folder = self
            .stage
            .home()
            .join("tasks")
            .join(word("project"))
            .join(word("id"));
        let key = word("key");
        self.cast
            .push(DemoActor::new(demo_task, &key, &word("branch"), folder));
        if demo_task.weight.is_some() {
            // One with a plan waits until somebody has it run.
            self.user(&["run", &key], &format!("orange run {key}"))?;
        }
        Ok(())
    }

    /// Until every task is merged.
    fn watch(&mut self) -> Played<()> {
        loop {
            self.breathe()?;
            let now = Instant::now();
            let due = self.actions.iter().position(|(at, ..)| *at <= now);
            if let Some(position) = due {
                let (_, who, action) = self.actions.remove(position);
                self.act(who, action)?;
            }
            if self.cast.iter().all(DemoActor::over) {
                return Ok(());
            }
        }
    }

    /// What the user does about a question, a crash and work that passed its review.
    fn act(&mut self, who: usize, action: UserAction) -> Played<()> {
        let Some(actor) = self.cast.get(who) else {
            return Ok(());
        };
        let key = actor.key.clone();
        let (verb, answer) = match (action, actor.demo_task.answer) {
            (UserAction::Answer, Some(answer)) => ("send", Some(answer)),
            (UserAction::Respawn, _) => ("respawn", None),
            (UserAction::Merge, _) => ("merge", None),
            // A question that nobody expected stays open, and the end of the demo tells of it.
            (UserAction::Answer, None) => return Ok(()),
        };
        let mut shown = format!("orange {verb} {key}");
        if let Some(answer) = answer {
            let _ = write!(shown, " {answer:?}");
        }
        let words: Vec<&str> = ["task", verb, &key].into_iter().chain(answer).collect();
        self.user(&words, &shown).map(drop)
    }

    /// A short while: journals are read, the screen is brought up to date, and it is looked whether to go on.
    fn breathe(&mut self) -> Played<()> {
        std::thread::sleep(NAP);
        let thinking = if self.args.is_fast() {
            Duration::ZERO
        } else {
            THINKING
        };
        let news: Vec<_> = self.cast.iter_mut().map(DemoActor::look).collect();
        for (who, news) in news.into_iter().enumerate() {
            for told in news {
                if let Some(action) = told.action {
                    self.actions.push((Instant::now() + thinking, who, action));
                }
                if let Some(text) = &told.text {
                    self.screen.tell(&self.cast[who].key, text, &self.cast);
                }
            }
        }
        self.screen.tick(&self.cast);
        if let Some(error) = self.screen.failure.take() {
            return Err(error.into());
        }
        if let Some(signal) = self.signals.seen() {
            return Err(PlayStop::Early(DemoEnding::Interrupted(signal)));
        }
        if Instant::now() >= self.deadline {
            return Err(PlayStop::Early(DemoEnding::Late));
        }
        Ok(())
    }

    /// A command of the user's, shown and run; what it said if that was JSON.
    fn user(&mut self, words: &[&str], shown: &str) -> Played<Value> {
        self.screen.tell(USER, &format!("$ {shown}"), &self.cast);
        let said = self.perform(self.stage.orange(words), shown)?;
        Ok(serde_json::from_str(&said).unwrap_or_default())
    }

    /// Runs a command while the play goes on; gives what it said.
    fn perform(&mut self, mut command: Command, shown: &str) -> Played<String> {
        let path = self.stage.root.join("said");
        let file = File::create(&path).map_err(|error| cannot(&error, &path))?;
        let errors = file.try_clone().map_err(|error| cannot(&error, &path))?;
        let child = command.stdout(file).stderr(errors).spawn();
        let mut child = child.map_err(|error| failed(shown, &error.to_string()))?;
        let ended = loop {
            match child.try_wait() {
                Ok(Some(ended)) => break ended,
                Ok(None) => self.breathe()?,
                Err(error) => return Err(failed(shown, &error.to_string()).into()),
            }
        };
        let said = std::fs::read_to_string(&path).unwrap_or_default();
        if ended.success() {
            Ok(said)
        } else {
            Err(failed(shown, &said).into())
        }
    }

    pub(super) fn main(&mut self) -> Main {
        let log = ["log", "--format=%H %s", "main"];
        let log = self.perform(self.stage.git(&log), "git log");
        let status = self.stage.git(&["status", "--porcelain"]);
        let status = self.perform(status, "git status");
        match (log, status) {
            (Ok(log), Ok(status)) => Main::read(&log, &status),
            _ => Main::default(),
        }
    }
}
