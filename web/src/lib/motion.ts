import { preferences } from './preferences.svelte.ts';

const isStill = (): boolean =>
  preferences.motion === 'reduced' ||
  (preferences.motion === 'system' && matchMedia('(prefers-reduced-motion: reduce)').matches);

const moveMs = 160;
const easing = 'cubic-bezier(.2, 0, 0, 1)';

/** Lets what changed its place in a list go its way: call `before` and `after` the list is drawn again. */
export function followMoves(elements: () => readonly (HTMLElement | null)[]): {
  before: () => void;
  after: () => void;
} {
  let places = new Map<HTMLElement, DOMRect>();
  const read = (): Map<HTMLElement, DOMRect> =>
    new Map(elements().flatMap((one) => (one ? [[one, one.getBoundingClientRect()] as const] : [])));
  return {
    before() {
      places = isStill() ? new Map() : read();
    },
    after() {
      for (const [element, now] of places.size === 0 ? [] : read()) {
        const old = places.get(element);
        const [x, y] = [(old?.left ?? now.left) - now.left, (old?.top ?? now.top) - now.top];
        if (x === 0 && y === 0) continue;
        element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: 'none' }], {
          duration: moveMs,
          easing,
        });
      }
      places = new Map();
    },
  };
}
