import { SvelteMap } from 'svelte/reactivity';
import { browserParts } from './live-browser.ts';
import { Live, type LinkNews, type LinkState } from './live.ts';
import type {
  ConversationShown,
  PauseShown,
  Peek,
  TerminalShown,
  TerminalTheme,
  WaitingItem,
  WatchNews,
} from './shapes.ts';

export interface Me {
  readonly host: 'instance' | 'hub';
  readonly name: string;
  readonly version: string;
  readonly csrf: string;
  readonly you?: { readonly id: string; readonly name: string; readonly initials: string };
  readonly role?: 'viewer' | 'operator' | 'owner';
  readonly can: readonly string[];
  /** This browser among those that are signed in. */
  readonly login?: string;
}

const mostSettled = 200;

/** What the pages show. Only the socket changes it. */
class Feed {
  me = $state<Me>();
  link = $state<LinkState>('connecting');
  /** When the link is tried again, and since when it is gone. */
  nextTryAt = $state<number>();
  lostAt = $state<number>();
  /** The server said that it restarts: terminals go on. */
  isRestarting = $state(false);
  /** The server has another version than this page. */
  isUpdated = $state(false);
  /** How long the server took to answer the last beat. */
  rttMs = $state<number>();
  /** When the last word of the server came. */
  heardAt = $state(Date.now());
  isLoaded = $state(false);
  now = $state(Date.now());
  readonly terminals = new SvelteMap<string, TerminalShown>();
  readonly peeks = new SvelteMap<string, Peek>();
  waiting = $state.raw<readonly WaitingItem[]>([]);
  /** When that list was asked for. */
  waitingAskedAt = $state(0);
  /** How questions ended that are no longer open. */
  readonly settled = new Map<string, 'answered' | 'declined' | 'expired'>();
  /** The agents, by conversation. */
  readonly conversations = new SvelteMap<string, ConversationShown>();
  /** Everything is paused. */
  pause = $state<PauseShown>(null);
  /** Of terminals; it is changed in the settings, by this page or by others. */
  theme = $state<TerminalTheme>();
  /** An agent asks the person to look at this terminal. */
  focused = $state<string>();
  live: Live | undefined;
  #asking = false;
  #askAgain = false;
  /** Of the newest item: what changed since then is told after a lost connection. */
  #cursor: string | undefined;

  /** Whether the person may do this; what they may not do is not shown. */
  can(what: string): boolean {
    return this.me?.can.includes(what) === true;
  }

  start(me: Me): void {
    this.me = me;
    setInterval(() => {
      this.now = Date.now();
    }, 1000);
    this.live = new Live(browserParts(me.csrf), {
      link: (news) => this.#linked(news),
      roundTrip: (ms) => {
        this.rttMs = Math.round(ms);
      },
    });
    this.live.read<WatchNews>({
      stream: 'person.watch',
      input: () => (this.#cursor === undefined ? {} : { since: this.#cursor }),
      item: (news) => this.#take(news),
    });
  }

  #linked({ state, nextTryAt, isRestarting = false, isSignedOut = false }: LinkNews): void {
    const isBack = state === 'live' && this.link === 'offline';
    this.link = state;
    this.nextTryAt = nextTryAt === undefined ? undefined : Date.now() + nextTryAt - performance.now();
    this.isRestarting = state === 'offline' && (isRestarting || this.isRestarting);
    this.lostAt = state === 'offline' ? (this.lostAt ?? Date.now()) : undefined;
    // What waited was asked for on the link that broke.
    if (isBack && this.isLoaded) this.askWaiting();
    if (isBack) void this.#checkVersion();
    if (isSignedOut) location.reload();
    // A server that restarted may not know this login any more; a socket cannot tell why it was refused.
    else if (state === 'offline') void this.#checkLogin();
  }

  async #checkLogin(): Promise<void> {
    const me = await this.#askMe();
    if (me?.status === 401 || me?.status === 403) location.reload();
  }

  /** A server that came back may be a newer one. The page says so and goes on: its person reloads it. */
  async #checkVersion(): Promise<void> {
    const me = await this.#askMe();
    if (!me?.ok) return;
    const { version } = (await me.json()) as Me;
    this.isUpdated = version !== this.me?.version;
  }

  async #askMe(): Promise<Response | undefined> {
    const headers = { 'x-csrf-token': this.me?.csrf ?? '' };
    return await fetch('/api/me', { headers }).catch(() => undefined);
  }

  #take(news: WatchNews): void {
    this.heardAt = Date.now();
    this.#cursor = news.cursor;
    if (news.kind === 'all') {
      const ids = new Set(news.terminals.map(({ terminal }) => terminal));
      for (const id of this.terminals.keys()) if (!ids.has(id)) this.terminals.delete(id);
      for (const one of news.terminals) this.terminals.set(one.terminal, one);
      this.isLoaded = true;
      this.askWaiting();
      this.theme = news.theme;
      this.conversations.clear();
      for (const one of news.conversations) this.conversations.set(one.id, one);
      this.pause = news.pause;
    } else if (news.kind === 'conversation') this.conversations.set(news.conversation.id, news.conversation);
    else if (news.kind === 'pause') this.pause = news.pause;
    else if (news.kind === 'theme') this.theme = news.theme;
    else if (news.kind === 'question') {
      if (news.settled) this.#settle(news.question.id, news.settled);
      this.askWaiting();
    } else if (news.kind === 'focus') this.focused = news.terminal?.terminal;
    else {
      if (news.kind === 'closed') this.terminals.delete(news.terminal.terminal);
      else this.terminals.set(news.terminal.terminal, news.terminal);
      if (news.kind === 'prompt' || news.kind === 'state' || news.kind === 'closed') this.askWaiting();
    }
  }

  #settle(id: string, how: 'answered' | 'declined' | 'expired'): void {
    this.settled.set(id, how);
    const [oldest] = this.settled.keys();
    if (this.settled.size > mostSettled && oldest !== undefined) this.settled.delete(oldest);
  }

  /** One request at a time; news that come meanwhile ask once more. */
  askWaiting(): void {
    this.#askAgain = true;
    if (this.#asking) return;
    this.#asking = true;
    void (async () => {
      while (this.#askAgain) {
        this.#askAgain = false;
        const askedAt = Date.now();
        try {
          const { waiting } = (await this.live?.call<{ waiting: WaitingItem[] }>('person.waiting', {})) ?? {
            waiting: [],
          };
          this.waiting = waiting;
          this.waitingAskedAt = askedAt;
        } catch {
          // The link broke; the next whole state asks again.
        }
      }
      this.#asking = false;
    })();
  }
}

export const feed = new Feed();
