import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/*
 * The package contains the files in `exports` of package.json and what they import, compiled twice:
 * to ES modules, and to CommonJS for hosts whose tests cannot load ES modules (Jest).
 */

const USAGE = `Usage:
  npm run pack:lib [-- DIRECTORY]

Creates the package for hosts, and that of the PostgreSQL for their tests, in DIRECTORY (dist).
Prints the paths of the two tarballs.`;

/**
 * The peer dependencies, which the package shares with its host. The lowest versions of each range
 * are tested. All other imports are dependencies.
 */
const PEERS = {
  '@nats-io/jetstream': '^3.4.0',
  '@nats-io/transport-node': '^3.4.0',
  // Before 12.2 a global pipe of the host received the promise of
  // an asynchronous parameter, such as our body.
  '@nestjs/common': '^11.0.1 || ^12.2.0',
  '@nestjs/core': '^11.0.1 || ^12.2.0',
  '@nestjs/microservices': '^11.0.1 || ^12.0.1',
  // 11.0.0 and 11.0.1 require Nest 10.
  '@nestjs/passport': '^11.0.2 || ^12.0.0',
  // CommonJS cannot require 12.0.0.
  '@nestjs/typeorm': '^11.0.0 || ^12.0.1',
  amqplib: '^2.3.1',
  'class-validator': '^0.14.0 || ^0.15.1',
  // The range of @nestjs/passport.
  passport: '^0.5.0 || ^0.6.0 || ^0.7.0',
  'prom-client': '^15.0.0',
  rxjs: '^7.8.1',
  typeorm: '^0.3.20 || ^1.0.0',
};

/** The peers that a host needs only for one entry or one broker. */
const OPTIONAL_PEERS = [
  '@nats-io/jetstream',
  '@nats-io/transport-node',
  '@nestjs/microservices',
  'amqplib',
  'prom-client',
];

/** The builds by export condition. */
const BUILDS = {
  import: { type: 'module', folder: 'dist/esm' },
  require: { type: 'commonjs', folder: 'dist/commonjs' },
};

const PROJECT = join(import.meta.dirname, '..', '..');
const project = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
/** The entries of `exports`: the path of each, and its file without output folder and extension. */
const entries = Object.entries(project.exports).map(([path, file]) => [
  path,
  posix.relative('dist', file).slice(0, -3),
]);

const directory = parseDirectory();
// Loading TypeScript takes half a second, so help and usage errors come first.
const { default: ts } = await import('typescript');
const staging = mkdtempSync(join(tmpdir(), 'time-logs-package-'));
try {
  const packages = new Set(Object.values(BUILDS).flatMap((build) => [...stage(build)]));
  write('package.json', json(manifest(packages)));
  for (const page of readdirSync(import.meta.dirname).filter((file) => file.endsWith('.md')))
    write(page, readFileSync(join(import.meta.dirname, page)));
  write('LICENSE', readFileSync(join(PROJECT, 'LICENSE')));
  stageExamples();
  console.log(pack(directory).join('\n'));
} finally {
  rmSync(staging, { recursive: true });
}

/** Returns the directory of the command line. Ends the process after help or a usage error. */
function parseDirectory() {
  try {
    const options = { help: { type: 'boolean', short: 'h' } };
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    if (!values.help && positionals.length < 2) return resolve(positionals[0] ?? join(PROJECT, 'dist'));
    if (!values.help) throw new Error('too many arguments: pass at most one DIRECTORY');
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(1);
  }
}

/** Adds a build to the package. Returns the packages that it imports. */
function stage({ type, folder }) {
  const compiled = compile({ type, folder });
  const roots = entries.map(([, entry]) => `${folder}/${entry}.js`);
  const code = reachable(compiled, roots, (file) => file);
  const types = reachable(compiled, roots, (file) => file.replace(/\.js$/, '.d.ts'));
  for (const name of types.packages) {
    const isInstalled = code.packages.has(name) || (name in PEERS && !OPTIONAL_PEERS.includes(name));
    if (!isInstalled) throw new Error(`the types import ${name}, which is optional for hosts`);
  }
  for (const file of [...code.files, ...types.files]) write(file, compiled.get(file));
  // Defines the module type of the folder for Node, TypeScript and bundlers.
  write(`${folder}/package.json`, json({ type }));
  return [...code.packages, ...types.packages];
}

/** Adds the application that the documents quote, for each Nest: its sources, and what a Nest has of its own. */
function stageExamples() {
  const host = join(PROJECT, 'test', 'lab', 'estate', 'host');
  const files = readdirSync(host, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(host, join(parentPath, name)).replaceAll('\\', '/'))
    .filter((file) => !/node_modules|lock[.]\w+$/.test(file));
  for (const nest of ['nest-11', 'nest-12'])
    for (const file of files) {
      const path = file.replace(`${nest}/`, '');
      if (!/^nest-/.test(path)) write(join('examples', nest, path), readFileSync(join(host, file)));
    }
}

/** Compiles the sources. Returns the contents of the output files by path in the package. */
function compile({ type, folder }) {
  const texts = new Map();
  const { options } = ts.getParsedCommandLineOfConfigFile(
    join(PROJECT, 'tsconfig.json'),
    { declaration: true, sourceMap: false, outDir: join(PROJECT, folder) },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
  );
  const host = ts.createCompilerHost(options);
  // The nearest package.json decides the module type to which TypeScript compiles a file.
  host.readFile = (file) => {
    if (file.endsWith('/infrastructure/schema/texts.ts')) return textsIn(dirname(file));
    if (file.endsWith('/embedding/document.ts')) return documentText();
    const text = ts.sys.readFile(file);
    const isOurs = file.endsWith('/package.json') && !relative(PROJECT, file).includes('node_modules');
    return text !== undefined && isOurs ? json({ ...JSON.parse(text), type }) : text;
  };
  const sources = entries.map(([, entry]) => join(PROJECT, `${entry}.ts`));
  const program = ts.createProgram(sources, options, host);
  const { diagnostics } = program.emit(undefined, (path, text) =>
    texts.set(relative(PROJECT, path).replaceAll('\\', '/'), text),
  );
  [...ts.getPreEmitDiagnostics(program), ...diagnostics].forEach(fail);
  return texts;
}

/** Returns a module with the SQL files of a folder: a bundle of a host cannot read files. */
function textsIn(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.sql'));
  const texts = files
    .sort()
    .map((file) => [file.slice(0, -4).replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8')]);
  return `export const TEXTS: Readonly<Record<string, string>> = ${json(Object.fromEntries(texts))}`;
}

/** Returns a module with the parts of the OpenAPI document that describe routes. */
function documentText() {
  const text = readFileSync(join(PROJECT, 'src', 'api-docs', 'openapi.json'), 'utf8');
  const { paths, components } = JSON.parse(text);
  return `export const DOCUMENT_TEXT: string = ${json(JSON.stringify({ paths, components }))}`;
}

function fail(diagnostic) {
  const host = { ...ts.sys, getCanonicalFileName: (file) => file, getNewLine: () => '\n' };
  throw new Error(ts.formatDiagnostic(diagnostic, host));
}

/** Returns the files that are reachable from the entries, and the packages that they import. */
function reachable(compiled, from, toFile) {
  const [files, packages] = [new Set(from.map(toFile)), new Set()];
  for (const file of files) {
    const text = compiled.get(file);
    if (text === undefined) throw new Error(`${file} is imported but not compiled`);
    for (const { fileName: name } of ts.preProcessFile(text, true, true).importedFiles) {
      if (name.startsWith('.')) files.add(toFile(posix.join(posix.dirname(file), name)));
      else if (!name.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)[0]);
    }
  }
  return { files, packages };
}

function manifest(packages) {
  const { name, version, description, license, type, engines } = project;
  const shared = Object.keys(PEERS).filter((peer) => packages.has(peer));
  const own = [...packages].filter((dependency) => !(dependency in PEERS)).sort();
  const files = ({ folder }, entry) => ({
    types: `./${folder}/${entry}.d.ts`,
    default: `./${folder}/${entry}.js`,
  });
  const conditions = (entry) =>
    Object.fromEntries(Object.entries(BUILDS).map(([condition, build]) => [condition, files(build, entry)]));
  return {
    ...{ name, version, description, license, type, engines },
    exports: Object.fromEntries(entries.map(([path, entry]) => [path, conditions(entry)])),
    // For hosts whose TypeScript ignores `exports` (moduleResolution node10), which are CommonJS.
    typesVersions: {
      '*': Object.fromEntries(
        entries.map(([path, entry]) => [path.slice(2), [files(BUILDS.require, entry).types.slice(2)]]),
      ),
    },
    // Bundlers may drop unused files except the mapping, which decorates a class of another file.
    sideEffects: Object.values(BUILDS).map(
      ({ folder }) => `./${folder}/src/time-log/infrastructure/time-log.mapping.js`,
    ),
    dependencies: Object.fromEntries(own.map((dependency) => [dependency, range(dependency)])),
    peerDependencies: Object.fromEntries(shared.map((peer) => [peer, PEERS[peer]])),
    peerDependenciesMeta: Object.fromEntries(OPTIONAL_PEERS.map((peer) => [peer, { optional: true }])),
  };
}

function json(value) {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function range(dependency) {
  const pin = project.dependencies[dependency];
  if (pin === undefined) throw new Error(`${dependency} is imported but not among the dependencies`);
  return `^${pin}`;
}

/** Writes a file with fixed permissions, which npm packs: the same input makes the same bytes. */
function write(file, content) {
  const path = join(staging, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, 0o644);
}

function pack(directory) {
  mkdirSync(directory, { recursive: true });
  const postgres = join(PROJECT, 'libs', 'embedded-postgres');
  const args = ['pack', staging, postgres, '--pack-destination', directory, '--json'];
  const packed = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }));
  return packed.map(({ filename }) => join(directory, filename));
}
