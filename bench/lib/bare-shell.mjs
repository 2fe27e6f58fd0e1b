/** A shell with nothing behind it: a line in, bytes out until the prompt is whole. */
export async function bareShell(channel, prompt) {
  let text = '';
  let done = () => {};
  const reading = (async () => {
    for await (const chunk of channel.output) {
      text = (text + Buffer.from(chunk).toString('latin1')).slice(-4096);
      if (prompt.test(text)) done();
    }
  })();
  reading.catch(() => {});
  const next = () =>
    new Promise((resolve) => {
      done = resolve;
    });
  const first = next();
  if (prompt.test(text)) done();
  await first;
  return {
    channel,
    async line(command) {
      text = '';
      const seen = next();
      await channel.write(Buffer.from(`${command}\r`));
      await seen;
    },
  };
}
