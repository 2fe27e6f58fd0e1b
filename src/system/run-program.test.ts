import { ChildProcess } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { runProgram } from './run-program.ts';

const limitMs = 20_000;

test('what a program printed, and how it ended', async () => {
  const shell = async (line: string) => await runProgram('sh', ['-c', line], { limitMs, env: { WORD: 'given' } });
  const { stdout, stderr, ...end } = await shell('echo $WORD; echo aside >&2');
  expect([stdout.toString(), stderr.toString(), end]).toEqual(['given\n', 'aside\n', { ok: true, late: false }]);
  expect(await shell('exit 3')).toMatchObject({ ok: false, late: false });
  // It has no input to wait for.
  expect(await shell('cat')).toMatchObject({ ok: true });
});

test('a program that is not there is never signalled: that would be the process group of the server', async () => {
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
  try {
    const stop = new AbortController();
    const run = runProgram('fairlead-no-such-program', [], { limitMs, signal: stop.signal });
    stop.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
    await expect(runProgram('sh', [], { limitMs, signal: stop.signal })).rejects.toThrow('gone');
    expect(await runProgram('fairlead-no-such-program', [], { limitMs })).toMatchObject({ ok: false, late: false });
    expect(kill).not.toHaveBeenCalled();
  } finally {
    kill.mockRestore();
  }
});

test('a program that ignores TERM is over with the time or the call', async () => {
  const deaf = ['-c', 'trap "" TERM; exec sleep 600'];
  expect(await runProgram('sh', deaf, { limitMs: 50 })).toMatchObject({ ok: false, late: true });
  const stop = new AbortController();
  const run = runProgram('sh', deaf, { limitMs, signal: stop.signal });
  stop.abort(new Error('gone'));
  await expect(run).rejects.toThrow('gone');
});
