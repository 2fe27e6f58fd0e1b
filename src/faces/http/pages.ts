import { readFile } from 'node:fs/promises';
import { pageHeaders } from './page-headers.ts';
import { sendRefusal, sendText, wrongMethod } from './reply.ts';
import type { HttpVisit, Route } from './route.ts';

const headersOfPage = pageHeaders("'none'");

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

interface PageFiles {
  /** Where the files are. */
  readonly folder: URL;
  /** Paths that show the page, and its file. */
  readonly page: { readonly paths: readonly string[]; readonly file: string };
  /** Files below /static. No other file is served. */
  readonly files: readonly string[];
}

/** A page and its files. They hold no secret: a browser loads them before its person has logged in. */
export function pageRoutes({ folder, page, files }: PageFiles): Route[] {
  const send = async (file: string, { request, response }: HttpVisit): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return sendRefusal(response, wrongMethod('GET, HEAD'));
    const type = types[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    sendText(response, 200, await readFile(new URL(file, folder), 'utf8'), { ...headersOfPage, 'content-type': type });
  };
  const route = (path: string, handle: Route['handle']): Route => ({
    path,
    isPublic: true,
    handle,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  return [
    ...page.paths.map((path) => route(path, (visit) => send(page.file, visit))),
    ...files.map((file) => route(`/static/${file}`, (visit) => send(file, visit))),
    route('/favicon.ico', ({ request, response }) => {
      if (request.method === 'GET') sendText(response, 204, '', {});
      else sendRefusal(response, wrongMethod('GET'));
      return Promise.resolve();
    }),
  ];
}
