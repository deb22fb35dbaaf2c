//! Files, repositories and slots of a test home, as git and the disk have them.

use super::*;

impl TestHome {
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Adds to config.yaml.
    pub(crate) fn config(&self, text: &str) {
        let path = self.folder().join("config.yaml");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + text).unwrap();
    }

    /// A repository with one commit on main.
    pub(crate) fn init_repository(&self, name: &str) -> PathBuf {
        let folder = self.root().join(name);
        fs::create_dir_all(&folder).unwrap();
        self.git(&folder, &["init", "-q", "-b", "main"]);
        self.commit(&folder, "README.md", "first");
        folder
    }

    /// Commits one file; gives the commit.
    pub(crate) fn commit(&self, repository: &Path, file: &str, content: &str) -> String {
        fs::write(repository.join(file), content).unwrap();
        self.git(repository, &["add", file]);
        let message = format!("change {file}");
        self.git(repository, &["commit", "-q", "-m", &message]);
        self.git(repository, &["rev-parse", "HEAD"])
    }

    #[track_caller]
    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self
            .foreign("git")
            .current_dir(folder)
            .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Another program in the environment that git gets.
    pub(crate) fn foreign(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(variables());
        command
    }

    // The pool of worktrees.

    pub(crate) fn slot(&self, number: u32) -> PathBuf {
        self.folder().join(format!("workspaces/shop--{number}"))
    }

    pub(crate) fn pool_file(&self) -> PathBuf {
        self.folder().join("workspaces/.pool.json")
    }

    /// What the pool file says of a slot of `shop`.
    pub(crate) fn pool_entry(&self, number: u32) -> Value {
        let text = fs::read_to_string(self.pool_file()).unwrap_or_default();
        let mut pool: Value = serde_json::from_str(&text).unwrap_or_default();
        pool["workspaces"][format!("shop--{number}")].take()
    }

    /// The newest rescue of a task; the text of one of its files, if it has it.
    pub(crate) fn rescued(&self, repository: &Path, task: &TestTask, file: &str) -> Option<String> {
        let below = format!("refs/orange/rescue/{}", task.id);
        let format = "--format=%(refname) %(subject)";
        let names = ["for-each-ref", "--sort=-refname", format];
        let refs = self.git(repository, &[&names[..], &[&below]].concat());
        // That of the deleted branch has nothing but what was merged.
        let mut refs = refs
            .lines()
            .filter(|line| !line.ends_with("after the merge"));
        let (name, _) = refs.next()?.split_once(' ')?;
        self.file_at(repository, name, file)
    }

    /// A file of a commit.
    pub(crate) fn file_at(&self, repository: &Path, revision: &str, file: &str) -> Option<String> {
        let output = self
            .foreign("git")
            .current_dir(repository)
            .args(["cat-file", "blob", &format!("{revision}:{file}")])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    }

    /// The branch checked out, or nothing.
    pub(crate) fn branch_at(&self, folder: &Path) -> String {
        self.git(folder, &["branch", "--show-current"])
    }

    /// A slot that nobody has: detached at this commit, and clean.
    #[track_caller]
    pub(crate) fn is_parked(&self, slot: &Path, commit: &str) {
        assert_eq!(self.branch_at(slot), "", "{}", slot.display());
        assert_eq!(self.git(slot, &["rev-parse", "HEAD"]), commit);
        assert_eq!(self.git(slot, &["status", "--porcelain"]), "");
    }
}
