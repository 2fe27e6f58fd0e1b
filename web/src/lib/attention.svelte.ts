import { feed } from './feed.svelte.ts';
import markNeeds from '../assets/mark-needs.svg?url';

/** Title, favicon and badge say how many things need the person. Call it once, in a component. */
export function followAttention(titleOf: () => string): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  $effect(() => {
    const count = feed.waiting.length;
    document.title = `${count > 0 ? `(${count}) ` : ''}${titleOf()} · Fairlead`;
    if (icon) icon.href = count > 0 ? markNeeds : '/mark.svg';
    if (!('setAppBadge' in navigator)) return;
    void (count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => {});
  });
}
