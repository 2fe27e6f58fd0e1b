import { FairleadError } from '../../contract/errors.ts';
import type { LiveSocket } from '../../faces/socket/directory.ts';
import { answer, waiting } from '../../operations/person/index.ts';
import { itemId, itemLabel, type WaitingItem } from '../../operations/person/waiting.ts';

/** Something that waits for the person, and the process it waits in. */
export interface FoundItem extends WaitingItem {
  readonly id: string;
  /** What else it may be called by. */
  readonly alias: string | undefined;
  readonly pid: number;
  readonly label: readonly string[];
  /** What programs are told of it. */
  readonly facts: object;
  /** Hands the answer over, overwrites it, and resolves with what became of it, in words. */
  readonly give: (text: Buffer) => Promise<string>;
}

const answerMs = 10_000;

/** What waits in any process. One that does not answer is named; "nothing waits" is only said when all answered. */
export async function everythingWaiting(
  sockets: readonly LiveSocket[],
  warn: (message: string) => void,
): Promise<FoundItem[]> {
  const asked = await Promise.allSettled(sockets.map(waitingIn));
  const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const failures = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as FairleadError] : []));
  const [first] = failures;
  if (first && found.length === 0) throw first;
  for (const { message } of failures) warn(message);
  return found;
}

async function waitingIn(socket: LiveSocket): Promise<FoundItem[]> {
  try {
    const { waiting: items } = await socket.client.call(waiting, {}, AbortSignal.timeout(answerMs));
    return items.map((item) => inProcess(item, socket));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FairleadError('unavailable', `Process ${socket.pid} did not answer: ${reason}`, { cause });
  }
}

function inProcess(item: WaitingItem, { pid, client }: LiveSocket): FoundItem {
  const { kind, prompt, secret } = item;
  const id = itemId(item);
  return {
    ...item,
    id,
    alias: item.subject ?? item.name,
    pid,
    label: [...itemLabel(item), `process ${pid}`],
    facts: { ...item, pid },
    async give(text) {
      const isKey = kind === 'pager';
      const body = isKey && text.length === 0 ? Buffer.from('q') : text;
      const input = { item: id, prompt, secret, submit: !isKey };
      const words = answer.render(await client.call(answer, input, AbortSignal.timeout(answerMs), body));
      return typeof words === 'string' ? words : '';
    },
  };
}
