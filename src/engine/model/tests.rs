//! Tests of all types together: the TypeScript that is printed from them.

mod typescript;
