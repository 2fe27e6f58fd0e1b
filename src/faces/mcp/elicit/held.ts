import { randomBytes } from 'node:crypto';
import { type CallToolResult, inputRequired, type InputRequiredResult } from '@modelcontextprotocol/server';
import type { OpenQuestion, PersonReach } from '../../../engine/person/questions/question.ts';
import type { ReportProgress } from '../../../engine/call/call.ts';
import { type Deferred, deferred } from '../../../lib/deferred.ts';

export type ToolAnswer = CallToolResult | InputRequiredResult;

/** What a call is given to work with. */
export interface Parts {
  readonly signal: AbortSignal;
  readonly progress: ReportProgress;
  readonly person?: PersonReach | undefined;
}
export type Work = (parts: Parts) => Promise<ToolAnswer>;

export const heldPrefix = 'held.';

/** How long after the question's own limit a held call still waits for its client. */
const patienceMs = 60_000;

/** The sentence beside the link. */
export function messageFor({ prompt, subject }: OpenQuestion): string {
  const about = prompt.includes(subject) ? '' : ` (${subject})`;
  return `${prompt.replace(/[\s:：.]+$/u, '')}${about}. Open the page to type it; the agent will not see it.`;
}

interface Shown {
  readonly question: OpenQuestion;
  readonly url: string;
  readonly decision: Deferred<boolean>;
}

interface HeldPorts {
  /** The address for the person. Rejects when no more calls can be held. */
  readonly link: (question: OpenQuestion) => Promise<string>;
  /** From now on another request may continue the call. */
  readonly hold: () => void;
  /** No request can continue the call any more. */
  readonly over: () => void;
}

/**
 * A call of the 2026 protocol, in which a server cannot ask during a call: it answers that input is required, and the client
 * repeats the call. The work is not repeated: it is held here, and the next request continues it.
 */
export class HeldCall {
  /** Names the call to its client; other clients cannot guess it. */
  readonly state = `${heldPrefix}${randomBytes(24).toString('base64url')}`;
  /** Identifies the caller and the call. */
  readonly key: string;
  readonly #ending: AbortSignal;
  readonly #ports: HeldPorts;
  readonly #stop = new AbortController();
  readonly #work: Promise<ToolAnswer>;
  /** Progress of the requests that wait for the call now. */
  readonly #visitors = new Set<ReportProgress>();
  #shown: Shown | undefined;
  #asks = deferred();
  #patience: NodeJS.Timeout | undefined;

  constructor(key: string, work: Work, ending: AbortSignal, ports: HeldPorts) {
    this.key = key;
    this.#ending = ending;
    this.#ports = ports;
    ending.addEventListener('abort', this.#end);
    this.#work = work({
      signal: this.#stop.signal,
      progress: (...progress) => this.#visitors.forEach((report) => report(...progress)),
      person: { show: (question, signal) => this.#show(question, signal), answered: () => Promise.resolve() },
    });
    // The work may fail while no request waits for it; the next request reports that.
    this.#work.catch(() => {});
  }

  /** Takes the person's decision, if the client brought one for the open question. */
  decide(reply: (questionId: string) => boolean | undefined): void {
    const willing = this.#shown && reply(this.#shown.question.id);
    if (willing === undefined) return;
    this.#shown?.decision.resolve(willing);
    this.#shown = undefined;
  }

  /** Waits for the result, or for a question to show. Aborting the request ends the call. */
  async attend(signal: AbortSignal, progress: ReportProgress): Promise<ToolAnswer> {
    clearTimeout(this.#patience);
    this.#visitors.add(progress);
    signal.addEventListener('abort', this.#end);
    if (signal.aborted || this.#ending.aborted) this.#end();
    let waitsOn = false;
    try {
      for (;;) {
        if (this.#shown) {
          waitsOn = true;
          return this.#request(this.#shown);
        }
        const result = await Promise.race([this.#work, this.#asks.promise]);
        if (result) return result;
      }
    } finally {
      signal.removeEventListener('abort', this.#end);
      this.#visitors.delete(progress);
      if (!waitsOn) this.#over();
    }
  }

  async #show(question: OpenQuestion, signal: AbortSignal): Promise<boolean> {
    const url = await this.#ports.link(question);
    if (signal.aborted) return false;
    this.#ports.hold();
    const shown: Shown = { question, url, decision: deferred() };
    this.#shown = shown;
    this.#asks.resolve();
    this.#asks = deferred();
    signal.addEventListener('abort', () => {
      if (this.#shown === shown) this.#shown = undefined;
    });
    return await shown.decision.promise;
  }

  /** Until the client's next request only a timer watches over the call. */
  #request({ question, url }: Shown): InputRequiredResult {
    const left = Math.max(0, Date.parse(question.expiresAt) - Date.now());
    clearTimeout(this.#patience);
    this.#patience = setTimeout(this.#end, left + patienceMs).unref();
    // 2026-07-28 has no elicitationId, but some of its clients reject a question without one and show the model its page.
    const asked = { message: messageFor(question), url, elicitationId: question.id };
    const request = inputRequired.elicitUrl(asked);
    return inputRequired({ inputRequests: { [question.id]: request }, requestState: this.state });
  }

  readonly #end = (): void => {
    this.#stop.abort(new Error('No client waits for this call any more.'));
    this.#over();
  };

  #over(): void {
    clearTimeout(this.#patience);
    this.#ending.removeEventListener('abort', this.#end);
    this.#ports.over();
  }
}
