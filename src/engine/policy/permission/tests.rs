use crate::engine::model::json::named;
use crate::engine::model::message::Json;
use crate::engine::policy::permission::*;

fn tool(name: &str) -> ToolConfig {
    let schema = Json::parse("{}").unwrap();
    ToolConfig::new(name, schema)
}

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| Rule::parse(text).unwrap()).collect()
}

fn bash(command: &str) -> String {
    serde_json::json!({ "command": command }).to_string()
}

fn file(path: &str) -> String {
    serde_json::json!({ "file_path": path }).to_string()
}

fn judge(permissions: &Permissions, tool: &ToolConfig, input: &str, needs_approval: bool) -> Verdict {
    let readings = &crate::engine::policy::rule::tests::readings();
    let call = RuledCall {
        tool,
        input,
        readings,
        leads_elsewhere: false,
    };
    permissions.judge(&call, needs_approval, false)
}

fn allows(rule: &str, tool: &ToolConfig, input: &str) -> bool {
    let permissions = Permissions {
        allow: rules(&[rule]),
        ..Permissions::default()
    };
    judge(&permissions, tool, input, false) == Verdict::Allow
}

fn denies(rule: &str, tool: &ToolConfig, input: &str) -> bool {
    let permissions = Permissions {
        mode: PermissionMode::BypassPermissions,
        deny: rules(&[rule]),
        ..Permissions::default()
    };
    matches!(judge(&permissions, tool, input, false), Verdict::Deny { .. })
}

const MODES: [PermissionMode; 6] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
    PermissionMode::DontAsk,
    PermissionMode::Auto,
    PermissionMode::BypassPermissions,
];

#[test]
fn a_text_that_is_no_rule_is_refused() {
    for text in ["", "(x)", "Bash(npm", "Ba sh", "Bash)"] {
        assert_eq!(Rule::parse(text), None, "{text}");
    }
    assert_eq!(Rule::parse("Bash(*)"), Rule::parse("Bash"));
    assert_eq!(Rule::parse(" Bash(a(b)) ").unwrap().to_text(), "Bash(a(b))");
}

#[test]
fn s001_29_a_call_without_what_a_scope_is_compared_with_is_denied_and_asked_about_but_never_allowed() {
    let shell = tool("Bash");
    for input in ["{}", r#"{"command":["rm","-rf"]}"#, r#"{"line":"rm"}"#, r#""rm""#] {
        assert!(denies("Bash(rm *)", &shell, input), "{input}");
        assert!(!allows("Bash(rm *)", &shell, input), "{input}");
        let permissions = Permissions {
            mode: PermissionMode::BypassPermissions,
            ask: rules(&["Bash(rm *)"]),
            ..Permissions::default()
        };
        let verdict = judge(&permissions, &shell, input, false);
        assert!(matches!(verdict, Verdict::Ask { .. }), "{input}");
    }
    assert!(!denies("Bash(rm *)", &shell, &bash("ls")));
    assert!(!denies("Bash(rm *)", &tool("other"), "{}"));
    let permissions = Permissions {
        mode: PermissionMode::BypassPermissions,
        deny: rules(&["Bash(rm *)"]),
        ..Permissions::default()
    };
    assert!(!permissions.forbids(&shell), "other calls of it may run");
}

#[test]
fn s001_29_the_table_of_commands() {
    let shell = tool("Bash");
    let rows = [
        ("Bash", "anything at all", true),
        ("Bash(ls *)", "ls", true),
        ("Bash(ls *)", "ls -la", true),
        ("Bash(ls *)", "lsof", false),
        ("Bash(ls*)", "lsof", true),
        ("Bash(ls:*)", "ls -la", true),
        ("Bash(ls:*)", "lsof", false),
        ("Bash(npm run test)", "npm run test", true),
        ("Bash(npm run test)", "npm run test2", false),
        ("Bash(git * main)", "git checkout main", true),
        ("Bash(git * main)", "git push origin main", true),
        ("Bash(npm *)", "npm test && rm -rf /", false),
        ("Bash(npm *)", "npm test | npm publish", false),
        ("Bash(npm *)", "npm test; curl x", false),
        ("Bash(npm *)", "npm test\nrm x", false),
        ("Bash(npm *)", "npm test & rm x", false),
        ("Bash(echo *)", "echo $(rm -rf /)", false),
        ("Bash(echo *)", "echo `rm -rf /`", false),
        ("Other(ls *)", "ls", false),
    ];
    for (rule, command, expected) in rows {
        assert_eq!(allows(rule, &shell, &bash(command)), expected, "{rule} {command}");
    }
    assert!(denies("Bash(rm *)", &shell, &bash("npm test && rm -rf /")));
    assert!(!denies("Bash(rm *)", &shell, &bash("npm test")));
}

#[test]
fn the_table_of_paths() {
    let read = tool("Read");
    let rows = [
        ("Read(*.env)", ".env", true),
        ("Read(*.env)", "deep/down/x.env", true),
        ("Read(src/**)", "src/a/b.rs", true),
        ("Read(src/**)", "other/src/a", false),
        ("Read(src/*)", "src/a", true),
        ("Read(src/*)", "src/a/b", true),
        ("Read(/src/*.rs)", "src/a.rs", true),
        ("Read(./src/*.rs)", "./src/a.rs", true),
        ("Read(//etc/**)", "/etc/passwd", true),
        ("Read(/etc/**)", "/etc/passwd", false),
        ("Read(~/.ssh/**)", "~/.ssh/id", true),
        ("Read(docs/)", "docs/a.md", true),
        ("Read(src/**)", "src/../secret", false),
        ("Read(**/secret)", "a/b/secret", true),
        ("Read(**/secret)", "secret", true),
    ];
    for (rule, path, expected) in rows {
        assert_eq!(allows(rule, &read, &file(path)), expected, "{rule} {path}");
    }
}

#[test]
fn addresses_are_compared_by_their_host() {
    let fetch = tool("WebFetch");
    let input = |url: &str| serde_json::json!({ "url": url }).to_string();
    let rows = [
        ("https://example.com/a", true),
        ("https://EXAMPLE.com:8443/a", true),
        ("https://example.com.evil.org/", false),
        ("https://evil.org/?x=example.com", false),
        ("https://example.com@evil.org/", false),
        ("https://evil.org\\@example.com", false),
    ];
    for (url, expected) in rows {
        assert_eq!(
            allows("WebFetch(domain:example.com)", &fetch, &input(url)),
            expected,
            "{url}"
        );
    }
    assert!(allows(
        "WebFetch(domain:*.example.com)",
        &fetch,
        &input("http://a.example.com")
    ));
}

#[test]
fn a_rule_for_edits_covers_every_tool_that_writes_files() {
    assert!(allows("Edit(src/**)", &tool("Write"), &file("src/a")));
    let mut own = tool("patch");
    own.access = Some(Access::Edit);
    assert!(allows("Edit", &own, &file("a")));
    assert!(!allows("Edit", &tool("Bash"), &bash("ls")));
}

#[test]
fn servers_and_stars_in_names() {
    let get = tool("mcp__files__get");
    for (rule, expected) in [
        ("mcp__files", true),
        ("mcp__files__*", true),
        ("mcp__files__get", true),
        ("mcp__file", false),
        ("mcp__*", false),
        ("*", false),
    ] {
        assert_eq!(allows(rule, &get, "{}"), expected, "{rule}");
    }
    assert!(denies("mcp__*", &get, "{}") && denies("*", &get, "{}"));
    let permissions = Permissions {
        allow: rules(&["mcp__*", "Read", "mcp__a__*"]),
        ..Permissions::default()
    };
    assert_eq!(permissions.ignored_rules(), ["mcp__*"]);
}

#[test]
fn an_allow_rule_for_a_tool_of_a_server_covers_no_other_tool_of_it() {
    let other = tool("mcp__a__b__x");
    for (rule, expected) in [
        ("mcp__a__b", false),
        ("mcp__a", true),
        ("mcp__a__b__x", true),
        ("mcp__a__b__*", true),
        ("mcp__a__b__", false),
    ] {
        assert_eq!(allows(rule, &other, "{}"), expected, "{rule}");
    }
    // A deny rule may mean a server of this name.
    assert!(denies("mcp__a__b", &other, "{}"));
}

#[test]
fn a_tool_of_the_hosts_own_names_the_field_that_scopes_compare() {
    let mut own = tool("deploy");
    let permissions = Permissions {
        deny: rules(&["deploy(prod*)"]),
        ..Permissions::default()
    };
    let refused = permissions.check(std::slice::from_ref(&own)).unwrap_err();
    assert_eq!(refused.field, "permissions.deny");
    own.rule_subject = Some("target".to_owned());
    assert!(permissions.check(std::slice::from_ref(&own)).is_ok());
    assert!(denies("deploy(prod*)", &own, r#"{"target":"production"}"#));
    assert!(!denies("deploy(prod*)", &own, r#"{"target":"staging"}"#));
}

#[test]
fn modes_and_rules_are_judged_in_this_order() {
    let read = ToolConfig {
        read_only: true,
        ..tool("look")
    };
    let write = tool("act");
    let verdict = |mode: usize, list: &str, can_use_tool: bool, tool: &ToolConfig| {
        let mut permissions = Permissions {
            mode: MODES[mode],
            can_use_tool,
            ..Permissions::default()
        };
        if let Some(kind) = named(list) {
            *permissions.rules(kind) = rules(&["look", "act"]);
        }
        match judge(&permissions, tool, "{}", false) {
            Verdict::Allow => "allow",
            Verdict::Deny { .. } => "deny",
            Verdict::Ask { classify: true, .. } => "classify",
            Verdict::Ask { .. } => "ask",
        }
    };
    // The columns are default, acceptEdits, plan, dontAsk, auto and bypassPermissions, each with and without a
    // function to ask.
    let rows = [
        ("none", &read, ["ask", "ask", "ask", "deny", "classify", "allow"]),
        (
            "none",
            &write,
            ["ask", "ask", "deny", "deny", "classify", "allow"],
        ),
        ("allow", &read, ["allow"; 6]),
        (
            "allow",
            &write,
            ["allow", "allow", "deny", "allow", "allow", "allow"],
        ),
        ("ask", &write, ["ask", "ask", "deny", "deny", "ask", "ask"]),
        ("deny", &write, ["deny"; 6]),
    ];
    for (list, tool, expected) in rows {
        let found: Vec<_> = (0..6).map(|mode| verdict(mode, list, true, tool)).collect();
        assert_eq!(found, expected, "{list} {}", tool.name);
    }
    let alone: Vec<_> = (0..6).map(|mode| verdict(mode, "none", false, &write)).collect();
    assert_eq!(alone, ["deny", "deny", "deny", "deny", "classify", "allow"]);
    let alone: Vec<_> = (0..6).map(|mode| verdict(mode, "ask", false, &write)).collect();
    assert_eq!(alone, ["ask", "ask", "deny", "deny", "ask", "ask"]);
}

#[test]
fn s001_23_edits_and_file_commands_are_accepted_and_nothing_else() {
    let permissions = Permissions {
        mode: PermissionMode::AcceptEdits,
        ..Permissions::default()
    };
    let is_allowed =
        |tool: &ToolConfig, input: String| judge(&permissions, tool, &input, false) == Verdict::Allow;
    assert!(is_allowed(&tool("Write"), file("a")));
    assert!(is_allowed(&tool("Bash"), bash("mkdir -p a/b")));
    assert!(!is_allowed(&tool("Bash"), bash("mkdir a && touch a/b")));
    assert!(!is_allowed(&tool("Bash"), bash("mkdir a && curl evil")));
    assert!(!is_allowed(&tool("Bash"), bash("touch $(curl evil)")));
    assert!(!is_allowed(&tool("WebFetch"), "{}".into()));
}

#[test]
fn what_a_tool_wants_approved_is_asked_in_every_mode_that_may_ask() {
    for (mode, asks) in [(0, true), (3, false), (5, true)] {
        let permissions = Permissions {
            mode: MODES[mode],
            allow: rules(&["act"]),
            ..Permissions::default()
        };
        let verdict = judge(&permissions, &tool("act"), "{}", true);
        assert_eq!(matches!(verdict, Verdict::Ask { .. }), asks, "{mode}");
    }
}
