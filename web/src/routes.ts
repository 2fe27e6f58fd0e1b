import type { Component } from 'svelte';
import type { IconName } from './lib/icons.ts';
import Missing from './pages/Missing.svelte';
import Now from './pages/Now.svelte';

/** A page's component takes the part of the path that names its object, if it has one. */
type PageComponent = Component<{ id?: string }>;

interface PageRoute {
  /** Its first group is the id of what the page shows. */
  readonly path: RegExp;
  /** In the title of the window. */
  readonly title: string;
  /** Another object is another page, not a change of this one. */
  readonly keyed?: true;
  readonly load: () => Promise<{ readonly default: PageComponent }>;
  /** Its place in the list of pages. Below 760 px those with `tab` stand at the bottom and the others under More. */
  readonly nav?: {
    readonly to: string;
    readonly icon: IconName;
    readonly group: 'work' | 'access' | 'here';
    readonly tab?: true;
    /** It is also marked while these are shown. */
    readonly alsoAt?: RegExp;
  };
}

/** What a page module gives, whatever its own props are called. */
const page = (module: Promise<{ default: unknown }>): Promise<{ default: PageComponent }> =>
  module as Promise<{ default: PageComponent }>;

/** Every page, in the order of the sidebar. */
export const routes: readonly PageRoute[] = [
  {
    path: /^\/$/,
    title: 'Now',
    load: () => page(Promise.resolve({ default: Now })),
    nav: { to: '/', icon: 'tiles', group: 'work', tab: true, alsoAt: /^\/(?:t|asks)\// },
  },
  {
    path: /^\/asks\/([\w-]+)$/,
    title: 'Needs you',
    keyed: true,
    load: () => page(import('./pages/Ask.svelte')),
  },
  {
    path: /^\/t\/([\w-]+)$/,
    title: 'Terminal',
    keyed: true,
    load: () => page(import('./pages/Terminal.svelte')),
  },
  {
    path: /^\/agents$/,
    title: 'Agents',
    load: () => page(import('./pages/Agents.svelte')),
    nav: { to: '/agents', icon: 'agent', group: 'work', tab: true, alsoAt: /^\/agents\// },
  },
  {
    path: /^\/agents\/([^/]+)$/,
    title: 'Agent',
    keyed: true,
    load: () => page(import('./pages/Agent.svelte')),
  },
  {
    path: /^\/timeline$/,
    title: 'Timeline',
    load: () => page(import('./pages/Timeline.svelte')),
    nav: { to: '/timeline', icon: 'timeline', group: 'work', tab: true },
  },
  {
    path: /^\/recordings$/,
    title: 'Recordings',
    load: () => page(import('./pages/Recordings.svelte')),
    nav: { to: '/recordings', icon: 'play', group: 'work', alsoAt: /^\/recordings\// },
  },
  {
    path: /^\/recordings\/([^/]+)$/,
    title: 'Recording',
    keyed: true,
    load: () => page(import('./pages/Recording.svelte')),
  },
  {
    path: /^\/machines$/,
    title: 'Machines',
    load: () => page(import('./pages/Machines.svelte')),
    nav: { to: '/machines', icon: 'machines', group: 'work', alsoAt: /^\/machines\// },
  },
  {
    path: /^\/machines\/([^/]+)$/,
    title: 'Machine',
    keyed: true,
    load: () => page(import('./pages/Machine.svelte')),
  },
  {
    path: /^\/profile\/tokens$/,
    title: 'Connect a client',
    load: () => page(import('./pages/Connect.svelte')),
    nav: { to: '/profile/tokens', icon: 'key', group: 'access' },
  },
  {
    path: /^\/profile$/,
    title: 'Profile',
    load: () => page(import('./pages/Profile.svelte')),
    nav: { to: '/profile', icon: 'people', group: 'access' },
  },
  {
    path: /^\/audit$/,
    title: 'Audit',
    load: () => page(import('./pages/Audit.svelte')),
    nav: { to: '/audit', icon: 'shield', group: 'access' },
  },
  {
    path: /^\/workspaces$/,
    title: 'Workspaces',
    load: () => page(import('./pages/Workspaces.svelte')),
    nav: { to: '/workspaces', icon: 'folders', group: 'here' },
  },
  {
    path: /^\/settings(?:\/([a-z]+))?$/,
    title: 'Settings',
    load: () => page(import('./pages/Settings.svelte')),
    nav: { to: '/settings', icon: 'sliders', group: 'here' },
  },
  {
    path: /^\/health$/,
    title: 'Health',
    load: () => page(import('./pages/Health.svelte')),
    nav: { to: '/health', icon: 'pulse', group: 'here' },
  },
];

const missing: PageRoute = {
  path: /^/,
  title: 'Nothing here',
  load: () => page(Promise.resolve({ default: Missing })),
};

/** The page of a path, and the id in it. */
export function routeOf(path: string): { readonly route: PageRoute; readonly id?: string } {
  for (const route of routes) {
    const found = route.path.exec(path);
    if (found) return found[1] === undefined ? { route } : { route, id: decodeURIComponent(found[1]) };
  }
  return { route: missing };
}
