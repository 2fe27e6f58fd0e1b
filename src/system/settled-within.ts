/** True when the promise settles in time. Never rejects, and leaves no timer behind. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = (): boolean => true;
  try {
    return await Promise.race([promise.then(settled, settled), late]);
  } finally {
    clearTimeout(timer);
  }
}
