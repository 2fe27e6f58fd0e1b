import type { Component } from 'svelte';
import About from '../../parts/settings/About.svelte';
import Accessibility from '../../parts/settings/Accessibility.svelte';
import Appearance from '../../parts/settings/Appearance.svelte';
import Language from '../../parts/settings/Language.svelte';
import Network from '../../parts/settings/Network.svelte';
import Notifications from '../../parts/settings/Notifications.svelte';
import Recording from '../../parts/settings/Recording.svelte';
import Rules from '../../parts/settings/Rules.svelte';
import TerminalSection from '../../parts/settings/TerminalSection.svelte';
import { type SectionId, sectionNames } from './section-names.ts';

interface Section {
  readonly id: SectionId;
  readonly name: string;
  /** Its settings in the state folder: a mark tells that a file of them cannot be read. */
  readonly files: readonly string[];
  readonly part: Component;
}

const parts: Readonly<Record<SectionId, readonly [Component, ...string[]]>> = {
  appearance: [Appearance, 'theme'],
  terminal: [TerminalSection, 'scrollback', 'compat'],
  notifications: [Notifications],
  accessibility: [Accessibility],
  recording: [Recording, 'recording'],
  rules: [Rules, 'policy'],
  network: [Network, 'proxy'],
  language: [Language, 'lang'],
  about: [About],
};

export const sections: readonly Section[] = (Object.keys(sectionNames) as SectionId[]).map((id) => {
  const [part, ...files] = parts[id];
  return { id, name: sectionNames[id], files, part };
});
