import { describe, expect, it } from "vitest";
import { Bodies } from "../../src/face/host/bodies.js";

const encoder = new TextEncoder();

/** A linear memory that moves what it holds from body to body, as that of the engine does. */
class World {
  memory = new WebAssembly.Memory({ initial: 1 });
  readonly bodies = new Bodies();
  #at = 0;

  take(agent: number, name: number, steady: string, rest: string): string {
    const [head, tail] = [encoder.encode(steady), encoder.encode(rest)];
    const at = (this.#at = (this.#at + 4099) % 30_000);
    const bytes = new Uint8Array(this.memory.buffer);
    bytes.fill(0x3f);
    bytes.set(head, at);
    bytes.set(tail, at + head.length);
    return this.bodies.take(this, agent, name, at, head.length, head.length + tail.length);
  }

  /** Puts something else where the kept beginning of the next body stands: it must not be read. */
  takeUnread(agent: number, name: number, known: string, news: string, rest: string): string {
    const blank = "?".repeat(encoder.encode(known).length);
    return this.take(agent, name, blank + news, rest).replace(blank, "");
  }
}

const PIECES = ["plain", "é", "漢字", "👍🏽", "\uFEFFbom", '"}]}', "", "a".repeat(300)];

describe("a request's body", () => {
  it("is the engine's, whatever agents, names and characters come in whatever order", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const world = new World();
      const known = new Map<number, { name: number; steady: string }>();
      let state = seed;
      const dice = (sides: number): number => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return (state >>> 8) % sides;
      };
      const piece = (): string => PIECES[dice(PIECES.length)]! + dice(100);
      for (let step = 0; step < 40; step++) {
        const agent = dice(3) === 0 ? dice(30) : dice(2);
        let body = known.get(agent);
        if (body === undefined || dice(6) === 0) body = { name: seed * 100 + step + 1, steady: "" };
        body.steady += dice(3) === 0 ? "" : piece() + piece();
        known.set(agent, body);
        if (dice(9) === 0) world.memory.grow(1);
        const rest = piece();
        const name = dice(8) === 0 ? 0 : body.name;
        expect(world.take(agent, name, body.steady, rest)).toBe(body.steady + rest);
      }
    }
  });

  it("crosses from where the one before it is known", () => {
    const world = new World();
    expect(world.take(0, 7, "Grüße ", "one")).toBe("Grüße one");
    expect(world.takeUnread(0, 7, "Grüße ", "👍 ", "two")).toBe("Grüße 👍 two");
    expect(world.take(0, 0, "a summary ", "three")).toBe("a summary three");
    expect(world.takeUnread(0, 7, "Grüße 👍 ", "", "four")).toBe("Grüße 👍 four");
  });

  it("crosses whole under another name, for another agent, and where less of it is steady", () => {
    const world = new World();
    world.take(0, 7, "first ", "one");
    expect(world.take(0, 8, "other ", "two")).toBe("other two");
    expect(world.take(1, 8, "third ", "three")).toBe("third three");
    expect(world.take(0, 8, "oth", "four")).toBe("othfour");
  });

  it("of an agent that was not heard of for long crosses whole", () => {
    const world = new World();
    world.take(0, 7, "first ", "one");
    for (let agent = 1; agent <= 16; agent++) world.take(agent, 7, "x", "y");
    expect(world.take(0, 7, "FIRST ", "two")).toBe("FIRST two");
    expect(world.takeUnread(16, 7, "x", "z", "y")).toBe("xzy");
  });
});
