import { register } from 'node:module';

/* Prints the packages that a program imports, each time, as `resolved NAME`. */
const hooks = `
import { writeSync } from 'node:fs';
export function resolve(specifier, context, next) {
  if (/^[@a-z]/.test(specifier)) writeSync(2, 'resolved ' + specifier + '\\n');
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
