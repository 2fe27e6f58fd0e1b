import { feed } from '../feed.svelte.ts';
import type { Rules, RulesTried } from '../shapes.ts';
import { ServerSetting } from './server-setting.svelte.ts';

const undoMs = 10_000;
const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/** The policy as a person is changing it. It is saved as a whole, with a button. */
export class RulesDraft {
  readonly setting = new ServerSetting<Rules>({ file: 'policy', get: 'policy.get', set: 'policy.set' });
  enabled = $state(false);
  judgesInput = $state(false);
  blocked = $state('');
  allowed = $state('');
  command = $state('');
  verdict = $state<RulesTried['verdict']>();
  past = $state<RulesTried>();
  fault = $state<unknown>();
  isSaving = $state(false);
  isSaved = $state(false);
  /** The file has changed since the fields were filled, and they hold something else. */
  isOverrun = $state(false);
  #filled = '';
  #before: Rules | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** For an effect: fills the fields from the file unless a person is changing them. */
  follow(): void {
    const { value } = this.setting;
    if (!value) return;
    const text = JSON.stringify(value);
    if (text === this.#filled) return;
    if (this.#filled !== '' && this.#draftText() !== draftOf(JSON.parse(this.#filled) as Rules)) {
      this.isOverrun = true;
      return;
    }
    this.#fill(value, text);
  }

  /** One line for each difference from the saved policy: `+ blocked rm -rf /`. */
  get changes(): string[] {
    const saved = this.setting.value;
    if (!saved) return [];
    const scope = this.judgesInput !== saved.scope.includes('input');
    return [
      ...(this.enabled === saved.enabled ? [] : [this.enabled ? '+ enforced' : '- enforced']),
      ...(scope ? [this.judgesInput ? '+ typed lines' : '- typed lines'] : []),
      ...difference('blocked', saved.blocked_patterns, lines(this.blocked)),
      ...difference('allowed', saved.allowed_patterns, lines(this.allowed)),
    ];
  }

  async save(): Promise<void> {
    const before = this.setting.value;
    await this.#write(this.#draft());
    if (this.fault === undefined && before) this.#offerUndo(before);
  }

  async undo(): Promise<void> {
    const before = this.#before;
    this.isSaved = false;
    if (before) await this.#write(before);
  }

  /** Shows what is saved, in place of what was changed. */
  drop(): void {
    const { value } = this.setting;
    if (value) this.#fill(value, JSON.stringify(value));
    this.fault = undefined;
  }

  /** What these rules would do to the command. */
  async ask(): Promise<void> {
    this.verdict = (await this.#try({ command: this.command }))?.verdict;
  }

  /** What these rules would have done lately. */
  async tryPast(): Promise<void> {
    this.past = await this.#try({ days: 7 });
  }

  async #try(more: object): Promise<RulesTried | undefined> {
    this.fault = undefined;
    const { enabled, blocked_patterns, allowed_patterns } = this.#draft();
    try {
      return await feed.live?.call<RulesTried>('rules.try', { enabled, blocked_patterns, allowed_patterns, ...more });
    } catch (error) {
      this.fault = error;
      return undefined;
    }
  }

  async #write({ enabled, blocked_patterns, allowed_patterns, scope }: Omit<Rules, 'error'>): Promise<void> {
    this.fault = undefined;
    this.isSaving = true;
    try {
      await this.setting.save({ enabled, blocked_patterns, allowed_patterns, scope });
      this.drop();
    } catch (error) {
      this.fault = error;
    } finally {
      this.isSaving = false;
    }
  }

  #offerUndo(before: Rules): void {
    this.#before = before;
    this.isSaved = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.isSaved = false), undoMs);
  }

  #fill(value: Rules, text: string): void {
    this.#filled = text;
    this.isOverrun = false;
    this.enabled = value.enabled;
    this.judgesInput = value.scope.includes('input');
    this.blocked = value.blocked_patterns.join('\n');
    this.allowed = value.allowed_patterns.join('\n');
  }

  #draft(): Omit<Rules, 'error'> {
    return {
      enabled: this.enabled,
      blocked_patterns: lines(this.blocked),
      allowed_patterns: lines(this.allowed),
      scope: this.judgesInput ? ['exec', 'input'] : ['exec'],
    };
  }

  #draftText(): string {
    return JSON.stringify([this.enabled, this.judgesInput, lines(this.blocked), lines(this.allowed)]);
  }
}

const draftOf = ({ enabled, scope, blocked_patterns, allowed_patterns }: Rules): string =>
  JSON.stringify([enabled, scope.includes('input'), blocked_patterns, allowed_patterns]);

const difference = (list: string, before: readonly string[], now: readonly string[]): string[] => [
  ...now.filter((one) => !before.includes(one)).map((one) => `+ ${list} ${one}`),
  ...before.filter((one) => !now.includes(one)).map((one) => `- ${list} ${one}`),
];
