//! What a run may do: modes, rules, and the texts of calls as the platform reads them.

use serde::{Deserialize, Serialize};

/// What is done with a call that no rule speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// The host decides.
    #[default]
    Default,
    /// File edits and file-system commands run that stay where the run works; else as `default`.
    AcceptEdits,
    /// What changes anything goes to the host, whatever the allow rules say; else as `default`.
    Plan,
    /// Nobody is asked: what no rule allows is denied.
    DontAsk,
    /// The host's classifier decides.
    Auto,
    /// Everything runs that no deny or ask rule holds back.
    BypassPermissions,
}

/// What a run may do, as it stands: answers of the host can add rules and switch the mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Permissions {
    pub mode: PermissionMode,
    pub allow: Vec<Rule>,
    pub ask: Vec<Rule>,
    pub deny: Vec<Rule>,
    /// The host has a function that is asked; without one, what nothing allows is denied.
    pub can_use_tool: bool,
    /// How long an open question is waited for; then the call is denied. Default: for ever.
    pub timeout_ms: Option<u64>,
}

/// The list that a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    Allow,
    Ask,
    Deny,
}

/// A rule, read from its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RuleForm", into = "String")]
pub struct Rule {
    /// The tool's name, or a pattern of names.
    pub tool: String,
    pub specifier: Option<String>,
}

impl Rule {
    /// `None` for a text that is no rule: an empty name, a bracket that is not closed or holds nothing.
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
            Some(specifier) => [&self.tool, "(", specifier, ")"].concat(),
            None => self.tool.clone(),
        }
    }
}

/// A rule in JSON: its text, or its two parts as the Agent SDK has them.
#[derive(Deserialize)]
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
            } => [&tool_name, "(", &content, ")"].concat(),
            RuleForm::Parts { tool_name, .. } => tool_name,
        };
        Rule::parse(&text).ok_or_else(|| ["must be Tool or Tool(specifier), got ", &text].concat())
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> String {
        rule.to_text()
    }
}

/// One text and its normal forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reading {
    pub text: String,
    /// For paths: in Unicode's NFC and without upper case; none if that is the text in lower case.
    pub folded: Option<String>,
    /// None if the platform's `URL` refuses the text, or its scheme has other rules than those of the web.
    pub address: Option<Address>,
}

/// An address in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Address {
    /// `https`.
    pub scheme: String,
    /// In lower case, in ASCII, without a last dot.
    pub host: String,
    /// The host with and, if the port is the usual one, without it.
    pub places: Vec<String>,
    /// Path and query: as `URL` writes them and, if that differs, with escapes resolved.
    pub paths: Vec<String>,
}
