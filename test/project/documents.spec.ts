import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const DOCUMENTS = ['.', 'docker', 'libs', 'src', 'test']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  )
  .filter((name) => name.endsWith('.md') && !/(^|\/)(node_modules|dist)\//.test(name));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** Returns the name of a heading in links, as on GitHub. */
const placeOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const placesOf = (file: string) =>
  [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => placeOf(heading!));

const PACKAGE_PAGES = DOCUMENTS.filter((file) => file.startsWith('src/embedding/'));

it('the code for hosts stands in tested hosts, word for word', () => {
  const code = PACKAGE_PAGES.flatMap((page) => [...read(page).matchAll(/^```ts\n(.+?)^```/gms)]).flatMap(
    ([, block]) => block!.trimEnd().split('\n'),
  );
  const lines = new Set(
    ['test/lab/estate/host', 'test/host'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
        .flatMap((file) => read(join(folder, file)).split('\n')),
    ),
  );
  expect(code.length).toBeGreaterThan(70);
  expect(code.filter((line) => !lines.has(line))).toEqual([]);
});

describe('every document', () => {
  it.each(DOCUMENTS)('leads to files and places that are there: %s', (document) => {
    const links = [...read(document).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const lost = links.filter(([, file = '', place]) => {
      const target = file === '' ? document : join(dirname(document), file);
      return !existsSync(join(ROOT, target)) || (place !== undefined && !placesOf(target).includes(place));
    });
    expect(lost.map(([link]) => link)).toEqual([]);
  });
});

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const suites = [
  'all',
  ...[...read('test/lab/suite.mjs').matchAll(/^ {2}(\w+): (?:[{[]|loadOf)/gm)].map(([, name]) => name),
];

it.each(DOCUMENTS)('names only scripts that exist: %s', (document) => {
  const named = [...read(document).matchAll(/npm run (?:--silent )?([\w:]+)(?: -- (\w+))?/g)];
  const lost = named.filter(
    ([, script, suite]) =>
      !Object.hasOwn(scripts, script!) || (script === 'suite' && !suites.includes(suite)),
  );
  expect(lost.map(([text]) => text)).toEqual([]);
});

it('one version stands everywhere', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const [major, minor] = version.split('.');
  const places: [string, RegExp][] = [
    ['libs/time-log-client/package.json', /^ {2}"version": "(.+)"/gm],
    ['libs/embedded-postgres/package.json', /^ {2}"version": "(.+)"/gm],
    ['src/api-docs/openapi.json', /^ {4}"version": "(.+)"/gm],
    ['docker/compose.yaml', /image: time-logs:(.+)/g],
    ['docker/fleet/compose.yaml', /image: time-logs:(.+)/g],
    ['docker/fleet/kubernetes.yaml', /image: time-logs:(.+)/g],
    ['src/embedding/README.md', /time-logs-(\d.+)\.tgz/g],
    ['README.md', /^\*\*Status\.\*\* (\d+\.\d+\.\d+)/gm],
  ];
  const versions = places.map(([file, pattern]) => [
    file,
    ...new Set([...read(file).matchAll(pattern)].map(([, one]) => one)),
  ]);
  expect(versions).toEqual(places.map(([file]) => [file, version]));
  expect(/^## (\d\S*) - \d{4}-\d{2}-\d{2}$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
  expect(existsSync(join(ROOT, `test/upgrade/v${major}.${minor}.sql.gz`))).toBe(true);
});
