import { isOn, parseArgs } from '../../faces/cli/args.ts';
import { cleanAnswer, toJson } from '../../faces/cli/clean.ts';
import type { Verb } from '../../faces/cli/verbs.ts';
import type { SocketClient } from '../../faces/socket/client.ts';
import { liveSockets, socketsOf } from '../../faces/socket/directory.ts';
import type { Surroundings } from '../command.ts';
import { noneRunning } from '../find-instance.ts';
import { clientsInOrder } from '../person/clients-in-order.ts';
import { inputOf } from './verb-input.ts';
import { openPage } from './open-page.ts';
import { optionsOf, whereOf } from './verb-options.ts';

const answerMs = 10_000;

/** Calls an operation of the person's book over the private socket of an instance. A stream prints its items until it ends or Ctrl+C. */
export async function performForPerson(verb: Verb, argv: readonly string[], around: Surroundings): Promise<number> {
  const parsed = parseArgs(argv, optionsOf(verb.op));
  const { home, instance } = whereOf(parsed, around.env);
  const { input } = inputOf(verb, parsed);
  const sockets = await liveSockets(socketsOf(home));
  try {
    const [client] = clientsInOrder(sockets, home, instance);
    if (!client) throw noneRunning();
    const asJson = isOn(parsed.flags, 'json');
    for await (const answer of answers(client, verb, input)) {
      const words = verb.op.render(answer);
      const shown = typeof words === 'string' ? cleanAnswer(words) : '';
      if (asJson) around.stdout.write(verb.stream ? `${JSON.stringify(answer)}\n` : toJson(answer));
      else around.stdout.write(verb.stream ? shown : `${shown}\n`);
      const isShown = !asJson && !isOn(parsed.flags, 'print-only');
      if (verb.op.page && isShown) await openPage(verb.op.page(answer), home, around);
    }
    return 0;
  } finally {
    await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()));
  }
}

async function* answers(client: SocketClient, { method, stream }: Verb, input: object): AsyncGenerator<unknown> {
  if (stream) yield* client.stream(stream, input, new AbortController().signal);
  else yield await client.request(method, input, AbortSignal.timeout(answerMs));
}
