import { SvelteSet } from 'svelte/reactivity';
import { feed } from './feed.svelte.ts';
import type { Peek } from './shapes.ts';

/** At most so many pictures are drawn in one frame: the newest of each terminal, the oldest news first. */
const mostPerFrame = 4;
/** Scrolling changes what is seen many times a second; it is asked for when that settles. */
const settleMs = 120;

/** Which terminals can be seen on the page; exactly their pictures are asked for. */
class Seen {
  readonly #ids = new SvelteSet<string>();
  readonly #coming = new Map<string, Peek>();
  readonly #terminals = new WeakMap<Element, string>();
  #isDrawing = false;
  #observer: IntersectionObserver | undefined;

  /** For `{@attach}`: the element shows this terminal. */
  readonly of =
    (id: string) =>
    (element: Element): (() => void) => {
      this.#observer ??= new IntersectionObserver((entries) => this.#saw(entries), { rootMargin: '200px' });
      this.#terminals.set(element, id);
      this.#observer.observe(element);
      return () => {
        this.#observer?.unobserve(element);
        this.#ids.delete(id);
      };
    };

  /** Until the answer is called. */
  follow(): () => void {
    let stop: (() => void) | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stopEffect = $effect.root(() => {
      $effect(() => {
        const terminals = [...this.#ids];
        const isFirst = stop === undefined;
        clearTimeout(timer);
        timer = setTimeout(
          () => {
            stop?.();
            stop = terminals.length === 0 ? undefined : this.#read(terminals);
          },
          isFirst ? 0 : settleMs,
        );
      });
    });
    return () => {
      clearTimeout(timer);
      stopEffect();
      stop?.();
    };
  }

  #read(terminals: readonly string[]): (() => void) | undefined {
    return feed.live?.read<Peek>({
      stream: 'person.peeks',
      input: () => ({ terminals: terminals.slice(0, 200) }),
      item: (peek) => this.#take(peek),
      pausesWhenHidden: true,
    });
  }

  #saw(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const id = this.#terminals.get(target);
      if (id === undefined) continue;
      if (isIntersecting) this.#ids.add(id);
      else this.#ids.delete(id);
    }
  }

  #take(peek: Peek): void {
    this.#coming.set(peek.terminal, peek);
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(this.#draw);
  }

  readonly #draw = (): void => {
    for (const [id, peek] of [...this.#coming].slice(0, mostPerFrame)) {
      this.#coming.delete(id);
      feed.peeks.set(id, peek);
    }
    this.#isDrawing = this.#coming.size > 0;
    if (this.#isDrawing) requestAnimationFrame(this.#draw);
  };
}

export const seen = new Seen();
