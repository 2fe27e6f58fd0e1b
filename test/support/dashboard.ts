import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from './asking.ts';
import { Served } from './served.ts';

/** The built `fairlead serve`, and a real browser in front of it. */
export class DashboardDesk implements AsyncDisposable {
  readonly #served: Served;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  /** What the browser kept pages from doing, and errors in them. */
  readonly violations: string[] = [];

  private constructor(served: Served, browser: Browser) {
    this.#served = served;
    this.#browser = browser;
  }

  /** With `port`, a restart gets the same one. */
  static async open({
    port = 0,
    env = {},
  }: {
    port?: number;
    env?: Record<string, string>;
  } = {}): Promise<DashboardDesk> {
    const served = await Served.start(['--port', String(port), '--rpc-port', '0'], env);
    return new DashboardDesk(served, await launchBrowser());
  }

  get home(): string {
    return this.#served.home;
  }

  get url(): string {
    return /http:\/\/127\.0\.0\.1:\d+/.exec(this.#served.out)?.[0] ?? '';
  }

  /** What a command says. */
  async fairlead(args: readonly string[]): Promise<string> {
    return await this.#served.fairlead(args);
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#served.end(signal);
    await this.#served.restart();
  }

  /** A new login link. */
  async link(): Promise<string> {
    const said = await this.#served.fairlead(['settings', 'open', '--print-only']);
    const link = /http:\/\/\S+#code=\S+/.exec(said)?.[0];
    if (link === undefined) throw new Error(`No link in: ${said}`);
    return link;
  }

  /** A page of a browser that nothing is known of. */
  async newPage(): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 } });
    this.#contexts.push(context);
    return await this.newTab(context);
  }

  /** Another page of the same browser. */
  async newTab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text()))
        this.violations.push(`${message.text()} ${JSON.stringify(message.location())}`);
    });
    page.on('pageerror', (error) => this.violations.push(error.message));
    return page;
  }

  async loggedIn(path = '/'): Promise<Page> {
    const page = await this.newPage();
    await page.goto(await this.link());
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    if (path !== '/') await page.goto(`${this.url}${path}`);
    return page;
  }

  /** Opens a terminal, as an agent would; its id. */
  async open(name: string): Promise<string> {
    const { terminal } = (await this.#call('terminal/open', { name })) as { terminal: string };
    return terminal;
  }

  /** The same for a program that is no shell. */
  async openProgram(name: string, argv: readonly string[]): Promise<string> {
    const { terminal } = (await this.#call('terminal/open', { name, argv })) as { terminal: string };
    return terminal;
  }

  /** Starts a command in it and does not wait for its end. */
  async run(terminal: string, command: string): Promise<void> {
    await this.#call('terminal/run', { terminal, command, timeoutMs: 300 });
  }

  async record(terminal: string): Promise<void> {
    await this.#call('terminal/record', { terminal, action: 'start' });
  }

  /** Types a line, as an agent would. */
  async send(terminal: string, text: string): Promise<unknown> {
    return await this.#call('terminal/send', { terminal, text });
  }

  /** What its screen shows. */
  async text(terminal: string): Promise<string> {
    return JSON.stringify(await this.#call('terminal/read', { terminal, view: 'screen' }));
  }

  /** Ctrl+C, as an agent would press it. */
  async interrupt(terminal: string): Promise<void> {
    await this.#call('terminal/send', { terminal, keys: ['Ctrl+C'] });
  }

  async audit(): Promise<{ readonly entries: unknown }> {
    return (await this.#call('session/audit_log', {})) as { entries: unknown };
  }

  async setPolicy(policy: object): Promise<void> {
    await this.#call('policy/set', policy);
  }

  /** How many terminals are open. */
  async terminals(): Promise<number> {
    return ((await this.#call('terminal/list', {})) as { terminals: unknown[] }).terminals.length;
  }

  async policy(): Promise<unknown> {
    return await this.#call('policy/get', {});
  }

  /** Any operation, as a script would call it: `replay/list`. */
  async ask<T>(path: string, input: object = {}): Promise<T> {
    return (await this.#call(path, input)) as T;
  }

  async #call(path: string, input: object): Promise<unknown> {
    const answer = await fetch(`${this.url}/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#served.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    return await answer.json();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const context of this.#contexts) await context.close();
    await this.#browser.close();
    await this.#served[Symbol.asyncDispose]();
  }
}
