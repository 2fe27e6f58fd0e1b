/** What a screen reader says, at most one message in a while; what comes faster is folded into one. */
export class Announcements {
  readonly #say: (text: string) => void;
  readonly #everyMs: number;
  #waiting: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(say: (text: string) => void, everyMs = 2000) {
    this.#say = say;
    this.#everyMs = everyMs;
  }

  add(text: string): void {
    this.#waiting.push(text);
    if (this.#timer === undefined) this.#next();
  }

  #next(): void {
    const [first, ...more] = this.#waiting;
    this.#waiting = [];
    this.#timer = undefined;
    if (first === undefined) return;
    this.#say(more.length === 0 ? first : folded([first, ...more]));
    this.#timer = setTimeout(() => this.#next(), this.#everyMs);
  }
}

/** `4 more need you.` where all speak of that; else the newest, and how many came before it. */
function folded(texts: readonly string[]): string {
  if (texts.every((text) => text.startsWith('Needs you: '))) return `${texts.length} more need you.`;
  return `${texts.at(-1)} ${texts.length - 1} more before it.`;
}
