// The names of the newest Claude Agent SDK of the registry. It fails when a release has a new one.
await import("../sdk-names.test.mjs");
