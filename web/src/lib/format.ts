/** `4:12`, `1:02:09` */
export function running(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** `26 min`, `3 h`, `2 d`; under a minute, `now`. */
export function ago(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

export const time = (at: number): string =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** The last parts of a path, with `~` for a home directory. */
export function shortPath(path: string): string {
  const home = path.replace(/^\/(?:home|Users)\/[^/]+|^\/root/, '~');
  const parts = home.split('/');
  return parts.length > 4 ? `…/${parts.slice(-3).join('/')}` : home;
}

/** `214 bytes`, `12.4 kB`, `2.1 MB` */
export function sized(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const isLarge = bytes >= 1_000_000;
  return `${(bytes / (isLarge ? 1_000_000 : 1000)).toFixed(1)} ${isLarge ? 'MB' : 'kB'}`;
}

/** `14:05` */
export const clock = (at: number): string =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

/** `0 B`, `512 B`, `12.4 kB`, `2.1 MB` */
export function amount(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB'];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** `0.4 s`, `12.4 s`; from a minute on `4:12`. */
export const took = (ms: number): string => (ms < 60_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : running(ms));
