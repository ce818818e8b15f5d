import { editDistance } from '../../libs/strict-url/src/nearest-name.js';

/** A shorter name matches only with two letters swapped: `POST` may well mean something other than `PORT`. */
const MIN_LENGTH = 8;

/** Returns a line for each unknown name that differs from a known one by a single edit. */
export function suggestSettings(names: readonly string[], known: readonly string[]): string[] {
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const match = known.find(
        (setting) =>
          editDistance(name, setting) === 1 && (setting.length >= MIN_LENGTH || isReordered(name, setting)),
      );
      return match === undefined
        ? []
        : [`${name} is not a setting and has no effect: did you mean ${match}?`];
    });
}

function isReordered(name: string, setting: string): boolean {
  const [letters, expected] = [name, setting].map((text) => Array.from(text).sort().join(''));
  return letters === expected;
}
