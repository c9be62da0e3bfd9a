//! Bodies of which a host has the beginning: it takes only what is new, see [`crate::steady::KeptBodies`].

use looplet::engine::model::config::ModelConfig;
use looplet::engine::model::input::Input;
use serde_json::json;

use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

#[test]
fn the_bodies_of_a_conversation_begin_alike_and_those_of_another_model_do_not() {
    let mut world = World::new(config(json!([tool("a", json!({}))]), json!({})));
    world.round_trips = false;
    world.prompt("Grüße 👍");
    let round = |world: &mut World, id: &str| {
        let pieces = [text("漢字"), call(id, "a", json!({"n": 1}))];
        world.respond(&stream(&pieces, "tool_use"));
        world.return_value(id, json!("é"));
    };
    for id in ["c1", "c2", "c3"] {
        round(&mut world, id);
    }
    assert_eq!(world.kept_bodies.shared, 2);
    world.refuse(529, &[], "");
    world.pass(60_000);
    assert_eq!(world.kept_bodies.shared, 3, "the same body again");
    let model = looplet::engine::model::json::read::<ModelConfig>(
        "model",
        r#"{"vendor":"anthropic","model":"another"}"#,
    )
    .unwrap();
    world.input(Input::SetModel {
        model: Box::new(model),
    });
    round(&mut world, "c4");
    assert_eq!(world.kept_bodies.shared, 3, "another model has another head");
    round(&mut world, "c5");
    assert_eq!(world.kept_bodies.shared, 4);
}
