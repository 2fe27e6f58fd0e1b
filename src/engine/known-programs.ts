/** Programs whose kind decides how they are treated. A login shell is called `-bash`. */

/** They take commands in the language of POSIX, or near enough: fish and all kinds of sh. */
export const posixShells: ReadonlySet<string> = new Set(
  'bash zsh fish dash ash sh ksh ksh93 mksh yash busybox rbash'.split(' '),
);

const otherShells: ReadonlySet<string> = new Set('tcsh csh nu pwsh elvish xonsh'.split(' '));

/** Programs that bring a shell from elsewhere into this terminal. */
export const nesting: ReadonlySet<string> = new Set(
  'ssh su sudo doas login docker podman nerdctl kubectl oc lxc incus machinectl nsenter chroot unshare script'.split(
    ' ',
  ),
);

const multiplexers: ReadonlySet<string> = new Set('mosh-client telnet tmux screen'.split(' '));

/** Shells read a line at a time and lose no Enter. */
export function isShell(program: string | undefined): boolean {
  const name = (program ?? '').replace(/^-/, '');
  return posixShells.has(name) || otherShells.has(name);
}

/** Shows what runs elsewhere, which may well be a shell. */
export const isCarrier = (program: string | undefined): boolean =>
  program === undefined || nesting.has(program) || multiplexers.has(program);
