/** Programs whose kind decides how they are treated. A login shell is called `-bash`. */

/** The family of languages a shell speaks, as far as we must speak it. */
export type Dialect = 'posix' | 'fish' | 'csh' | 'powershell';

/** Shells that can be told to print how a command went, by what they are told it in. */
const dialects: Readonly<Record<Dialect, string>> = {
  posix: 'bash zsh dash ash sh ksh ksh93 mksh yash busybox rbash',
  fish: 'fish',
  csh: 'tcsh csh bsd-csh',
  powershell: 'pwsh powershell',
};

const byShell: ReadonlyMap<string, Dialect> = new Map(
  Object.entries(dialects).flatMap(([dialect, names]) => names.split(' ').map((name) => [name, dialect as Dialect])),
);

export const dialectOf = (program: string): Dialect | undefined => byShell.get(program);

const otherShells: ReadonlySet<string> = new Set('nu cmd elvish xonsh'.split(' '));

/** Programs that bring a shell from elsewhere into this terminal, by name. */
export const nesting: ReadonlySet<string> = new Set(
  [
    'ssh autossh sshpass dbclient rlogin su sudo doas run0 runuser pkexec sg newgrp login',
    'docker podman nerdctl crictl ctr kubectl oc lxc lxc-attach incus machinectl systemd-nspawn systemd-run',
    'apptainer singularity distrobox toolbox vagrant adb nix nix-shell guix',
    'nsenter chroot unshare bwrap setpriv script',
  ].flatMap((names) => names.split(' ')),
);

const multiplexers: ReadonlySet<string> = new Set('mosh-client telnet tmux screen'.split(' '));

/** Shells read a line at a time and lose no Enter. */
export function isShell(program: string | undefined): boolean {
  const name = (program ?? '').replace(/^-/, '');
  return byShell.has(name) || otherShells.has(name);
}

/** Shows what runs elsewhere, which may well be a shell. */
export const isCarrier = (program: string | undefined): boolean =>
  program === undefined || nesting.has(program) || multiplexers.has(program);
