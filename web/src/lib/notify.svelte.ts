import { untrack } from 'svelte';
import { byWhom } from './agent-words.ts';
import { notificationText } from './ask-words.ts';
import { asks } from './asks.svelte.ts';
import { feed } from './feed.svelte.ts';
import { running } from './format.ts';
import { looked } from './looked.svelte.ts';
import { awayMs, type Notice, Notifier, PauseNews } from './notify.ts';
import { pausing } from './pausing.svelte.ts';
import { preferences } from './preferences.svelte.ts';
import { router } from './router.svelte.ts';
import { machineOf } from './tiles.ts';
import { shown as plain } from './visible.ts';
import { nameOf } from './words.ts';

const lostMs = 5 * 60_000;

/** Notifications of the browser while a tab is open. Asked for on a click only. */
class Notifications {
  #permission = $state<NotificationPermission>('Notification' in globalThis ? Notification.permission : 'denied');
  /** Any tab of ours; the others tell. */
  #lookedAt = 0;

  /** The browser could still be asked. */
  get isOffered(): boolean {
    return this.#permission === 'default' && preferences.notifyNeedsYou;
  }

  get isOn(): boolean {
    return this.#permission === 'granted';
  }

  readonly ask = async (): Promise<void> => {
    this.#permission = await Notification.requestPermission();
  };

  /** Until the answer is called. */
  follow(): () => void {
    const channel = new BroadcastChannel('fairlead-looking');
    channel.onmessage = () => (this.#lookedAt = Date.now());
    const look = (): void => {
      if (document.visibilityState !== 'visible') return;
      this.#lookedAt = Date.now();
      channel.postMessage('looking');
    };
    const timer = setInterval(look, 2000);
    document.addEventListener('visibilitychange', look);
    look();
    const notifier = new Notifier({
      show: (notice) => this.#show(notice),
      isLooking: () => document.visibilityState === 'visible' || Date.now() - this.#lookedAt < awayMs,
      after(ms, run) {
        const waiting = setTimeout(run, ms);
        return () => clearTimeout(waiting);
      },
    });
    const stop = $effect.root(() => {
      $effect(() => {
        const notices = this.isOn ? wanted() : [];
        untrack(() => notifier.update(notices));
      });
    });
    return () => {
      stop();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
      channel.close();
    };
  }

  #show({ title, text, tag, path }: Notice): () => void {
    const shown = new Notification(title, { body: text, tag, icon: '/mark.svg' });
    shown.onclick = () => {
      focus();
      router.go(path);
      shown.close();
    };
    return () => shown.close();
  }
}

/** Never the command, never a secret, and no button: deciding needs the exact bytes on screen. */
function wanted(): Notice[] {
  const here = feed.me?.name ?? 'this machine';
  const needs = preferences.notifyNeedsYou
    ? asks.waiting.map(({ key, ask }): Notice => {
        const terminal = feed.terminals.get(ask.terminal ?? '');
        const machine = terminal ? machineOf(terminal, here) : here;
        return { tag: `ask ${key}`, title: `Needs you: ${machine}`, text: notificationText(ask), path: `/asks/${key}` };
      })
    : [];
  const ended = [...feed.terminals.values()].flatMap((terminal): Notice[] => {
    const { block, shown, terminal: id, since } = terminal;
    const machine = machineOf(terminal, here);
    const tag = `${shown} ${id} ${block?.id ?? ''}`;
    const path = `/t/${id}`;
    if (shown === 'lost' && preferences.notifyLost && feed.now - since > lostMs)
      return [{ tag, title: `${machine} is offline`, text: '', path }];
    // Of terminals that this browser has looked at, and what ended after the last look.
    const lookedAt = looked.at.get(id);
    if (lookedAt === undefined || block?.endedAt === undefined || block.endedAt < lookedAt) return [];
    if (shown === 'failed' && preferences.notifyFailed) {
      const lasted = running(block.endedAt - (block.startedAt ?? block.endedAt));
      const text = `exit ${block.exitCode ?? '?'} after ${lasted} on ${machine}`;
      return [{ tag, title: `Failed: ${nameOf(terminal)}`, text, path }];
    }
    return shown === 'done' && preferences.notifyDone
      ? [{ tag, title: `Done: ${nameOf(terminal)}`, text: '', path }]
      : [];
  });
  return [...needs, ...paused(), ...ended];
}

const pauseNews = new PauseNews();

function paused(): Notice[] {
  // Before the first whole state, that nothing is paused is not known.
  if (!feed.isLoaded) return [];
  const { by, at } = feed.pause ?? {};
  const pause =
    by === undefined || at === undefined
      ? undefined
      : { by: plain(by, 32), at, isMine: byWhom(by, feed.me?.name ?? '') === 'you' };
  const news = pauseNews.look(pause, feed.now, pausing.resumedAt);
  return preferences.notifyPaused ? news : [];
}

export const notifications = new Notifications();
