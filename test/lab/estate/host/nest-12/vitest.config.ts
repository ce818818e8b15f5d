import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globals: true,
    globalSetup: './test/database.ts',
    // The files share one database, and migrate it.
    fileParallelism: false,
    root: './',
    include: ['**/*.{spec,e2e-spec}.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
