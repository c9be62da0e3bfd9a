//! Tests of texts with which a model may try to get past a rule.

use crate::engine::model::config::permission::Reading;
use crate::engine::model::config::permission::{PermissionMode, Permissions};
use crate::engine::model::message::Json;
use crate::engine::policy::permission::Verdict;
use crate::engine::policy::rule::subject::RuledCall;
use crate::engine::policy::rule::*;

mod commands;
mod places;
mod spellings;

thread_local! {
    pub static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub fn tool(name: &str) -> ToolConfig {
    ToolConfig::new(name, Json::empty_object())
}

pub fn input(field: &str, text: &str) -> String {
    serde_json::json!({ field: text }).to_string()
}

/// The platform's readings of all addresses in these tests; `tests/typescript/core/readings.test.ts` compares them
/// with `URL`.
pub fn readings() -> &'static [Reading] {
    static READINGS: std::sync::LazyLock<Vec<Reading>> = std::sync::LazyLock::new(|| {
        let lines = include_str!("tests/readings.jsonl").lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    });
    &READINGS
}

pub fn judge(permissions: &Permissions, tool: &ToolConfig, input: &str) -> &'static str {
    let call = RuledCall {
        tool,
        input,
        readings: readings(),
        leads_elsewhere: false,
    };
    match permissions.judge(&call, false, false) {
        Verdict::Allow => "run",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

pub fn allows(rule: &str, tool: &ToolConfig, input: &str) -> bool {
    let allow = vec![Rule::parse(rule).unwrap()];
    let permissions = Permissions {
        allow,
        ..Permissions::default()
    };
    judge(&permissions, tool, input) == "run"
}

/// The verdict where everything runs that this rule lets pass, and your code can be asked.
pub fn guarded(rule: &str, tool: &ToolConfig, input: &str) -> &'static str {
    let permissions = Permissions {
        mode: PermissionMode::BypassPermissions,
        deny: vec![Rule::parse(rule).unwrap()],
        can_use_tool: true,
        ..Permissions::default()
    };
    judge(&permissions, tool, input)
}

pub fn denies(rule: &str, tool: &ToolConfig, input: &str) -> bool {
    guarded(rule, tool, input) == "deny"
}

fn accepts(tool: &ToolConfig, input: &str) -> bool {
    let permissions = Permissions {
        mode: PermissionMode::AcceptEdits,
        ..Permissions::default()
    };
    judge(&permissions, tool, input) == "run"
}

#[test]
fn s001_29_a_second_field_hides_nothing() {
    let (shell, read, fetch) = (tool("Bash"), tool("Read"), tool("WebFetch"));
    let rows = [
        (&shell, "Bash(npm *)", r#"{"cmd":"rm -rf /","command":"npm i"}"#),
        (&shell, "Bash(npm *)", r#"{"command":"npm i","cmd":"rm -rf /"}"#),
        (&shell, "Bash(npm *)", r#"{"command":"npm i","cmd":["rm"]}"#),
        (
            &shell,
            "Bash(npm *)",
            r#"{"command":"npm i","comm\u0061nd":"rm x"}"#,
        ),
        (
            &read,
            "Read(src/**)",
            r#"{"path":"/etc/passwd","file_path":"src/a"}"#,
        ),
        (
            &read,
            "Read(src/**)",
            r#"{"path":"src/a","notebook_path":"/etc/passwd"}"#,
        ),
        (&read, "Read(src/**)", r#"{"path":{"a":1},"file_path":"src/a"}"#),
        (
            &fetch,
            "WebFetch(domain:a.com)",
            r#"{"url":"https://a.com","uri":"https://b.com"}"#,
        ),
    ];
    for (tool, rule, call) in rows {
        assert!(!allows(rule, tool, call), "{call}");
    }
    let rows = [
        (&shell, "Bash(rm *)", r#"{"cmd":"rm -rf /","command":"npm i"}"#),
        (&shell, "Bash(rm *)", r#"{"command":"rm -rf /","cmd":"npm i"}"#),
        (&shell, "Bash(rm *)", r#"{"command":"npm i","cmd":["rm"]}"#),
        (
            &read,
            "Read(//etc/**)",
            r#"{"path":"/etc/passwd","file_path":"src/a"}"#,
        ),
        (
            &fetch,
            "WebFetch(domain:b.com)",
            r#"{"url":"https://a.com","uri":"https://b.com"}"#,
        ),
    ];
    for (tool, rule, call) in rows {
        assert!(denies(rule, tool, call), "{call}");
    }
    assert!(allows(
        "Read(src/**)",
        &read,
        r#"{"path":null,"file_path":"src/a"}"#
    ));
    assert!(allows(
        "Bash(npm *)",
        &shell,
        r#"{"cmd":"npm i","command":"npm t"}"#
    ));
    let named = ToolConfig {
        rule_subject: Some("path".into()),
        ..tool("Read")
    };
    let call = r#"{"path":"/etc/passwd","file_path":"src/a"}"#;
    assert!(!allows("Read(src/**)", &named, call) && denies("Read(//etc/**)", &named, call));
    assert!(
        !denies("Read(src/**)", &named, call),
        "only the field that is named counts"
    );
}

#[test]
fn s001_29_a_field_that_the_tool_does_not_read_hides_nothing() {
    let reads = |name: &str, field: &str| {
        let schema = serde_json::json!({"type": "object", "properties": { field: {"type": "string"} }});
        ToolConfig::new(name, Json::parse(&schema.to_string()).unwrap())
    };
    let check = |rule: &str, tool: &ToolConfig| {
        let deny = vec![Rule::parse(rule).unwrap()];
        let permissions = Permissions {
            deny,
            ..Permissions::default()
        };
        permissions.check(std::slice::from_ref(tool)).is_ok()
    };
    let call = r#"{"script":"rm -rf /","command":"mkdir a"}"#;
    let shell = reads("Bash", "script");
    assert!(!accepts(&shell, call) && !allows("Bash(mkdir *)", &shell, call));
    assert!(denies("Bash(rm *)", &shell, call) && !check("Bash(rm *)", &shell));
    let named = ToolConfig {
        rule_subject: Some("script".into()),
        ..reads("Bash", "script")
    };
    assert!(!allows("Bash(mkdir *)", &named, call) && denies("Bash(rm *)", &named, call));
    assert!(check("Bash(rm *)", &named) && check("Bash(rm *)", &reads("Bash", "cmd")));
    let write = reads("Write", "target");
    assert!(!allows(
        "Edit(src/**)",
        &write,
        r#"{"target":"/etc/passwd","path":"src/a"}"#
    ));
    assert!(check("Edit(src/**)", &write), "it may be meant for others");
    let misspelt = ToolConfig {
        rule_subject: Some("scirpt".into()),
        ..reads("own", "script")
    };
    assert!(!check("own(rm *)", &misspelt));
}

#[test]
fn s001_29_upper_case_and_composed_letters_hide_no_path() {
    let read = tool("Read");
    // `readings.jsonl` has the platform's reading of each path.
    for (pattern, path, expected) in [
        ("\u{c4}rger/**", "\u{e4}rger/x", true),
        ("\u{c4}rger/**", "a\u{308}rger/x", true),
        ("\u{e4}rger/**", "A\u{308}RGER/x", true),
        ("*.pass", "a.pa\u{17f}\u{17f}", true),
        ("*.key", "a.\u{212a}ey", true),
        ("\u{c4}rger/**", "arger/x", false),
        ("*.pass", "p\u{e4}ss/x", false),
    ] {
        let rule = format!("Read({pattern})");
        let call = input("file_path", path);
        assert_eq!(denies(&rule, &read, &call), expected, "{pattern} {path}");
        assert!(!allows(&rule, &read, &call), "{pattern} {path}");
    }
    assert!(allows(
        "Read(\u{e4}rger/**)",
        &read,
        &input("file_path", "\u{e4}rger/x")
    ));
}

#[test]
fn s001_29_however_a_path_is_spelt_a_rule_that_denies_it_is_hit() {
    let read = tool("Read");
    let rows = [
        ("//etc/**", "/etc/passwd", true),
        ("//etc/**", "//etc/./x/../passwd", true),
        ("//etc/**", "/../etc/passwd", true),
        ("//etc/**", "../../etc/passwd", true),
        ("//etc/**", "~/../../etc/passwd", true),
        ("//etc/**", "etc/passwd", false),
        ("src/private/**", "src/private/a", true),
        ("src/private/**", "./src//private/a", true),
        ("src/private/**", "../project/src/private/a", true),
        ("src/private/**", "/srv/project/src/private/a", true),
        ("src/private/**", "src\\private\\a", true),
        ("src/private/**", "x/src/private/a", false),
        ("src/private/**", "src/public/a", false),
        ("~/.ssh/**", "~/.ssh/id", true),
        ("~/.ssh/**", "~/x/../.ssh/id", true),
        ("~/.ssh/**", "/root/.ssh/id", true),
        ("~/.ssh/**", "/home/me/.ssh/id", true),
        ("~/.ssh/**", "/Users/me/.SSH/id", true),
        ("~/.ssh/**", "C:\\Users\\me\\.ssh\\id", true),
        ("~/.ssh/**", "~root/.ssh/id", true),
        ("~/.ssh/**", "~/../me/.ssh/id", true),
        ("~/.ssh/**", "$HOME/.ssh/id", true),
        ("~/.ssh/**", ".ssh/id", true),
        ("~/.ssh/**", ".ssh", true),
        ("~/.ssh/**", "../x", true),
        ("~/.ssh/**", "/home/me/.sshx/id", false),
        ("~/.ssh/**", "~/.config/x", false),
        ("~/.ssh/id", "/home/me/id", false),
        ("//home/me/.ssh/**", "~/.ssh/id", true),
        ("//root/**", "~/x", true),
        ("//etc/**", "~/x", false),
        ("//etc/**", "file:///etc/passwd", true),
        ("//etc/**", "FILE://localhost/etc/passwd", true),
        ("//etc/**", "file:/%65tc/passwd", true),
        ("//etc/**", "C:/etc/passwd", true),
        ("//etc/**", "\\\\?\\C:\\etc\\passwd", true),
        ("//etc/**", "file:///x/etc/passwd", false),
        ("src/private/**", "C:\\work\\src\\private\\a", true),
        ("src/private/**", "file:///srv/src/private/a", true),
        ("*.pem", "a.pem.", true),
        ("*.pem", "a.pem ", true),
        ("*.pem", "a.pem. .", true),
        ("*.pem", "a.pem:stream", true),
        ("*.pem", "a.pem::$DATA", true),
        ("*.pem", "a.pem\0.txt", true),
        ("*.pem", "file:///x/a%2Epem?y#z", true),
        ("*.pem", "a.pemx", false),
        ("src/private/**", "src/private./a", true),
        ("*.env", "x\\.env", true),
        ("*.env", "../.env", true),
        ("*.env", "../a.txt", false),
    ];
    for (pattern, path, expected) in rows {
        let rule = format!("Read({pattern})");
        assert_eq!(
            denies(&rule, &read, &input("file_path", path)),
            expected,
            "{pattern} {path}"
        );
    }
    for path in [
        "src/../x",
        "src\\..\\..\\x",
        "src/..\\..\\x",
        "../src/a",
        "/src/a",
        "~/src/a",
    ] {
        assert!(
            !allows("Read(src/**)", &read, &input("file_path", path)),
            "{path}"
        );
    }
    assert!(!allows(
        "Read(~/project/**)",
        &read,
        &input("file_path", "~/../project/a")
    ));
}

#[test]
fn s001_23_accepted_edits_stay_where_the_run_works() {
    let shell = tool("Bash");
    for command in [
        "mkdir a",
        "rm -rf build",
        "cp -r b d/e+f,g@h",
        "mkdir -p a/b",
        "mv a .",
        "cp -r ./a b/",
        "cp -a dir .",
    ] {
        assert!(accepts(&shell, &input("command", command)), "{command}");
    }
    for command in [
        "",
        ";",
        "mkdir a && touch a/b",
        "mv a.txt b/c.txt; cp -r b d",
        "mkdir -p a/b\nrmdir a/b",
        "touch a\n",
        "touch %TEMP%/a",
        "cp =ls a",
        "sed '1e id' f",
        "sed -n '1w /etc/cron.d/x' f",
        "sed -i s/a/b/ f",
        "rm -rf /",
        "rm -rf .",
        "rm -rf ./",
        "rm -rf a/..",
        "rm -rf ~",
        "rm -rf ~root",
        "rm -rf $HOME",
        "rm *",
        "mkdir a > /etc/passwd",
        "mkdir a >b",
        "touch a < b",
        "cp secret /var/www",
        "mv a ../../b",
        "touch a/../../b",
        "touch 'a'/../b",
        "cp a \"/etc/x\"",
        "cp --target-directory=/etc a",
        "cp -a dir/. .",
        "cp -rt sub .",
        "cp -r --target-dir sub .",
        "cp -a dir/. sub",
        "cp -r dir/. x",
        "mv dir/. .",
        "cp -r src/ .",
        "cp -aT dir x",
        "cp -r -T dir .",
        "cp --no-target-directory dir x",
        "cp -a . x",
        "cp -a ./ x",
        "rm -rf dir/.",
        "cp -r a/./b c",
        "cp -t/etc a",
        "cp -t.. a",
        "touch {a,/etc/b}",
        "touch \\/etc/b",
        "touch .git/hooks/pre-commit",
        "cp a CLAUDE.md",
        "mv a docs/claude.local.md",
        "cp a .bashrc",
        "mkdir $(x)",
        "mkdir a; curl x",
        "mkdir a | sh",
        "A=1 mkdir a",
        "mkdirx",
        "cp a C:/x",
    ] {
        assert!(!accepts(&shell, &input("command", command)), "{command}");
    }
    let write = tool("Write");
    for (path, expected) in [
        ("a", true),
        ("./src/a.rs", true),
        ("src/x/../a", false),
        ("/etc/passwd", false),
        ("../a", false),
        ("a/../../b", false),
        ("~/a", false),
        ("\\\\host\\a", false),
        ("C:\\a", false),
        ("..\\a", false),
        ("file:///etc/passwd", false),
        (".git/config", false),
        (".bashrc", false),
        ("CLAUDE.md", false),
        ("docs/Claude.MD.", false),
        ("CLAUDE.md.txt", true),
        ("", false),
    ] {
        assert_eq!(accepts(&write, &input("file_path", path)), expected, "{path}");
    }
    assert!(!accepts(&write, r#"{"file_path":"a","path":"/etc/passwd"}"#));
    assert!(!accepts(&write, r#"{"file_path":["/etc/passwd"]}"#));
    let unseen = [
        r#"{"text":"a note"}"#,
        r#"{"filename":"a"}"#,
        r#"{"target":"/etc/passwd"}"#,
        r#"{"edits":[{"file_path":"a"}]}"#,
        r#"{"edits":[{"file_path":"a"},{"target":"/etc/passwd"}]}"#,
        r#"{"file_path":null}"#,
        r#"[{"file_path":"a"}]"#,
        "{}",
        r#"{"file_path":"a","edits":[{"file_path":"/etc/passwd"}]}"#,
        r#"{"file_path":"a","edits":[[{"x":{"p\u0061th":"../a"}}]]}"#,
        r#"{"file_path":"a","edits":[{"path":["/etc/passwd"]}]}"#,
        r#"{"file_path":"a","file_path":"/etc/passwd"}"#,
        r#"{"file_path":"/etc/passwd","file_path":"a"}"#,
    ];
    for call in unseen {
        assert!(!accepts(&write, call), "{call}");
    }
    assert!(accepts(
        &write,
        r#"{"edits":[{"file_path":"b"}],"file_path":"a"}"#
    ));
    let named = ToolConfig {
        access: Some(Access::Edit),
        rule_subject: Some("to".into()),
        ..tool("own")
    };
    assert!(accepts(&named, r#"{"to":"a"}"#) && !accepts(&named, r#"{"to":"/a"}"#));
    assert!(!accepts(&named, r#"{"path":"a"}"#));
}

#[test]
fn a_specifier_of_nothing_is_no_rule() {
    for text in ["Bash()", "Bash( )", "Bash(\t)"] {
        assert_eq!(Rule::parse(text), None, "{text}");
    }
    assert_eq!(Rule::parse("Bash( ls * )"), Rule::parse("Bash(ls *)"));
}
