import { places } from '../../config.ts';
import { FairleadError } from '../../contract/errors.ts';
import { isOn, UsageError } from '../../faces/cli/args.ts';
import { cleanAnswer, toJson } from '../../faces/cli/clean.ts';
import { Declined, readHidden, readLine, readPiped } from '../../faces/cli/read-answer.ts';
import { styleFor } from '../../faces/cli/style.ts';
import { liveSockets, socketsOf } from '../../faces/socket/directory.ts';
import type { Invocation } from '../command.ts';
import { everythingWaiting, type FoundItem } from './waiting.ts';

/** Lets the person answer what a running server or a terminal of it asks, past the model and everything that is kept. */
export async function answerQuestions(invocation: Invocation): Promise<number> {
  const { settings, env, words, flags, stdout, stderr } = invocation;
  if (words.length > 1) throw new UsageError('Name one question. What you answer is typed after it was shown.');
  const sockets = await liveSockets(socketsOf(places(settings, env).home));
  try {
    if (sockets.length === 0) {
      throw new FairleadError('unavailable', 'You have no running Fairlead server.', {
        hint: 'Start one with `fairlead serve`, or let an MCP client start `fairlead mcp`.',
      });
    }
    const waiting = await everythingWaiting(sockets, (message) => void stderr.write(`${message}\n`));
    const json = isOn(flags, 'json');
    if (isOn(flags, 'list')) {
      if (json) stdout.write(toJson({ waiting: waiting.map(({ facts }) => facts) }));
      else if (waiting.length > 0) stdout.write(listing(invocation, waiting));
      else stdout.write('Nothing waits for you.\n');
      return waiting.length > 0 ? 0 : 4;
    }
    const chosen = choose(invocation, waiting, words[0]);
    if (chosen.kind === 'touch') {
      stdout.write(
        json
          ? toJson({ answered: false, ...chosen.facts })
          : `${cleanAnswer(chosen.prompt)}\nTouch the device; there is nothing to type.\n`,
      );
      return 0;
    }
    const said = await chosen.give(await read(invocation, chosen));
    stdout.write(json ? toJson({ answered: true, ...chosen.facts }) : `${cleanAnswer(said)}\n`);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof Declined)) throw thrown;
    stderr.write(`${thrown.message}\n`);
    return 130;
  } finally {
    await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()));
  }
}

function choose(invocation: Invocation, waiting: readonly FoundItem[], word: string | undefined): FoundItem {
  const [pid, id] = /^\d+\//.test(word ?? '') ? (word ?? '').split('/', 2) : [undefined, word];
  const found = waiting.filter(
    (one) => (id === undefined || one.id === id || one.alias === id) && (pid === undefined || String(one.pid) === pid),
  );
  // What agents can answer themselves does not make the question of one terminal two.
  const [only, ...others] = word === undefined && found.some(isForPerson) ? found.filter(isForPerson) : found;
  if (!only) {
    const which = word === undefined ? 'Nothing waits for you.' : `${word} does not wait for an answer.`;
    const hint = waiting.length > 0 ? `Waiting: ${waiting.map((one) => one.id).join(', ')}.` : '';
    throw new FairleadError('not_found', which, hint === '' ? {} : { hint });
  }
  if (others.length === 0) return only;
  invocation.stderr.write(listing(invocation, found));
  throw new UsageError('Several questions wait. Say which: fairlead answer <id>, or <pid>/<id>.');
}

const isForPerson = ({ needs }: FoundItem): boolean => needs !== 'input';

function listing({ stdout, env }: Invocation, waiting: readonly FoundItem[]): string {
  const { bold, dim } = styleFor(stdout, env);
  return waiting
    .map(
      ({ id, label, prompt }) =>
        `${bold(cleanAnswer(id))}  ${dim(cleanAnswer(label).join(', '))}\n${indent(cleanAnswer(prompt))}\n`,
    )
    .join('');
}

const indent = (text: string): string => text.replace(/^/gm, '  ');

async function read({ stdin, stdout, env }: Invocation, chosen: FoundItem): Promise<Buffer> {
  const { id, kind, prompt, secret } = chosen;
  const asker = chosen.program ?? `Fairlead, called by ${chosen.asker},`;
  if (!stdin.isTTY) {
    const text = await readPiped(stdin);
    if (text.length === 0) throw new UsageError('Standard input is empty: there is nothing to answer with.');
    return text;
  }
  const { bold, dim } = styleFor(stdout, env);
  const what = secret
    ? 'your answer is not shown'
    : kind === 'pager'
      ? 'a key; empty for q'
      : 'your answer, then Enter';
  const question = `${bold(id)} ${dim(`${cleanAnswer(asker)} asks:`)}\n${indent(cleanAnswer(prompt))}\n${dim(`(${what})`)}\n`;
  if (secret) return await readHidden(stdin, stdout, question);
  stdout.write(question);
  return Buffer.from(await readLine(stdin, stdout));
}
