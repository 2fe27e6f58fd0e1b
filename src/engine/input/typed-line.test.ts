import { expect, test } from 'vitest';
import { changedLine, emptyLine, typeKeys, type TypedLine } from './typed-line.ts';

/** The lines entered by keys that came in pieces, and what stands there at the end. */
function typed(keys: readonly string[], options: { from?: TypedLine; pastes?: boolean } = {}) {
  let line = options.from ?? emptyLine;
  const all: (string | undefined)[] = [];
  for (const one of keys) {
    const next = typeKeys(line, one, options.pastes ?? false);
    line = next.line;
    all.push(...next.entered);
  }
  return { entered: all, left: line.text };
}

test('a line is what was typed since the last one, in however many pieces', () => {
  expect(typed(['tou', 'ch M\r', 'ls'])).toEqual({ entered: ['touch M'], left: 'ls' });
  expect(typed(['a\nb\r\r'])).toEqual({ entered: ['a', 'b', ''], left: '' });
});

test('keys that change it make it unknown, until Ctrl+C', () => {
  for (const key of ['\t', '\x7f', '\b', '\x1b[A', '\x12', '\x19', '\x1a', '\x1c', '\x1bb', '\u009bA']) {
    expect(typed([`ls${key}`, 'x\r']), JSON.stringify(key)).toEqual({ entered: [undefined], left: '' });
    expect(typed([`ls${key}`, '\x03x\r']), JSON.stringify(key)).toEqual({ entered: ['x'], left: '' });
  }
  expect(typed(['x\r'], { from: changedLine })).toEqual({ entered: [undefined], left: '' });
});

test('Ctrl+U takes back what is known, and nothing else', () => {
  expect(typed(['touch M\x15ls\r'])).toEqual({ entered: ['ls'], left: '' });
  expect(typed(['touch M\x1b[D\x15ls\r'])).toEqual({ entered: [undefined], left: '' });
});

test('after Ctrl+V or Ctrl+Q the next key is a part of the line, Ctrl+C too', () => {
  for (const quote of ['\x16', '\x11']) {
    for (const key of ['\x03', '\x15', quote]) {
      expect(typed(['touch M #', quote, key, '\r'])).toEqual({ entered: [undefined], left: '' });
    }
    expect(typed(['touch M #', quote, '\r'])).toEqual({ entered: [undefined], left: undefined });
    expect(typed(['touch M #', quote, '\x03', '\x03', 'ls\r'])).toEqual({ entered: ['ls'], left: '' });
  }
});

test('in a paste no key takes anything back', () => {
  for (const key of ['\x03', '\x15', '\x16\x03']) {
    const paste = ['\x1b[200~touch M #', key, '\x1b[201~', '\r'];
    expect(typed(paste, { pastes: true }), JSON.stringify(key)).toEqual({ entered: [undefined], left: '' });
  }
});

test('Ctrl+D and Ctrl+O hand over what stands there', () => {
  expect(typed(['\x04'])).toEqual({ entered: [], left: '' });
  expect(typed(['touch M\x04'])).toEqual({ entered: ['touch M'], left: undefined });
  expect(typed(['touch M\x0f', '\r'])).toEqual({ entered: ['touch M', undefined], left: '' });
});

test('Esc-a, Esc-#, the keypad and newer protocols enter a line nobody knows, in however many pieces', () => {
  const keys = ['\x1ba', '\x1bA', '\x1bz', '\x1bh', '\x1b?', '\x1b#', '\x1b\x05', '\x1b\x04', '\x1bOM'];
  for (const key of [...keys, '\x1b[13u', '\x1b[13;1u', '\x1b[106;5u', '\x1b[27;5;13~']) {
    expect(typed([`touch M${key}`]), JSON.stringify(key)).toEqual({ entered: [undefined], left: undefined });
    expect(typed(['touch M', ...key]), JSON.stringify(key)).toEqual({ entered: [undefined], left: undefined });
  }
  // Uncommented and run: `#touch M`, Esc-1, Esc-#.
  expect(typed(['#touch M', '\x1b1', '\x1b#']).entered).toEqual([undefined]);
});

test('after Escape, v and # of vi mode enter a line nobody knows', () => {
  expect(typed(['touch M', '\x1b', 'j', 'v']).entered).toEqual([undefined]);
  expect(typed(['#touch M', '\x1b', '0', '#']).entered).toEqual([undefined]);
  expect(typed(['touch M', '\x1b', '\x03', 'vim #x\r'])).toEqual({ entered: ['vim #x'], left: '' });
});

test('arrows and other keys of several bytes enter nothing', () => {
  for (const key of ['\x1b[A', '\x1bOA', '\x1b[1;5C', '\x1b[3~', '\x1bb', '\x1b[200~a', '\x1b[I']) {
    expect(typed([`ls${key}`]).entered, JSON.stringify(key)).toEqual([]);
    expect(typed(['ls', ...key]).entered, JSON.stringify(key)).toEqual([]);
  }
});

test('Tab hands over a line that its expansion would run', () => {
  expect(typed(['git checkout fea\t']).entered).toEqual([]);
  expect(typed(['echo $(touch M)\t']).entered).toEqual(['echo $(touch M)']);
  expect(typed(['echo `touch M`', '\t']).entered).toEqual(['echo `touch M`']);
  expect(typed(['x\x7fecho $(touch M)\t']).entered).toEqual([undefined]);
});

test('Ctrl+X Ctrl+E is a line nobody sees', () => {
  expect(typed(['\x18', '\x05']).entered).toEqual([undefined]);
  expect(typed(['\x18', 'a\x05']).entered).toEqual([]);
  // A macro, and what zsh expands.
  for (const key of ['e', '*', 'g', 'G', 'd', 'm']) expect(typed(['tou', '\x18', key]).entered).toEqual([undefined]);
});

test('a paste is one line, if the program takes pastes; its lines are told before its end all the same', () => {
  const paste = '\x1b[200~a\n\tb\x1b[201~';
  expect(typed([paste, '\r'], { pastes: true })).toEqual({ entered: ['a\n\tb', 'a\n\tb'], left: '' });
  expect(typed(['\x1b[200~a\n'], { pastes: true })).toEqual({ entered: ['a\n'], left: 'a\n' });
  expect(typed([paste, '\r'])).toEqual({ entered: [undefined, undefined], left: '' });
});

test('more than anybody judges is unknown', () => {
  expect(typed(['a'.repeat(65_537), '\r'])).toEqual({ entered: [undefined], left: '' });
});
