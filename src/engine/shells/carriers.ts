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

/** Shows what runs elsewhere, which may well be a shell. */
export const isCarrier = (program: string | undefined): boolean =>
  program === undefined || nesting.has(program) || multiplexers.has(program);
