import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license?: { readonly id: string }; readonly expression?: string }[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  readonly properties: readonly { readonly value: string }[];
}
const sbom = JSON.parse(read('dist', 'sbom.json')) as Readonly<Record<string, unknown>> & { components: Component[] };
const own = JSON.parse(read('package.json')) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
const lock = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { version: string; dependencies?: Record<string, string> }>;
};
const nameOf = ({ group, name }: Component): string => (group === undefined ? name : `${group}/${name}`);
const delivered = (how: string): Component[] =>
  sbom.components.filter(({ properties }) => properties.some(({ value }) => value === how));

/** Packages that the compiled sources import and that npm does not install with ours. */
function importedNotInstalled(): string[] {
  const installed = Object.keys({ ...own.dependencies, ...own.optionalDependencies });
  const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.startsWith('bundle'))
    .map((file) => read('dist', file));
  const names = files.flatMap((text) =>
    [...text.matchAll(/(?:from|import\(|import) ?["'](@[^/"']+\/[^/"']+|[a-z][^/"']*)(?:\/[^"']*)?["']/g)].map(
      ([, name = '']) => name,
    ),
  );
  return [...new Set(names)].filter(
    (name) => !name.startsWith('node:') && !builtinModules.includes(name) && !installed.includes(name),
  );
}

function withDependencies(names: readonly string[], seen = new Set<string>()): Set<string> {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    withDependencies(Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {}), seen);
  }
  return seen;
}

test('every package inside the bundle stands in the SBOM with name, version, licence and purl', () => {
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  const direct = importedNotInstalled();
  expect(direct).toEqual(expect.arrayContaining(['@modelcontextprotocol/server', 'ssh2', 'zod']));
  const bundled = delivered('bundled');
  expect(bundled.map(nameOf).sort()).toEqual([...withDependencies(direct)].sort());
  for (const one of bundled) {
    const name = nameOf(one);
    expect(one.version, name).toBe(lock.packages[`node_modules/${name}`]?.version);
    expect(one.purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${one.version}`);
    expect(one.licenses[0]?.license?.id ?? one.licenses[0]?.expression, name).toMatch(/^[A-Z][\w.-]+( |$)/);
    expect(one.hashes, name).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
  }
});

test('what npm installs beside the bundle stands in the SBOM, too', () => {
  const names = delivered('installed by npm').map(nameOf);
  expect(names).toEqual(expect.arrayContaining(Object.keys({ ...own.dependencies, ...own.optionalDependencies })));
});

test('the SBOM names no path, registry or machine', () => {
  const text = read('dist', 'sbom.json');
  expect(text.match(/https?:\/\/[^"]*/g)).toEqual(['http://cyclonedx.org/schema/bom-1.6.schema.json']);
  expect(text).not.toContain('node_modules');
  expect(text).not.toContain(root);
});
