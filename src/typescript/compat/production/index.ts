/** `looplet/production`: the facade on the engine that the conditions of `looplet` find. */
import "looplet";
export * from "./external.js";
