import type { Word } from './word.ts';

/**
 * Programs that run nothing they are given, so that a word of theirs may be anything: a name, a text, a file. Every other program
 * is taken for one that may run its words.
 */
const plain = new Set(
  (
    'true false : echo grep egrep fgrep ls cat head tail wc uniq cut tr diff cmp comm stat file du df test [ [[ cd pushd popd ' +
    'dirs pwd mkdir rmdir rm touch chmod chown chgrp basename dirname realpath readlink mktemp date cal sleep seq ps pgrep pkill ' +
    'kill killall whoami id groups hostname uname which whereis type apropos whatis help tee md5sum sha1sum sha256sum sha512sum ' +
    'cksum base64 xxd hexdump od strings column fold fmt nl paste join rev tac jq curl unset shift return exit break continue ' +
    'jobs fg bg disown let ulimit umask history logger tput clear nproc free uptime lsof ss netstat ping dig host nslookup dd ' +
    'expr shutdown reboot halt poweroff userdel useradd passwd end'
  ).split(' '),
);

/** Harmless, but for words that match. */
const unless: Readonly<Record<string, RegExp>> = {
  rg: /^--(?:pre|host)/,
  man: /^-[A-Za-z]*[PHC]|^--(?:pag|ht|c)/,
  // Within one word an option may be followed by a blank or a "$", and then by a command.
  less: /^\+|^-.*[+!]|^-[A-Za-z]*[kpo]|^--le/,
  more: /^\+|^-.*[+!]/,
  sort: /^--co/,
  split: /^--f/,
  wget: /^--?(?:e|use-a|conf)/,
  rsync: /^-[A-Za-z]*[eM]|^--(?:rs|remote-o|da|conf)/,
  scp: /^-[A-Za-z]*[SoDF]/,
  sftp: /^-[A-Za-z]*[SoDFb]/,
  make: /^-[A-Za-z]*[fEI]|^--(?:ev|fi|mak|in)|[=\0]/,
  awk: /system|[|@\0]|getline|^-[A-Za-z]*[fliE]/,
  gawk: /system|[|@\0]|getline|^-[A-Za-z]*[fliE]/,
  gh: /^(?:alias|extension|ext|config|codespace)$/,
  apt: /^-[A-Za-z]*[oc]|^--(?:opt|conf)/,
  'apt-get': /^-[A-Za-z]*[oc]|^--(?:opt|conf)/,
  brew: /^(?:sh|exec|bundle|ruby|irb)$/,
};

/** The first word that is no option is a verb of theirs, never a program: `docker rm`. Behind some comes another one. */
const verbs = new Set('docker podman nerdctl kubectl oc helm cargo go pip pip3 systemctl svn npm terraform'.split(' '));
const nouns = new Set(
  'compose container image volume network system builder buildx context config run install'.split(' '),
);

/** The words of a program that it may run as a program. */
export function mayRun(program: string, args: readonly Word[]): readonly Word[] {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (!isUsual(program)) return args;
  if (plain.has(name)) return [];
  const except = Object.hasOwn(unless, name) ? unless[name] : undefined;
  if (except !== undefined) return args.some(({ text }) => except.test(text)) ? args : [];
  return verbs.has(name) ? afterVerb(args) : args;
}

export function afterVerb(args: readonly Word[]): readonly Word[] {
  const verb = args.findIndex(({ text }) => !text.startsWith('-'));
  if (!/^[\w-]+$/.test(args[verb]?.text ?? '')) return args;
  const rest = args.filter((_, at) => at !== verb);
  const next = rest[verb];
  return nouns.has(args[verb]?.text ?? '') && next?.dynamic === false && !next.text.startsWith('-')
    ? rest.filter((_, at) => at !== verb)
    : rest;
}

/** A name alone, or in a directory of the system: it is what its name says. */
export const isUsual = (program: string): boolean =>
  !program.includes('/') ||
  /^(?:\/usr(?:\/local)?|\/opt\/homebrew|\/run\/current-system\/sw)?\/s?bin\/[^/]+$/.test(program);

/**
 * Programs that are known to run some of their words, with options unknown here. What is certain of them is judged as with all
 * programs; a word that could be the program must be certain.
 */
export const runners: ReadonlySet<string> = new Set(
  (
    'ssh-agent start-stop-daemon capsh gpg-agent tmux screen daemonize daemon dbus-launch perf gdb lldb valgrind ' +
    'cgexec firejail bwrap entr proot cpulimit setuidgid chpst softlimit envdir torify tsocks hyperfine dtach abduco zellij ' +
    'systemd-inhibit systemd-nspawn machinectl run-parts coreutils nsjail catchsegv expect'
  ).split(' '),
);

/** Of those, the ones that hand a word with blanks in it to a shell. */
export const takesText: ReadonlySet<string> = new Set(
  'capsh tmux screen zellij dtach abduco entr hyperfine'.split(' '),
);
