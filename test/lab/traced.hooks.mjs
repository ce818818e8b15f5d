import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/* For Node's `module.register`: each function of the compiled service reports that it is entered. */

const DIST = join(import.meta.dirname, '..', '..', 'dist');

export async function load(url, context, next) {
  const loaded = await next(url, context);
  const file = url.startsWith('file:') ? relative(DIST, fileURLToPath(url)) : '..';
  if (file.startsWith('..') || loaded.format !== 'module') return loaded;
  return { ...loaded, source: traced(file, String(loaded.source)) };
}

/** The text with a call of `globalThis.entered` at the start of each function: its file, folder and position. */
function traced(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const insertions = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const call = `globalThis.entered?.(${JSON.stringify([file, dirname(file), node.pos]).slice(1, -1)})`;
      if (ts.isBlock(node.body)) insertions.push([node.body.getStart() + 1, `${call};`]);
      else insertions.push([node.body.getStart(), `(${call},`], [node.body.end, ')']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let result = text;
  for (const [position, inserted] of insertions.sort(([a], [b]) => b - a))
    result = result.slice(0, position) + inserted + result.slice(position);
  return result;
}
