/** The sections of the settings in their order. */
export const sectionNames = {
  appearance: 'Appearance',
  terminal: 'Terminal',
  notifications: 'Notifications',
  accessibility: 'Accessibility',
  recording: 'Recording',
  rules: 'Rules',
  network: 'Network',
  language: 'Language',
  about: 'About',
} as const;

export type SectionId = keyof typeof sectionNames;
