import { afterEach } from '@jest/globals';

/** Closes what a test has opened after it, the last first: also where an assertion fails. */
export function closingAfterEach() {
  const closes: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closes.splice(0).reverse()) await close();
  });
  /** Notes what is to be closed, and how where it has no `close`. */
  return <T>(one: T, close = (it: T): unknown => (it as { close(): unknown }).close()): T => {
    closes.push(() => close(one));
    return one;
  };
}
