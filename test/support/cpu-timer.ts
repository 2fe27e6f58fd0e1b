/** What this process has spent since then, in ms: for limits that hold however busy the machine is. */
export function cpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}

/** The least it spends on this in three goes: the first pays for compiling, and any may be charged with old garbage. */
export function leastCpu(work: () => void): number {
  const goes = [1, 2, 3].map(() => {
    const spent = cpuTimer();
    work();
    return spent();
  });
  return Math.min(...goes);
}
