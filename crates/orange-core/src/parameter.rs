//! What a person can give a verb besides what it acts on. A text names it; each front end writes it in its own way: as an
//! option of a command line, or as the label of a field.

use crate::choice;
use crate::text::TextPart;

choice! {
    /// One parameter of the verb at hand. A row is its name.
    pub enum Parameter ("parameter") {
        Allow = "allow",
        At = "at",
        Branch = "branch",
        Context = "context",
        Force = "force",
        Gate = "gate",
        Harness = "harness",
        KeepChildren = "keep-children",
        Name = "name",
        NoPush = "no-push",
        NoSpawn = "no-spawn",
        Message = "message",
        Parent = "parent",
        Permissions = "permissions",
        Push = "push",
        Resume = "resume",
        Status = "status",
        Strategy = "strategy",
        TargetBranch = "target-branch",
        ToBranch = "to-branch",
        Uncommitted = "uncommitted",
        Weight = "weight",
        WithWork = "with-work",
        Workflow = "workflow",
    }
}

impl Parameter {
    /// It, with what is to be given.
    pub fn given(self, value: impl Into<String>) -> TextPart {
        TextPart::Parameter {
            parameter: self,
            value: Some(value.into()),
        }
    }

    /// In words, for who sees no command line.
    pub fn label(self) -> String {
        self.as_str().replace('-', " ")
    }
}
