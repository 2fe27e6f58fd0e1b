import type { Player } from './player.svelte.ts';

const backS = 5;

/** What a key of the player does; false when it is none of its keys. */
export function playerKey(
  event: KeyboardEvent,
  player: Player,
  acts: { readonly find: () => void; readonly fullscreen: () => void },
): boolean {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || isField(target)) return false;
  // A button or a link takes it itself.
  if (key === ' ' && target instanceof Element && target.closest('button, a, summary') !== null) return false;
  if (/^\d$/.test(key)) {
    void player.seek((player.end * Number(key)) / 10);
    return true;
  }
  const does: Readonly<Record<string, () => void>> = {
    ' ': () => player.toggle(),
    ArrowLeft: () => void player.seek(player.t - backS),
    ArrowRight: () => void player.seek(player.t + backS),
    '[': () => player.previousBlock(),
    ']': () => player.nextBlock(),
    ',': () => player.step(-1),
    '.': () => player.step(1),
    '<': () => player.faster(-1),
    '>': () => player.faster(1),
    f: acts.fullscreen,
    '/': acts.find,
  };
  const act = does[key];
  act?.();
  return act !== undefined;
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLElement && target.isContentEditable);
