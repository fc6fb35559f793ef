// The live view: a table redrawn in place on a terminal, a line each second elsewhere.

const REDRAW_MS = 100;
const LINE_MS = 1000;

/** Returns what draws for the last time and ends the view. */
export function show(board, stream, startedAt) {
  const isTerminal = stream.isTTY === true && process.env.TERM !== 'dumb';
  const elapsed = () => (performance.now() - startedAt) / 1000;
  const view = isTerminal ? redrawn(board, stream, elapsed) : written(board, stream, elapsed);
  const timer = setInterval(view.draw, view.everyMs);
  view.draw();
  return () => {
    clearInterval(timer);
    view.draw();
  };
}

function written(board, stream, elapsed) {
  let last = -1;
  const draw = () => {
    const second = Math.round(elapsed());
    if (second === last) return;
    last = second;
    stream.write(`${String(second).padStart(3)} s  ${headline(board)}\n`);
  };
  return { draw, everyMs: LINE_MS };
}

function redrawn(board, stream, elapsed) {
  let drawn = 0;
  const draw = () => {
    const rows = (stream.rows || 24) - 1;
    const columns = (stream.columns || 80) - 1;
    const lines = table(board, elapsed()).slice(0, rows);
    const up = drawn > 0 ? `\u001b[${Math.min(drawn, rows)}A` : '';
    drawn = lines.length;
    stream.write(`${up}\r\u001b[J${lines.map((line) => `${line.slice(0, columns)}\n`).join('')}`);
  };
  return { draw, everyMs: REDRAW_MS };
}

function headline({ holder, turns, handOvers, kills }) {
  const pid = holder === undefined ? 'nobody' : `PID ${holder.pid}`;
  const numbers = `turns ${turns}  hand-overs ${handOvers}  kills ${kills}`;
  return `holder ${pid.padEnd(11)}  ${numbers}`;
}

function table(board, seconds) {
  const head = ['worker', 'PID', 'state', 'turns', 'longest wait'];
  const rows = board.rows.map((row, at) => [
    String(at + 1),
    String(row.pid),
    shownState(row, board),
    String(row.turns),
    `${Math.round(row.longestWaitMs)} ms`,
  ]);
  return [
    `${seconds.toFixed(1).padStart(5)} s  ${headline(board)}`,
    '',
    ...[head, ...rows].map(line),
  ];
}

/** One holder at most, as the headline has it: the others' words are late. */
function shownState(row, { holder }) {
  return row.state === 'holding' && row !== holder ? 'working' : row.state;
}

function line([worker, pid, state, turns, wait]) {
  return [
    worker.padStart(6),
    pid.padStart(9),
    ` ${state.padEnd(9)}`,
    turns.padStart(6),
    wait.padStart(13),
  ].join('');
}
