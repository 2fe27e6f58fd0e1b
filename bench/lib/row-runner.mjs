// Runs one row in a fresh process, so that neither heap nor compiled code of one row colours the next.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const limitMs = { quick: 60_000, full: 600_000 };

/** @returns {Promise<{ figures?: object, error?: string }>} never rejects */
export function runRow(row, { quick, folder, prof, dist }, signal) {
  const profiling =
    prof === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${prof}`, `--cpu-prof-name=${row.name}.cpuprofile`];
  const task = JSON.stringify({ file: row.file, quick, folder, dist });
  const child = fork(fileURLToPath(new URL('./row-process.mjs', import.meta.url)), [task], {
    execArgv: ['--expose-gc', ...profiling],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let result;
  let complaints = '';
  child.on('message', (message) => {
    result = message;
  });
  child.stderr.on('data', (data) => {
    complaints = (complaints + data).slice(-4000);
  });
  const end = () => child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  const limit = setTimeout(() => child.kill('SIGKILL'), quick ? limitMs.quick : limitMs.full);
  return new Promise((resolve) => {
    child.once('close', (code, by) => {
      clearTimeout(limit);
      signal.removeEventListener('abort', end);
      resolve(
        result ?? { error: complaints.trim() || `The row's process ended with ${by ?? code} before it answered.` },
      );
    });
  });
}
