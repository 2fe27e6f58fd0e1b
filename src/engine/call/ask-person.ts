import type { CallContext } from './call.ts';
import type { PersonQuestion } from '../person/questions/question.ts';

/** Clients that give up on a silent call do so after half a minute or later. */
const reportMs = 10_000;

/** Asks on behalf of a call, and keeps telling its caller whom it waits for. */
export async function askPerson(
  question: PersonQuestion,
  { engine, caller, signal, person, progress }: CallContext,
): Promise<string | undefined> {
  let next: Disposable | undefined;
  const report = (): void => {
    progress?.(`Waiting for the person: ${question.prompt}`);
    next = engine.clock.after(reportMs, report);
  };
  if (person) report();
  try {
    const owned = { ...question, principal: caller.principal, asker: caller.name };
    return await engine.questions.ask(owned, person, signal);
  } finally {
    next?.[Symbol.dispose]();
  }
}
