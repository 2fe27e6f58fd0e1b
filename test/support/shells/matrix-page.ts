import { type Column, columns, type Expected, type Shape, shapes, stepsFor } from './matrix.ts';

/** The table people read, from the table the tests run. */
export function shellMatrixPage(): string {
  const rows = shapes.map(
    (shape) => `| ${shape.name.replaceAll('|', '\\|')} | ${columns.map((column) => cell(shape, column)).join(' | ')} |`,
  );
  return `# Which commands, which shells

\`terminal_run\` answers when a command is over, with its exit code and what it printed. This table is what the test
\`test/engine/run/shell-matrix.test.ts\` runs on real shells: ${shapes.length} shapes of commands, ${columns.length} shells. A number is the exit code that is reported;
in every cell the text is checked as well, without prompt, echo or marks of ours.

- **unknown**: the shell ran nothing or does not report how it went, so the exit code is unknown, and a note says why.
- **incomplete**: the command was not complete; the shell was told to drop it, and nothing ran.
- **exited 5**: the shell itself ended, with that code.
- **running**: a program now waits for input or has the screen; the answer says so at once instead of waiting.
- **·**: the shell has no such feature, or it is tested elsewhere.

"zsh + theme" rebuilds a prompt of two lines and one on the right before every command. "bash, plain" has no shell
integration: there the exit code comes from a text that Fairlead tells the shell to print around the command. "Over ssh" is a
real OpenSSH server: nothing can be seen of the processes at the far side, and the shell's own marks are the evidence.

| command | ${columns.join(' | ')} |
|---|${columns.map(() => '---|').join('')}
${rows.join('\n')}
`;
}

function cell(shape: Shape, column: Column): string {
  const own = stepsFor(shape, column);
  if (own === null) return '·';
  return own.flatMap(({ expect }) => (expect ? [told(expect)] : [])).join(', ');
}

function told({ state, exit }: Expected): string {
  if (state === 'exited') return `exited ${exit}`;
  return state ?? (exit === null ? 'unknown' : String(exit));
}
