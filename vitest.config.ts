import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Real shells and servers on two shared cores: generous limits, no retries. Flaky is broken.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    pool: 'forks',
  },
});
