// The chat of docs/tasks/react.md in Firefox, as a person uses it.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { firefox } from "playwright-core";
import { personsPath, shop } from "../chat-path.mjs";
import { examples, root } from "../docs-examples.mjs";
import { mounted } from "../docs-screens.mjs";
import { installPacked } from "../install.mjs";
import { visit } from "../page.mjs";

const browserPath = process.env.LOOPLET_FIREFOX;
const skip = !browserPath && "no Firefox";

let installed;
before(async () => (installed = skip ? undefined : await installPacked()));
after(() => installed?.remove());

test("a person chats in Firefox", { skip }, () => {
  for (const name of ["react", "react-dom", "scheduler"])
    symlinkSync(join(root, "node_modules", name), join(installed.folder, "node_modules", name));
  const folder = join(installed.folder, "docs");
  mkdirSync(join(folder, "react"), { recursive: true });
  for (const file of ["react/agent.ts", "react/chat.tsx"])
    writeFileSync(join(folder, file), examples.find(({ name }) => name === file).code);
  const launch = () => firefox.launch({ channel: "moz-firefox", executablePath: browserPath });
  const { others } = shop();
  const mount = mounted("chat", "Chat");
  return visit({ folder, file: "react/chat.tsx", mount, others, inPage: personsPath, launch });
});
