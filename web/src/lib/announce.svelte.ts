import { Announcements } from './announcements.ts';

/** The two live regions of the app. */
class Announcer {
  polite = $state('');
  assertive = $state('');
  readonly #polite = new Announcements((text) => (this.polite = text));
  readonly #assertive = new Announcements((text) => (this.assertive = text));

  /** Something happened that can wait: what needs you, a command that ended, saved. */
  say(text: string): void {
    this.#polite.add(text);
  }

  /** The person must know now: keyboard lost, paused, link lost while typing. */
  interrupt(text: string): void {
    this.#assertive.add(text);
  }
}

export const announcer = new Announcer();
