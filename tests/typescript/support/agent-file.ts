/** The module of an agent for the program `looplet`. */
export { otherAgent as default } from "./loop-readers.js";
