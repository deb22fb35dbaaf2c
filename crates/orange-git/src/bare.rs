//! Bare repositories. Git treats any folder with HEAD, objects/ and refs/ as a repository and obeys its configuration,
//! and such a folder can be committed as ordinary files. So discovery never uses one; a person has to name it.

use super::said::{GitOutput, phrases};
use std::path::{Path, PathBuf};

/// Makes git refuse a bare repository that it finds by itself. `--bare` or a `.git` that leads to it still name it.
pub(super) const ONLY_NAMED: &str = "safe.bareRepository=explicit";

/// Returns whether git would take the folder itself for a repository.
pub fn is_bare(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder.join("HEAD")).is_ok()
        && folder.join("objects").is_dir()
        && folder.join("refs").is_dir()
        && std::fs::symlink_metadata(folder.join(".git")).is_err()
}

/// Returns the bare repository that a folder is in, without asking git, if discovery was refused because of it.
pub(super) fn refused(folder: &Path, said: &GitOutput) -> Option<PathBuf> {
    if !said.failed_by(phrases::ONLY_NAMED_BARE) {
        return None;
    }
    let folder = folder.canonicalize().ok()?;
    let found = folder.ancestors().find(|ancestor| is_bare(ancestor));
    found.map(Path::to_owned)
}

/// Returns the repository whose work tree, or whose own folder, a bare repository lies in.
pub fn outer_repository(bare: &Path) -> orange_sys::error::Result<Option<PathBuf>> {
    let Some(above) = bare.parent().filter(|_| is_bare(bare)) else {
        return Ok(None);
    };
    let outer = super::repository_of(above)?;
    // `shop/.git` may lead to `shop/.bare`: then both are the same repository.
    Ok(outer.filter(|outer| !super::worktree::same_folder(outer, bare)))
}

#[cfg(test)]
mod tests {
    use super::super::{Git, repository_of, tests::git};
    use super::*;
    use std::fs;

    #[test]
    fn discovery_names_a_bare_repository_and_obeys_none_of_its_settings() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let bare = root.join("outer/deep/evil.git");
        let path = bare.to_str().unwrap();
        git(&root, &["init", "-q", "-b", "main", "outer"]);
        git(&root, &["init", "-q", "--bare", "-b", "main", path]);
        for inside in [bare.clone(), bare.join("refs/heads")] {
            let said = Git::found_from(&inside).args(["config", "--get", "core.bare"]);
            assert_eq!(said.ask().unwrap(), None);
            assert_eq!(repository_of(&inside).unwrap(), Some(bare.clone()));
        }
        let outer = Some(root.join("outer"));
        assert_eq!(outer_repository(&bare).unwrap(), outer);
        assert_eq!(repository_of(&root.join("outer/deep")).unwrap(), outer);
        // Named, it is used.
        let named = Git::at(&bare).args(["rev-parse", "--is-bare-repository"]);
        assert_eq!(named.text().unwrap(), "true");
    }

    #[test]
    fn a_bare_repository_beside_its_worktrees_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let hidden = root.join(".bare");
        git(&root, &["init", "-q", "--bare", "-b", "main", ".bare"]);
        fs::write(root.join(".git"), "gitdir: ./.bare\n").unwrap();
        assert_eq!(repository_of(&root).unwrap(), Some(hidden.clone()));
        assert_eq!(outer_repository(&hidden).unwrap(), None);
    }
}
