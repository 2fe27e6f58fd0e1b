import { closeSync, fstatSync, readSync, writeSync } from 'node:fs';
import { systemClock } from '../../../../system/clock.ts';
import type { Ended, Size } from '../../../../engine/terminal/channel.ts';
import type { Libc } from '../../pty/libc.ts';
import { LinuxPty } from '../../pty/pty-linux.ts';
import type { SharedCalls } from '../lease/shared-calls.ts';
import { EndedChannel } from './ended-channel.ts';
import { KeeperTerminal } from './keeper-terminal.ts';
import { terminalLog } from '../lease/terminal-log.ts';

/** A terminal written down. A newer program may read it: fields are only added. */
interface Written {
  readonly id: string;
  readonly pid: number;
  readonly terminal: string;
  readonly size: Size;
  readonly start: number;
  readonly capacity: number;
  readonly typed: number;
  readonly seen: number;
  readonly folder?: string | undefined;
  readonly about?: Readonly<Record<string, string>> | undefined;
  readonly secrets: readonly string[];
  readonly snapshotAt?: number | undefined;
  readonly ended?: Ended | undefined;
  readonly endedAt?: number | undefined;
  /** The next program inherits them; absent if the program has ended. */
  readonly descriptors?: { readonly master: number; readonly held: number } | undefined;
  /** How many bytes of output, facts, snapshot and input follow. */
  readonly lengths: readonly [log: number, meta: number, snapshot: number, waiting?: number];
}

const nothing = new Uint8Array(0);

/**
 * Writes everything a keeper holds into memory that the next program inherits: never to a disk. Reading stops; if the next
 * program cannot be executed, `takeOver` restores it all.
 */
export async function handOver(libc: Libc, terminals: readonly KeeperTerminal[]): Promise<number> {
  const pieces: Uint8Array[] = [];
  const written: Written[] = [];
  for (const held of terminals) {
    const pty = held.ended || !(held.channel instanceof LinuxPty) ? undefined : held.channel;
    const { descriptors, waiting = nothing } = pty?.letGo() ?? {};
    await held.drained();
    const log = held.log.read(held.log.start).bytes;
    const meta = held.meta ?? nothing;
    const snapshot = held.snapshot?.bytes ?? nothing;
    pieces.push(log, meta, snapshot, waiting);
    const { id, pid, terminal, size, typed, seen, folder, about, ended, snapshot: kept } = held;
    const { endedAt } = held.listed;
    written.push({
      id,
      pid,
      terminal,
      size,
      typed,
      seen,
      start: held.log.start,
      capacity: held.log.capacity,
      secrets: held.secrets.map((secret) => Buffer.from(secret).toString()),
      lengths: [log.length, meta.length, snapshot.length, waiting.length],
      folder,
      about,
      snapshotAt: kept?.at,
      ended,
      endedAt,
      descriptors,
    });
    for (const fd of Object.values(descriptors ?? {})) libc.inherit(fd, true);
    held[Symbol.dispose]();
  }
  const file = libc.memoryFile();
  if (file < 0) throw new Error('There is no memory to hand over.');
  libc.inherit(file, true);
  const head = Buffer.from(JSON.stringify(written));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  let at = 0;
  for (const piece of [length, head, ...pieces]) {
    for (let from = 0; from < piece.length; ) from += writeSync(file, piece, from, piece.length - from, at + from);
    at += piece.length;
  }
  return file;
}

/** The terminals that `handOver` wrote down, in another program or in this one. */
export function takeOver(libc: Libc, shared: SharedCalls | undefined, file: number): KeeperTerminal[] {
  const all = Buffer.alloc(fstatSync(file).size);
  for (let from = 0; from < all.length; ) from += readSync(file, all, from, all.length - from, from);
  closeSync(file);
  const headEnd = 4 + all.readUInt32BE(0);
  const written = JSON.parse(all.toString('utf8', 4, headEnd)) as Written[];
  let at = headEnd;
  const next = (length: number): Uint8Array => {
    at += length;
    return new Uint8Array(all.subarray(at - length, at));
  };
  return written.map((one) => {
    const [output, meta, snapshot, waiting] = one.lengths.map((length = 0) => next(length));
    const log = terminalLog(shared, one.capacity, one.start);
    if (output) log.append(output);
    const held = new KeeperTerminal({ ...one, log, clock: systemClock, channel: channelOf(libc, one) });
    for (const secret of one.secrets) held.conceal(secret);
    held.seen = one.seen;
    if (meta && meta.length > 0) held.meta = meta;
    if (snapshot && one.snapshotAt !== undefined) held.snapshot = { at: one.snapshotAt, bytes: snapshot };
    if (waiting && waiting.length > 0) held.type(waiting);
    return held;
  });
}

function channelOf(libc: Libc, { pid, terminal, descriptors, ended }: Written): LinuxPty | EndedChannel {
  if (!descriptors) return new EndedChannel(pid, ended ?? { by: 'lost', reason: 'it was not handed over' });
  const { master, held } = descriptors;
  for (const fd of [master, held]) libc.inherit(fd, false);
  return new LinuxPty(libc, pid, terminal, master, held, libc.duplicate(master));
}
