use super::*;

const NOTE: &str = "\n[Cut off here: the first 2 of 4 characters are shown, 2 are missing.]";

#[test]
fn a_text_is_cut_between_characters_whatever_their_size() {
    for (text, kept) in [
        ("abcd", "ab"),
        ("äöüß", "äö"),
        ("🦀🦀🦀🦀", "🦀🦀"),
        ("a🦀b🦀", "a🦀"),
    ] {
        assert_eq!(cut(text, 2).unwrap(), [kept, NOTE].concat());
        assert_eq!(cut(text, 4), None, "{text}");
    }
    assert_eq!(cut("", 0), None);
    assert_eq!(
        cut("ab", 0).unwrap(),
        "\n[Cut off here: the first 0 of 2 characters are shown, 2 are missing.]"
    );
}

#[test]
fn the_texts_of_a_result_share_the_room_and_media_stay() {
    let image = Block::Media {
        media_type: "image/png".into(),
        source: crate::engine::model::message::MediaSource::Data("AAAA".into()),
        name: None,
        vendor: None,
    };
    let blocks = [
        Block::text("a"),
        Block::text("bc"),
        image.clone(),
        Block::text("d"),
    ];
    assert_eq!(
        cut_blocks(&blocks, 2).unwrap(),
        [Block::text("a"), Block::text(["b", NOTE].concat()), image]
    );
    assert_eq!(cut_blocks(&blocks, 4), None);
}
