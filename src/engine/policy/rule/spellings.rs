//! What rules make of the spellings that a model may choose: one table for rules that deny, one for those that allow.

mod table;

use crate::engine::policy::permission::{Permissions, Verdict};
use crate::engine::policy::rule::tests::{STEPS, allows, denies, input, tool};
use crate::engine::policy::rule::*;
use table::{ALLOWED, DENIED, NOT_ALLOWED, NOT_DENIED};

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
    for (table, is_deny, expected) in [
        (DENIED, true, true),
        (NOT_DENIED, true, false),
        (NOT_ALLOWED, false, false),
        (ALLOWED, false, true),
    ] {
        for (rule, text) in rows(table) {
            let (tool, call) = call(rule, text);
            let judge = if is_deny { denies } else { allows };
            if judge(rule, &tool, &call) != expected {
                let list = if is_deny { "deny" } else { "allow" };
                wrong.push([list, " ", rule, " ", &text.escape_debug().to_string()].concat());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rows(DENIED).count() >= 60 && rows(NOT_ALLOWED).count() >= 30 && rows(ALLOWED).count() >= 20);
}

#[test]
fn s001_29_the_commands_of_a_line_may_be_allowed_by_different_rules() {
    let allow = ["Bash(cd *)", "Bash(git log*)", "Bash(head:*)"].map(|text| Rule::parse(text).unwrap());
    let permissions = Permissions {
        allow: allow.to_vec(),
        ..Permissions::default()
    };
    for (line, expected) in [
        ("cd a && git log", true),
        ("git log | head -5", true),
        ("cd a; git log -1 2>/dev/null\nhead x", true),
        ("cd a && git log && rm x", false),
        ("cd a && git log > x", false),
        ("cd $(id) && git log", false),
    ] {
        let verdict = permissions.judge(&tool("Bash"), &input("command", line), false, false);
        assert_eq!(verdict == Verdict::Allow, expected, "{line}");
    }
}

#[test]
fn s001_29_commands_that_lie_too_deep_are_hit_by_every_rule() {
    let nested = |depth: usize| {
        (0..depth).fold("ls".to_owned(), |line, _| {
            ["eval eval '", &line.replace('\'', "'\\''"), "'"].concat()
        })
    };
    let brackets = |depth: usize| ["$(".repeat(depth), "ls".into(), ")".repeat(depth)].concat();
    for (line, expected) in [
        (nested(1), false),
        (nested(8), true),
        (brackets(90), false),
        (brackets(200), true),
    ] {
        assert_eq!(
            denies("Bash(rm *)", &tool("Bash"), &input("command", &line)),
            expected,
            "{line}"
        );
        assert!(!allows(
            "Bash(eval *)",
            &tool("Bash"),
            &input("command", &brackets(200))
        ));
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

/// How many turns the loops take for a text of this size.
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
fn s001_29_an_address_counts_for_the_host_that_a_url_parser_finds_in_it() {
    let fetch = tool("WebFetch");
    // The host; "?" where parsers differ, or find none.
    let rows = [
        ("https://evil.com/", "evil.com"),
        ("HTTPS://EVIL.COM", "evil.com"),
        ("https://evil.com:443/a", "evil.com"),
        ("https://evil.com.", "evil.com"),
        ("https://x:y@evil.com", "evil.com"),
        ("https://x@y@evil.com/", "evil.com"),
        ("https://example.com@evil.com/", "evil.com"),
        ("https://evil.com?@example.com", "?"),
        ("https://evil.com/#@example.com", "evil.com"),
        ("https://evil.com\\@example.com", "?"),
        ("https:\\\\evil.com\\://example.com", "?"),
        ("https:///evil.com/://example.com", "evil.com"),
        ("https://\\/evil.com", "evil.com"),
        (" \u{1}https://evil.com ", "evil.com"),
        ("https://e\tvil.c\nom", "evil.com"),
        ("ht\ttps:/\r/evil.com", "evil.com"),
        ("wss://evil.com", "evil.com"),
        ("https://example.com:pw@evil.com", "evil.com"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("https:evil.com", "?"),
        ("https:/evil.com", "?"),
        ("https:/evil.com/://example.com", "?"),
        ("https:evil.com?://example.com", "?"),
        ("https:/evil.com/?q=://example.com/", "?"),
        ("//evil.com", "?"),
        ("evil.com", "?"),
        ("", "?"),
        ("https://", "?"),
        ("https://ｅvil.com", "?"),
        ("https://evil%2ecom", "?"),
        ("https://evil\u{ad}.com", "?"),
        ("https://[::1]/", "?"),
        ("http://2130706433/", "?"),
        ("http://0x7f.1/", "?"),
        ("http://127.1/", "?"),
        ("http://127.0.0.01/", "?"),
        ("https://xn--evil-.com", "?"),
        ("https://xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("https://evil.com:x/", "?"),
        ("https://ev il.com/", "?"),
        ("https://evil..com/", "?"),
        ("javascript://evil.com/%0aalert(1)", "?"),
        ("file://evil.com/etc", "?"),
        ("https\u{a0}://evil.com", "?"),
    ];
    for (url, host) in rows {
        let call = input("url", url);
        let rule = |host: &str| ["WebFetch(domain:", host, ")"].concat();
        let is_unsure = host == "?";
        let named = if is_unsure { "evil.com" } else { host };
        assert_eq!(allows(&rule(named), &fetch, &call), !is_unsure, "{url}");
        assert!(!allows(&rule("example.com"), &fetch, &call), "{url}");
        assert!(!is_unsure || !allows(&rule("*"), &fetch, &call), "{url}");
        assert!(denies(&rule(named), &fetch, &call), "{url}");
        assert_eq!(denies(&rule("example.com"), &fetch, &call), is_unsure, "{url}");
    }
    assert!(denies(
        "WebFetch(domain:*.evil.com)",
        &fetch,
        &input("url", "http://a.EVIL.com")
    ));
}
