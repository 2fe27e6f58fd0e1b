import { connect, type Socket } from 'node:net';

/** A connected socket. Rejects with the error of the system, or with the signal's reason. */
export function openSocket(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // With Nagle's algorithm every command waits 42 ms for an acknowledgement that is held back.
    const socket = connect({ host, port, noDelay: true });
    const abort = (): void => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    const failed = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      reject(error);
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
