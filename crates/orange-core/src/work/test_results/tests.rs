//! Reports of both forms: what is read of a real one of Playwright, and what is refused (`#[cfg(test)]`).

use super::names::{check_name, check_path, kept_as};
use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What Playwright 1.65 wrote of two files of tests, two projects and one retry.
pub(super) const REAL: &str = include_str!("playwright-report.json");

fn report(value: &Value) -> Result<Parsed, UnreadableReport> {
    read(value.to_string().as_bytes())
}

/// A report of Playwright with one spec.
fn playwrights(results: Value, attachments: Value) -> Value {
    let mut results = results;
    if let Some(last) = results.as_array_mut().and_then(|all| all.last_mut()) {
        last["attachments"] = attachments;
    }
    json!({"config": {}, "stats": {}, "suites": [{"title": "a.spec.js", "specs": [
        {"title": "should work", "tests": [{"expectedStatus": "passed", "results": results}]}
    ]}]})
}

fn status_of(results: Value) -> TestStatus {
    let parsed = report(&playwrights(results, json!([]))).unwrap();
    parsed.report.suites[0].tests[0].status
}

#[test]
fn a_real_report_of_playwright_is_read() {
    let parsed = read(REAL.as_bytes()).unwrap();
    assert_eq!(parsed.form, ReportForm::Playwright);
    let report = &parsed.report;
    let sum = Summary {
        total: 12,
        passed: 6,
        failed: 4,
        skipped: 2,
        pending: 0,
        flaky: 2,
    };
    assert_eq!(report.summary, sum);
    let names: Vec<&str> = report
        .suites
        .iter()
        .map(|suite| suite.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "login.spec.js",
            "login.spec.js › Login Flow",
            "login.spec.js › Login Flow › with wrong words",
            "slow.spec.js",
        ]
    );
    let find = |name: &str| {
        let mut tests = report.tests();
        tests.find(|(_, test)| test.name == name).unwrap().1
    };
    // The last try of two counts; one that is expected to fail passes by failing.
    assert_eq!(
        find("should let the user try again [desktop]").status,
        TestStatus::Passed
    );
    assert_eq!(find("should let the user try again [desktop]").retries, 1);
    assert_eq!(
        find("should refuse an empty name [mobile]").status,
        TestStatus::Passed
    );
    assert_eq!(
        find("should remember the user [mobile]").status,
        TestStatus::Skipped
    );
    let slow = find("should be quick [mobile]");
    assert_eq!(slow.status, TestStatus::Failed);
    assert_eq!(
        slow.error.as_deref(),
        Some("Test timeout of 200ms exceeded.")
    );
    let wrong = find("should show error for invalid credentials [desktop]");
    let error = wrong.error.as_deref().unwrap();
    assert!(
        error.contains("Invalid credentials") && !error.contains('\u{1b}'),
        "{error}"
    );
    assert_eq!(wrong.screenshots, ["login-error.png"]);
    let files: Vec<_> = parsed.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        files,
        [
            "login-success.png",
            "login-success-2.png",
            "login-error.png",
            "login-error-2.png"
        ]
    );
    assert!(matches!(parsed.files[0].source, FileSource::Path(_)));
    assert!(matches!(parsed.files[2].source, FileSource::Body(_)));
    assert!(report.duration > 0 && report.started_at < report.completed_at);
    assert_eq!(
        report.figures().words(),
        "6 of 12 passed, 2 of them not at once, 2 skipped, 4 failed: \
         \"login.spec.js › Login Flow › with wrong words › should show error for invalid credentials [desktop]\" and 3 more"
    );
    assert_eq!(report.slowest(2).len(), 2);
}

#[test]
fn what_is_written_is_read_again() {
    let parsed = read(REAL.as_bytes()).unwrap();
    let written = serde_json::to_vec(&parsed.report).unwrap();
    let again = read(written.as_slice()).unwrap();
    assert_eq!(again.form, ReportForm::Own);
    assert_eq!(again.report, parsed.report);
    assert_eq!(again.files.len(), parsed.files.len());
    assert!(
        again
            .files
            .iter()
            .all(|file| file.source == FileSource::Beside)
    );
}

#[test]
fn the_last_result_of_a_test_counts() {
    let result = |status: &str| json!({"status": status});
    for (results, status) in [
        (
            json!([result("failed"), result("passed")]),
            TestStatus::Passed,
        ),
        (
            json!([result("passed"), result("timedOut")]),
            TestStatus::Failed,
        ),
        (json!([result("interrupted")]), TestStatus::Failed),
        (json!([result("skipped")]), TestStatus::Skipped),
        (json!([]), TestStatus::Pending),
        (
            json!([{"status": "passed", "retry": 1}, {"status": "failed", "retry": 0}]),
            TestStatus::Passed,
        ),
    ] {
        assert_eq!(status_of(results.clone()), status, "{results}");
    }
}

#[test]
fn what_is_missing_is_left_out() {
    let bare = report(&json!({"config": null, "stats": {}, "suites": null})).unwrap();
    assert_eq!(bare.report.summary, Summary::default());
    assert_eq!(bare.report.figures().words(), "no test was run");
    let broken = json!({"stats": {}, "suites": [], "errors": [{"message": "\u{1b}[31mSyntaxError\u{1b}[0m: x\nat y"}]});
    let figures = report(&broken).unwrap().report.figures();
    assert_eq!(figures.words(), "no test was run: SyntaxError: x");
    assert!(!figures.all_passed());
    let empty = report(&playwrights(json!([{}]), json!([{}]))).unwrap();
    assert_eq!(empty.report.summary.pending, 1);
    let own = json!({"summary": {"total": 3, "passed": 3}});
    let own = report(&own).unwrap().report;
    assert_eq!((own.version, own.framework.as_str()), (1, "playwright"));
    assert_eq!(own.figures().words(), "3 of 3 passed");
}

#[test]
fn our_own_form_is_read_with_its_coverage() {
    let own = json!({
        "version": 1, "framework": "playwright", "started_at": "2026-01-10T10:30:00Z", "duration": 300_000,
        "summary": {"total": 99},
        "suites": [{"name": "Login Flow", "tests": [
            {"name": "should log in", "status": "passed", "duration": 1500, "screenshots": ["login-success.png"],
             "trace": "trace-1.zip"},
            {"name": "should show an error", "status": "failed", "error": "not found", "screenshots": ["login-error.png"]},
        ]}],
        "coverage": {"percentage": 85.5, "lines": {"total": 1000}},
    });
    let parsed = report(&own).unwrap();
    let figures = parsed.report.figures();
    // Its tests count, not what it says of them.
    assert_eq!(figures.summary.total, 2);
    assert_eq!(
        (figures.coverage, figures.screenshots, figures.traces),
        (Some(85.5), 2, 1)
    );
    assert_eq!(
        figures.words(),
        "1 of 2 passed, 1 failed: \"Login Flow › should show an error\""
    );
    let files: Vec<_> = parsed
        .files
        .iter()
        .map(|file| (file.kind, file.name.as_str()))
        .collect();
    assert_eq!(
        files,
        [
            (FileKind::Screenshot, "login-success.png"),
            (FileKind::Trace, "trace-1.zip"),
            (FileKind::Screenshot, "login-error.png"),
        ]
    );
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let long = "x".repeat(300);
    for name in [
        "..",
        ".",
        "",
        " ",
        "../x.png",
        "a/b.png",
        "a\\b.png",
        "x\u{7}.png",
        "x\n",
        &long,
    ] {
        assert!(check_name(name).is_err(), "{name:?}");
        let own = json!({"suites": [{"tests": [{"name": "t", "screenshots": [name]}]}]});
        let error = report(&own).unwrap_err().to_string();
        assert!(
            error.contains("screenshot") && error.contains("\"t\""),
            "{error}"
        );
        let own = json!({"suites": [{"tests": [{"name": "t", "trace": name}]}]});
        assert!(
            matches!(report(&own), Err(UnreadableReport::Name { .. })),
            "{name:?}"
        );
    }
    for path in [
        "../x.png",
        "/a/../../etc/passwd",
        "a\\..\\b",
        "..",
        "",
        "a/\0",
        &long,
    ] {
        assert!(check_path(path).is_err(), "{path:?}");
        let attachment = json!([{"name": "x", "contentType": "image/png", "path": path}]);
        let error = report(&playwrights(json!([{}]), attachment)).unwrap_err();
        assert!(matches!(error, UnreadableReport::Name { .. }), "{error}");
    }
    for name in ["../x", "a/../b", "x\u{1b}[2J"] {
        let attachment = json!([{"name": name, "contentType": "image/png", "body": "aGk="}]);
        let error = report(&playwrights(json!([{}]), attachment)).unwrap_err();
        assert!(matches!(error, UnreadableReport::Name { .. }), "{error}");
    }
}

#[test]
fn attachments_get_names_that_say_what_they_are() {
    let screenshot = |name: &str, path: Option<&str>| {
        kept_as(
            FileKind::Screenshot,
            "image/png",
            name,
            path,
            "should log in",
        )
    };
    assert_eq!(
        screenshot("login-success", Some("/x/login-success-1f.png")),
        "login-success.png"
    );
    assert_eq!(screenshot("login error.png", None), "login-error.png");
    assert_eq!(screenshot("step 1/2", None), "step-1-2.png");
    assert_eq!(
        screenshot("screenshot", Some("/x/test-failed-1.png")),
        "should-log-in-test-failed-1.png"
    );
    assert_eq!(screenshot("", None), "file.png");
    assert_eq!(screenshot(".hidden", None), "hidden.png");
    assert_eq!(
        kept_as(
            FileKind::Trace,
            "application/zip",
            "trace",
            Some("/x/trace.zip"),
            "a b"
        ),
        "a-b-trace.zip"
    );
    assert_eq!(
        kept_as(FileKind::Screenshot, "image/jpeg", "a.jpeg", None, ""),
        "a.jpg"
    );
}

#[test]
fn files_that_nobody_looks_at_are_left_out() {
    let attachments = json!([
        {"name": "video", "contentType": "video/webm", "path": "/x/video.webm"},
        {"name": "page", "contentType": "image/svg+xml", "path": "/x/page.svg"},
        {"name": "data", "contentType": "application/zip", "path": "/x/data.zip"},
        {"name": "empty", "contentType": "image/png"},
    ]);
    let parsed = report(&playwrights(json!([{"status": "passed"}]), attachments)).unwrap();
    assert_eq!(parsed.files, []);
    let many: Vec<_> = (0..10_001)
        .map(|_| json!({"name": "same", "contentType": "image/png", "path": "/x/same.png"}))
        .collect();
    let error = report(&playwrights(json!([{}]), many.into())).unwrap_err();
    assert!(matches!(error, UnreadableReport::TooManyFiles));
}

#[test]
fn what_is_no_report_is_refused_with_the_place() {
    let cut = &REAL[..REAL.len() / 2];
    let error = read(cut.as_bytes()).unwrap_err().to_string();
    let line = cut.lines().count();
    assert!(
        error.starts_with("it is not whole") && error.contains(&format!("line {line},")),
        "{error}"
    );
    for (text, words) in [
        ("", "it is empty"),
        ("x", "it is not JSON (line 1, column 1)"),
        (
            "{\"suites\": 1}",
            "it is no test report: what is at line 1, column 13 is not what a report has there",
        ),
        (
            "{\"suites\": [],\n\"errors\": [1]}",
            "it is no test report: what is at line 2, column 13 is not what a report has there",
        ),
        (
            "7",
            "it is no test report: what is at line 1, column 1 is not what a report has there",
        ),
    ] {
        assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), words);
    }
    for text in [
        "",
        "[]",
        "{}",
        "null",
        "{\"suites\": 1}",
        "{\"suites\": []} x",
    ] {
        assert!(read(text.as_bytes()).is_err(), "{text}");
    }
    let newer = read(&b"{\"version\": 2, \"suites\": []}"[..]).unwrap_err();
    assert_eq!(
        newer.to_string(),
        "it has version 2, and this Orange knows version 1"
    );
    let halves = json!({"suites": [{"title": "a", "specs": []}]});
    assert!(matches!(
        report(&halves),
        Err(UnreadableReport::NoReport(_))
    ));
    // Deeper than any file of tests: an error, and not the end of the program.
    let deep = format!(
        "{{\"stats\": {{}}, \"suites\": {}",
        "[{\"suites\":".repeat(100_000)
    );
    let error = read(deep.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("it is nested too deeply"), "{error}");
}

#[test]
fn names_are_cut_wherever_they_are_repeated() {
    let long = "titel ".repeat(200_000);
    let spec = json!({"title": long, "tests": [
        {"projectName": long, "results": [{"status": "failed", "error": {"message": long}}]},
        {"projectName": "b", "results": [{"status": "failed"}]},
    ]});
    let inside: Vec<Value> = (0..200)
        .map(|number| json!({"title": format!("{number}"), "specs": [spec.clone()]}))
        .take(3)
        .chain((3..200).map(|number| {
            let spec = json!({"title": "t", "tests": [{"results": [{"status": "passed"}]}]});
            json!({"title": format!("{number}"), "specs": [spec]})
        }))
        .collect();
    let value = json!({"config": {}, "stats": {"startTime": long}, "errors": [{"message": long}],
        "suites": [{"title": long, "suites": inside}]});
    let parsed = report(&value).unwrap();
    let written = serde_json::to_vec(&parsed.report).unwrap();
    assert!(written.len() < 400_000, "{}", written.len());
    assert_eq!(parsed.report.summary.total, 203);
    let failed = &parsed.report.suites[0].tests[1];
    assert!(failed.name.ends_with("… [b]"), "{}", failed.name);
    // What was cut is not cut again.
    assert_eq!(read(written.as_slice()).unwrap().report, parsed.report);

    let own = json!({"framework": long, "suites": [{"name": long, "tests": [
        {"name": long, "status": "failed", "error": long},
    ]}]});
    for figures in [parsed, report(&own).unwrap()].map(|parsed| parsed.report.figures()) {
        let text = serde_json::to_string(&figures).unwrap();
        assert!(text.len() < 1000, "{}", text.len());
        assert!(figures.first_failure.unwrap().ends_with('…'));
    }
    let own = json!({"suites": [{"tests": [{"name": long, "screenshots": [long]}]}]});
    let refused = report(&own).unwrap_err().to_string();
    assert!(refused.len() < 1000, "{}", refused.len());
}

/// A report of 300 KB would be kept as 90 MB.
#[test]
fn a_title_that_is_repeated_without_end_is_refused() {
    let spec = |length: usize, tests: usize| {
        let tests = vec!["{}"; tests].join(",");
        format!(
            "{{\"title\": \"{}\", \"tests\": [{tests}]}}",
            "t".repeat(length)
        )
    };
    let report =
        |specs: &str| format!("{{\"stats\": {{}}, \"suites\": [{{\"specs\": [{specs}]}}]}}");
    let error = read(report(&spec(800, 100_000)).as_bytes()).unwrap_err();
    assert!(matches!(error, UnreadableReport::TooLongNames), "{error}");
    assert!(error.to_string().contains("more than 16 MiB"), "{error}");
    let kept = read(report(&spec(150, 100_000)).as_bytes()).unwrap();
    assert_eq!(kept.report.summary.total, 100_000);
    // What leads to a test counts too.
    let suite = |tests: &str| {
        format!(
            "{{\"title\": \"{}\", \"specs\": [{tests}]}}",
            "s".repeat(500)
        )
    };
    let suites = vec![suite(&spec(1, 1)); 40_000].join(",");
    let suites = format!("{{\"stats\": {{}}, \"suites\": [{suites}]}}");
    let error = read(suites.as_bytes()).unwrap_err();
    assert!(matches!(error, UnreadableReport::TooLongNames), "{error}");
}

#[test]
fn a_report_of_too_many_tests_is_refused_before_it_is_kept() {
    let many = |count: usize, item: &str| vec![item; count].join(",");
    let tests = |count| format!("{{\"suites\": [{{\"tests\": [{}]}}]}}", many(count, "{}"));
    let kept = read(tests(100_000).as_bytes()).unwrap();
    assert_eq!(kept.report.summary.total, 100_000);
    let error = read(tests(100_001).as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("more than 100000 tests"),
        "{error}"
    );
    let specs = format!(
        "{{\"stats\": {{}}, \"suites\": [{{\"specs\": [{}]}}]}}",
        many(1001, &format!("{{\"tests\": [{}]}}", many(100, "{}")))
    );
    let error = read(specs.as_bytes()).unwrap_err();
    assert!(matches!(error, UnreadableReport::TooManyTests), "{error}");
    // Nor is there any other list without an end; it is not read to the end, where a bracket is missing.
    let items = many(1_000_001, "{}");
    for begin in [
        "{\"suites\": [",
        "{\"stats\": {}, \"suites\": [{\"specs\": [{\"tests\": [{\"results\": [{\"attachments\": [",
        "{\"errors\": [",
        "{\"coverage\": [[",
    ] {
        let error = read(format!("{begin}{items}").as_bytes()).unwrap_err();
        assert!(
            matches!(error, UnreadableReport::TooManyItems),
            "{begin}: {error}"
        );
    }
}

#[test]
fn figures_never_contradict_themselves() {
    let words = |own: Value| report(&own).unwrap().report.figures().words();
    assert_eq!(
        words(
            json!({"version": 1, "summary": {"total": 0, "passed": 0, "failed": 3}, "suites": []})
        ),
        "0 of 3 passed, 3 failed and 2 more"
    );
    assert_eq!(
        words(json!({"summary": {"total": 10, "passed": 999, "flaky": 1000}})),
        "999 of 999 passed, 999 of them not at once"
    );
    let most = json!({"summary": {"passed": u64::MAX, "failed": u64::MAX}});
    assert!(!report(&most).unwrap().report.figures().all_passed());
    for (status, wanted) in [
        ("FAILED", TestStatus::Failed),
        ("timedOut", TestStatus::Failed),
        ("timeout", TestStatus::Failed),
        ("interrupted", TestStatus::Failed),
        ("exploded", TestStatus::Failed),
        ("Passed", TestStatus::Passed),
        ("SKIPPED", TestStatus::Skipped),
        ("pending", TestStatus::Pending),
    ] {
        let own = json!({"suites": [{"tests": [{"name": "t", "status": status}]}]});
        let read = report(&own).unwrap().report;
        assert_eq!(read.suites[0].tests[0].status, wanted, "{status}");
    }
    for percentage in [
        json!(-1e308),
        json!(-0.1),
        json!(100.5),
        json!("90"),
        json!(null),
    ] {
        let own = json!({"summary": {}, "coverage": {"percentage": percentage}});
        assert_eq!(report(&own).unwrap().report.coverage(), None, "{own}");
    }
}

#[test]
fn what_is_thrown_and_is_no_error_is_kept() {
    let error_of = |result: Value| {
        let parsed = report(&playwrights(json!([result]), json!([]))).unwrap();
        parsed.report.suites[0].tests[0].error.clone()
    };
    for result in [
        json!({"status": "failed", "error": {"value": "'boom'"}}),
        json!({"status": "failed", "error": {"message": "", "value": "'boom'"}}),
        json!({"status": "failed", "error": {"location": {}}, "errors": [{}, {"message": "'boom'"}]}),
        json!({"status": "failed", "error": null, "errors": [{"value": "'boom'"}]}),
    ] {
        assert_eq!(
            error_of(result.clone()).as_deref(),
            Some("'boom'"),
            "{result}"
        );
    }
    let message = json!({"status": "failed", "error": {"message": "real", "value": "'boom'"}});
    assert_eq!(error_of(message).as_deref(), Some("real"));
    let broken = json!({"stats": {}, "suites": [], "errors": [{"value": "'boom'"}]});
    let figures = report(&broken).unwrap().report.figures();
    assert_eq!(figures.words(), "no test was run: 'boom'");
}

proptest! {
    #[test]
    fn every_file_that_is_kept_has_a_plain_name(
        names in proptest::collection::vec(any::<String>(), 0..8),
        title in any::<String>(),
    ) {
        let attachments: Vec<_> = names
            .iter()
            .map(|name| json!({"name": name, "contentType": "image/png", "body": "aGk="}))
            .collect();
        let mut value = playwrights(json!([{}]), attachments.into());
        value["suites"][0]["specs"][0]["title"] = title.into();
        if let Ok(parsed) = report(&value) {
            for file in &parsed.files {
                prop_assert!(check_name(&file.name).is_ok(), "{:?}", file.name);
                let same = parsed.files.iter().filter(|other| other.name == file.name);
                prop_assert_eq!(same.count(), 1);
            }
        }
    }
}
