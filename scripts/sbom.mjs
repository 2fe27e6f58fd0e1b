// The parts that users get: packages inside the bundle, which `npm audit` cannot see, and those that npm installs beside it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `folders`: of the packages whose code is in the bundle. Nothing of this machine is in it, and the same build gives the same file. */
export function writeSbom(root, folders) {
  const { name, version, license } = readJson(join(root, 'package.json'));
  const { packages } = readJson(join(root, 'package-lock.json'));
  const bundled = folders.map((folder) => component(keyOf(folder, packages), packages, 'bundled', licenceOf(folder)));
  const installed = Object.entries(packages)
    .filter(([key, { dev }]) => key !== '' && !dev)
    .map(([key]) => component(key, packages, 'installed by npm'));
  const known = new Map([...installed, ...bundled].map((one) => [one['bom-ref'], one]));
  const components = [...known.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...identity(name, version), licenses: licences(license) } },
    components,
  };
  const file = join(root, 'dist', 'sbom.json');
  // Another build may be under way.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(sbom, undefined, 2)}\n`);
  renameSync(draft, file);
}

/** The licence that a package names, also in the old way, as a list. */
export function licenceOf(folder) {
  const { license, licenses } = readJson(join(folder, 'package.json'));
  return license ?? licenses?.map(({ type }) => type).join(' OR ');
}

function component(key, packages, delivery, stated) {
  const { version, license = stated, integrity, optional } = packages[key];
  return {
    type: 'library',
    ...identity(key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length), version),
    scope: optional ? 'optional' : 'required',
    ...(integrity && { hashes: [hashOf(integrity)] }),
    licenses: licences(license),
    properties: [{ name: 'fairlead:delivery', value: delivery }],
  };
}

function identity(fullName, version) {
  const [group, name] = fullName.startsWith('@') ? fullName.split('/') : [undefined, fullName];
  const purl = `pkg:npm/${group ? `${encodeURIComponent(group)}/` : ''}${name}@${version}`;
  return { 'bom-ref': purl, ...(group && { group }), name, version, purl };
}

const licences = (stated) => {
  if (!stated) return [];
  return / (OR|AND|WITH) /.test(stated) ? [{ expression: stated }] : [{ license: { id: stated } }];
};

/** Of the archive that npm downloads. */
function hashOf(integrity) {
  const [algorithm, value] = integrity.split(' ')[0].split('-');
  return { alg: algorithm.replace(/^sha/, 'SHA-'), content: Buffer.from(value, 'base64').toString('hex') };
}

/** How the lock calls it: by the path from the root of the project. */
function keyOf(folder, packages) {
  const path = folder.replaceAll('\\', '/');
  for (let at = path.indexOf('/node_modules/'); at >= 0; at = path.indexOf('/node_modules/', at + 1)) {
    if (packages[path.slice(at + 1)]) return path.slice(at + 1);
  }
  throw new Error(
    `A package in the bundle is not in package-lock.json: ${path.slice(path.lastIndexOf('node_modules/'))}`,
  );
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
