//! The repository of the demo: a small shop, so that the tasks have something to be about.

pub(super) const FILES: &[(&str, &str)] = &[
    (
        "README.md",
        "# Shop\n\nSells tea. `python -m src.app` starts it.\n",
    ),
    (
        "src/app.py",
        "from src.invoice import due\n\n\ndef order(item, day):\n    return f\"{item}, to be paid by {due(day)}\"\n",
    ),
    (
        "src/invoice.py",
        "def due(date):\n    return date.strftime(\"%m.%d.%Y\")\n",
    ),
];

pub(super) const COMMITS: &[(&str, &[&str])] = &[
    ("a shop that sells tea", &["README.md"]),
    ("orders and invoices", &["src"]),
];
