import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandLines, markedLines, markerPrefix } from './command-text.ts';

const editor = { dialect: 'posix', paste: true, longLines: true } as const;
const plain = { dialect: 'posix', paste: false, longLines: false } as const;

test('a simple command is typed as it is', () => {
  expect(commandLines('echo hi!', editor)).toEqual(['echo hi!\r']);
  expect(commandLines('echo hi\n', plain)).toEqual(['echo hi\r']);
});

test('several lines are one paste, where the shell takes one, and a paste cannot be ended from within', () => {
  expect(commandLines('a\nb', editor)).toEqual(['\x1b[200~a\nb\x1b[201~\r']);
  const hostile = commandLines('a\x1b[201~rm\n', editor).join('');
  expect(hostile).not.toContain('\x1b[201~rm');
  expect(hostile).not.toContain('\x1b');
});

test('no line is longer than a terminal driver takes, and none holds a control character but its end', () => {
  const lines = commandLines(`echo ${'é'.repeat(5000)}\n\techo`, plain);
  for (const line of lines) {
    expect(Buffer.byteLength(line)).toBeLessThan(1000);
    expect(line).toMatch(/^\P{Cc}+\r$/u);
  }
});

test('the echo of a marked line is no marker (R-RPC-042)', () => {
  for (const typist of [editor, plain, { ...editor, dialect: 'fish' }] as const) {
    for (const command of ['true', 'a\nb', 'x'.repeat(5000)]) {
      expect(markedLines(command, 'TOKEN', typist).join('')).not.toContain(markerPrefix('TOKEN'));
    }
  }
});

test.each(['dash', 'bash', 'zsh'])('what %s makes of a carried command is the command', (shell) => {
  const letters = fc.constantFrom(
    'a',
    "'",
    '"',
    '\\',
    '%',
    '!',
    '$',
    '`',
    '\t',
    '\n',
    'é',
    '-',
    ' ',
    '漢',
    '\u0085',
    '7',
  );
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 30 }), (parts) => {
      const text = parts.join('').replace(/\n+$/, '');
      const quoted = `'${text.replaceAll("'", `'\\''`)}'`;
      const command = `printf '%s' ${quoted}\n:\t${'x'.repeat(1000)}`;
      const script = commandLines(command, plain).join('').replaceAll('\r', '\n');
      // Without a stdin that is a socket, which makes bash read the .bashrc of whoever runs this.
      const printed = execFileSync(shell, ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
      expect(printed).toBe(text);
    }),
    { numRuns: 30 },
  );
});

test('csh is given its own tail, and nothing that it looks at within quotes (R-RPC-042)', () => {
  const typist = { dialect: 'csh', paste: false, longLines: false } as const;
  expect(markedLines("echo 'hi!'", 'T', typist)).toEqual([
    String.raw` printf '\033]7461;T;s\007';eval 'echo '\''hi\!'\''';` +
      String.raw`set __fl=$status;printf '\033]7461;T;e;%s\007' $__fl;(exit $__fl)` +
      '\r',
  ]);
  expect(markedLines('exit 4', 'T', typist).join('')).toContain(';exit 4;');
  for (const command of ['a\nb', 'x'.repeat(2000)]) {
    expect(() => markedLines(command, 'T', typist)).toThrow('one line');
  }
});

test('what tcsh makes of a carried command is the command', () => {
  // No exclamation marks: what is evaluated is looked through for history, as what is typed.
  const letters = fc.constantFrom('a', "'", '"', '\\', '%', '$', '`', '\t', 'é', '-', ' ', '漢', '7');
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 30 }), (parts) => {
      const text = parts.join('');
      const quoted = `'${text.replaceAll("'", `'\\''`)}'`;
      const command = `printf '%s' ${quoted};:\t${'x'.repeat(1000)}`;
      const lines = markedLines(command, 'T', { dialect: 'csh', paste: false, longLines: true });
      const printed = execFileSync('tcsh', ['-f'], { input: lines.join('').replaceAll('\r', '\n'), encoding: 'utf8' });
      expect(printed).toContain(`${markerPrefix('T')}s\x07${text}${markerPrefix('T')}e;0\x07`);
    }),
    { numRuns: 30 },
  );
});
