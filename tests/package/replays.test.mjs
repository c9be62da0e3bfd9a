import { testReplays } from "./replay-tests.mjs";

testReplays(["Node", "Chromium", "workerd", "Deno"], 16, 12);
