/**
 * The targets for the figures. `TARGETS` are ratios to raw-js in the same run, unless `as` says otherwise: `growth`
 * is the ratio to the contestant's own `from`, `loopGrowth` the same in total time without the copies of the bodies,
 * `absolute` the figure itself, `above` the difference to raw-js. `REFERENCE` are the ratios of the other contestants
 * on an idle machine (2 cores, Node 24, Anthropic wire): a run that is far from them measures its machine.
 */
const w1 = (contestant, goals, wires) =>
  wires.flatMap((wire) =>
    goals.map(([workload, target, stretch]) => ({ contestant, workload, wire, target, stretch })),
  );
const bothWires = ["anthropic", "openai-chat"];

export const TARGETS = [
  ...w1(
    "looplet",
    [
      ["W1-event", 0.8, 0.6],
      ["W1-16k", 0.35, 0.2],
      ["W1-split", 0.85, 0.6],
    ],
    bothWires,
  ),
  ...w1(
    "looplet-for-await",
    [
      ["W1-event", 1],
      ["W1-16k", 1],
      ["W1-split", 1],
    ],
    bothWires,
  ),
  ...w1(
    "looplet-unjoined",
    [
      ["W1-event", 0.8],
      ["W1-16k", 0.8],
      ["W1-split", 0.8],
    ],
    bothWires,
  ),
  { contestant: "looplet", workload: "W2-64k", target: 1.2, stretch: 0.8 },
  { contestant: "looplet", workload: "W2-1M", target: 0.5, stretch: 0.35 },
  { contestant: "looplet", workload: "W2-4M", as: "growth", from: "W2-1M", target: 4.4 },
  { contestant: "looplet", workload: "W3-50", wire: "anthropic", target: 1.5, stretch: 1.1 },
  { contestant: "looplet", workload: "W3-50", wire: "openai-chat", target: 1.6, stretch: 1.1 },
  { contestant: "looplet", workload: "W3-200", target: 0.85, stretch: 0.65 },
  { contestant: "looplet", workload: "W3-800", target: 0.7, stretch: 0.63 },
  { contestant: "looplet", workload: "W3-800", as: "loopGrowth", from: "W3-200", target: 4.4 },
  { contestant: "looplet", workload: "W4", as: "absolute", target: 30, stretch: 20 },
  { contestant: "looplet", workload: "W4-workerd", as: "above", target: 30, stretch: 15 },
  { contestant: "looplet", workload: "W6-200k", target: 0.9, stretch: 0.75 },
  { contestant: "looplet", workload: "W6-loop", target: 0.9, stretch: 0.75 },
  { contestant: "looplet", workload: "W7", target: 0.9, stretch: 0.6 },
];

export const REFERENCE = {
  drain: { "W1-event": 0.27, "W1-split": 0.36 },
  "raw-js-bytes": { "W3-50": 0.54, "W3-200": 0.48, "W3-800": 0.36 },
  "ai-sdk": {
    "W1-event": 9.4,
    "W1-16k": 23.9,
    "W1-split": 7.7,
    "W2-1M": 19.2,
    "W3-50": 15.4,
    "W3-200": 7.3,
    "W3-800": 2,
    "W6-200k": 2.4,
    W7: 30,
  },
  pi: {
    "W1-event": 2,
    "W1-16k": 3.75,
    "W1-split": 1.8,
    "W3-50": 5.8,
    "W3-200": 3.6,
    "W3-800": 1.1,
    "W6-200k": 1.4,
    W7: 2.5,
  },
};
