import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const { exports: entries } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, string>;
};
/** The sources of the package's entries, by what a host imports. */
const SOURCES = Object.entries(entries).map(([entry, built]): [string, string] => [
  `time-logs${entry.slice(1)}`,
  join(ROOT, built.replace('./dist/', '').replace(/\.js$/, '.ts')),
]);

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => readFileSync(file, 'utf8')) as {
  config: object;
};
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
const program = ts.createProgram(
  SOURCES.map(([, file]) => file),
  { ...options, noEmit: true },
);
const checker = program.getTypeChecker();

/** Returns the exports of an entry, types too, each by its name. */
function exportsOf(file: string): ts.Symbol[] {
  const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
  return checker.getExportsOfModule(module);
}

/** Returns the declaration behind a name that is only exported again. */
function declared(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

describe('the public surface', () => {
  it('is what public-surface.txt lists: a change of it is seen in review', () => {
    const names = SOURCES.flatMap(([entry, file]) => exportsOf(file).map(({ name }) => `${entry} ${name}`));
    const listed = readFileSync(join(import.meta.dirname, 'public-surface.txt'), 'utf8');
    expect(names.sort().join('\n') + '\n').toBe(listed);
  });

  it('has a sentence for each name', () => {
    const silent = SOURCES.flatMap(([entry, file]) =>
      exportsOf(file)
        .filter((symbol) => declared(symbol).getDocumentationComment(checker).length === 0)
        .map(({ name }) => `${entry} ${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('is explained in the reference for hosts', () => {
    const reference = readFileSync(join(ROOT, 'src/embedding/reference.md'), 'utf8');
    const missing = SOURCES.flatMap(([, file]) => exportsOf(file).map(({ name }) => name)).filter(
      (name) => !new RegExp(`\`${name}\\b`).test(reference),
    );
    expect(missing).toEqual([]);
  });
});
