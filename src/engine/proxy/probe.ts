import { connect, type Socket } from 'node:net';
import { onAbort } from '../../system/on-abort.ts';
import { endpoint } from './settings.ts';

/** Milliseconds until the address accepted a connection; undefined if it did not in time. */
export async function accepts(url: string, limitMs: number, signal: AbortSignal): Promise<number | undefined> {
  const started = performance.now();
  const socket = await opened(url, limitMs, signal);
  socket?.destroy();
  return socket === undefined ? undefined : Math.max(1, Math.round(performance.now() - started));
}

/** Whether a proxy answers there, rather than an ordinary web server. */
export async function speaksProxy(
  port: number,
  limitMs: number,
  signal: AbortSignal,
): Promise<'http' | 'socks' | undefined> {
  const [http, socks] = await Promise.all([
    answers(port, 'CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n', isConnectAnswer, limitMs, signal),
    answers(port, '\x05\x01\x00', (reply) => reply[0] === 5 && reply.length === 2, limitMs, signal),
  ]);
  if (socks) return 'socks';
  return http ? 'http' : undefined;
}

/** A proxy lets CONNECT through or reports an unreachable host; a web server answers 400 or 405. */
function isConnectAnswer(reply: Buffer): boolean {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(reply.toString('latin1'))?.[1];
  return status !== undefined && ['200', '403', '407', '502', '503', '504'].includes(status);
}

async function answers(
  port: number,
  request: string,
  fits: (reply: Buffer) => boolean,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const socket = await opened(`http://127.0.0.1:${port}`, limitMs, signal);
  if (socket === undefined) return false;
  return await new Promise<boolean>((resolve) => {
    const end = (answer: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => end(false), limitMs);
    socket.once('data', (reply: Buffer) => end(fits(reply)));
    socket.once('close', () => end(false));
    socket.write(Buffer.from(request, 'latin1'));
  });
}

async function opened(url: string, limitMs: number, signal: AbortSignal): Promise<Socket | undefined> {
  const place = endpoint(url);
  if (place === undefined || signal.aborted) return undefined;
  const socket = connect({ host: place.host, port: place.port });
  return await new Promise((resolve) => {
    const end = (found: Socket | undefined): void => {
      clearTimeout(timer);
      waiting[Symbol.dispose]();
      if (found === undefined) socket.destroy();
      resolve(found);
    };
    const give = (): void => end(undefined);
    const timer = setTimeout(give, limitMs);
    // Many probes share the signal of one caller.
    const waiting = onAbort(signal, give);
    // Stays for the life of the socket: a later error without a listener would crash the process.
    socket.on('error', give);
    socket.once('connect', () => end(socket));
  });
}
