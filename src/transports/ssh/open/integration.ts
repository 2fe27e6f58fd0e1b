import { basename } from 'node:path';
import { type ShellKind, traitsOf } from '../../../engine/shells/traits.ts';
import { type ScriptName, shippedScripts } from '../../shell-integration/assets.ts';
import { loginFlags } from '../../shell-integration/login.ts';

/** What a terminal at the far side is to run, and what it is told. */
export interface RemoteLaunch {
  /** A secret nonce: words that carry it come from our own script. */
  readonly token: string;
  /** For the marks of the shell. */
  readonly nonce: string;
  /** Name of the folder the scripts lie in until the shell has read them. */
  readonly folder: string;
  /** Runs instead of a shell. */
  readonly argv?: readonly [string, ...string[]] | undefined;
  /** A path or a name; the login shell when left out. */
  readonly shell?: string | undefined;
  /** A line that the shell runs, instead of waiting for some. */
  readonly command?: string | undefined;
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly integration: boolean;
}

const say = (token: string, word: string): string => `printf "\\033]7461;${token};${word}\\007"`;

/**
 * The command that is sent: short, and the same text in every shell a user may have (POSIX, fish, csh), so no quote,
 * exclamation mark or line end in it. It takes the rest as bytes of the terminal, whose driver it silences meanwhile.
 */
export function firstCommand(token: string): string {
  const take = 'IFS= read -r n && eval "$(dd bs=1 count=$n 2>/dev/null)"';
  const hand = `o=$(stty -g) && stty raw -echo && ${say(token, 'go;%s')} "$SHELL" && ${take}`;
  return `exec /bin/sh -c '${hand}; stty "$o"; ${say(token, 'no')}; exec "\${SHELL:-/bin/sh}" -l'`;
}

/** What `firstCommand` waits for once it has told the login shell: the length, and a script for a POSIX shell. */
export function launchBytes(launch: RemoteLaunch, loginShell: string): Uint8Array {
  const script = Buffer.from(launchScript(launch, loginShell));
  return Buffer.concat([Buffer.from(`${script.length}\n`), script]);
}

function launchScript(launch: RemoteLaunch, loginShell: string): string {
  const { token, env, cwd, argv, command } = launch;
  const shell = launch.shell ?? (loginShell || '/bin/sh');
  return [
    'stty "$o"',
    `f() { ${say(token, 'fail;%s')} "$1"; exit 127; }`,
    `r() { ${say(token, 'ready;%s')} "$1"; }`,
    'unset FAIRLEAD_INTEGRATION FAIRLEAD_LOGIN FAIRLEAD_ZDOTDIR FAIRLEAD_XDG_DATA_DIRS FAIRLEAD_ENV FAIRLEAD_SHELL',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    ...(cwd === undefined ? [] : [`cd ${homePath(cwd)} 2>/dev/null || f cwd`]),
    ...(argv !== undefined
      ? startProgram(argv)
      : command === undefined
        ? startShell(launch, shell)
        : startLine(command, shell)),
  ].join('\n');
}

function startProgram(argv: readonly string[]): string[] {
  const words = argv.map(quoted);
  return [`command -v ${words[0]} >/dev/null 2>&1 || f program`, 'r plain', `exec ${words.join(' ')}`];
}

function startShell(launch: RemoteLaunch, shell: string): string[] {
  const kind = launch.integration ? kindOf(shell) : undefined;
  return [
    ...findShell(shell),
    ...(kind === undefined ? [] : integrated(kind, launch)),
    'r plain',
    motd,
    `exec "$s" ${loginFlags(shell).join(' ')}`,
  ];
}

const startLine = (command: string, shell: string): string[] => [
  ...findShell(shell),
  'r plain',
  `exec "$s" -c ${quoted(command)}`,
];

const findShell = (shell: string): string[] => [
  `s=${homePath(shell)}`,
  'case $s in */*) ;; *) s=$(command -v "$s") ;; esac',
  '[ -x "$s" ] || f shell',
];

const kindOf = (shell: string): ShellKind | undefined => traitsOf(basename(shell))?.integration;

/** Servers print it only for a `shell` request. */
const motd = '[ -e "$HOME/.hushlogin" ] || cat /run/motd.dynamic /etc/motd 2>/dev/null';

/**
 * A folder that only the user can enter; the script in it removes it as its first deed. If the shell reads something else
 * instead, a loop does within ten seconds.
 */
function integrated(kind: ShellKind, { folder, nonce }: RemoteLaunch): string[] {
  const write = Object.entries(scriptsFor(kind, nonce)).flatMap(([name, text]) => [
    ...(name.includes('/') ? [`mkdir -p "$d/${name.slice(0, name.lastIndexOf('/'))}"`] : []),
    `printf %s ${quoted(text)} >"$d/${name}"`,
  ]);
  return [
    'd=',
    `if ${condition[kind]}; then for p in "\${XDG_RUNTIME_DIR-}" /dev/shm "\${TMPDIR-}" /tmp; do`,
    '  case $p in /*) ;; *) continue ;; esac',
    `  if mkdir -m 700 "$p/${folder}" 2>/dev/null; then d=$p/${folder}; break; fi`,
    'done; fi',
    `if [ -n "$d" ] && (umask 077; set -e; ${write.join('; ')}) 2>/dev/null; then`,
    '  (trap "" HUP; i=0; while [ -d "$d" ] && [ $i -lt 10 ]; do sleep 1; i=$((i + 1)); done; rm -rf "$d") </dev/null >/dev/null 2>&1 &',
    '  export FAIRLEAD_DIR="$d"',
    `  r ${kind}`,
    `  ${motd}`,
    `  ${start[kind]}`,
    'fi',
    '[ -z "$d" ] || rm -rf "$d"',
  ];
}

/** Whether this shell, as found at the far side, is one the script is for. */
const condition: Readonly<Record<ShellKind, string>> = {
  bash: `[ "$("$s" --norc -c 'echo $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))' 2>/dev/null || echo 0)" -ge 404 ]`,
  zsh: 'true',
  fish: 'true',
  sh: [
    'w=$(readlink -f "$s" 2>/dev/null || echo "$s")',
    'case ${w##*/} in dash | bash) w=${w##*/} ;; ash | busybox*) w=ash ;; *) w= ;; esac',
    '[ -n "$w" ]',
  ].join('; '),
};

const start: Readonly<Record<ShellKind, string>> = {
  bash: 'exec "$s" --rcfile "$d/bash.bash"',
  zsh: '[ -z "${ZDOTDIR+set}" ] || export FAIRLEAD_ZDOTDIR="$ZDOTDIR"; export ZDOTDIR="$d/zsh"; exec "$s" -l',
  fish: [
    '[ -z "${XDG_DATA_DIRS+set}" ] || export FAIRLEAD_XDG_DATA_DIRS="$XDG_DATA_DIRS"',
    'export XDG_DATA_DIRS="$d:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"',
    'exec "$s" -l',
  ].join('; '),
  sh: '[ -z "${ENV-}" ] || export FAIRLEAD_ENV="$ENV"; export FAIRLEAD_SHELL="$w" ENV="$d/sh.sh"; exec "$s" -l',
};

/**
 * The shipped scripts, begun in another way: the nonce is in them, and they keep no folder for an exchange of files. What
 * was removed from a shared folder could be created again by another user.
 */
function scriptsFor(kind: ShellKind, nonce: string): Readonly<Partial<Record<ScriptName, string>>> {
  const shipped = (name: ScriptName): string => shippedScripts().files.get(name)?.toString('utf8') ?? '';
  switch (kind) {
    case 'bash':
      return { 'bash.bash': `${posixStart(nonce)}\nunset -v FAIRLEAD_DIR\n__fl_login=1\n${shipped('bash.bash')}` };
    case 'zsh':
      return {
        // The hooks are read by it later, so the folder goes at the end.
        'zsh/.zshenv': `typeset -g __fl_dir= __fl_tmp=$FAIRLEAD_DIR\ntypeset -gaH __fl_nonce\n__fl_nonce=(${nonce})\nunset FAIRLEAD_DIR\n${shipped('zsh/.zshenv')}\ncommand rm -rf -- $__fl_tmp\nunset __fl_tmp\n`,
        'zsh/hooks.zsh': shipped('zsh/hooks.zsh'),
      };
    case 'fish':
      return {
        'fish/vendor_conf.d/fairlead.fish': `${fishStart(nonce)}\n${shipped('fish/vendor_conf.d/fairlead.fish')}`,
      };
    case 'sh':
      return { 'sh.sh': `${posixStart(nonce)}\n${plainStart}\n${shipped('sh.sh')}` };
  }
}

const posixStart = (nonce: string): string => `command rm -rf "$FAIRLEAD_DIR"\n__fl_nonce=${nonce} __fl_dir=`;

const plainStart = `__fl_name=\${FAIRLEAD_SHELL-sh}
if [ -n "\${FAIRLEAD_ENV-}" ]; then ENV=$FAIRLEAD_ENV; export ENV; else unset ENV; fi
unset FAIRLEAD_DIR FAIRLEAD_SHELL FAIRLEAD_ENV`;

const fishStart = (nonce: string): string => `command rm -rf -- $FAIRLEAD_DIR
set -ge FAIRLEAD_DIR
set -g __fl_nonce ${nonce}
set -g __fl_dir
if set -q FAIRLEAD_XDG_DATA_DIRS
    set -gx XDG_DATA_DIRS $FAIRLEAD_XDG_DATA_DIRS
    set -ge FAIRLEAD_XDG_DATA_DIRS
else
    set -ge XDG_DATA_DIRS
end`;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** `~` is the home at the far side; nothing else is expanded. */
function homePath(path: string): string {
  if (path === '~') return '"$HOME"';
  if (path.startsWith('~/')) return `"$HOME"/${quoted(path.slice(2))}`;
  return quoted(path.startsWith('-') ? `./${path}` : path);
}
