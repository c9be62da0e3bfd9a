/** The page's icons: strokes on a 16 × 16 grid, in the colour of the text. */
const paths = {
  alert: "M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1",
  check: "m3 8.5 3.2 3L13 4.5",
  chip: "M5 5h6v6H5zM8 2v3M8 11v3M2 8h3M11 8h3",
  close: "m4 4 8 8M12 4l-8 8",
  down: "M8 3v9.5M4 8.7l4 4 4-4",
  file: "M4 1.8h5l3 3v9.4H4zM9 1.8v3h3M6.2 9.2h3.6M6.2 11.4h3.6",
  fold: "M3 8h10M8 1.5V6M6 4l2 2 2-2M8 14.5V10M6 12l2-2 2 2",
  hand: "M2.5 5.5h9M9 2.5l3 3-3 3M13.5 10.5h-9M7 7.5l-3 3 3 3",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  pen: "m3 13 .8-3L10.5 3.3a1.2 1.2 0 0 1 1.7 0l.5.5a1.2 1.2 0 0 1 0 1.7L6 12.2z",
  plus: "M8 3v10M3 8h10",
  send: "M8 13V3.5M4 7.3l4-4 4 4",
  shield: "M8 1.8 13 3.6v4.1c0 3-2 5.2-5 6.5-3-1.3-5-3.5-5-6.5V3.6z",
  stop: "M4.5 4.5h7v7h-7z",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12M8 4.5h4.5M8 8h6M8 11.5h4.5",
  waterfall: "M2.5 4h6M5 8h5.5M8.5 12h5",
  sliders: "M2.5 4.5h6M12 4.5h1.5M10 3v3M2.5 11.5h1M7.5 11.5h6M5.5 10v3",
  spinner: "M8 2a6 6 0 1 1-6 6",
} as const;

export type IconName = keyof typeof paths;

/** Decoration only: the label is next to it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" className={`icon icon-${name}`} aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
