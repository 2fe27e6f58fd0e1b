/**
 * What a person chose for this browser: look and layout, never anything secret. Each choice has a key of its own in `localStorage`, so
 * that two tabs that change different things keep both, and every tab of the browser follows at once.
 *
 * Read `preferences.fontSize` where it is used, in a component or an effect: it is reactive. Assign to change it.
 */

interface Kind<Value> {
  readonly usual: Value;
  /** Undefined: the stored text means nothing, and the usual value counts. */
  readonly parse: (text: string) => Value | undefined;
}

const oneOf = <const Word extends string>(words: readonly Word[], usual: NoInfer<Word>): Kind<Word> => ({
  usual,
  parse: (text) => words.find((word) => word === text),
});
const yesNo = (usual: boolean): Kind<boolean> => ({
  usual,
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
});
const wholeNumber = (least: number, most: number, usual: number): Kind<number> => ({
  usual,
  parse: (text) => (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
});
/** A key with its modifiers as `keyName` writes it: `Ctrl+.`, `Ctrl+Shift+P`, `F9`. */
const chord = (usual: string): Kind<string> => ({
  usual,
  parse: (text) => (/^(?:(?:Ctrl|Alt|Shift|Meta)\+)*[^\s+]+$/.test(text) && text.length <= 40 ? text : undefined),
});

const isPhone = matchMedia('(max-width: 759px)').matches;

const kinds = {
  theme: oneOf(['system', 'light', 'dark'], 'system'),
  /** Of letters in terminals, in pixels. */
  fontSize: wholeNumber(11, 20, 13),
  density: oneOf(['comfortable', 'compact'], 'comfortable'),
  copyOnSelect: yesNo(false),
  /** Ask before several lines are pasted into a program without bracketed paste. */
  pasteQuestion: yesNo(true),
  bell: oneOf(['none', 'sound'], 'none'),
  /** A terminal takes the size of this window while this person has its keyboard. */
  useWindowSize: yesNo(!isPhone),
  screenReader: yesNo(false),
  /** What of a terminal is announced. */
  announcements: oneOf(['command_ends', 'all_output', 'nothing'], 'command_ends'),
  motion: oneOf(['system', 'reduced', 'full'], 'system'),
  /** Shortcuts of a single letter. */
  singleKeys: yesNo(true),
  /** Pauses everything, in a terminal too. */
  pauseKey: chord('Ctrl+.'),
  /** Leaves a terminal, to which every other key belongs. */
  leaveKey: chord('Ctrl+]'),
  notifyNeedsYou: yesNo(true),
  notifyFailed: yesNo(false),
  notifyDone: yesNo(false),
  notifyPaused: yesNo(true),
  notifyLost: yesNo(false),
};

export type Preferences = { -readonly [Name in keyof typeof kinds]: (typeof kinds)[Name]['usual'] };
export type PreferenceName = keyof Preferences;

const names = Object.keys(kinds) as PreferenceName[];
const isName = (name: unknown): name is PreferenceName => typeof name === 'string' && name in kinds;

function stored(name: PreferenceName): Preferences[PreferenceName] {
  const { usual, parse }: Kind<Preferences[PreferenceName]> = kinds[name];
  const text = localStorage.getItem(name);
  return (text === null ? undefined : parse(text)) ?? usual;
}

const values = $state(Object.fromEntries(names.map((name) => [name, stored(name)])) as Preferences);

// Another tab changed something, or cleared everything.
addEventListener('storage', ({ key }) => {
  for (const name of key === null ? names : [key]) if (isName(name)) Object.assign(values, { [name]: stored(name) });
});

export const preferences: Preferences = new Proxy(values, {
  set(target, name, value) {
    if (!isName(name) || kinds[name].parse(String(value)) === undefined) return false;
    localStorage.setItem(name, String(value));
    return Reflect.set(target, name, value);
  },
});

/** What holds before a person chooses. */
export const usualPreference = <Name extends PreferenceName>(name: Name): Preferences[Name] =>
  kinds[name].usual as Preferences[Name];

/** A pressed key with its modifiers, as preferences keep it; undefined while only modifiers are down. */
export function keyName({ key, ctrlKey, altKey, shiftKey, metaKey }: KeyboardEvent): string | undefined {
  if (['Control', 'Alt', 'Shift', 'Meta', 'Dead', 'Unidentified'].includes(key)) return undefined;
  const isLetter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
  const name = key === ' ' ? 'Space' : key === '+' ? 'Plus' : isLetter ? key.toUpperCase() : key;
  // What Shift makes of a sign is a sign of its own: `?` is not Shift+?.
  const shift = shiftKey && (key.length > 1 || isLetter);
  const held = [ctrlKey && 'Ctrl', altKey && 'Alt', shift && 'Shift', metaKey && 'Meta'];
  return [...held.filter(Boolean), name].join('+');
}

/** Whether this key is the chosen one. On a Mac the command key does what Ctrl does elsewhere. */
export function isKey(event: KeyboardEvent, wanted: string): boolean {
  const pressed = keyName(event);
  return pressed === wanted || (pressed !== undefined && pressed.replace('Meta', 'Ctrl') === wanted);
}

/** Keeps the page as its person wants it: theme, density and motion stand on `<html>`, where the styles read them. */
export function applyPreferences(): void {
  const systemLight = matchMedia('(prefers-color-scheme: light)');
  let isLight = $state(systemLight.matches);
  systemLight.addEventListener('change', ({ matches }) => (isLight = matches));
  $effect.root(() => {
    $effect.pre(() => {
      const { dataset } = document.documentElement;
      dataset['theme'] = preferences.theme === 'system' ? (isLight ? 'light' : 'dark') : preferences.theme;
      dataset['density'] = preferences.density;
      dataset['motion'] = preferences.motion;
    });
  });
}
