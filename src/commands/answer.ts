import { places } from '../config.ts';
import { FairleadError } from '../contract/errors.ts';
import type { Waiting } from '../engine/attention/answer.ts';
import { UsageError } from '../faces/cli/args.ts';
import { Declined, readHidden, readLine, readPiped } from '../faces/cli/read-answer.ts';
import { styleFor } from '../faces/cli/style.ts';
import { type LiveSocket, liveSockets, socketsOf } from '../faces/socket/directory.ts';
import type { Invocation } from './command.ts';

interface Found extends Waiting {
  readonly pid: number;
  readonly socket: LiveSocket;
}

const answerMs = 10_000;

/** Lets the person answer what a terminal of a running server asks, past the model and everything that is kept. */
export async function answer(invocation: Invocation): Promise<number> {
  const { settings, env, words, flags, stdout } = invocation;
  if (words.length > 1) throw new UsageError('Name one terminal. What you answer is typed after the question.');
  const sockets = await liveSockets(socketsOf(places(settings, env).home));
  try {
    if (sockets.length === 0) {
      throw new FairleadError('unavailable', 'No Fairlead of yours is running.', {
        hint: 'Start one with `fairlead serve`, or let an MCP client start `fairlead mcp`.',
      });
    }
    const waiting = await everyone(sockets, invocation.stderr);
    const json = flags.has('json');
    if (flags.has('list')) {
      if (json) stdout.write(`${JSON.stringify({ waiting: waiting.map(facts) }, null, 2)}\n`);
      else if (waiting.length > 0) stdout.write(listing(invocation, waiting));
      else stdout.write('No terminal waits for you.\n');
      return waiting.length > 0 ? 0 : 4;
    }
    const chosen = choose(invocation, waiting, words[0]);
    await give(invocation, chosen);
    if (json) stdout.write(`${JSON.stringify({ answered: true, ...facts(chosen) }, null, 2)}\n`);
    else stdout.write(`Typed into terminal ${chosen.terminal}.\n`);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof Declined)) throw thrown;
    invocation.stderr.write(`${thrown.message}\n`);
    return 130;
  } finally {
    await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()));
  }
}

/** What waits in any process. One that does not answer is named; that nobody waits is only said when all answered. */
async function everyone(sockets: readonly LiveSocket[], stderr: Invocation['stderr']): Promise<Found[]> {
  const asked = await Promise.allSettled(sockets.map(ask));
  const waiting = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const failures = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as FairleadError] : []));
  const [first] = failures;
  if (first && waiting.length === 0) throw first;
  for (const { message } of failures) stderr.write(`${message}\n`);
  return waiting;
}

async function ask(socket: LiveSocket): Promise<Found[]> {
  try {
    const found = await socket.client.request('attention.list', {}, AbortSignal.timeout(answerMs));
    return (found as Waiting[]).map((one) => ({ ...one, pid: socket.pid, socket }));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FairleadError('unavailable', `Process ${socket.pid} did not answer: ${reason}`, { cause });
  }
}

function facts(found: Found): Omit<Found, 'socket'> {
  const { socket: _, ...rest } = found;
  return rest;
}

function choose(invocation: Invocation, waiting: readonly Found[], word: string | undefined): Found {
  const [pid, id] = word?.includes('/') ? word.split('/', 2) : [undefined, word];
  const found = waiting.filter(
    (one) =>
      (id === undefined || one.terminal === id || one.name === id) && (pid === undefined || String(one.pid) === pid),
  );
  const [only, ...others] = found;
  if (!only) {
    const which = word === undefined ? 'No terminal waits for you.' : `Terminal ${word} does not wait for anybody.`;
    const hint = waiting.length > 0 ? `Waiting: ${waiting.map(({ terminal }) => terminal).join(', ')}.` : '';
    throw new FairleadError('not_found', which, hint === '' ? {} : { hint });
  }
  if (others.length === 0) return only;
  invocation.stderr.write(listing(invocation, found));
  throw new UsageError('Several terminals wait. Say which: fairlead answer <terminal>, or <pid>/<terminal>.');
}

function listing({ stdout, env }: Invocation, waiting: readonly Found[]): string {
  const { bold, dim } = styleFor(stdout, env);
  return waiting
    .map(({ terminal, name, program, kind, prompt, pid }) => {
      const label = [
        program,
        ...(name === undefined ? [] : [`“${name}”`]),
        kind.replaceAll('_', ' '),
        `process ${pid}`,
      ];
      return `${bold(terminal)}  ${dim(label.join(', '))}\n${indent(prompt)}\n`;
    })
    .join('');
}

const indent = (text: string): string => text.replace(/^/gm, '  ');

async function give({ stdin, stdout, env }: Invocation, chosen: Found): Promise<void> {
  const { kind, prompt, secret, terminal } = chosen;
  let text: string;
  if (stdin.isTTY) {
    const { bold, dim } = styleFor(stdout, env);
    const what = secret
      ? 'your answer is not shown'
      : kind === 'pager'
        ? 'a key; empty for q'
        : 'your answer, then Enter';
    stdout.write(`${bold(terminal)} ${dim(`${chosen.program} asks:`)}\n${indent(prompt)}\n${dim(`(${what})`)}\n`);
    text = secret ? await readHidden(stdin, stdout) : await readLine(stdin, stdout);
  } else {
    text = await readPiped(stdin);
    if (text === '') throw new UsageError('Standard input is empty: there is nothing to answer with.');
  }
  const isKey = kind === 'pager';
  const params = { terminal, prompt, secret, text: isKey && text === '' ? 'q' : text, submit: !isKey };
  await chosen.socket.client.request('attention.answer', params, AbortSignal.timeout(answerMs));
}
