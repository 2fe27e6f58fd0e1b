/** A line as a program shows it in a terminal so many columns wide, if it wraps the line itself. */
type Wrap = (line: string, cols: number) => string;

const rowsOf = (line: string, cols: number): string[] => {
  const chars = [...line];
  return Array.from({ length: Math.ceil(chars.length / cols) }, (_, row) =>
    chars.slice(row * cols, (row + 1) * cols).join(''),
  );
};

export const wraps: Readonly<Record<string, Wrap>> = {
  'with line ends': (line, cols) => `${rowsOf(line, cols).join('\r\n')}\r\n`,
  'as a line editor does': (line, cols) => `${rowsOf(line, cols).join(' \r')}\r\n`,
  'as a full-screen program does': (line, cols) =>
    `${rowsOf(line, cols)
      .map((row, index) => `\x1b[${index + 3};1H${row}`)
      .join('')}\x1b[20;5H`,
};

/** A colour after so many characters. */
export const coloured = (line: string, at: number): string => {
  const chars = [...line];
  return `${chars.slice(0, at).join('')}\x1b[1;31m${chars.slice(at).join('')}\x1b[0m\r\n`;
};

/** What a reader of the output sees, without sequences and wraps. */
export const seen = (output: string): string =>
  output
    .replace(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, '')
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
    .replace(/ \r(?!\n)|[\r\n]/g, '');
