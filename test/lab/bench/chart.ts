import { sizeName } from './data-set.js';
import type { LoadName } from './loads.js';
import { PROGRAM_NAMES, type ProgramName } from './program.js';
import { type Results, summaryOf } from './results.js';

const PANELS: readonly (readonly [load: LoadName, title: string])[] = [
  ['list-first', 'list, first page'],
  ['list-last', 'list, last page'],
  ['create', 'create'],
];
/** Pixels. A panel has its lines and, right of them, their names. */
const [LEFT, TOP, BOTTOM] = [66, 74, 62];
const PANEL = { width: 194, names: 134, height: 232 };
const WIDTH = LEFT + PANELS.length * (PANEL.width + PANEL.names);
const HEIGHT = TOP + PANEL.height + BOTTOM;
const TITLE = 'How long a request takes over the number of logs';
const LEGEND =
  'Median (p50) over logs in the table, both logarithmic. idiomatic: as most would write it; careful: Fastify; bare: Express; both with pg by hand.';
/** Between two names, one below the other. */
const LINE = 16;

// The colours of GitHub, light and dark. The ground is drawn too: a page may be dark though its reader's system is
// light.
const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 } .panel { font-weight: 600 }
  .name { font-weight: 600; fill: currentColor } .axis { fill: #59636e }
  .ground { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0 } .line { stroke: currentColor; fill: none }
  .service { color: #0969da } .idiomatic { color: #bc4c00 } .careful { color: #8250df } .bare { color: #59636e }
  .service .line { stroke-width: 3 } .idiomatic .line, .careful .line { stroke-width: 2 } .bare .line { stroke-width: 2; stroke-dasharray: 6 4 }
  .dot { fill: currentColor }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .axis { fill: #9198a1 }
    .ground { fill: #0d1117; stroke: #3d444d } .grid { stroke: #3d444d }
    .service { color: #4493f8 } .idiomatic { color: #f0883e } .careful { color: #ab7df8 } .bare { color: #9198a1 }
  }`;

interface Line {
  readonly program: ProgramName;
  readonly points: readonly { readonly size: number; readonly p50: number }[];
}

/** A picture of how long requests take over the number of logs, as SVG. */
export function chart(runs: readonly Results[]): string {
  const panels = PANELS.map(([load, title]) => ({ title, lines: linesOf(runs, load) }));
  const scale = scaleOf(panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points)));
  const inWords = ({ program, points }: Line) =>
    `${program} ${points.map(({ size, p50 }) => `${duration(p50)} at ${sizeName(size)} logs`).join(', ')}`;
  const description = panels.map(({ title, lines }) => `${title}: ${lines.map(inWords).join('; ')}.`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${TITLE}</title>`,
    `<desc id="desc">Median latency. ${description.join(' ')}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="6"/>`,
    text(16, 28, 'title', TITLE),
    ...panels.map(({ title, lines }, index) => panelOf(title, lines, scale, index)),
    text(16, HEIGHT - 16, 'axis', LEGEND),
    '</svg>\n',
  ].join('\n');
}

/** If several runs have measured a size, the first one counts. */
function linesOf(runs: readonly Results[], load: LoadName): Line[] {
  const measured = runs
    .flatMap(({ measurements }) => measurements)
    .map((one) => ({ ...one, ...summaryOf(one) }));
  return PROGRAM_NAMES.flatMap((program) => {
    const own = measured.filter((one) => one.load === load && one.program === program && one.p50 > 0);
    const bySize = new Map(own.reverse().map(({ size, p50 }) => [size, { size, p50 }]));
    const points = [...bySize.values()].sort((one, other) => one.size - other.size);
    return points.length > 0 ? [{ program, points }] : [];
  });
}

/** Returns the coordinates of a size and a time in a panel, and the powers of ten in milliseconds. */
function scaleOf(points: Line['points']) {
  const sizes = points.map(({ size }) => Math.log10(size));
  const times = points.map(({ p50 }) => Math.log10(p50));
  const [first, last] = [Math.min(...sizes), Math.max(...sizes)];
  const [low, high] = [Math.floor(Math.min(...times)), Math.ceil(Math.max(...times))];
  return {
    // A single size stands in the middle.
    x: (size: number) => PANEL.width * (first === last ? 0.5 : (Math.log10(size) - first) / (last - first)),
    y: (p50: number) => PANEL.height * (1 - (Math.log10(p50) - low) / (high - low || 1)),
    decades: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
  };
}

function panelOf(
  title: string,
  lines: readonly Line[],
  { x, y, decades }: ReturnType<typeof scaleOf>,
  index: number,
): string {
  const measured = new Set(lines.flatMap(({ points }) => points.map(({ size }) => size)));
  const sizes = [...measured].sort((one, other) => one - other);
  const places = apart(lines.map(({ points }) => y(points.at(-1)!.p50)));
  const drawn = lines.map(({ program, points }, line) => {
    const corners = points.map(({ size, p50 }) => [round(x(size)), round(y(p50))] as const);
    return [
      `<g class="${program}"><polyline class="line" points="${corners.join(' ')}"/>`,
      ...corners.map(([cx, cy]) => `<circle class="dot" cx="${cx}" cy="${cy}" r="3.5"/>`),
      // Beside the panel: where a line ends another may go on.
      text(PANEL.width + 10, places[line]! + 4, 'name', `${program} ${duration(points.at(-1)!.p50)}`),
      '</g>',
    ].join('');
  });
  return [
    `<g transform="translate(${LEFT + index * (PANEL.width + PANEL.names)} ${TOP})">`,
    text(0, -14, 'panel', title),
    ...decades.map((time) => `<path class="grid" d="M0 ${round(y(time))}h${PANEL.width}"/>`),
    ...(index === 0 ? decades.map((time) => text(-8, y(time) + 4, 'axis', duration(time), 'end')) : []),
    ...sizes.map((size) => {
      // The last two sizes may stand close together.
      const [left, anchor] = size === sizes.at(-1) ? [8] : [0, 'middle'];
      return text(x(size) - left, PANEL.height + 18, 'axis', sizeName(size), anchor);
    }),
    ...drawn,
    '</g>',
  ].join('\n');
}

/** Moves names down where they would cover each other. */
function apart(places: readonly number[]): number[] {
  const moved = [...places];
  let free = -Infinity;
  for (const index of [...places.keys()].sort((one, other) => places[one]! - places[other]!)) {
    moved[index] = Math.max(places[index]!, free);
    free = moved[index] + LINE;
  }
  return moved;
}

function duration(milliseconds: number): string {
  const [value, unit] = milliseconds < 1_000 ? [milliseconds, 'ms'] : [milliseconds / 1_000, 's'];
  return `${Number(value.toPrecision(2))} ${unit}`;
}

function text(x: number, y: number, kind: string, words: string, anchor = 'start'): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${words}</text>`;
}

const round = (pixels: number) => Math.round(pixels * 10) / 10;
