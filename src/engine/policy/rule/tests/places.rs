//! Tests of paths in a working folder that is known.

use super::*;

fn at(cwd: &str, mode: PermissionMode) -> Permissions {
    Permissions {
        mode,
        cwd: Some(cwd.to_owned()),
        can_use_tool: true,
        ..Permissions::default()
    }
}

fn denied_in(cwd: &str, rule: &str, path: &str) -> bool {
    let permissions = Permissions {
        deny: vec![Rule::parse(rule).unwrap()],
        ..at(cwd, PermissionMode::Default)
    };
    judge(&permissions, &tool("Read"), &input("file_path", path)) == "deny"
}

#[test]
fn s001_29_a_relative_path_is_compared_by_the_place_that_it_names() {
    for (cwd, rule, path, expected) in [
        ("/", "Read(//etc/**)", "etc/passwd", true),
        ("/etc", "Read(//etc/**)", "passwd", true),
        ("/etc", "Read(//etc/**)", "./x/../PASSWD", true),
        ("/app", "Read(//secret/**)", "../secret/x", true),
        ("/app", "Read(/secret/**)", "../secret/x", true),
        ("/app", "Read(/secret/**)", "secret/x", true),
        ("/app", "Read(/secret/**)", "..\\secret\\x", true),
        ("/app", "Read(//secret/**)", "../other/x", false),
        ("/app", "Read(//app/private/**)", "private/x", true),
        ("/app/", "Read(//app/private/**)", ".//private/x", true),
        ("/app", "Read(src/**)", "/app/src/x", true),
        ("/app", "Read(./src/**)", "src/x", true),
        ("/app", "Read(src/**)", "/other/src/x", false),
        ("/app/src", "Read(*.env)", "../a.env", true),
        ("/home/me/.ssh", "Read(~/.ssh/**)", "id", true),
        ("/app", "Read(//app/~/**)", "~/x", true),
        ("/app", "Read(~/x)", "~/x", true),
        ("/app", "Read(//etc/**)", "file:///etc/passwd", true),
        ("/app", "Read(//etc/**)", "../../../etc/passwd", true),
        ("/\u{c4}", "Read(//\u{e4}/x)", "x", true),
    ] {
        assert_eq!(denied_in(cwd, rule, path), expected, "{cwd} {rule} {path}");
    }
}

#[test]
fn a_rule_allows_the_same_file_however_its_place_is_written() {
    let allowed = |rule: &str, path: &str| {
        let permissions = Permissions {
            allow: vec![Rule::parse(rule).unwrap()],
            ..at("/app", PermissionMode::Default)
        };
        judge(&permissions, &tool("Write"), &input("file_path", path)) == "run"
    };
    assert!(allowed("Edit(src/**)", "/app/src/a") && allowed("Edit(src/**)", "src/a"));
    assert!(allowed("Edit(//app/src/**)", "src/a") && allowed("Edit(*.md)", "/app/docs/a.md"));
    assert!(!allowed("Edit(src/**)", "/src/a") && !allowed("Edit(src/**)", "src/../../app2/src/a"));
    assert!(!allowed("Edit(*.md)", "/a.md") && !allowed("Edit(*.md)", "../a.md"));
    assert!(!allowed("Edit(src/**)", "SRC/a") && !allowed("Edit(~/a)", "a"));
}

#[test]
fn reading_in_the_working_folders_needs_no_rule() {
    let read = tool("Read");
    let permissions = |mode| Permissions {
        additional_directories: vec!["/more".into(), "../beside".into()],
        ..at("/app", mode)
    };
    for (path, expected) in [
        ("a", "run"),
        ("/app/.env", "run"),
        ("/more/a", "run"),
        ("/beside/a", "run"),
        ("/appendix/a", "ask"),
        ("/etc/passwd", "ask"),
        ("../a", "ask"),
        ("~/a", "ask"),
        ("..\\a", "ask"),
        ("C:/a", "ask"),
        ("a.", "ask"),
        ("file:///app/a", "ask"),
    ] {
        let call = input("file_path", path);
        for mode in [
            PermissionMode::Default,
            PermissionMode::Plan,
            PermissionMode::AcceptEdits,
        ] {
            assert_eq!(judge(&permissions(mode), &read, &call), expected, "{path}");
        }
    }
    for name in ["Glob", "Grep"] {
        let search = tool(name);
        let judged = |call: &str| judge(&permissions(PermissionMode::DontAsk), &search, call);
        assert_eq!(judged(r#"{"pattern":"a"}"#), "run");
        assert_eq!(judged(r#"{"pattern":"a","path":null}"#), "run");
        assert_eq!(judged(r#"{"pattern":"a","path":"/app/src"}"#), "run");
        assert_eq!(judged(r#"{"pattern":"a","path":"/"}"#), "deny");
        assert_eq!(judged(r#"{"pattern":"a","path":["/app"]}"#), "deny");
    }
    let unknown = Permissions {
        can_use_tool: true,
        ..Permissions::default()
    };
    assert_eq!(judge(&unknown, &read, &input("file_path", "a")), "ask");
}

#[test]
fn s001_29_rules_for_read_speak_of_every_tool_that_reads() {
    let permissions = |deny: &str| Permissions {
        deny: vec![Rule::parse(deny).unwrap()],
        ..at("/app", PermissionMode::Default)
    };
    let own = ToolConfig {
        access: Some(Access::Read),
        ..tool("look")
    };
    for tool in [&tool("Grep"), &tool("Glob"), &own] {
        let call = input("path", "/secret/x");
        assert_eq!(judge(&permissions("Read(//secret/**)"), tool, &call), "deny");
        assert_eq!(
            judge(&permissions("Read"), tool, &call),
            "ask",
            "a bare rule means its tool"
        );
        let place = Reading {
            text: "/app/secret/a".into(),
            ..Reading::default()
        };
        assert!(permissions("Read(secret/**)").withholds(tool, &place));
        assert!(!permissions("Read(other/**)").withholds(tool, &place));
        assert!(!permissions("Edit(secret/**)").withholds(tool, &place));
    }
    let pathless = r#"{"pattern":"a"}"#;
    assert_eq!(judge(&permissions("Read(*.env)"), &tool("Grep"), pathless), "run");
    assert_eq!(
        judge(&permissions("Read(//app/**)"), &tool("Grep"), pathless),
        "deny"
    );
}

#[test]
fn s001_23_accepted_edits_may_be_written_from_the_root_on() {
    let write = tool("Write");
    for (cwd, path, expected) in [
        ("/app", "/app/a", "run"),
        ("/app", "a", "run"),
        ("/", "/a", "run"),
        ("/", "/.claude/settings.json", "ask"),
        ("/", ".claude/settings.json", "ask"),
        ("/", "/app/.bashrc", "ask"),
        ("/", "CLAUDE.md", "ask"),
        ("/app", "/app/.git/x", "ask"),
        ("/app", "/app/../a", "ask"),
        ("/app", "/a", "ask"),
        ("/app", "/app", "ask"),
        ("/a/.worktrees/b", "/a/.worktrees/b/c", "run"),
        ("/a/.worktrees/b", "c", "run"),
    ] {
        let permissions = at(cwd, PermissionMode::AcceptEdits);
        assert_eq!(
            judge(&permissions, &write, &input("file_path", path)),
            expected,
            "{cwd} {path}"
        );
    }
}
