import { readdir, readFile } from 'node:fs/promises';
import { pageHeaders } from './page-headers.ts';
import { safeHeaders, sendRefusal, sendText, wrongMethod } from './reply.ts';
import type { HttpVisit, Route } from './route.ts';

/** Svelte makes its templates under a policy of its own. */
const headersOfPage = pageHeaders('svelte-trusted-html');

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
};

/** The encodings that files are kept in, best first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Files whose address stays the same from build to build: a browser asks for them by that name when it installs the app. */
const singles = ['mark.svg', 'mark-app.svg', 'manifest.webmanifest'] as const;

interface AppOptions {
  /** Where the build put the app. */
  readonly folder: URL;
  /** Paths that show it; one that ends with a slash also shows it at every path below. */
  readonly pages: readonly string[];
}

/** The dashboard: its page at each of its routes, and its files. They hold no secret; a browser loads them before its person logs in. */
export function appRoutes({ folder, pages }: AppOptions): Route[] {
  const send = async (file: string, visit: HttpVisit, headers: Readonly<Record<string, string>>): Promise<void> => {
    const { request, response } = visit;
    if (request.method !== 'GET' && request.method !== 'HEAD') return sendRefusal(response, wrongMethod('GET, HEAD'));
    const found = await load(new URL(file, folder), request.headers['accept-encoding'] ?? '');
    if (!found) {
      return sendRefusal(response, { status: 404, code: 'not_found', message: `Nothing is at ${visit.path}.` });
    }
    const type = types[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    const about = {
      'content-type': type,
      'content-length': found.bytes.length,
      vary: 'accept-encoding',
      ...found.headers,
    };
    response.writeHead(200, { ...safeHeaders, ...about, ...headers });
    response.end(request.method === 'HEAD' ? undefined : found.bytes);
  };
  const page = (path: string): Route => ({
    path: path.length > 1 ? path.replace(/\/$/, '') : path,
    ...(path.length > 1 && path.endsWith('/') && { below: true as const }),
    isPublic: true,
    handle: (visit) => send('index.html', visit, headersOfPage),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const files = (path: string): Route => ({
    path,
    below: true,
    isPublic: true,
    async handle(visit) {
      const name = visit.path.slice(path.length + 1);
      // Only names that the build made: no path of the request reaches the disk.
      const known = await readdir(new URL('assets/', folder)).catch((): string[] => []);
      const file = known.includes(name) && !/\.(br|gz)$/.test(name) ? `assets/${name}` : 'assets/none';
      await send(file, visit, { 'cache-control': 'public, max-age=31536000, immutable' });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const single = (file: string): Route => ({ ...page(`/${file}`), handle: (visit) => send(file, visit, {}) });
  // The reference serves files below /static, and has no icon.
  return [...pages.map(page), files('/assets'), files('/static'), ...singles.map(single), noIcon];
}

const noIcon: Route = {
  path: '/favicon.ico',
  isPublic: true,
  handle({ request, response }) {
    if (request.method === 'GET') sendText(response, 204, '', {});
    else sendRefusal(response, wrongMethod('GET'));
    return Promise.resolve();
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

async function load(
  file: URL,
  accepted: string,
): Promise<{ readonly bytes: Buffer; readonly headers: Readonly<Record<string, string>> } | undefined> {
  for (const [name, end] of encodings) {
    if (!new RegExp(`\\b${name}\\b`).test(accepted)) continue;
    const bytes = await readFile(new URL(`${file.href}${end}`)).catch(() => undefined);
    if (bytes) return { bytes, headers: { 'content-encoding': name } };
  }
  const bytes = await readFile(file).catch(() => undefined);
  return bytes && { bytes, headers: {} };
}
