/** What a program, an agent or a machine may be called; `plain` leaves the words of the story. */
export type Text = (word: string) => string;

const worst = {
  long: (word) => `${word} ${'long '.repeat(209_715)}`,
  // The second is a name as a colleague has it; the first turns round what follows it.
  bidi: (word) => `\u202E${word} \u2066שלום ${'עולם'}\u2069 محمد\u200F`,
  html: (word) => `"><img src="/none.png" onerror="alert(1)"><script>alert(2)</script><b>${word}</b>{@html 1}`,
  joiners: (word) => `${word}${'\u200D'.repeat(10_000)}${word}`,
} as const satisfies Readonly<Record<string, Text>>;

export const textNames = ['plain', ...Object.keys(worst)];

export const textNamed = (name: string): Text =>
  Object.hasOwn(worst, name) ? worst[name as keyof typeof worst] : (word) => word;
