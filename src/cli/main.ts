#!/usr/bin/env node
import process from "node:process";
import { program } from "./program.js";

// A reader that has seen enough, such as `head`, closes the pipe.
process.stdout.on("error", (error: { code?: string }) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
process.exitCode = await program(process.argv.slice(2));
