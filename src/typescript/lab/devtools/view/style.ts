/** The style of devtools. A host sets `color-scheme`, and may set the custom properties that begin with `--looplet`. */
export const style = `
:host {
  color-scheme: light dark;
  container: devtools / inline-size;
  display: block;
  height: 100%;
  min-height: 440px;
  overflow: auto;
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
/* Own names inside, so that a page may use the same ones. */
.app {
  --ground: var(--looplet-ground, light-dark(#f6f7f7, #111516));
  --surface: var(--looplet-surface, light-dark(#ffffff, #191f20));
  --raised: var(--looplet-raised, light-dark(#eef1f1, #222a2b));
  --line: light-dark(#d9dfdf, #313b3c);
  --strong: light-dark(#7b8686, #7b8888);
  --text: light-dark(#16201f, #e6ecec);
  --quiet: light-dark(#566463, #9fb0af);
  --accent: var(--looplet-accent, light-dark(#0b6b63, #5cc9bd));
  --on-accent: light-dark(#ffffff, #06211e);
  --soft: light-dark(#e0f1ef, #17322f);
  --bad: light-dark(#b3261e, #ff9a90);
  --bad-soft: light-dark(#fdeceb, #3a1c1a);
  --good: light-dark(#1b7a43, #6cd49a);
  --good-soft: light-dark(#e3f4ea, #16301f);
  --found: light-dark(#fff0c2, #4a3b10);
  /* Light and dark for the canvas. */
  --model: #2f6fb5|#6aa8ea;
  --tool: #0b8478|#4fc4b7;
  --question: #a36a00|#f0b95b;
  --wait: #8a9494|#7b8888;
  --failed: #b3261e|#ff9a90;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color: var(--text);
  background: var(--ground);
}
:host([hidden]) { display: none; }
*, *::before, *::after { box-sizing: border-box; }
h2, h3, p, ol, ul, dl, dd, pre { margin: 0; }
h2 { font-size: 14px; }
h3 { font-size: 13px; margin: 14px 0 4px; }
.away { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet { color: var(--quiet); }
button, select, input, textarea { font: inherit; color: inherit; }
button, select, input:not([type=checkbox], [type=range]), textarea {
  border: 1px solid var(--strong); border-radius: 6px; background: var(--surface); padding: 4px 9px; min-height: 30px;
}
button { cursor: pointer; white-space: nowrap; }
button:disabled { opacity: .5; cursor: default; }
button:hover:not(:disabled) { background: var(--raised); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { filter: brightness(1.08); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
textarea { width: 100%; resize: vertical; font-family: var(--mono); font-size: 12.5px; }
pre, code { font-family: var(--mono); font-size: 12px; }
pre {
  white-space: pre-wrap; overflow-wrap: anywhere; background: var(--raised); border-radius: 6px; padding: 8px;
  max-height: 420px; overflow: auto;
}
code.url { overflow-wrap: anywhere; }
.app { display: flex; flex-direction: column; height: 100%; min-height: 0; }
.app.is-over { outline: 3px dashed var(--accent); outline-offset: -6px; }
.toolbar {
  display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 8px 12px; background: var(--surface);
  border-bottom: 1px solid var(--line);
}
.brand { margin-right: 4px; }
.search { display: flex; gap: 6px; align-items: center; margin-left: auto; flex: 0 1 420px; min-width: 0; }
.search input { flex: 1; min-width: 90px; width: 0; }
.search .quiet { white-space: nowrap; font-size: 12.5px; }
.problem {
  margin: 8px 12px; padding: 8px 10px; border-radius: 6px; background: var(--bad-soft); color: var(--bad);
  overflow-wrap: anywhere;
}
.opening { padding: 6px 12px; }
.content { display: grid; grid-template-columns: 230px minmax(0, 1fr); flex: 1; min-height: 0; }
.runs { border-right: 1px solid var(--line); padding: 10px; overflow: auto; }
.runs ul { list-style: none; padding: 0; margin: 6px 0 0; display: grid; gap: 4px; }
.runs ul ul { margin-left: 10px; padding-left: 8px; border-left: 2px solid var(--line); }
.branch { display: flex; gap: 2px; align-items: center; border-radius: 6px; }
.branch.is-selected { background: var(--soft); }
.branch button { border-color: transparent; background: none; padding: 4px 6px; font-size: 12.5px; }
.branch .open { flex: 1; min-width: 0; display: grid; text-align: left; font-size: 14px; }
.branch .open span { overflow: hidden; text-overflow: ellipsis; }
.branch .open .quiet { font-size: 12px; }
.branch [aria-pressed=true], .branch [aria-pressed=true]:hover { background: var(--accent); color: var(--on-accent); }
.dot { display: inline-block; width: 8px; height: 8px; border-radius: 50%; background: var(--quiet); margin-right: 5px; }
.dot.completed, .dot.live { background: var(--good); }
.dot.failed { background: var(--bad); }
.dot.at-work { background: var(--accent); }
.source { margin-top: 10px; font-size: 12.5px; }
main { display: flex; flex-direction: column; min-width: 0; min-height: 0; }
.panes { display: flex; flex: 1; min-height: 0; }
.pane {
  flex: 1; min-width: 0; min-height: 0; display: flex; flex-direction: column; container: pane / inline-size;
}
.pane + .pane { border-left: 1px solid var(--line); }
.pane > header { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; padding: 8px 12px; }
.pane > header h2 { overflow-wrap: anywhere; }
.badge { padding: 1px 8px; border-radius: 9px; background: var(--raised); font-size: 12.5px; }
.badge.completed { background: var(--good-soft); color: var(--good); }
.badge.failed { background: var(--bad-soft); color: var(--bad); }
.parted { padding: 8px 12px; border-bottom: 1px solid var(--line); background: var(--surface); }
.parted pre { max-height: 150px; margin-top: 6px; }
.empty { padding: 48px 20px; text-align: center; display: grid; gap: 8px; }
.timeline { padding: 0 12px 8px; border-bottom: 1px solid var(--line); }
.lanes {
  display: grid; grid-template-columns: minmax(70px, 130px) minmax(0, 1fr); max-height: 168px; overflow-y: auto;
  background: var(--surface); border: 1px solid var(--line); border-radius: 6px;
}
.names { border-right: 1px solid var(--line); }
.lane {
  display: block; height: 20px; line-height: 20px; padding: 0 6px; font-size: 12px; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap;
}
.lane.of-tool { padding-left: 14px; color: var(--quiet); }
.bars { position: relative; overflow: hidden; }
.bars canvas { display: block; cursor: pointer; }
.cursor { position: absolute; inset: 0 auto 0 0; width: 2px; background: var(--text); pointer-events: none; }
.way { display: flex; gap: 6px; align-items: center; margin-top: 8px; }
.way input { flex: 1; min-width: 60px; accent-color: var(--accent); }
.way button { font-size: 16px; line-height: 1; }
.place { margin-top: 4px; overflow-wrap: anywhere; font-size: 13px; min-height: 1.45em; }
.columns { display: grid; grid-template-columns: minmax(220px, 2fr) minmax(0, 3fr); flex: 1; min-height: 0; }
.steps { display: flex; flex-direction: column; min-height: 0; border-right: 1px solid var(--line); }
.check { display: inline-flex; gap: 6px; align-items: center; min-height: 28px; }
.steps > .check { padding: 2px 12px; font-size: 12.5px; }
.rows { flex: 1; min-height: 0; overflow-y: auto; position: relative; }
.rows > div { position: relative; contain: strict; }
.row {
  position: absolute; inset: 0 0 auto 0; height: 32px; display: flex; gap: 8px; align-items: center; padding: 0 12px;
  cursor: pointer; white-space: nowrap; font-size: 13px;
}
.row:hover { background: var(--raised); }
.row.is-found { background: var(--found); }
.row.is-here { background: var(--soft); box-shadow: inset 3px 0 var(--accent); }
.seq, .time { color: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; flex: none; text-align: right; }
.seq { min-width: 34px; }
.time { min-width: 52px; }
.what { overflow: hidden; text-overflow: ellipsis; }
.agent { color: var(--accent); }
.detail { display: flex; flex-direction: column; min-height: 0; min-width: 0; }
.tabs { display: flex; gap: 2px; padding: 6px 12px 0; border-bottom: 1px solid var(--line); overflow-x: auto; flex: none; }
.tabs button { border-color: transparent; border-radius: 6px 6px 0 0; background: none; }
.tabs [aria-selected=true] { box-shadow: inset 0 -2px var(--accent); font-weight: 600; }
.panel { flex: 1; min-height: 0; overflow: auto; padding: 10px 12px 24px; }
.panel ul { padding-left: 18px; }
.budgets { display: grid; grid-template-columns: repeat(auto-fill, minmax(120px, 1fr)); gap: 8px; }
.budgets dt { color: var(--quiet); font-size: 12px; }
.budgets meter { display: block; width: 100%; height: 8px; }
.messages { list-style: none; padding: 0; display: grid; gap: 8px; margin-top: 6px; }
.messages li { border: 1px solid var(--line); border-radius: 8px; padding: 8px 10px; background: var(--surface); display: grid; gap: 6px; }
.messages li.user { border-left: 3px solid var(--accent); }
.role { font-size: 12px; color: var(--quiet); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
details > summary { cursor: pointer; padding: 2px 0; overflow-wrap: anywhere; }
.diff .come { background: var(--good-soft); color: var(--good); display: block; }
.diff .gone { background: var(--bad-soft); color: var(--bad); display: block; }
.prefixes { list-style: none; padding: 0; margin: 8px 0; display: grid; gap: 6px; }
.prefixes li { display: grid; grid-template-columns: 118px minmax(0, 1fr); gap: 2px 10px; align-items: center; }
.prefixes li > :nth-child(n + 3) { grid-column: 2; font-size: 12.5px; }
.prefixes li.is-here button { box-shadow: inset 3px 0 var(--accent); }
.prefixes button { min-height: 26px; padding: 2px 8px; text-align: left; overflow: hidden; text-overflow: ellipsis; }
.share { display: flex; height: 14px; border-radius: 3px; overflow: hidden; background: var(--raised); }
.share .shared { background: var(--good); }
.share .new { background: var(--quiet); opacity: .55; }
.share .lost { background: repeating-linear-gradient(135deg, var(--bad) 0 6px, var(--bad-soft) 6px 9px); }
.broken { color: var(--bad); }
.fork, .field { display: grid; gap: 4px; }
.fork { gap: 12px; }
fieldset { border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px 8px; display: flex; flex-wrap: wrap; gap: 4px 16px; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
dialog {
  border: 1px solid var(--line); border-radius: 10px; background: var(--surface); color: inherit; padding: 16px;
  width: min(640px, calc(100vw - 24px)); max-height: calc(100vh - 24px);
}
dialog::backdrop { background: rgb(0 0 0 / .45); }
dialog header { display: flex; justify-content: space-between; align-items: center; margin-bottom: 10px; }
dialog form, dialog[open] { display: grid; gap: 10px; }
@container pane (max-width: 560px) {
  .columns { grid-template-columns: minmax(0, 1fr); grid-template-rows: 200px minmax(0, 1fr); }
  .steps { border-right: 0; border-bottom: 1px solid var(--line); }
}
@container devtools (max-width: 900px) {
  .app { height: auto; min-height: 100%; }
  .content { grid-template-columns: minmax(0, 1fr); }
  .runs { border-right: 0; border-bottom: 1px solid var(--line); max-height: 170px; }
  .panes { flex-wrap: wrap; }
  .pane { flex: 1 0 min(100%, 360px); }
  .columns { height: 620px; flex: none; }
}
@container devtools (max-width: 700px) {
  .columns { grid-template: none / minmax(0, 1fr); height: auto; }
  .steps { border-right: 0; border-bottom: 1px solid var(--line); height: 260px; }
  .rows { min-height: 200px; }
  .search { flex: 1 1 100%; margin-left: 0; }
  .panel { overflow: visible; }
  button, select, input:not([type=checkbox], [type=range]) { min-height: 40px; }
  .way button { min-width: 44px; }
}
`;
