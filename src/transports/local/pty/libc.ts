import { constants } from 'node:os';

/** The handful of system calls a pseudo-terminal needs and Node does not offer. Numbers are those of x64 and arm64. */
export const TIOCGPGRP = 0x540f;
/** How many bytes can be read at once, without waiting for anything. */
export const FIONREAD = 0x541b;
export const TIOCSWINSZ = 0x5414;
export const TIOCGPTN = 0x80045430;
export const TIOCSPTLCK = 0x40045431;
export const TCGETS = 0x5401;
export const TCSETS = 0x5402;
export const WNOHANG = 1;

const F_DUPFD_CLOEXEC = 1030;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const LOCK_EX_NB = 6;
const MFD_CLOEXEC = 1;
const O_RDWR = 2;
const O_CLOEXEC = 0o2000000;
const SPAWN_SETSIGDEF = 0x04;
const SPAWN_SETSIGMASK = 0x08;
const SPAWN_SETSID = 0x80;
/** glibc's largest of these structures is 336 bytes, musl's smaller; nothing here looks inside them. */
const OPAQUE = 1024;

type Memory = Uint8Array | Uint16Array | Uint32Array | Int32Array;

interface SpawnRequest {
  /** Resolved already: no search takes place. */
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  readonly cwd: string | undefined;
  /** Opened as descriptors 0, 1 and 2 of a new session, and so its controlling terminal. */
  readonly terminal: string;
}

export interface Libc {
  readonly ioctl: (fd: number, request: number, argument: Memory) => number;
  readonly read: (fd: number, into: Uint8Array, length: number) => number;
  readonly write: (fd: number, from: Uint8Array, length: number) => number;
  readonly waitpid: (pid: number, status: Int32Array, options: number) => number;
  /** A short file, in half the time Node takes: it is asked for with every line typed. Empty when it cannot be read. */
  readonly readShort: (path: string) => string;
  /** A second descriptor for the same open file, closed in children; negative when there is none left. */
  readonly duplicate: (fd: number) => number;
  /** Locks an open file for this process alone, for as long as it lives; false when another process has the lock. */
  readonly lock: (fd: number) => boolean;
  /** Whether a descriptor is still there after this process became another program, and in its children. */
  readonly inherit: (fd: number, yes: boolean) => void;
  /** A file that exists in memory only and in no child; negative when there can be none. */
  readonly memoryFile: () => number;
  /** This process becomes another program. Returns only when that is not possible, with the reason. */
  readonly become: (argv: readonly [string, ...string[]], env: readonly string[]) => string;
  /** The child is executing when this returns; what went wrong comes back as an errno, in the parent, without a race. */
  readonly spawn: (spawn: SpawnRequest) => { readonly pid: number } | { readonly errno: number };
}

let loading: Promise<Libc> | undefined;

export function loadLibc(): Promise<Libc> {
  loading ??= bind();
  return loading;
}

async function bind(): Promise<Libc> {
  const { default: koffi } = await import('koffi');
  const lib = koffi.load(null);
  const optional = (name: string, parameters: string[]): ReturnType<typeof lib.func> | undefined => {
    try {
      return lib.func(name, 'int', parameters);
    } catch {
      return undefined;
    }
  };
  const open = lib.func('open', 'int', ['str', 'int']);
  const close = lib.func('close', 'int', ['int']);
  const read = lib.func('read', 'intptr', ['int', 'void *', 'size_t']);
  const pread = lib.func('pread', 'intptr', ['int', 'void *', 'size_t', 'intptr']);
  const short = Buffer.alloc(256);
  /** Stays open: mostly the same is asked for again and again, and to open it takes longer than to read it. */
  const newest = { path: '', fd: -1 };
  const readNew = (path: string): string => {
    if (newest.fd >= 0) close(newest.fd);
    newest.path = path;
    newest.fd = open(path, O_CLOEXEC);
    const length: number = newest.fd < 0 ? 0 : pread(newest.fd, short, short.length, 0);
    return length > 0 ? short.toString('utf8', 0, length) : '';
  };
  const fcntl = lib.func('fcntl', 'int', ['int', 'int', 'int']);
  const flock = lib.func('flock', 'int', ['int', 'int']);
  const memfdCreate = optional('memfd_create', ['str', 'uint']);
  const execve = lib.func('execve', 'int', ['str', 'char **', 'char **']);
  const posixSpawn = lib.func('posix_spawn', 'int', ['void *', 'str', 'void *', 'void *', 'char **', 'char **']);
  const actionsInit = lib.func('posix_spawn_file_actions_init', 'int', ['void *']);
  const actionsDestroy = lib.func('posix_spawn_file_actions_destroy', 'int', ['void *']);
  const addOpen = lib.func('posix_spawn_file_actions_addopen', 'int', ['void *', 'int', 'str', 'int', 'uint']);
  const addDup2 = lib.func('posix_spawn_file_actions_adddup2', 'int', ['void *', 'int', 'int']);
  // glibc 2.29, musl 1.1.24.
  const addChdir = optional('posix_spawn_file_actions_addchdir_np', ['void *', 'str']);
  // glibc 2.34. Everything of ours is closed on exec anyway; this also covers what other libraries opened.
  const addCloseFrom = optional('posix_spawn_file_actions_addclosefrom_np', ['void *', 'int']);

  const attributes = new Uint8Array(OPAQUE);
  const signals = new Uint8Array(OPAQUE);
  const check = (name: string, errno: number): void => {
    if (errno !== 0) throw new Error(`${name} failed with ${errnoName(errno)}.`);
  };
  check('posix_spawnattr_init', lib.func('posix_spawnattr_init', 'int', ['void *'])(attributes));
  lib.func('sigemptyset', 'int', ['void *'])(signals);
  check('sigmask', lib.func('posix_spawnattr_setsigmask', 'int', ['void *', 'void *'])(attributes, signals));
  // Not sigfillset: it leaves out the C library's own two, which the child would then inherit ignored.
  signals.fill(0xff);
  check('sigdefault', lib.func('posix_spawnattr_setsigdefault', 'int', ['void *', 'void *'])(attributes, signals));
  const flags = SPAWN_SETSID | SPAWN_SETSIGMASK | SPAWN_SETSIGDEF;
  check('setflags', lib.func('posix_spawnattr_setflags', 'int', ['void *', 'short'])(attributes, flags));

  return {
    ioctl: lib.func('ioctl', 'int', ['int', 'ulong', 'void *']),
    read,
    readShort: (path) => {
      if (path !== newest.path || newest.fd < 0) return readNew(path);
      const length: number = pread(newest.fd, short, short.length, 0);
      // Of a process that has ended; there may be another with its number.
      return length > 0 ? short.toString('utf8', 0, length) : readNew(path);
    },
    write: lib.func('write', 'intptr', ['int', 'void *', 'size_t']),
    waitpid: lib.func('waitpid', 'int', ['int', 'void *', 'int']),
    duplicate: (fd) => fcntl(fd, F_DUPFD_CLOEXEC, 3),
    lock: (fd) => flock(fd, LOCK_EX_NB) === 0,
    inherit: (fd, yes) => void fcntl(fd, F_SETFD, yes ? 0 : FD_CLOEXEC),
    memoryFile: () => memfdCreate?.('fairlead', MFD_CLOEXEC) ?? -1,
    become: (argv, env) => {
      execve(argv[0], [...argv, null], [...env, null]);
      return errnoName(koffi.errno());
    },
    spawn: ({ program, argv, env, cwd, terminal }) => {
      const actions = new Uint8Array(OPAQUE);
      const pid = new Int32Array(1);
      const wrapped = cwd !== undefined && addChdir === undefined;
      const [path, args] = wrapped ? throughShell(cwd, program, argv) : [program, argv];
      check('posix_spawn_file_actions_init', actionsInit(actions));
      try {
        check('addopen', addOpen(actions, 0, terminal, O_RDWR, 0));
        check('adddup2', addDup2(actions, 0, 1));
        check('adddup2', addDup2(actions, 0, 2));
        if (addCloseFrom !== undefined) check('addclosefrom', addCloseFrom(actions, 3));
        if (cwd !== undefined && addChdir !== undefined) check('addchdir', addChdir(actions, cwd));
        const errno: number = posixSpawn(pid, path, actions, attributes, [...args, null], [...env, null]);
        return errno === 0 ? { pid: pid[0] ?? 0 } : { errno };
      } finally {
        actionsDestroy(actions);
      }
    },
  };
}

/** For a C library that cannot change directory between spawn and exec. */
function throughShell(cwd: string, program: string, argv: readonly string[]): [string, string[]] {
  return ['/bin/sh', ['sh', '-c', 'cd -- "$1" && shift && exec "$@"', 'sh', cwd, program, ...argv.slice(1)]];
}

export function errnoName(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;
}
