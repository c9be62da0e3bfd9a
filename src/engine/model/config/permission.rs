//! The permissions of a run: modes, rules, and the platform's readings of a call's texts.
//!
//! The configuration has [`Permissions`], and answers of your code can add rules and switch the mode.
//! [`crate::engine::policy::permission`] checks calls against them. The engine has neither Unicode tables nor a URL
//! parser, so the TypeScript sends each [`Reading`] with the answer that provides an input. A text that is not a rule
//! is rejected when it is read.

use serde::{Deserialize, Serialize};

/// How a call is judged that no rule matches.
///
/// In `acceptEdits` an edit must show its path in `file_path`, `path`, `notebook_path`, `filePath` or its
/// `ruleSubject`. Every path must be relative, must not climb, and must not name a hidden file or folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// `canUseTool` decides. Without it, the call is denied.
    #[default]
    Default,
    /// Tools with `access: "edit"` run, and so do plain command lines that only move files (`mkdir`, `touch`, `rm`,
    /// `rmdir`, `mv`, `cp`). Other calls, and calls with unsafe paths, are decided as in `default`.
    AcceptEdits,
    /// Every call that is not read-only is denied, regardless of rules, hooks and `canUseTool`. Other calls are
    /// decided as in `default`.
    Plan,
    /// A call is denied unless a rule allows it. An `ask` rule denies too.
    DontAsk,
    /// `classifyTool` decides.
    Auto,
    /// The call runs, unless a `deny` or `ask` rule matches, or the engine cannot decide whether a `deny` rule
    /// matches.
    BypassPermissions,
}

/// The current permissions of a run. Answers of your code can add rules and switch the mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Permissions {
    pub mode: PermissionMode,
    /// Rules for calls that run without a question. A name with a `*` must name its MCP server (`mcp__files__*`).
    #[cfg_attr(test, schemars(with = "Vec<String>", extend("x-option" = "permissions")))]
    pub allow: Vec<Rule>,
    /// Rules for calls that need a decision in every mode. `"dontAsk"` denies them.
    #[cfg_attr(test, schemars(with = "Vec<String>", extend("x-option" = "permissions")))]
    pub ask: Vec<Rule>,
    /// Rules for calls that never run. A rule without a specifier hides the tool from the model.
    #[cfg_attr(test, schemars(with = "Vec<String>", extend("x-option" = "permissions")))]
    pub deny: Vec<Rule>,
    /// The base folder of relative paths, an absolute path (`/srv/app`). With it, rules compare the resolved path.
    /// Calls with `access: "read"` below it need no rule, and `"acceptEdits"` accepts absolute paths below it.
    /// Default: unknown.
    #[cfg_attr(test, schemars(extend("x-option" = "permissions")))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Additional folders that are treated like `cwd`. They require `cwd`. Default: none.
    #[cfg_attr(test, schemars(extend("x-option" = "permissions")))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<String>,
    /// Whether calls that would change the settings of agents, shells, repositories and editors (`.claude`, `.git`,
    /// `.bashrc` …) are asked about although a rule or hook allows them. Without `canUseTool` they are denied.
    /// Default false.
    #[cfg_attr(test, schemars(extend("x-option" = "permissions")))]
    #[serde(skip_serializing_if = "is_false")]
    pub protect_settings: bool,
    /// Your code has a function that can be asked. Without one, a call that nothing allows is denied.
    pub can_use_tool: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The list of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    Allow,
    Ask,
    Deny,
}

/// A permission rule, read from its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "RuleForm", into = "String")]
pub struct Rule {
    /// The tool's name, or a pattern of names.
    pub tool: String,
    pub specifier: Option<String>,
}

impl Rule {
    /// Reads a rule. `None` for a text that is not a rule: it has an empty name, or its bracket is empty or not
    /// closed.
    pub fn parse(text: &str) -> Option<Rule> {
        let text = text.trim();
        let (tool, specifier) = match text.split_once('(') {
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
            None => (text, None),
        };
        if tool.is_empty() || tool.contains([')', ' ']) {
            return None;
        }
        let specifier = specifier.map(str::trim);
        if specifier == Some("") {
            return None;
        }
        let specifier = specifier.filter(|specifier| *specifier != "*");
        Some(Rule {
            tool: tool.to_owned(),
            specifier: specifier.map(str::to_owned),
        })
    }

    pub fn to_text(&self) -> String {
        match &self.specifier {
            Some(specifier) => format!("{}({specifier})", self.tool),
            None => self.tool.clone(),
        }
    }
}

/// A rule in JSON: its text, or its two parts.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum RuleForm {
    Text(String),
    #[serde(rename_all = "camelCase")]
    Parts {
        tool_name: String,
        rule_content: Option<String>,
    },
}

impl TryFrom<RuleForm> for Rule {
    type Error = String;

    fn try_from(form: RuleForm) -> Result<Rule, String> {
        let text = match form {
            RuleForm::Text(text) => text,
            RuleForm::Parts {
                tool_name,
                rule_content: Some(content),
            } => format!("{tool_name}({content})"),
            RuleForm::Parts { tool_name, .. } => tool_name,
        };
        Rule::parse(&text).ok_or_else(|| format!("must be Tool or Tool(specifier), got {text}"))
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> String {
        rule.to_text()
    }
}

/// One text and its normal forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    pub text: String,
    /// For paths: the text in Unicode's NFC; absent if it is in that form.
    pub composed: Option<String>,
    /// The address; absent if the platform's `URL` refuses the text, or if its scheme does not follow the rules of
    /// the web.
    pub address: Option<Address>,
}

/// An address in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// For example `https`.
    pub scheme: String,
    /// The host in lower case, in ASCII, without a last dot.
    pub host: String,
    /// The host with its port and, if the port is the usual one, without it.
    pub places: Vec<String>,
    /// Path and query as `URL` writes them and, if they differ, with escapes resolved.
    pub paths: Vec<String>,
}
