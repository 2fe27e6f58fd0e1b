import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { endpoint } from './settings.ts';
import { timeLimit } from '../../system/time-limit.ts';

/** Where a tunnel leads: a host and a port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export function hostPortOf(text: string): HostPort | undefined {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^\s:/@]+)):(\d{1,5})$/i.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** Milliseconds until a proxy connected to a host behind it; undefined if it did not in time. */
export async function tunnels(
  url: string,
  to: HostPort,
  limitMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const place = endpoint(url);
  if (place === undefined || signal.aborted) return undefined;
  const parsed = new URL(url.includes('://') ? url : `http://${url}`);
  const { host, port } = place;
  const secure = parsed.protocol === 'https:';
  const started = performance.now();
  const socket = secure ? connectSecurely({ host, port, servername: host }) : connect({ host, port });
  using limit = timeLimit(signal, limitMs);
  const give = (): void => void socket.destroy();
  limit.signal.addEventListener('abort', give, { once: true });
  socket.on('error', give);
  const login = { user: decode(parsed.username), password: decode(parsed.password) };
  try {
    const opened = await (place.socks ? throughSocks(socket, to, login) : throughHttp(socket, to, login));
    return opened ? Math.max(1, Math.round(performance.now() - started)) : undefined;
  } finally {
    limit.signal.removeEventListener('abort', give);
    socket.destroy();
  }
}

interface Login {
  readonly user: string;
  readonly password: string;
}

async function throughHttp(socket: Socket, { host, port }: HostPort, { user, password }: Login): Promise<boolean> {
  const name = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  const authorization = user === '' ? '' : `Proxy-Authorization: Basic ${basic}\r\n`;
  socket.write(`CONNECT ${name} HTTP/1.1\r\nHost: ${name}\r\n${authorization}\r\n`);
  const head = await reply(socket, (bytes) => bytes.includes('\r\n'));
  return head !== undefined && /^HTTP\/1\.[01] 2\d\d/.test(head.toString('latin1'));
}

/** SOCKS5, the name resolved by the proxy; with a password where it asks for one. */
async function throughSocks(socket: Socket, { host, port }: HostPort, { user, password }: Login): Promise<boolean> {
  socket.write(user === '' ? Uint8Array.of(5, 1, 0) : Uint8Array.of(5, 2, 0, 2));
  const method = await reply(socket, ({ length }) => length >= 2);
  if (method?.[0] !== 5 || (method[1] !== 0 && method[1] !== 2)) return false;
  if (method[1] === 2) {
    socket.write(Buffer.concat([Uint8Array.of(1), sized(user), sized(password)]));
    const accepted = await reply(socket, ({ length }) => length >= 2);
    if (accepted?.[1] !== 0) return false;
  }
  socket.write(Buffer.concat([Uint8Array.of(5, 1, 0, 3), sized(host), Uint8Array.of(port >> 8, port & 255)]));
  const answer = await reply(socket, ({ length }) => length >= 2);
  return answer?.[0] === 5 && answer[1] === 0;
}

function sized(text: string): Buffer {
  const bytes = Buffer.from(text).subarray(0, 255);
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}

/** A longer head is no answer of a proxy. */
const longestReply = 16 << 10;

/** Reads until the answer is complete; undefined if the proxy hangs up before. */
function reply(socket: Socket, enough: (bytes: Buffer) => boolean): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const end = (found: Buffer | undefined): void => {
      socket.off('data', take);
      socket.off('close', gone);
      resolve(found);
    };
    const gone = (): void => end(undefined);
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      if (enough(bytes) || bytes.length > longestReply) end(bytes);
    };
    if (socket.destroyed) return gone();
    socket.on('data', take);
    socket.on('close', gone);
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
