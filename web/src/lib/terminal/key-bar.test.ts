import { expect, test } from 'vitest';
import { afterKey, keysFor, tapped } from './key-bar.ts';

const none = { ctrl: false, alt: false };

test('Ctrl and Alt hold for one key, locked by a double tap', () => {
  expect(tapped('off', 0)).toBe('once');
  expect(tapped('once', 200)).toBe('locked');
  expect(tapped('once', 900)).toBe('off');
  expect(tapped('locked', 100)).toBe('off');
  expect([afterKey('once'), afterKey('locked'), afterKey('off')]).toEqual(['off', 'locked', 'off']);
});

test('keys with modifiers are what a terminal sends', () => {
  expect(keysFor('c', { ...none, ctrl: true })).toBe('\x03');
  expect(keysFor('[', { ...none, ctrl: true })).toBe('\x1b');
  expect(keysFor('x', { ...none, alt: true })).toBe('\x1bx');
  expect(keysFor('a', { ctrl: true, alt: true })).toBe('\x1b\x01');
  expect(keysFor('/', none)).toBe('/');
  expect(keysFor('up', none)).toBe('\x1b[A');
  expect(keysFor('up', { ...none, application: true })).toBe('\x1bOA');
  expect(keysFor('left', { ...none, ctrl: true })).toBe('\x1b[1;5D');
});
