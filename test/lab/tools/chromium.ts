import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';

export type { Locator, Page };

/** Milliseconds for a browser to start, and for a page to load or to show what is waited for. */
const TIMEOUT_MS = 90_000;

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const [executable = ''] = spawnSync('which', NAMES, { encoding: 'utf8' }).stdout.split('\n');
const missing = executable === '' ? 'no Chromium is installed' : missingTools();

/** `describe` for tests that need Chromium: skipped with one line if it is not installed. */
export function describeInChromium(name: string, tests: () => void): void {
  if (missing) process.stderr.write(`skipped, since ${missing}: ${name}\n`);
  (missing ? describe.skip : describe)(name, tests);
}

/**
 * Chromium for the tests of a `describe` block, without its sandbox, which root cannot have. Returns a function that
 * opens an empty page, with cookies and storage of its own, until the end of the test.
 */
export function useChromium(...args: string[]): () => Promise<Page> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const { chromium } = await import('playwright-core');
    browser = await chromium.launch({ executablePath: executable, timeout: TIMEOUT_MS, args });
  });
  // Pages that stay open take what the next one needs.
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });
  afterAll(() => browser?.close());
  return async () => {
    const page = await browser!.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    return page;
  };
}

function missingTools(): string | undefined {
  try {
    createRequire(import.meta.url).resolve('playwright-core');
    return undefined;
  } catch {
    return 'the tools are not installed (node test/lab/tools/install.mjs)';
  }
}
