import { parseAst, type Plugin } from "vite";
import { describe, expect, it } from "vitest";
import { hotReload } from "looplet/vite";

/** The code of a module as the plugin makes it; null if it leaves the module alone. */
function changed(code: string, id = "/app/agent.ts", ssr = false): string | null {
  const { transform } = hotReload();
  return transform.call({ parse: (text) => parseAst(text) }, code, id, { ssr })?.code ?? null;
}

const IMPORT = 'import { createAgent } from "looplet";\n';

describe("the plugin", () => {
  it("wraps agents that a module makes and exports, under the names of their variables", () => {
    const wrapped = (call: string, name: string) =>
      `__looplet_hotAgent(${call}, import.meta.hot, ${JSON.stringify(name)})`;
    for (const [code, name] of [
      ["export const agent = createAgent({ system: '😀' });", "agent"],
      ["const inner = createAgent({ system: '😀' });\nexport { inner as agent };", "inner"],
      ["const agent = createAgent({ system: '😀' });\nexport default agent;", "agent"],
      ["export default createAgent({ system: '😀' });", "default"],
      ["export const agent = (createAgent({ system: '😀' }));", "agent"],
    ] as const) {
      const call = "createAgent({ system: '😀' })";
      const expected = `${IMPORT}const face = "😀";\n${code.replace(call, wrapped(call, name))}`;
      const told = changed(`${IMPORT}const face = "😀";\n${code}`)!;
      expect(told.slice(told.indexOf(IMPORT))).toBe(expected);
    }
  });

  it("wraps several, and finds createAgent under another name and from other entries", () => {
    const code = `import { createAgent as make } from "looplet/external";\nexport const a = make({}), b = make({});`;
    const told = changed(code)!;
    expect(told).toContain('const a = __looplet_hotAgent(make({}), import.meta.hot, "a")');
    expect(told).toContain('b = __looplet_hotAgent(make({}), import.meta.hot, "b")');
  });

  it("lets the module take its own changes, and keeps the numbers of its lines", () => {
    const code = `${IMPORT}\nexport const agent = createAgent({});\n`;
    const told = changed(code)!;
    expect(told).toContain("if (import.meta.hot) import.meta.hot.accept(");
    expect(told.split("\n")).toHaveLength(code.split("\n").length);
    expect(() => parseAst(told)).not.toThrow();
  });

  it("leaves other modules alone", () => {
    const agent = "export const agent = createAgent({});";
    for (const [code, id] of [
      [`${IMPORT}const agent = createAgent({});`, "/app/main.ts"],
      [`${IMPORT}export const make = () => createAgent({});`, "/app/agent.ts"],
      [`${IMPORT}export { agent } from "./createAgent.js";`, "/app/agent.ts"],
      [`import { createAgent } from "other";\n${agent}`, "/app/agent.ts"],
      [`${IMPORT}${agent}`, "/app/node_modules/some/agent.js"],
      [`${IMPORT}${agent}`, "/app/agent.css"],
      ["export const agent = 1;", "/app/agent.ts"],
    ] as const)
      expect(changed(code, id), code).toBeNull();
  });

  it("leaves modules alone that run on a server", () => {
    expect(changed(`${IMPORT}export const agent = createAgent({});`, "/app/agent.ts", true)).toBeNull();
  });

  it("takes part in no build, and is a plugin for Vite", () => {
    const plugin: Plugin = hotReload();
    expect(plugin.apply).toBe("serve");
  });
});
