// Measures Fairlead beside its peers in one run and prints ratios. `--json` prints the same as data.
import { build, install, installPackages, run } from './lib.mjs';
import { join } from 'node:path';
import { root } from './lib.mjs';

install();
build();
installPackages({ tmux: ['tmux'], gcc: ['cc', 'gcc'] });
process.exit(run(process.execPath, [join(root, 'bench', 'run.mjs'), ...process.argv.slice(2)]) ? 0 : 1);
