/** Whether a host name, as URLs write it, is this machine. */
export const isLoopback = (name: string): boolean => name === 'localhost' || name === '127.0.0.1' || name === '[::1]';
