// Quick enough to run before every commit: format, lint, types, unit tests, architecture, generated docs.
import { pathToFileURL } from 'node:url';
import { build, fail, install, say, tool } from './lib.mjs';

const steps = {
  format: () => tool('@biomejs/biome', ['format', '.']),
  lint: () => tool('oxlint', ['--type-aware', '--deny-warnings', '.']),
  types: () => tool('typescript', ['-p', 'tsconfig.json']),
  'shared types': () => tool('typescript', ['-p', 'tsconfig.shared.json']),
};

/** Runs the static steps; the names of those that failed. */
export function staticChecks() {
  return Object.entries(steps).flatMap(([name, step]) => {
    say(name);
    return step() ? [] : [name];
  });
}
export const staticCheckCount = Object.keys(steps).length;

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  install();
  build();
  const failed = staticChecks();
  say('unit tests');
  if (!tool('vitest', ['run', 'src', 'test/architecture.test.ts', 'test/docs.test.ts', 'test/catalogue.test.ts']))
    failed.push('unit tests');
  if (failed.length > 0) {
    fail(`failed: ${failed.join(', ')}`);
    process.exit(1);
  }
}
