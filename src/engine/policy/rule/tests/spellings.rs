//! Tests of the spellings that a model may choose to get past a rule, in tables for deny rules and for allow rules.
//!
//! Each row of `table` is a rule with the texts that it matches or lets pass. The tests run every row through the
//! real verdict, compare random spellings with their plain form, and count the turns of loops over hostile texts.

mod table;

use crate::engine::model::config::permission::{PermissionMode, Permissions};
use crate::engine::policy::rule::tests::{STEPS, allows, denies, guarded, input, judge, readings, tool};
use crate::engine::policy::rule::*;
use table::{ALLOWED, ASKED, DENIED, NOT_ALLOWED, NOT_DENIED};

/// The tool that the rule names, and a call of it with this text.
fn call(rule: &str, text: &str) -> (ToolConfig, String) {
    let name = rule.split('(').next().unwrap_or_default();
    let field = match name {
        "Bash" => "command",
        "WebFetch" => "url",
        _ => "file_path",
    };
    (tool(name), input(field, text))
}

fn rows(table: &'static [(&str, &[&str])]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let each = |(rule, texts): &'static (&str, &[&str])| texts.iter().map(move |text| (*rule, *text));
    table.iter().flat_map(each)
}

#[test]
fn s001_29_the_table_of_spellings() {
    let mut wrong = Vec::new();
    for (table, expected) in [(DENIED, "deny"), (ASKED, "ask"), (NOT_DENIED, "run")] {
        for (rule, text) in rows(table) {
            let (tool, call) = call(rule, text);
            let found = guarded(rule, &tool, &call);
            if found != expected {
                wrong.push([found, " ", rule, " ", &text.escape_debug().to_string()].concat());
            }
        }
    }
    for (table, expected) in [(NOT_ALLOWED, false), (ALLOWED, true)] {
        for (rule, text) in rows(table) {
            let (tool, call) = call(rule, text);
            if allows(rule, &tool, &call) != expected {
                wrong.push(["allow ", rule, " ", &text.escape_debug().to_string()].concat());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rows(DENIED).chain(rows(ASKED)).count() >= 60);
    assert!(rows(NOT_ALLOWED).count() >= 30 && rows(ALLOWED).count() >= 20);
}

#[test]
fn s001_29_no_rule_allows_a_hostile_spelling() {
    let mut wrong = Vec::new();
    for (rule, text) in rows(DENIED).chain(rows(ASKED)).chain(rows(NOT_ALLOWED)) {
        let (tool, call) = call(rule, text);
        // A plain line, path or address has one meaning: a rule that allows everything allows it.
        let is_plain = match Text::read(tool.access(), text.to_owned(), readings(), None) {
            Text::Path { .. } => true,
            text => !text.is_unclear(),
        };
        let rules = [
            "Bash(*n*)",
            "Bash(* *)",
            "Bash(*:*)",
            "Bash(*\"*)",
            "WebFetch(domain:*)",
            "WebFetch(*://*)",
        ];
        for rule in rules.iter().filter(|_| !is_plain) {
            if allows(rule, &tool, &call) {
                wrong.push([rule, " ", &text.escape_debug().to_string()].concat());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn s001_29_a_line_of_several_commands_is_allowed_by_no_rules() {
    let rules = ["Bash(cd *)", "Bash(git log*)", "Bash(head:*)"];
    let permissions = Permissions {
        allow: rules.iter().filter_map(|text| Rule::parse(text)).collect(),
        can_use_tool: true,
        ..Permissions::default()
    };
    for (line, expected) in [
        ("cd a", "run"),
        ("git log -1", "run"),
        ("head -5 x", "run"),
        ("cd a && git log", "ask"),
        ("git log | head -5", "ask"),
        ("cd a; git log -1 2>/dev/null\nhead x", "ask"),
        ("cd a && git log && rm x", "ask"),
        ("cd $(id)", "ask"),
    ] {
        let found = judge(&permissions, &tool("Bash"), &input("command", line));
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn s001_29_no_depth_of_brackets_hides_a_command_or_lets_it_run_unasked() {
    let quoted = |depth: usize, line: &str| {
        (0..depth).fold(line.to_owned(), |line, _| {
            ["eval '", &line.replace('\'', "'\\''"), "'"].concat()
        })
    };
    let brackets = |depth: usize, line: &str| ["$(".repeat(depth), line.into(), ")".repeat(depth)].concat();
    for (line, expected) in [
        (quoted(1, "ls"), "ask"),
        (quoted(8, "ls"), "ask"),
        (quoted(8, "rm x"), "deny"),
        (brackets(90, "ls"), "ask"),
        (brackets(10_000, "rm x"), "deny"),
    ] {
        let call = input("command", &line);
        assert_eq!(guarded("Bash(rm *)", &tool("Bash"), &call), expected, "{line}");
        assert!(!allows("Bash(eval *)", &tool("Bash"), &call));
    }
}

#[test]
fn a_domain_with_more_than_a_host_is_refused() {
    for (text, expected) in [
        ("WebFetch(domain:localhost:3000)", false),
        ("WebFetch(domain:https://a.com)", false),
        ("WebFetch(domain:a.com/x)", false),
        ("WebFetch(domain:bücher.de)", false),
        ("WebFetch(domain:*.a-b.com)", true),
        ("WebFetch(http://localhost:3000/*)", true),
    ] {
        let permissions = Permissions {
            deny: vec![Rule::parse(text).unwrap()],
            ..Permissions::default()
        };
        let checked = permissions.check(&[tool("WebFetch")]);
        assert_eq!(checked.is_ok(), expected, "{text}");
        assert!(
            checked
                .err()
                .is_none_or(|error| error.field == "permissions.deny")
        );
    }
}

/// The number of turns that the loops take for a text of this size.
fn steps(rule: &str, tool: &ToolConfig, input: &str) -> usize {
    STEPS.set(0);
    denies(rule, tool, input);
    allows(rule, tool, input);
    STEPS.get()
}

#[test]
fn s001_29_what_a_rule_takes_grows_with_the_length_of_what_it_is_compared_with() {
    let (shell, read, fetch) = (tool("Bash"), tool("Read"), tool("WebFetch"));
    let rows = [
        ("Read(**/*.env)", &read, "path", "a/"),
        ("Read(**/*.env)", &read, "path", "/a"),
        ("Read(~/.ssh/**)", &read, "path", "/a"),
        ("Read(**/a/**/a/**/a/**/b)", &read, "path", "a/"),
        ("Read(**/a/a/a/a/b)", &read, "path", "/a"),
        ("Read(*a*a*b)", &read, "path", "a"),
        ("Read(src/**)", &read, "path", "../"),
        ("Read(*.pem)", &read, "path", "\\."),
        ("Bash(*a*a*b*)", &shell, "command", "a"),
        ("Bash(rm *)", &shell, "command", "a;"),
        ("Bash(rm *)", &shell, "command", "sudo "),
        ("Bash(rm *)", &shell, "command", "rm"),
        ("Bash(rm *x)", &shell, "command", "sudo rm "),
        ("Bash(rm *)", &shell, "command", "$("),
        ("Bash(rm *)", &shell, "command", "\"$("),
        ("Bash(rm *)", &shell, "command", "`"),
        ("Bash(rm *)", &shell, "command", "("),
        ("Bash(rm *)", &shell, "command", "'\"'"),
        ("Bash(rm *)", &shell, "command", "sh -c "),
        ("Bash(rm *)", &shell, "command", "eval '"),
        ("Bash(rm *)", &shell, "command", "A=1 "),
        ("Bash(rm *)", &shell, "command", ">f "),
        ("Bash(rm *)", &shell, "command", "<<a\n"),
        ("Bash(rm *)", &shell, "command", "# "),
        ("WebFetch(domain:*a.b)", &fetch, "url", "a"),
        ("WebFetch(https://a.b/*c)", &fetch, "url", "https://a.b/"),
        ("WebFetch(https://a.b/*c)", &fetch, "url", "/.."),
    ];
    for (rule, tool, field, text) in rows {
        let of = |count: usize| steps(rule, tool, &input(field, &text.repeat(count)));
        let (short, long) = (of(500), of(4_000));
        assert!(long < 9 * short.max(500), "{rule} {text:?}: {short}, {long}");
        assert!(long < 4_000 * text.len() * 100, "{rule} {text:?}: {long}");
    }
}

#[test]
fn s001_29_an_address_counts_for_the_host_that_the_platform_finds_in_it() {
    let fetch = tool("WebFetch");
    // Each row has the host, or "?" where the platform finds none. An address in which some parser finds no host
    // never runs unasked.
    let rows = [
        ("https://evil.com/", "evil.com", true),
        ("HTTPS://EVIL.COM", "evil.com", true),
        ("https://evil.com:443/a", "evil.com", true),
        ("https://evil.com/#@example.com", "evil.com", true),
        ("wss://evil.com", "evil.com", true),
        ("http://127.0.0.1:80/", "127.0.0.1", true),
        ("https://xn--bcher-kva.de", "xn--bcher-kva.de", true),
        ("https://evil..com/", "evil..com", true),
        ("https://evil.com.", "evil.com", false),
        ("https://x:y@evil.com", "evil.com", false),
        ("https://x@y@evil.com/", "evil.com", false),
        ("https://example.com@evil.com/", "evil.com", false),
        ("https://example.com:pw@evil.com", "evil.com", false),
        ("https://evil.com?@example.com", "evil.com", false),
        ("https://evil.com\\@example.com", "evil.com", false),
        ("https:\\\\evil.com\\://example.com", "evil.com", false),
        ("https:///evil.com/://example.com", "evil.com", false),
        ("https://\\/evil.com", "evil.com", false),
        (" \u{1}https://evil.com ", "evil.com", false),
        ("https://e\tvil.c\nom", "evil.com", false),
        ("ht\ttps:/\r/evil.com", "evil.com", false),
        ("https:evil.com", "evil.com", false),
        ("https:/evil.com", "evil.com", false),
        ("https:/evil.com/://example.com", "evil.com", false),
        ("https:evil.com?://example.com", "evil.com", false),
        ("https:/evil.com/?q=://example.com/", "evil.com", false),
        ("https://\u{ff45}vil.com", "evil.com", false),
        ("https://evil%2ecom", "evil.com", false),
        ("https://evil\u{ad}.com", "evil.com", false),
        ("http://2130706433/", "127.0.0.1", false),
        ("http://0x7f.1/", "127.0.0.1", false),
        ("http://127.1/", "127.0.0.1", false),
        ("http://127.0.0.01/", "127.0.0.1", false),
        ("//evil.com", "?", false),
        ("evil.com", "?", false),
        ("", "?", false),
        ("https://", "?", false),
        ("https://xn--evil-.com", "xn--evil-.com", true),
        ("https://evil.com/\u{e4} b\\c@example.com", "evil.com", true),
        ("https://evil.com?a=b", "evil.com", true),
        ("https://evil.com?a\\@example.com", "evil.com", false),
        ("https://evil.com:x/", "?", false),
        ("https://ev il.com/", "?", false),
        ("javascript://evil.com/%0aalert(1)", "?", false),
        ("file://evil.com/etc", "?", false),
        ("https\u{a0}://evil.com", "?", false),
    ];
    for (url, host, is_allowed) in rows {
        let call = input("url", url);
        let rule = |host: &str| format!("WebFetch(domain:{host})");
        let found = if host == "?" { "ask" } else { "deny" };
        let other = if is_allowed { "run" } else { "ask" };
        assert_eq!(
            guarded(&rule(host.trim_matches('?')), &fetch, &call),
            found,
            "{url}"
        );
        assert_eq!(guarded(&rule("example.com"), &fetch, &call), other, "{url}");
        assert_eq!(allows(&rule(host), &fetch, &call), is_allowed, "{url}");
        assert!(!allows(&rule("example.com"), &fetch, &call), "{url}");
        assert_eq!(allows(&rule("*"), &fetch, &call), is_allowed, "{url}");
    }
    let call = input("url", "http://[::1]/");
    assert_eq!(guarded("WebFetch(domain:evil.com)", &fetch, &call), "run");
    assert!(denies("WebFetch(http://[::1]/*)", &fetch, &call));
    assert!(allows("WebFetch(http://[::1]/*)", &fetch, &call));
    assert!(denies(
        "WebFetch(domain:*.evil.com)",
        &fetch,
        &input("url", "http://a.EVIL.com")
    ));
}

#[test]
fn s001_29_an_address_that_nobody_can_read_is_asked_about_by_every_rule() {
    let fetch = tool("WebFetch");
    for url in [
        "//evil.com",
        "evil.com",
        "javascript://evil.com/x",
        "https://evil.com:x/",
    ] {
        let call = input("url", url);
        for rule in ["WebFetch(domain:a.com)", "WebFetch(https://a.com/*)"] {
            assert_eq!(guarded(rule, &fetch, &call), "ask", "{rule} {url}");
            let asking = Permissions {
                mode: PermissionMode::BypassPermissions,
                ask: vec![Rule::parse(rule).unwrap()],
                can_use_tool: true,
                ..Permissions::default()
            };
            assert_eq!(judge(&asking, &fetch, &call), "ask", "{rule} {url}");
        }
        assert_eq!(guarded("Bash(rm *)", &fetch, &call), "run", "{url}");
        assert!(!allows("WebFetch(*://*)", &fetch, &call));
    }
    let unread = input("url", "https://nobody-has-read-it.example/");
    assert_eq!(guarded("WebFetch(domain:a.com)", &fetch, &unread), "ask");
    assert!(!allows("WebFetch(domain:*)", &fetch, &unread));
}
