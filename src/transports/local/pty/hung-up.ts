/** The same on every system that has poll(2). */
const POLLHUP = 0x10;
/** Only Linux has it: the other end of a socket writes no more. Elsewhere that is POLLHUP too. */
const POLLRDHUP = process.platform === 'linux' ? 0x2000 : 0;

type Poll = (descriptors: Int16Array, count: number, timeoutMs: number) => number;
let loading: Promise<Poll | undefined> | undefined;

/** Whether the writer of this pipe or socket has closed it, without reading from it. False if unknown. */
export async function hungUp(fd: number): Promise<boolean> {
  loading ??= bind().catch(() => undefined);
  const poll = await loading;
  if (!poll) return false;
  // struct pollfd: the descriptor, the events asked for, those that are there.
  const one = new Int16Array(4);
  new Int32Array(one.buffer)[0] = fd;
  one[2] = POLLRDHUP;
  return poll(one, 1, 0) > 0 && ((one[3] ?? 0) & (POLLHUP | POLLRDHUP)) !== 0;
}

async function bind(): Promise<Poll | undefined> {
  if (process.platform === 'win32') return undefined;
  const { default: koffi } = await import('koffi');
  // nfds_t is as long as a pointer on Linux, an int elsewhere; a small number is the same in both.
  return koffi.load(null).func('poll', 'int', ['void *', 'ulong', 'int']) as Poll;
}
