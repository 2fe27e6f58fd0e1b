/** Where the page is. Links are ordinary links; those of this app do not load it again. */
class Router {
  path = $state(location.pathname);
  search = $state(location.search);

  constructor() {
    addEventListener('popstate', () => this.#read());
    document.addEventListener('click', (event) => {
      const link = (event.target as Element | null)?.closest('a');
      const isPlain =
        event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.defaultPrevented;
      if (!link || !isPlain || link.origin !== location.origin || link.hasAttribute('download') || link.target) return;
      event.preventDefault();
      this.go(link.pathname + link.search);
    });
  }

  go(to: string): void {
    if (to !== this.path + this.search) history.pushState(null, '', to);
    this.#read();
    scrollTo(0, 0);
  }

  /** Another address for the same page: Back does not lead to the old one. */
  replace(to: string): void {
    if (to === this.path + this.search) return;
    history.replaceState(null, '', to);
    this.#read();
  }

  #read(): void {
    this.path = location.pathname;
    this.search = location.search;
  }
}

export const router = new Router();
