const phone = matchMedia('(max-width: 759px)');

/** What the frame shows besides the page. */
class Frame {
  isPhone = $state(phone.matches);
  readonly isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  /** What lies over the page. */
  over = $state<'palette' | 'keys'>();
  /** The paths of the pages there are. */
  pages: readonly RegExp[] = [];
  #opener: Element | null = null;

  constructor() {
    phone.addEventListener('change', ({ matches }) => (this.isPhone = matches));
  }

  hasPage(path: string): boolean {
    return this.pages.some((one) => one.test(path));
  }

  openPalette(): void {
    this.#open('palette');
  }

  openKeys(): void {
    this.#open('keys');
  }

  /** The focus returns to what opened it. */
  readonly close = (): void => {
    this.over = undefined;
    if (this.#opener instanceof HTMLElement && this.#opener.isConnected) this.#opener.focus();
    this.#opener = null;
  };

  #open(what: 'palette' | 'keys'): void {
    if (this.over === undefined) this.#opener = document.activeElement;
    this.over = what;
  }
}

export const ui = new Frame();
