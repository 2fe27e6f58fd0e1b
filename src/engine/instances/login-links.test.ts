import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { LoginLinks } from './login-links.ts';

function served() {
  const clock = new ManualClock();
  const links = new LoginLinks(clock);
  links.serveAt('http://127.0.0.1:7420');
  const code = (link: string): string => link.slice(link.indexOf('#code=') + 6);
  return { clock, links, code };
}

test('R-RPC-141: a link works once, within 60 s, with its code in the fragment', () => {
  const { clock, links, code } = served();
  const [first, second] = [links.make(), links.make('/settings')];
  expect(first).toMatch(/^http:\/\/127\.0\.0\.1:7420\/#code=[\w-]{32}$/);
  expect(second).toMatch(/\/settings#code=/);
  expect(links.redeem('')).toBe(false);
  expect(links.redeem(code(first))).toBe(true);
  expect(links.redeem(code(first))).toBe(false);
  clock.advance(59_999);
  const late = links.make();
  clock.advance(1);
  expect(links.redeem(code(second))).toBe(false);
  expect(links.redeem(code(late))).toBe(true);
  expect(clock.timers).toBe(0);
});

test('of more than sixteen open links the oldest ends, and none outlives the server', async () => {
  const { clock, links, code } = served();
  const all = Array.from({ length: 17 }, () => links.make());
  expect(all.map((link) => links.redeem(code(link)))).toEqual([false, ...Array.from({ length: 16 }, () => true)]);
  links.make();
  await links[Symbol.asyncDispose]();
  expect(clock.timers).toBe(0);
});

test('before the server serves pages there is no link', () => {
  expect(() => new LoginLinks(new ManualClock()).make()).toThrow('serves no pages yet');
});
