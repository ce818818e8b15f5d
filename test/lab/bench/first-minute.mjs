import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/*
 * `node test/lab/bench/first-minute.mjs` draws the README's picture of a terminal, first-minute.svg, from a real run: a
 * fresh copy of the project is started at a terminal (by `script` of util-linux), and the two commands that it prints
 * are run as they are. Port 3000 must be free. In the picture the project stands in the home of Ada.
 */

const PROJECT = join(import.meta.dirname, '..', '..', '..');
const PICTURE = join(import.meta.dirname, 'first-minute.svg');
const COLUMNS = 118;
/** Pixels of a character, of a line and around all. */
const [WIDTH, HEIGHT, MARGIN] = [7.25, 17, 14];
/** Seconds within which it must listen. */
const START_TIMEOUT_S = 120;

const copy = mkdtempSync(join(tmpdir(), 'first-minute-'));
const home = join(copy, 'time-logs');
const files = execFileSync('git', ['ls-files'], { cwd: PROJECT, encoding: 'utf8' }).trim().split('\n');
for (const file of [...files, 'node_modules'])
  cpSync(join(PROJECT, file), join(home, file), { recursive: true, verbatimSymlinks: true });

const terminal = spawn('script', ['-qec', 'npm start', '/dev/null'], { cwd: home });
const started = await readUntil('/docs');
const commands = started.split('\n\n').filter((text) => text.startsWith('curl'));
const answers = commands.map((command) =>
  execFileSync('bash', ['-c', command.replace('curl', 'curl -sS')], { encoding: 'utf8' }).trim(),
);
terminal.kill('SIGINT');
await once(terminal, 'exit');
rmSync(copy, { recursive: true });

writeFileSync(
  PICTURE,
  drawn([
    ...line('input', '$ npm start'),
    ...started.split('\n').flatMap((text) => line('output', text)),
    ...line('output', ''),
    ...commands.flatMap((command, index) => [
      ...`$ ${command}`.split('\n').flatMap((text) => line('input', text)),
      ...line('output', answers[index]),
      ...line('output', ''),
    ]),
  ]),
);

/** Returns the output of the terminal up to a text, without colours and lines of npm. */
async function readUntil(text) {
  let shown = '';
  const overdue = setTimeout(() => terminal.kill(), START_TIMEOUT_S * 1000);
  for await (const chunk of terminal.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    shown += chunk;
    if (shown.includes(text)) break;
  }
  clearTimeout(overdue);
  if (!shown.includes(text)) throw new Error(`it did not start:\n${shown}`);
  return stripVTControlCharacters(shown)
    .replaceAll('\r', '')
    .split('\n')
    .filter((row) => !/^(npm warn|> )/.test(row))
    .join('\n')
    .trim();
}

/** A line as a terminal shows it, which goes on below where it is too long. */
function line(kind, text) {
  const shown = text.replaceAll(home, '/home/ada/time-logs');
  const rows = shown.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [''];
  return rows.map((row) => ({ kind, row }));
}

function drawn(rows) {
  const [width, height] = [COLUMNS * WIDTH + 2 * MARGIN, rows.length * HEIGHT + 2 * MARGIN];
  const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const texts = rows.map(({ kind, row }, index) => {
    const y = MARGIN + (index + 0.75) * HEIGHT;
    return `<text class="${kind}" x="${MARGIN}" y="${y}">${escaped(row)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<style>text { font: 12px ui-monospace, Menlo, Consolas, monospace; white-space: pre } .input { fill: #7ee787 } .output { fill: #d1d9e0 }</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${texts.filter((text) => !text.includes('></text>')).join('\n')}
</svg>
`;
}
