import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globals: true,
    root: './',
    include: ['**/*.{spec,e2e-spec}.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
