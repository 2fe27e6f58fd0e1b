import { engineWith } from '../../support/engine.ts';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OwnedQuestion, PersonReach } from '../../../src/engine/person/questions/question.ts';
import { AskPage } from '../../../src/faces/ask-page/ask-page.ts';
import { launchBrowser } from '../../support/asking.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

const never = new AbortController().signal;
const secret = 'corréct <hörse> & "battery" 42 ';

let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

/** An engine with pages, and what a call that can show them gets. */
class Desk implements AsyncDisposable {
  readonly #home = mkdtempSync(join(tmpdir(), 'fairlead-page-'));
  readonly clock = new ManualClock();
  readonly engine = engineWith(this.#home, {}, { clock: this.clock });
  readonly pages = new AskPage(this.engine);

  /** The address and what became of the question. */
  async ask(changed: Partial<OwnedQuestion> = {}): Promise<{ url: string; answer: Promise<string | undefined> }> {
    let url: (link: string) => void = () => {};
    const linked = new Promise<string>((resolve) => (url = resolve));
    const person: PersonReach = {
      show: async (question) => {
        url(await this.pages.link(question));
        return true;
      },
      answered: () => Promise.resolve(),
    };
    const question: OwnedQuestion = {
      kind: 'password',
      subject: 'alice@db.example:22',
      prompt: 'Password for alice@db.example',
      secret: true,
      principal: 'owner',
      asker: 'claude-code',
      ...changed,
    };
    const answer = this.engine.questions.ask(question, person, never);
    return { url: await linked, answer };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pages[Symbol.asyncDispose]();
    await this.engine[Symbol.asyncDispose]();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

async function open(url: string): Promise<Page & AsyncDisposable> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  return Object.assign(page, { [Symbol.asyncDispose]: () => context.close() });
}

/** A request as no browser would make it. */
async function bare(url: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  return await new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const sent = httpRequest(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const form = (origin: string) => ({ origin, 'content-type': 'application/x-www-form-urlencoded' });

test('a person answers in a real browser; the page can then be closed, and its server is gone', async () => {
  await using desk = new Desk();
  const { url, answer } = await desk.ask();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ask\/[\w-]{32}$/);
  await using page = await open(url);
  const elsewhere: string[] = [];
  page.on('request', (request) => elsewhere.push(request.url()));
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  expect(await page.title()).toBe('Password for alice@db.example – Fairlead');
  const shown = await page.innerText('main');
  for (const fact of ['Fairlead needs a password', 'alice@db.example:22', 'claude-code', 'about 5 minutes']) {
    expect(shown).toContain(fact);
  }
  expect(await page.getAttribute('input', 'type')).toBe('password');
  expect(await page.evaluate('document.activeElement.id')).toBe('answer');
  await page.keyboard.type(secret);
  await page.keyboard.press('Enter');
  expect(await answer).toBe(secret);
  await page.waitForSelector('text=You can close this page');
  expect(problems).toEqual([]);
  expect(elsewhere.every((one) => one === url)).toBe(true);
  const [entry] = desk.engine.audit.entries();
  expect(entry).toMatchObject({
    operation: 'person.answer',
    caller: 'person',
    origin: 'http',
    characters: secret.length,
  });
  expect(JSON.stringify(desk.engine.audit.entries())).not.toContain('battery');
  desk.clock.advance(2000);
  await expect.poll(() => bare(url).catch((error: { code: string }) => error.code)).toBe('ECONNREFUSED');
});

test.each([
  ['light', 900],
  ['dark', 900],
  ['dark', 320],
] as const)('it fits and can be read: %s, %i pixels wide', async (colorScheme, width) => {
  await using desk = new Desk();
  const { url } = await desk.ask({ subject: `${'very-long-host-name.'.repeat(12)}example:22` });
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 640 } });
  const page = await context.newPage();
  await page.goto(url);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  const colours = (await page.evaluate(
    `['h1', 'dd', 'dt', 'small', 'button', 'button.second'].map((name) => {
      const style = getComputedStyle(document.querySelector(name));
      const behind = (node) => {
        const { backgroundColor } = getComputedStyle(node);
        return backgroundColor === 'rgba(0, 0, 0, 0)' ? behind(node.parentElement) : backgroundColor;
      };
      return [name, style.color, behind(document.querySelector(name))];
    })`,
  )) as [string, string, string][];
  for (const [name, ink, paper] of colours)
    expect(contrast(ink, paper), `${name} ${ink} on ${paper}`).toBeGreaterThan(4.5);
  const dark = luminance(colours[0]?.[2] ?? '') < 0.2;
  expect(dark).toBe(colorScheme === 'dark');
  for (const button of await page.locator('button').all()) {
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
  await context.close();
});

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

test('a hostile far side writes text, never markup', async () => {
  await using desk = new Desk();
  const prompt = '</label><script>document.title = "taken"</script><img src=x onerror=alert(1)>"\'&amp;';
  const { url, answer } = await desk.ask({ prompt, subject: '<b>x</b>', asker: '<i onclick=1>' });
  await using page = await open(url);
  expect(await page.innerText('label')).toBe(prompt);
  expect(await page.locator('script, img, b, i').count()).toBe(0);
  await page.click('text=Do not answer');
  expect(await answer).toBeUndefined();
  await expect.poll(() => page.innerText('h1')).toBe('Nothing was sent');
  expect(desk.engine.audit.entries()).toMatchObject([{ operation: 'person.decline', caller: 'person' }]);
});

test('an answer is shown while it is typed when it is no secret', async () => {
  await using desk = new Desk();
  const { url, answer } = await desk.ask({ kind: 'choice', secret: false, prompt: 'Which one?' });
  await using page = await open(url);
  expect(await page.getAttribute('input', 'type')).toBe('text');
  await page.fill('input', 'the second');
  await page.click('text=Send');
  expect(await answer).toBe('the second');
});

test('a page of another site cannot answer, nor can a name that points here, nor a frame hold it', async () => {
  await using desk = new Desk();
  const { url, answer } = await desk.ask();
  const { origin, host, pathname } = new URL(url);
  const body = 'answer=forged&do=answer';
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end(`<form method="post" action="${url}">
      <input name="answer" value="forged"><button>go</button></form><iframe src="${url}"></iframe>`);
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  await using evil = await open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const frame = evil.frames()[1];
  await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);
  expect(await frame?.locator('#answer').count()).toBe(0);
  const [response] = await Promise.all([evil.waitForNavigation(), evil.click('button')]);
  expect(response?.status()).toBe(403);
  site.close();
  const attempts = [
    { headers: { host: 'evil.example' } },
    { headers: { host: host.replace('127.0.0.1', 'localhost') } },
    { method: 'POST', body, headers: form('http://evil.example') },
    { method: 'POST', body, headers: form('null') },
    { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { method: 'POST', body, headers: { ...form(origin), host: 'evil.example' } },
    { headers: { origin: 'http://evil.example' } },
    { method: 'PUT', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { method: 'HEAD' },
  ];
  for (const attempt of attempts) expect((await bare(url, attempt)).status, JSON.stringify(attempt)).toBe(403);
  const strange = ['/', '/ask/', `${pathname}x`, `${pathname.slice(0, -1)}`, `/ask/${'A'.repeat(32)}`, `/x${pathname}`];
  for (const path of strange) expect((await bare(`${origin}${path}`)).status, path).toBe(404);
  expect(desk.engine.questions.list()).toHaveLength(1);
  expect((await bare(url, { method: 'POST', body: 'answer=mine', headers: form(origin) })).status).toBe(200);
  expect(await answer).toBe('mine');
});

test('what is no answer is refused, and the question stays open', async () => {
  await using desk = new Desk();
  const { url, answer } = await desk.ask();
  const { origin } = new URL(url);
  const post = (body: string, headers = form(origin)) => bare(url, { method: 'POST', body, headers });
  expect((await post('answer=')).status).toBe(400);
  expect((await post('other=1')).status).toBe(400);
  expect((await post('answer=x', { ...form(origin), 'content-type': 'text/plain' })).status).toBe(400);
  expect((await post(`answer=${'x'.repeat(4097)}`)).status).toBe(400);
  expect((await post(`answer=${'x'.repeat(70_000)}`)).status).toBe(400);
  expect((await post(`answer=${'%F0%9F%94%91'.repeat(2048)}`)).status).toBe(200);
  expect(await answer).toBe('🔑'.repeat(2048));
});

test('one answer: a button pressed twice is thanked twice, but the second changes nothing', async () => {
  await using desk = new Desk();
  const { url, answer } = await desk.ask();
  const { origin } = new URL(url);
  const replies = await Promise.all(
    ['first', 'second', 'third'].map((word) =>
      bare(url, { method: 'POST', body: `answer=${word}`, headers: form(origin) }),
    ),
  );
  expect(replies.map(({ status, text }) => [status, /<h1>(.*)<\/h1>/.exec(text)?.[1]])).toEqual(
    Array.from({ length: 3 }, () => [200, 'Thank you']),
  );
  expect(['first', 'second', 'third']).toContain(await answer);
  expect(desk.engine.audit.entries().filter(({ error }) => error === undefined)).toHaveLength(1);
  expect((await bare(url)).text).toContain('Thank you');
});

test('two questions at a time have two pages; a page whose time is over or that was answered elsewhere says so', async () => {
  await using desk = new Desk();
  const [a, b] = [await desk.ask(), await desk.ask({ subject: 'bob@web.example:22', limitMs: 400 })];
  expect(new URL(a.url).origin).toBe(new URL(b.url).origin);
  expect((await bare(b.url)).text).toContain('bob@web.example:22');
  desk.clock.advance(400);
  expect(await b.answer).toBeUndefined();
  const late = await bare(b.url, { method: 'POST', body: 'answer=late', headers: form(new URL(b.url).origin) });
  expect(late).toMatchObject({ status: 404, text: expect.stringContaining('This question is no longer open') });
  expect((await bare(a.url)).text).toContain('alice@db.example:22');
  desk.engine.questions.answer(desk.engine.questions.list()[0]?.id ?? '', 'by another door');
  expect(await a.answer).toBe('by another door');
  expect((await bare(a.url)).status).toBe(404);
});

test('nothing of it may be kept, framed, sniffed or handed on', async () => {
  await using desk = new Desk();
  const { url } = await desk.ask();
  const { headers, text } = await bare(url);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    connection: 'close',
  });
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]+='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(text).not.toMatch(/https?:/);
});

test('the end of the engine is the end of the pages', async () => {
  const desk = new Desk();
  const { url, answer } = await desk.ask();
  await desk[Symbol.asyncDispose]();
  expect(await answer).toBeUndefined();
  await expect(bare(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
