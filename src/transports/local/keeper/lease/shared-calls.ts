import { closeSync } from 'node:fs';
import { endianness } from 'node:os';
import { loadLibc } from '../../pty/libc.ts';

/** Memory that two processes share. After `release` its bytes must not be touched. */
export interface Mapping {
  readonly bytes: ArrayBuffer;
  readonly release: () => void;
}

/** System calls to share memory and descriptors with another process. */
export interface SharedCalls {
  /** A file in memory that children do not inherit; negative if there can be none. */
  readonly memoryFile: () => number;
  /** Maps the beginning of a file; undefined if there is no memory left. */
  readonly map: (fd: number, length: number) => Mapping | undefined;
  /** A connected socket that Node does not read; negative if the connection is not accepted at once. */
  readonly connect: (path: string) => number;
  /** Sends descriptors with a number that names the lease; false if they could not be sent. */
  readonly send: (socket: number, number: number, descriptors: readonly [number, number]) => boolean;
  /** Receives one message without waiting; undefined if there is no complete one. */
  readonly receive: (socket: number) => { readonly number: number; readonly descriptors: [number, number] } | undefined;
  /** The process at the other end of a socket. */
  readonly peer: (socket: number) => number | undefined;
}

const PROT_READ_WRITE = 3;
const MAP_SHARED = 1;
const MAP_PRIVATE_ANONYMOUS = 0x22;
const AF_UNIX = 1;
const SOCK_STREAM_NONBLOCK_CLOEXEC = 1 | 0o4000 | 0o2000000;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const SCM_RIGHTS = 1;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const MSG_CMSG_CLOEXEC = 0x40000000;
const MSG_CTRUNC = 8;
const PAGE = 4096;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

let loading: Promise<SharedCalls | undefined> | undefined;

/** Undefined where the system cannot: then every byte goes through the keeper. */
export function loadSharedCalls(): Promise<SharedCalls | undefined> {
  loading ??= bind().catch(() => undefined);
  return loading;
}

async function bind(): Promise<SharedCalls | undefined> {
  // The structures below are laid out by hand.
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch) || endianness() !== 'LE')
    return undefined;
  const { memoryFile } = await loadLibc();
  const { default: koffi } = await import('koffi');
  const lib = koffi.load(null);
  const mmap = lib.func('mmap', 'uintptr_t', ['uintptr_t', 'size_t', 'int', 'int', 'int', 'int64_t']);
  const munmap = lib.func('munmap', 'int', ['uintptr_t', 'size_t']);
  const socket = lib.func('socket', 'int', ['int', 'int', 'int']);
  const connect = lib.func('connect', 'int', ['int', 'void *', 'uint']);
  const getsockopt = lib.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *']);
  const sendmsg = lib.func('sendmsg', 'intptr_t', ['int', 'uintptr_t', 'int']);
  const recvmsg = lib.func('recvmsg', 'intptr_t', ['int', 'uintptr_t', 'int']);

  const take = (fd: number, length: number, flags: number): { address: bigint; bytes: ArrayBuffer } | undefined => {
    const address = BigInt(mmap(0, length, PROT_READ_WRITE, flags, fd, 0));
    return address === MAP_FAILED ? undefined : { address, bytes: koffi.view(address, length) };
  };

  // One message for all: a header (struct msghdr), where its data lies (struct iovec), the data, and the descriptors.
  const message = take(-1, PAGE, MAP_PRIVATE_ANONYMOUS);
  if (!message) return undefined;
  const [iovecAt, dataAt, controlAt, controlLength, dataLength] = [64, 128, 192, 24, 4];
  const words = new DataView(message.bytes);
  const prepare = (): void => {
    new Uint8Array(message.bytes).fill(0, 0, 256);
    words.setBigUint64(16, message.address + BigInt(iovecAt), true);
    words.setBigUint64(24, 1n, true);
    words.setBigUint64(32, message.address + BigInt(controlAt), true);
    words.setBigUint64(40, BigInt(controlLength), true);
    words.setBigUint64(iovecAt, message.address + BigInt(dataAt), true);
    words.setBigUint64(iovecAt + 8, BigInt(dataLength), true);
  };

  return {
    memoryFile,
    map: (fd, length) => {
      const mapped = take(fd, length, MAP_SHARED);
      return mapped && { bytes: mapped.bytes, release: () => void munmap(mapped.address, length) };
    },
    connect: (path) => {
      const fd: number = socket(AF_UNIX, SOCK_STREAM_NONBLOCK_CLOEXEC, 0);
      if (fd < 0) return fd;
      const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(`${path}\0`)]);
      if (connect(fd, address, address.length) === 0) return fd;
      closeSync(fd);
      return -1;
    },
    send: (to, number, descriptors) => {
      prepare();
      words.setUint32(dataAt, number, true);
      words.setBigUint64(controlAt, BigInt(controlLength), true);
      words.setInt32(controlAt + 8, SOL_SOCKET, true);
      words.setInt32(controlAt + 12, SCM_RIGHTS, true);
      for (const [at, fd] of descriptors.entries()) words.setInt32(controlAt + 16 + at * 4, fd, true);
      return Number(sendmsg(to, message.address, MSG_DONTWAIT | MSG_NOSIGNAL)) === dataLength;
    },
    receive: (from) => {
      prepare();
      const length = Number(recvmsg(from, message.address, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
      const came = words.getUint32(controlAt, true) - 16;
      const descriptors = [0, 4].filter((at) => at < came).map((at) => words.getInt32(controlAt + 16 + at, true));
      const [first, second] = descriptors;
      const isWhole = length === dataLength && (words.getInt32(48, true) & MSG_CTRUNC) === 0;
      if (isWhole && first !== undefined && second !== undefined) {
        return { number: words.getUint32(dataAt, true), descriptors: [first, second] };
      }
      // No more descriptors are left in this process: what did come is of no use.
      for (const fd of descriptors) closeSync(fd);
      return undefined;
    },
    peer: (of) => {
      const credentials = new Int32Array(3);
      const length = new Uint32Array([12]);
      return getsockopt(of, SOL_SOCKET, SO_PEERCRED, credentials, length) === 0 ? credentials[0] : undefined;
    },
  };
}
