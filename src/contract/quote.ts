const most = 100;

/** What a caller sent, as an error repeats it: enough to know it again. */
export const quote = (text: string): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
