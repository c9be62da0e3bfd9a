//! The run machine in virtual time: one module per behaviour, all through [`world::World`].

mod answers;
mod wire;
mod world;
