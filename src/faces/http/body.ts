import type { IncomingMessage } from 'node:http';

/** Collects a request body. Undefined when it is longer than allowed; the rest is then left unread. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) return void parts.push(part);
      // The connection stays open for the answer, which says why.
      request.removeAllListeners('data').pause();
      resolve(undefined);
    });
    request.once('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    request.once('error', reject);
    request.once('close', () => reject(new Error('The client closed the connection.')));
  });
}
