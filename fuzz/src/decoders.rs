//! A protocol's decoder behind its framing: a cut makes no difference, what is reported is what is there.

use looplet::engine::model::answer::{Change, ModelAnswer, PartKind};
use looplet::engine::model::error::Failure;
use looplet::engine::protocol::reader::AnswerReader;
use looplet::engine::protocol::{Protocol, protocol};

use super::cuts;

pub fn check(name: &str, data: &[u8]) {
    let protocol = protocol(name).unwrap();
    let whole = decode(protocol, &[data], ModelAnswer::new(true));
    for way in cuts::ways(data) {
        let cut = decode(protocol, &way, ModelAnswer::new(true));
        assert_eq!(cut, whole, "a cut makes a difference");
    }
    let single = decode(protocol, &[data], ModelAnswer::new(false));
    assert_eq!(single.0.parts, whole.0.parts, "joining makes a difference");
    assert_eq!(single.1, whole.1);
    check_body(protocol, data);
}

fn decode(protocol: &Protocol, chunks: &[&[u8]], mut answer: ModelAnswer) -> (ModelAnswer, Option<Failure>) {
    let mut reader = AnswerReader::new(protocol);
    let mut report = Report::default();
    let mut read = 0;
    for chunk in chunks {
        let failure = reader.feed(chunk, &mut answer).err();
        read += chunk.len();
        report.read(&mut answer);
        if failure.is_some() {
            return report.fail(answer, failure, read);
        }
    }
    let failure = reader.finish(&mut answer).err();
    report.read(&mut answer);
    if failure.is_some() {
        return report.fail(answer, failure, read);
    }
    assert!(answer.complete, "an answer without failure is complete");
    report.check(&answer, read);
    assert!(
        report.ended.iter().all(|ended| *ended),
        "a block of a complete answer never ended"
    );
    (answer, None)
}

fn check_body(protocol: &Protocol, data: &[u8]) {
    let mut answer = ModelAnswer::new(true);
    let failure = (protocol.decoder)().decode_body(data, &mut answer).err();
    let mut report = Report::default();
    report.read(&mut answer);
    match failure {
        Some(_) => {
            report.fail(answer, failure, data.len());
        }
        None => {
            assert!(answer.complete);
            report.check(&answer, data.len());
            assert!(
                report.ended.iter().all(|ended| *ended),
                "a block of a whole answer never ended"
            );
        }
    }
}

/// What an answer's changes have said.
#[derive(Default)]
struct Report {
    texts: Vec<String>,
    ended: Vec<bool>,
}

impl Report {
    fn read(&mut self, answer: &mut ModelAnswer) {
        let changes = answer.take_changes();
        for change in &changes {
            match *change {
                Change::Started { part } => {
                    assert_eq!(part, self.texts.len(), "blocks start in order");
                    self.texts.push(String::new());
                    self.ended.push(false);
                }
                Change::Grew { part, from, to } => {
                    assert!(!self.ended[part], "growth after the end");
                    assert_eq!(from, self.texts[part].len(), "growth follows growth");
                    self.texts[part].push_str(&answer.parts[part].text[from..to]);
                }
                Change::Ended { part } => {
                    assert!(!self.ended[part], "a block ends once");
                    self.ended[part] = true;
                }
                Change::Estimated { part, .. } => assert!(!self.ended[part], "an estimate after the end"),
                Change::Usage => {}
            }
        }
        answer.recycle(changes);
    }

    /// A failed answer can be closed as it is.
    fn fail(
        mut self,
        mut answer: ModelAnswer,
        failure: Option<Failure>,
        read: usize,
    ) -> (ModelAnswer, Option<Failure>) {
        self.check(&answer, read);
        let failed = answer.clone();
        answer.end_unfinished();
        self.read(&mut answer);
        assert!(
            self.ended.iter().all(|ended| *ended),
            "a block of a failed answer cannot be closed"
        );
        (failed, failure)
    }

    fn check(&self, answer: &ModelAnswer, read: usize) {
        assert_eq!(
            self.texts.len(),
            answer.parts.len(),
            "a block that was never reported"
        );
        let mut kept = 0;
        for (part, text) in answer.parts.iter().zip(&self.texts) {
            if part.kind != PartKind::Raw {
                assert_eq!(&part.text, text, "the reported pieces are the text");
            }
            let vendor = part.vendor.as_ref().map_or(0, |json| json.as_str().len());
            kept += part.text.len() + part.id.len() + part.name.len() + vendor;
        }
        // A byte that is no UTF-8 becomes three; names of fields are repeated for each block.
        assert!(kept <= 8 * read + 1024, "{kept} bytes kept of {read}");
    }
}
