import { unknown, type Word } from './word.ts';

/** A program that runs the rest of its words, and the options that may stand before them. */
export interface Wrapper {
  /** Letters of options that take a value: joined to them, or the next word. */
  readonly valued: string;
  /** Letters of options that stand alone, or have their value joined to them (`-l`, `-l5`). */
  readonly flags: string;
  readonly joined: string;
  readonly long: ReadonlySet<string>;
  readonly longFlags: ReadonlySet<string>;
  /** How many words stand between the options and the program. */
  readonly operands: number;
  /** `NAME=value` may stand before the program. */
  readonly assigns: boolean;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' ').filter((word) => word !== ''));

/** Letters and long names of options: those that take a value, and those that stand alone. */
export const row = (
  valued: string,
  flags: string,
  long = '',
  longFlags = '',
  { operands = 0, assigns = false, joined = '' }: Partial<Pick<Wrapper, 'operands' | 'assigns' | 'joined'>> = {},
): Wrapper => ({
  valued,
  flags,
  joined,
  long: set(long),
  longFlags: set(`${longFlags} help version`),
  operands,
  assigns,
});

const none = row('', '');
const one = row('', '', '', '', { operands: 1 });

export const wrappers: Readonly<Record<string, Wrapper>> = {
  sudo: row(
    'CDghpRrTtUu',
    'AbBEeHiKklNnPSsVv',
    'close-from chdir group host prompt chroot role type command-timeout other-user user',
    'askpass background bell edit preserve-env set-home login remove-timestamp reset-timestamp list non-interactive ' +
      'preserve-groups stdin shell validate no-update',
    { assigns: true },
  ),
  doas: row('Cu', 'Lns'),
  pkexec: row('', '', 'user', 'disable-internal-agent keep-cwd'),
  env: row(
    'uCSPa',
    'i0v',
    'unset chdir split-string argv0',
    'ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling',
    { assigns: true },
  ),
  command: row('', 'pvV'),
  builtin: none,
  exec: row('a', 'cl'),
  noglob: none,
  nocorrect: none,
  '-': none,
  repeat: one,
  // fish
  and: none,
  or: none,
  not: none,
  begin: none,
  time: row('fo', 'apqvV', 'format output', 'append portability quiet verbose'),
  nice: row('n', '0123456789', 'adjustment'),
  ionice: row('cnpPu', 't', 'class classdata pid pgid uid', 'ignore'),
  nohup: none,
  setsid: row('', 'cfw', '', 'ctty fork wait'),
  stdbuf: row('ioe', '', 'input output error'),
  timeout: row('ks', 'fpv', 'kill-after signal', 'foreground preserve-status verbose', { operands: 1 }),
  chronic: row('', 'ev'),
  unbuffer: row('', 'p'),
  strace: row(
    'abeEIoOpPsSuUX',
    'cCdDfFhiknqrtTvVwxyYzZ',
    'attach env expr output signal status string-limit trace trace-path user',
    'follow-forks output-separately summary summary-only decode-fds',
  ),
  ltrace: row('aeFlnopsuwxADX', 'bcCfhiLrStTV', 'output', ''),
  xargs: row(
    'aEdILJnPRsS',
    '0oprtx',
    'arg-file delimiter max-args max-procs max-chars process-slot-var',
    'null interactive no-run-if-empty verbose exit open-tty show-limits max-lines replace eof',
    { joined: 'ile' },
  ),
  parallel: row(
    'aCdEIjJLNnPSsW',
    '0kmqrtuvXz',
    'arg-file colsep delay delimiter jobs joblog load max-args max-procs memfree nice results retries sshlogin tagstring timeout workdir',
    'bar dry-run eta group halt-on-error keep-order line-buffer no-run-if-empty null pipe progress quote tag ungroup verbose will-cite',
  ),
  chroot: row('', '', 'userspec groups', 'skip-chdir', { operands: 1 }),
  flock: row(
    'wE',
    'sxeunoFv',
    'timeout wait conflict-exit-code',
    'shared exclusive unlock nonblock close no-fork verbose nb',
    { operands: 1 },
  ),
  setpriv: row(
    '',
    'd',
    'reuid regid ruid euid rgid egid groups inh-caps ambient-caps bounding-set securebits pdeathsig ptracer ' +
      'selinux-label apparmor-profile',
    'clear-groups init-groups keep-groups reset-env no-new-privs nnp dump list-caps',
  ),
  taskset: row('', 'apc', '', 'all-tasks pid cpu-list', { operands: 1 }),
  chrt: row('TPD', 'abdfiormpv', 'sched-runtime sched-period sched-deadline', 'batch fifo idle other rr', {
    operands: 1,
  }),
  numactl: row(
    'CiImNpPw',
    'alsH',
    'cpunodebind interleave membind physcpubind preferred',
    'all localalloc show hardware',
  ),
  setarch: row('', '3BFILRSTXZv', '', 'addr-no-randomize 3gb 4gb', { operands: 1 }),
  ...Object.fromEntries(
    'linux32 linux64 x86_64 i386 i486 i586 i686 uname26 aarch64 armv7l ppc64 s390x'
      .split(' ')
      .map((name) => [name, row('', '3BFILRSTXZv', '', 'addr-no-randomize 3gb 4gb uname-2.6 verbose')]),
  ),
  prlimit: row(
    'p',
    '',
    'pid output',
    'noheadings raw verbose core data nice fsize sigpending memlock rss nofile msgqueue rtprio stack cpu nproc as locks rttime',
    { joined: 'cdefilmnqrstuvxy' },
  ),
  choom: row('np', '', 'adjust pid'),
  logsave: row('', 'asv', '', '', { operands: 1 }),
  unshare: row(
    'lRSGw',
    'mucipnUTCfr',
    'root wd setuid setgid map-user map-group propagation setgroups',
    'mount uts ipc net pid user cgroup time fork map-root-user map-current-user mount-proc kill-child keep-caps',
  ),
  nsenter: row(
    'tSGW',
    'amuipnUCTFZre',
    'target setuid setgid wdns',
    'all mount uts ipc net pid user cgroup time no-fork',
  ),
  'systemd-run': row(
    'upMHPtEdGqr',
    'SdqGrPt',
    'unit property description slice uid gid nice setenv machine host on-active on-boot on-calendar service-type working-directory',
    'user system scope pty pipe quiet wait collect shell no-block remain-after-exit same-dir send-sighup no-ask-password',
  ),
  caffeinate: row('tw', 'dimsu'),
  faketime: row('', 'm', '', '', { operands: 1, joined: 'f' }),
  fakeroot: row('lsib', 'u', 'lib faked', 'unknown-is-real'),
  'dbus-run-session': row('', '', 'config-file dbus-daemon'),
  'xvfb-run': row('efnpsw', 'al', 'error-file auth-file server-num server-args wait', 'auto-servernum listen-tcp'),
  eatmydata: none,
  torsocks: none,
  proxychains: row('f', 'q'),
  proxychains4: row('f', 'q'),
  rlwrap: row('bCDefHjlMnOPqsStwz', 'aAcEghimNoprRTvWX'),
  toybox: none,
  // The dynamic loader itself. A preloaded library may run anything, so `--preload` and `--audit` stay unknown options.
  'ld.so': row(
    '',
    '',
    'argv0 library-path inhibit-rpath glibc-hwcaps-mask glibc-hwcaps-prepend',
    'inhibit-cache list verify list-tunables list-diagnostics',
  ),
  watch: row(
    'nqs',
    'bcCdefgprtwx',
    'interval equexit shotsdir',
    'beep color no-color differences errexit follow chgexit precise no-rerun no-title no-wrap exec',
    { joined: '' },
  ),
};

export interface Options {
  readonly rest: readonly Word[];
  /** Values of options, by letter or long name. */
  readonly values: ReadonlyMap<string, Word>;
  readonly letters: string;
  readonly problem: string | undefined;
}

const unclear = 'which word is the program is known only when it runs';

/** The words after the options. An unknown option makes the rest uncertain. */
export function afterOptions(args: readonly Word[], wrapper: Wrapper): Options {
  const values = new Map<string, Word>();
  let letters = '';
  let problem: string | undefined;
  let left = wrapper.operands;
  let at = 0;
  let options = true;
  for (; at < args.length; at += 1) {
    const word = args[at] as Word;
    const { text } = word;
    if (options && text === '--') options = false;
    else if (options && text.startsWith('--')) {
      const name = text.slice(2).split('=', 1)[0] ?? '';
      if (wrapper.long.has(name)) {
        const value = text.includes('=') ? { ...word, text: text.slice(name.length + 3) } : args[(at += 1)];
        if (value !== undefined) values.set(name, value);
      } else if (!wrapper.longFlags.has(name)) problem ??= `${text.slice(0, 40)} is not an option known here`;
    } else if (options && /^-./s.test(text)) {
      const taken = cluster(word, args[at + 1], wrapper, values);
      if (taken === undefined) problem ??= `${text.slice(0, 40)} is not an option known here`;
      else {
        at += taken.next ? 1 : 0;
        letters += taken.letters;
      }
    } else if (options && text === '-' && wrapper === wrappers['env']) continue;
    else if (wrapper.assigns && /^[^\0=-][^\0=]*=/.test(text)) options = false;
    else if (left > 0) {
      if (text.startsWith(unknown)) problem ??= unclear;
      left -= 1;
      options = false;
    } else break;
  }
  const rest = args.slice(at);
  // A word that may become several words, or an option, changes the meaning of the others.
  if (args.slice(0, at).some(({ splits }) => splits)) problem ??= unclear;
  return { rest, values, letters, problem };
}

/** `-iu X`, `-uX`, `-i`. Undefined: an unknown letter. */
function cluster(
  word: Word,
  next: Word | undefined,
  { valued, flags, joined }: Wrapper,
  values: Map<string, Word>,
): { readonly next: boolean; readonly letters: string } | undefined {
  const { text } = word;
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] as string;
    const letters = text.slice(1, at + 1);
    if (valued.includes(letter)) {
      const alone = at === text.length - 1;
      const value = alone ? next : { ...word, text: text.slice(at + 1) };
      if (value !== undefined) values.set(letter, value);
      return { next: alone, letters };
    }
    if (joined.includes(letter)) {
      values.set(letter, { ...word, text: text.slice(at + 1) });
      return { next: false, letters };
    }
    if (!flags.includes(letter)) return undefined;
  }
  return { next: false, letters: text.slice(1) };
}
