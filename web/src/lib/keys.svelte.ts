import { untrack } from 'svelte';
import { keyName, preferences } from './preferences.svelte.ts';

export interface KeyBinding {
  /** As `keyName` writes it; two after each other with a space between: `G N`. */
  readonly keys: string;
  /** What it does, in the list of keys. */
  readonly does: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Also while a terminal has the focus. */
  readonly inTerminals?: true;
  /** Not in the list: another binding says it. */
  readonly isSilent?: true;
}

export interface KeyGroup {
  readonly where: string;
  readonly bindings: readonly KeyBinding[];
}

/** How long the second key of two may take. */
const sequenceMs = 1200;

/** Every shortcut of the app. A group that was added later comes first: a page before the frame. */
class Keys {
  groups = $state.raw<readonly KeyGroup[]>([]);
  /** A key is being chosen: none does what it usually does. */
  isOff = false;
  #first: { readonly key: string; readonly at: number } | undefined;

  /** Until the answer is called. */
  add(where: string, bindings: readonly KeyBinding[]): () => void {
    const group: KeyGroup = { where, bindings };
    // Pages add their keys in an effect, which must not depend on the list it changes.
    untrack(() => (this.groups = [group, ...this.groups]));
    return () => {
      untrack(() => (this.groups = this.groups.filter((one) => one !== group)));
    };
  }

  /** For the capture phase of the window: a terminal must not get what is not its own. */
  readonly take = (event: KeyboardEvent): void => {
    const pressed = keyName(event);
    if (this.isOff || pressed === undefined || event.defaultPrevented || event.isComposing) return;
    const focus = focusOf(event.target);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (focus === 'text' && isPlain) return;
    if (isPlain && focus !== 'terminal' && !preferences.singleKeys && pressed.length === 1) return;
    // A dialog and a menu have keys of their own.
    if (isPlain && focus !== 'terminal' && document.querySelector('dialog[open], [role=menu]')) return;
    const found = this.#find(pressed, focus);
    if (!found || (focus === 'control' && (pressed === 'Enter' || pressed === 'Space'))) return;
    event.preventDefault();
    event.stopPropagation();
    found.run(event);
  };

  #find(pressed: string, focus: Focus): KeyBinding | undefined {
    const first = this.#first && Date.now() - this.#first.at < sequenceMs ? this.#first.key : undefined;
    this.#first = undefined;
    const all = this.groups.flatMap(({ bindings }) => bindings);
    const usable = all.filter(({ inTerminals }) => focus !== 'terminal' || inTerminals);
    // On a Mac the command key does what Ctrl does elsewhere.
    const names = [pressed, pressed.replace('Meta', 'Ctrl')];
    if (first !== undefined) {
      const both = usable.find(({ keys }) => keys === `${first} ${pressed}`);
      if (both) return both;
    }
    if (focus !== 'terminal' && usable.some(({ keys }) => keys.startsWith(`${pressed} `)))
      this.#first = { key: pressed, at: Date.now() };
    return usable.find(({ keys }) => names.includes(keys));
  }
}

type Focus = 'terminal' | 'text' | 'control' | 'page';

function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof HTMLElement)) return 'page';
  if (target.closest('.xterm')) return 'terminal';
  const isButton = target instanceof HTMLInputElement && /^(?:button|checkbox|radio|submit|reset)$/.test(target.type);
  if (!isButton && target.matches('input, textarea, select, [contenteditable]')) return 'text';
  return isButton || target.matches('button, a[href], summary') ? 'control' : 'page';
}

export const keys = new Keys();
