use super::*;

fn lines(chunks: &[&[u8]]) -> Vec<String> {
    let mut framing = FramingState::new(Framing::Ndjson);
    let mut found = Vec::new();
    let mut keep = |event: SseEvent<'_>| {
        found.push(String::from_utf8_lossy(event.data).into_owned());
        0
    };
    for chunk in chunks {
        framing.feed(chunk, &mut keep).unwrap();
    }
    framing.finish(&mut keep).unwrap();
    found
}

#[test]
fn lines_come_whole_wherever_they_are_cut() {
    let body = b"{\"a\":1}\n\n  \n{\"b\":2}\r\n{\"c\":3}";
    let whole = lines(&[body]);
    assert_eq!(whole, ["{\"a\":1}", "{\"b\":2}\r", "{\"c\":3}"]);
    for cut in 0..body.len() {
        let (head, tail) = body.split_at(cut);
        assert_eq!(lines(&[head, tail]), whole, "cut at {cut}");
    }
}
