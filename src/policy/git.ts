import { joined, type CommandLook } from './look.ts';
import { unknown, type Word } from './word.ts';

/** Settings whose value git runs. */
const runningKeys =
  /(?:pager|editor|command|cmd|external|helper|fsmonitor|program|textconv|driver|clean|smudge|process|askpass|hookspath|gitproxy|tool\.[^.]+\.path|uploadpack|receivepack|browser|viewer)$|^pager\./i;
/** Options whose value is a program, of whatever verb; git takes the beginning of a long name for the name. */
const runningOptions =
  /^--(?:up[a-z-]*|rec[a-z]*-?p[a-z]*|exec|ext[a-z]*|sm[a-z-]*|[a-z]+-(?:cmd|filter)|open[a-z-]*|tool-?h?[a-z]*)$/;
/** Options whose value is a text for people. */
const texts =
  /^--(?:message|author|grep|format|pretty|date|since|until|before|after|committer|trailer|cleanup|fixup|squash|track)$/;

/** What these are given is data, but for their options. Others may be an alias, or run a program. */
const dataVerbs = new Set(
  (
    'add am apply archive bisect blame branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone commit config ' +
    'count-objects describe diff fetch format-patch fsck gc grep help init log ls-files ls-remote ls-tree merge merge-base mv ' +
    'name-rev notes pull push range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-ref ' +
    'sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref var version whatchanged worktree'
  ).split(' '),
);

export function readGit(look: CommandLook): void {
  const { args, add, inner, spoken, problem } = look;
  // An unknown option may still name a program.
  const told = args.filter(({ text }) => /^--?[^=\s]+=/.test(text) && !texts.test(text.split('=', 1)[0] ?? ''));
  const verb = verbOf(args);
  add(false, verb === undefined || dataVerbs.has(verb) ? told : args);
  if (/^(?:remote-ext|remote-fd|instaweb|web--browse|shell|daemon)$/.test(verb ?? ''))
    problem(`git ${verb} runs its words`);
  if (args.some(({ text }) => /(?:^|=)ext::/.test(text))) problem('git runs what an "ext::" address says');
  settings(look, verb);
  for (const [at, word] of args.entries()) {
    const before = args[at - 1]?.text ?? '';
    const [, option = '', value] = /^(--[^=]+)(?:=(.*))?$/s.exec(word.text) ?? [];
    if (word.text.startsWith('!')) spoken(part(word, word.text.slice(1)));
    if (before === '-c') setting(look, word);
    if (word.text.startsWith('--exec-path=') || word.text.startsWith('--config-env'))
      problem(`it is unknown what runs because of ${word.text.split('=', 1)[0]}`);
    else if (runningOptions.test(option)) spoken(value === undefined ? args[at + 1] : part(word, value));
    if (verb === 'rebase' || verb === 'difftool') {
      if (word.text === '-x') spoken(args[at + 1]);
      else if (/^-x./s.test(word.text)) spoken(part(word, word.text.slice(2)));
    }
    if (/^(?:clone|fetch|pull|ls-remote)$/.test(verb ?? '') && word.text === '-u') spoken(args[at + 1]);
    if (verb === 'grep' && /^-O./s.test(word.text)) spoken(part(word, word.text.slice(2)));
  }
  const at = args.findIndex(({ text }) => text === 'bisect' || text === 'submodule');
  if (at === -1) return;
  if (args[at + 1]?.text === 'run') inner(args.slice(at + 2));
  const each = args.findIndex(({ text }, place) => place > at && text === 'foreach');
  if (each !== -1) spoken(joined(args.slice(each + 1).filter(({ text }) => !text.startsWith('--'))));
}

const part = (word: Word, text: string): Word => ({ text, dynamic: word.dynamic });

/** The first word that is neither an option of git itself nor the value of one. */
function verbOf(args: readonly Word[]): string | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const { text } = args[at] as Word;
    if (/^(?:-[cC]|--(?:git-dir|work-tree|namespace|super-prefix|attr-source))$/.test(text)) at += 1;
    else if (!text.startsWith('-')) return text;
  }
  return undefined;
}

/** `git config core.editor vim`, in the old way and the new. */
function settings(look: CommandLook, verb: string | undefined): void {
  if (verb !== 'config') return;
  const words = look.args.slice(look.args.findIndex(({ text }) => text === 'config') + 1);
  const key = words.findIndex(({ text }) => /^[A-Za-z][\w-]*\./.test(text));
  const value = words[key + 1];
  if (key !== -1 && value !== undefined) run(look, (words[key] as Word).text, value);
  const unsure = words.slice(0, key === -1 ? words.length - 1 : key).some(({ text }, at) => {
    return text.startsWith(unknown) && !/^(?:-f|--file|--blob)$/.test(words[at - 1]?.text ?? '');
  });
  if (unsure) look.problem('which setting of git it changes is known only when it runs; name it');
}

/** `-c key=value`. */
function setting(look: CommandLook, word: Word): void {
  const [, key, value] = /^([^=\s]+)=(.*)$/s.exec(word.text) ?? [];
  if (key !== undefined && value !== undefined) run(look, key, part(word, value));
}

function run({ spoken, text, problem }: CommandLook, key: string, value: Word): void {
  if (/^alias\./i.test(key)) {
    if (value.text.startsWith('!')) spoken(part(value, value.text.slice(1)));
    else if (value.dynamic) problem(`what ${key} stands for is known only when it runs`);
    else text(`git ${value.text}`);
  } else if (/^include(?:if)?\./i.test(key)) problem(`it is unknown what runs because of ${key}`);
  else if (runningKeys.test(key) && !/^(?:true|false|)$/.test(value.text)) {
    // A helper with a name of its own is a program of git.
    if (!(/helper$/i.test(key) && /^[\w-]+(?: --[\w=-]+)*$/.test(value.text)))
      spoken(part(value, value.text.replace(/^!/, '')));
  }
}
