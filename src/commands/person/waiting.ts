import { FairleadError } from '../../contract/errors.ts';
import type { OpenQuestion } from '../../engine/person/questions/question.ts';
import type { Waiting } from '../../engine/person/answer.ts';
import type { PromptKind } from '../../engine/person/prompts/prompt.ts';
import type { LiveSocket } from '../../faces/socket/directory.ts';

/** Something that waits for the person in a running server: a program in a terminal, or the server itself. */
export interface WaitingItem {
  readonly id: string;
  /** What else it may be called by. */
  readonly alias: string | undefined;
  readonly pid: number;
  readonly kind: PromptKind;
  readonly prompt: string;
  readonly secret: boolean;
  /** Only the person can give it. */
  readonly needsPerson: boolean;
  /** Who asks, and what is to be known about it. */
  readonly asker: string;
  readonly label: readonly string[];
  /** What programs are told of it. */
  readonly facts: object;
  /** Hands the answer over, overwrites it, and resolves with what became of it, in words. */
  readonly give: (text: Buffer) => Promise<string>;
}

const answerMs = 10_000;

/** What waits in any process. A process that does not answer is named; "nothing waits" is said only when all answered. */
export async function everythingWaiting(
  sockets: readonly LiveSocket[],
  warn: (message: string) => void,
): Promise<WaitingItem[]> {
  const asked = await Promise.allSettled(sockets.map(waitingIn));
  const waiting = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const failures = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as FairleadError] : []));
  const [first] = failures;
  if (first && waiting.length === 0) throw first;
  for (const { message } of failures) warn(message);
  return waiting;
}

async function waitingIn(socket: LiveSocket): Promise<WaitingItem[]> {
  try {
    const [terminals, questions] = await Promise.all([
      request(socket, 'attention.list', {}),
      // A server of an earlier version asks nothing itself.
      request(socket, 'asking.list', {}).catch((error: unknown) => {
        if (error instanceof FairleadError && error.code === 'unknown_operation') return [];
        throw error;
      }),
    ]);
    return [
      ...(questions as OpenQuestion[]).map((one) => fromServer(one, socket)),
      ...(terminals as Waiting[]).map((one) => fromTerminal(one, socket)),
    ];
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FairleadError('unavailable', `Process ${socket.pid} did not answer: ${reason}`, { cause });
  }
}

function fromTerminal(waiting: Waiting, socket: LiveSocket): WaitingItem {
  const { terminal, name, program, kind, prompt, secret } = waiting;
  // A server of an earlier version does not tell.
  const needsPerson = waiting.needs !== 'input';
  const { pid } = socket;
  return {
    id: terminal,
    alias: name,
    pid,
    kind,
    prompt,
    secret,
    needsPerson,
    asker: program,
    label: [program, ...(name === undefined ? [] : [`“${name}”`]), words(kind), `process ${pid}`],
    facts: { ...waiting, pid },
    async give(text) {
      const isKey = kind === 'pager';
      const body = isKey && text.length === 0 ? Buffer.from('q') : text;
      await request(socket, 'attention.answer', { terminal, prompt, secret, submit: !isKey }, body);
      return `Typed into terminal ${terminal}.`;
    },
  };
}

function fromServer(question: OpenQuestion, socket: LiveSocket): WaitingItem {
  const { id, ...rest } = question;
  const { subject, kind, prompt, secret, asker } = rest;
  const { pid } = socket;
  return {
    id,
    alias: subject,
    pid,
    kind,
    prompt,
    secret,
    needsPerson: true,
    asker: `Fairlead, called by ${asker},`,
    label: [subject, words(kind), `for ${asker}`, `process ${pid}`],
    facts: { question: id, ...rest, pid },
    async give(text) {
      await request(socket, 'asking.answer', { id, text: text.toString() });
      return `Answered for ${subject}. If the agent is not waiting for it, let it try again.`;
    },
  };
}

const words = (kind: PromptKind): string => kind.replaceAll('_', ' ');

const request = (socket: LiveSocket, method: string, params: object, body?: Buffer): Promise<unknown> =>
  socket.client.request(method, params, AbortSignal.timeout(answerMs), body);
