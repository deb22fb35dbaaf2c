//! A report of tests in either form: what is read is written and read again as the same, and every file that it names has a plain
//! name.

use orange_core::work::test_results::names::check_name;
use orange_core::work::test_results::{ReportForm, read};

pub fn test_report(bytes: &[u8]) {
    let Ok(parsed) = read(bytes) else {
        return;
    };
    for file in &parsed.files {
        assert_eq!(check_name(&file.name), Ok(()), "{:?}", file.name);
    }
    assert!(!parsed.report.figures().words().is_empty());
    if parsed.form == ReportForm::Playwright {
        let mut names: Vec<_> = parsed
            .files
            .iter()
            .map(|file| (file.kind.folder(), &file.name))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "two files of one name");
    }
    let written = serde_json::to_vec(&parsed.report).unwrap_or_default();
    let again = read(written.as_slice());
    let again = again.map(|again| (again.form, again.report));
    let expected = Ok((ReportForm::Own, parsed.report));
    assert_eq!(again.map_err(|error| error.to_string()), expected);
}
