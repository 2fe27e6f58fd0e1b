import { router } from './router.svelte.ts';

/** A search with this parameter, or without it. The others stay. */
export function withParam(search: string, name: string, value: string | undefined): string {
  const params = new URLSearchParams(search);
  if (value === undefined) params.delete(name);
  else params.set(name, value);
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

const name = 'new';

/** The sheet for a new terminal. It stands in the address over whichever page is below it, so that Back closes it. */
class NewTerminalSheet {
  /** Back leads to the page below. */
  #isPushed = false;

  /** Where the terminal is to be, or empty; undefined: the sheet is closed. */
  get where(): string | undefined {
    return new URLSearchParams(router.search).get(name) ?? undefined;
  }

  open(where = ''): void {
    if (this.where !== undefined) return;
    router.go(router.path + withParam(router.search, name, where));
    this.#isPushed = true;
  }

  close(): void {
    if (this.where === undefined) return;
    if (this.#isPushed) history.back();
    else router.replace(router.path + withParam(router.search, name, undefined));
    this.#isPushed = false;
  }

  /** Goes on to another page in the place of the sheet. */
  leaveTo(path: string): void {
    this.#isPushed = false;
    router.replace(path);
  }
}

export const newTerminal = new NewTerminalSheet();
