//! A transcript is legal at every moment.

use super::*;

fn history(messages: &str) -> Vec<Message> {
    serde_json::from_str(messages).unwrap()
}

fn result(call_id: &str) -> Block {
    ToolFault::not_run().result_of(call_id)
}

#[test]
fn a_call_with_the_id_of_an_earlier_one_gets_another_with_its_result() {
    let call = |id: &str| {
        let block = r#"{"type":"tool_call","id":"ID","name":"f","input":{}}"#.replace("ID", id);
        format!(r#"{{"role":"assistant","content":[{block}]}}"#)
    };
    let answer = |id: &str| {
        let block = r#"{"type":"tool_result","callId":"ID","content":[]}"#.replace("ID", id);
        format!(r#"{{"role":"user","content":[{block}]}}"#)
    };
    let turns = |ids: &[&str]| {
        let turns: Vec<String> = ids.iter().flat_map(|id| [call(id), answer(id)]).collect();
        history(&format!("[{}]", turns.join(",")))
    };
    let given = turns(&["a", "a_2", "a", "a", "b"]);
    let transcript = Transcript::from_history(given, |_| true).unwrap();
    assert_eq!(transcript.messages(), turns(&["a", "a_2", "a_3", "a_4", "b"]));
}

#[test]
fn whatever_comes_after_a_call_the_call_is_answered_once_and_first() {
    let call = r#"[{"role":"assistant","content":[
        {"type":"tool_call","id":"a","name":"f","input":{}},{"type":"tool_call","id":"b","name":"f","input":{}}]}]"#;
    let steps: [fn(&mut Transcript); 5] = [
        |transcript| transcript.push_user(vec![Block::text("more")]),
        |transcript| transcript.push_assistant(Message::assistant(vec![Block::text("more")])),
        |transcript| transcript.push_round(Vec::new(), vec![Block::text("more")]),
        |transcript| transcript.push_round(vec![result("b"), result("x"), result("a")], Vec::new()),
        |transcript| transcript.push_round(vec![result("b"), result("b")], vec![Block::text("more")]),
    ];
    for (index, step) in steps.into_iter().enumerate() {
        let mut transcript = Transcript::default();
        transcript.push_user(vec![Block::text("go")]);
        transcript.push_assistant(history(call).remove(0));
        assert_eq!(transcript.closed(Vec::new()).len(), 3);
        step(&mut transcript);
        transcript.push_round(vec![result("a")], Vec::new());
        let messages = transcript.into_messages();
        assert_eq!(messages[2].content[..2], [result("a"), result("b")], "{index}");
        let legal = Transcript::from_history(messages.clone(), |_| true).unwrap();
        assert_eq!(legal.messages(), messages, "{index}");
    }
}
