import type { Terminal } from '@xterm/xterm';

/** What a program offers the person through its screen. Each needs a click; a program does nothing by itself. */
export interface ProgramOffers {
  /** A link of the program (OSC 8) was clicked: its whole address. */
  readonly link: (address: string) => void;
  /** The program wants to put text on the clipboard (OSC 52). */
  readonly clipboard: (text: string) => void;
}

const longestAddress = 2048;
const mostClipboard = 256 << 10;

/** Only http and https; anything else is no link. */
export function linkOf(address: string): URL | undefined {
  if (address.length > longestAddress || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}

/** The text of an OSC 52 write; undefined for a read, which is refused, and for what is no text. */
export function clipboardText(data: string): string | undefined {
  const base64 = data.slice(data.indexOf(';') + 1);
  if (!data.includes(';') || base64 === '?' || base64.length > mostClipboard * 1.4) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function watchOffers(xterm: Terminal, on: ProgramOffers): void {
  xterm.options.linkHandler = {
    activate(_event, address) {
      if (linkOf(address)) on.link(address);
    },
    allowNonHttpProtocols: false,
  };
  xterm.parser.registerOscHandler(52, (data) => {
    const text = clipboardText(data);
    if (text !== undefined && text !== '') on.clipboard(text);
    return true;
  });
}
