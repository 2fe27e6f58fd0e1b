import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'web/src/**/*.test.ts', 'test/**/*.test.ts'],
    // Real shells and servers on two shared cores: generous limits, no retries. Flaky is broken.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The one second it has by itself is a guess about how busy the machine is; what is waited for ends the wait.
    expect: { poll: { timeout: 20_000 } },
    retry: 0,
    pool: 'forks',
    // Most tests wait for something most of the time: on two cores Vitest itself would run one file after the other.
    maxWorkers: 2,
  },
});
