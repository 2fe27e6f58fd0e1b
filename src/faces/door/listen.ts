import { once } from 'node:events';
import type { Server } from 'node:net';
import { FairleadError } from '../../contract/errors.ts';

export interface ListenOptions {
  readonly host: string;
  /** Tried in this order. */
  readonly ports: readonly number[];
  /** Whether to try the next port when this one is taken. */
  readonly mayMove?: ((port: number) => boolean) | undefined;
  /** How people choose the port. */
  readonly flag?: string | undefined;
}

const nextPorts = 5;

/** This port, the five after it, then any free one. 0 is any free one. */
export function portsFrom(first: number): readonly number[] {
  const near = Array.from({ length: nextPorts + 1 }, (_, step) => first + step);
  return first === 0 ? [0] : [...near.filter((port) => port <= 65_535), 0];
}

/** Listens on the first free port of the list. */
export async function listenOn(server: Server, options: ListenOptions): Promise<void> {
  const { host, ports, mayMove = () => true } = options;
  for (const [tried, port] of ports.entries()) {
    server.listen(port, host);
    try {
      await once(server, 'listening');
      return;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const isLast = tried === ports.length - 1;
      if (code !== 'EADDRINUSE' || isLast) throw cannotListen(port, options, cause);
      if (!mayMove(port)) throw portTaken(port, options, cause);
    }
  }
}

function cannotListen(port: number, { host, flag = '--port' }: ListenOptions, cause: unknown): FairleadError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const hint =
    code === 'EADDRINUSE'
      ? `Choose another ${flag}, or end the program that listens there.`
      : code === 'EACCES' || code === 'EPERM'
        ? `Choose a ${flag} from 1024 on; lower ones are for the administrator.`
        : 'Choose a --host that is an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.';
  return new FairleadError('unavailable', `Cannot listen on ${host}:${port}: ${message}.`, { hint, cause });
}

function portTaken(port: number, { flag = '--port' }: ListenOptions, cause: unknown): FairleadError {
  return new FairleadError(
    'unavailable',
    `Port ${port} is taken by another program. The token is fixed (FAIRLEAD_TOKEN), and clients would send it there.`,
    { hint: `End that program, choose a port with ${flag}, or unset FAIRLEAD_TOKEN.`, cause },
  );
}
