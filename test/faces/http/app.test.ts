import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appRoutes } from '../../../src/faces/http/app.ts';

const folder = pathToFileURL(`${join(import.meta.dirname, '..', '..', '..', 'web', 'public')}/`);

test('a browser can install the dashboard: the manifest and its icons are served, and nothing below them', async () => {
  const routes = appRoutes({ folder, pages: ['/'] });
  await using server = createServer((request, response) => {
    const path = request.url ?? '';
    const visit = { request, response, path, peer: '', gone: AbortSignal.abort(), body: () => Promise.resolve('') };
    const route = routes.find((one) => one.path === path && one.isPublic === true);
    if (route) void route.handle(visit);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const answer = await fetch(`${at}/manifest.webmanifest`);
  expect(answer.headers.get('content-type')).toBe('application/manifest+json');
  const manifest = (await answer.json()) as { icons: { src: string; purpose: string }[] };
  expect(manifest).toMatchObject({ name: 'Fairlead', start_url: '/', display: 'standalone' });
  expect(manifest.icons.map(({ purpose }) => purpose)).toEqual(['any', 'maskable']);
  for (const { src } of manifest.icons) {
    const icon = await fetch(`${at}${src}`);
    expect([src, icon.status, icon.headers.get('content-type')]).toEqual([src, 200, 'image/svg+xml']);
    expect(await icon.text()).toContain('<svg');
  }
  expect((await fetch(`${at}/manifest.webmanifest`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${at}/manifest.webmanifest/x`)).status).toBe(404);
});
