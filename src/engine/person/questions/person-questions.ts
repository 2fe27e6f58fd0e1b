import { randomBytes } from 'node:crypto';
import { FairleadError } from '../../../contract/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type Deferred, deferred } from '../../../lib/deferred.ts';
import { Emitter } from '../../../lib/emitter.ts';
import { plainText } from '../../../lib/plain-text.ts';
import { abortable } from '../../../system/abortable.ts';
import type { OpenQuestion, Outcome, OwnedQuestion, PersonReach, QuestionChange } from './question.ts';

/** Open at a time, in all and of one principal. */
const most = { all: 64, each: 16 };
const defaultLimitMs = 5 * 60_000;
/** An answer that came while no call waited for it is good for one, this long. */
const keepMs = 5 * 60_000;
const longest = { subject: 300, prompt: 1000, asker: 100, answer: 4096 };

interface Entry {
  readonly question: OpenQuestion;
  readonly key: string;
  readonly settled: Deferred<Outcome>;
  readonly limit: Disposable;
  waiting: number;
}

interface Kept {
  readonly text: string;
  readonly limit: Disposable;
}

/**
 * What the product itself has to ask the person: a password no call may carry. A question lives until it is answered,
 * declined or too old, regardless of waiters. Answers are held in memory only, until their one use.
 */
export class PersonQuestions implements Disposable {
  /** Each question when it is asked and when it is settled. */
  readonly changed = new Emitter<QuestionChange>();
  readonly #clock: Clock;
  readonly #answerCommand: string;
  readonly #open = new Map<string, Entry>();
  readonly #kept = new Map<string, Kept>();
  #disposed = false;

  /** `answerCommand`: what the person types to answer, as it works on this machine. */
  constructor(clock: Clock, answerCommand = 'fairlead answer') {
    this.#clock = clock;
    this.#answerCommand = answerCommand;
  }

  /** Oldest first. */
  list(): readonly OpenQuestion[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  get(id: string): OpenQuestion | undefined {
    return this.#open.get(id)?.question;
  }

  /**
   * The person's answer; undefined when the person declined or no answer came in time. Without a way to the person it
   * never waits: it rejects with `needs_person`, leaves the question open, and an answer given meanwhile is there when
   * the caller asks again. So it does when the client declines: many do so without having shown it to the person.
   */
  async ask(asked: OwnedQuestion, person: PersonReach | undefined, signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    const key = keyOf(asked);
    const kept = this.#take(key);
    if (kept !== undefined) return kept;
    const entry = this.#find(key) ?? this.#add(asked, key);
    if (!person) throw this.#needsPerson(entry.question);
    entry.waiting += 1;
    try {
      const outcome = await this.#reached(entry, person, signal);
      return outcome.by === 'answer' ? outcome.text : undefined;
    } finally {
      entry.waiting -= 1;
    }
  }

  /** Gives the person's answer to the calls that wait for it, or keeps it for the next one. */
  answer(id: string, text: string): OpenQuestion {
    const entry = this.#mustFind(id);
    if (text.length > longest.answer) {
      throw new FairleadError('too_large', `An answer may have at most ${longest.answer} characters.`);
    }
    this.#settle(entry, { by: 'answer', text });
    if (entry.waiting === 0) this.#keep(entry.key, text);
    return entry.question;
  }

  decline(id: string): OpenQuestion {
    const entry = this.#mustFind(id);
    this.#settle(entry, { by: 'declined' });
    return entry.question;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const entry of this.#open.values()) this.#settle(entry, { by: 'expired' });
    for (const key of this.#kept.keys()) this.#take(key);
  }

  /** Shows the question and waits for its end, which may come by another door. */
  async #reached({ question, settled }: Entry, person: PersonReach, signal: AbortSignal): Promise<Outcome> {
    const done = new AbortController();
    const refused = deferred<never>();
    person.show(question, done.signal).then(
      (willing) => willing || refused.reject(this.#needsPerson(question, { declined: true })),
      (cause: unknown) => refused.reject(this.#needsPerson(question, { cause })),
    );
    try {
      const outcome = await abortable(Promise.race([settled.promise, refused.promise]), signal);
      if (outcome.by === 'answer') await person.answered(question).catch(() => {});
      return outcome;
    } finally {
      done.abort('The question is settled.');
    }
  }

  #needsPerson(
    { id, kind, subject, prompt, expiresAt }: OpenQuestion,
    { declined = false, cause }: { readonly declined?: boolean; readonly cause?: unknown } = {},
  ): FairleadError {
    const never = declined
      ? 'If the person declined it, do not ask again. Never ask for the answer itself.'
      : 'Never ask for the answer itself.';
    return new FairleadError('needs_person', `Only the person can answer this: “${prompt}”.`, {
      hint: `Ask the person to run \`${this.#answerCommand} ${id}\`, then call again. ${never}`,
      data: { question: { id, kind, subject, prompt, expiresAt, ...(declined && { declined }) } },
      cause,
    });
  }

  #find(key: string): Entry | undefined {
    return [...this.#open.values()].find((entry) => entry.key === key);
  }

  #mustFind(id: string): Entry {
    const entry = this.#open.get(id);
    if (entry) return entry;
    throw notOpen();
  }

  #add(asked: OwnedQuestion, key: string): Entry {
    if (this.#disposed) throw new FairleadError('unavailable', 'The server is shutting down.');
    const own = this.list().filter(({ principal }) => principal === asked.principal);
    if (this.#open.size >= most.all || own.length >= most.each) {
      throw new FairleadError('limit_reached', 'Too many questions wait for the person already.', {
        hint: `Ask the person to run \`${this.#answerCommand}\`, then call again.`,
      });
    }
    const limitMs = asked.limitMs ?? defaultLimitMs;
    const question: OpenQuestion = {
      id: newId((id) => this.#open.has(id)),
      kind: asked.kind,
      subject: shown(asked.subject, longest.subject),
      prompt: shown(asked.prompt, longest.prompt),
      secret: asked.secret,
      principal: asked.principal,
      asker: shown(asked.asker, longest.asker),
      since: new Date(this.#clock.now()).toISOString(),
      expiresAt: new Date(this.#clock.now() + limitMs).toISOString(),
    };
    const limit = this.#clock.after(limitMs, () => this.#settle(entry, { by: 'expired' }));
    const entry: Entry = { question, key, settled: deferred(), limit, waiting: 0 };
    this.#open.set(question.id, entry);
    this.changed.emit({ question, isOpen: true });
    return entry;
  }

  #settle(entry: Entry, outcome: Outcome): void {
    if (!this.#open.delete(entry.question.id)) return;
    entry.limit[Symbol.dispose]();
    entry.settled.resolve(outcome);
    const settled = outcome.by === 'answer' ? 'answered' : outcome.by;
    this.changed.emit({ question: entry.question, isOpen: false, settled });
  }

  #keep(key: string, text: string): void {
    this.#take(key);
    this.#kept.set(key, { text, limit: this.#clock.after(keepMs, () => this.#kept.delete(key)) });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > most.all && oldest !== undefined) this.#take(oldest);
  }

  #take(key: string): string | undefined {
    const kept = this.#kept.get(key);
    kept?.limit[Symbol.dispose]();
    this.#kept.delete(key);
    return kept?.text;
  }
}

/** What an answer fits: a password is no answer to a question for a code, nor to another challenge. */
const keyOf = ({ principal, kind, subject, prompt }: OwnedQuestion): string =>
  JSON.stringify([principal, kind, subject, prompt]);

/** One line of plain text: a far side may have had its hand in it. */
const shown = (text: string, most: number): string =>
  plainText(text, { separator: ' ' }).text.replaceAll(/\s+/g, ' ').trim().slice(0, most);

export const notOpen = (): FairleadError =>
  new FairleadError('not_found', 'This question is no longer open.', {
    hint: 'It was answered or declined, or it took too long. Let the agent try again.',
  });

/** Ids of terminals have another shape. */
export const isQuestionId = (id: string): boolean => id.startsWith('q_');

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

function newId(taken: (id: string) => boolean): string {
  for (;;) {
    const id = `q_${[...randomBytes(8)].map((byte) => alphabet[byte & 31]).join('')}`;
    if (!taken(id)) return id;
  }
}
