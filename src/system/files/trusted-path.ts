import { lstatSync, realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Who owns what on this machine. Windows has no such numbers, and its own rules for the folders of a user. */
const ourUid = process.getuid?.();
const root = 0;
const writableByOthers = 0o022;
const writableByAll = 0o002;
const sticky = 0o1000;

/**
 * Why another user could put files of their own into this directory, or replace it; undefined when only this user (and root)
 * can. What lies in it may then be run and believed. A directory that does not exist yet has no owner, but its parents do.
 */
export function distrust(directory: string): string | undefined {
  if (ourUid === undefined) return undefined;
  const found = look(directory);
  if (found !== undefined) {
    if (found.uid !== ourUid) return `${directory} belongs to user ${found.uid}, and this is user ${ourUid}`;
    if ((found.mode & writableByOthers) !== 0) return `others can write to ${directory} (mode ${octal(found)})`;
  }
  return linkOfAnother(directory) ?? distrustAbove(found === undefined ? directory : realpathSync(directory));
}

/** A link on the way, of a user who can make it point elsewhere at any time. A sticky directory lets everybody lay one. */
function linkOfAnother(directory: string): string | undefined {
  for (let at = resolve(directory); dirname(at) !== at; at = dirname(at)) {
    const found = look(at, lstatSync);
    if (found?.isSymbolicLink() !== true || found.uid === ourUid || found.uid === root) continue;
    return `${at} is a link of user ${found.uid}, who could make it point elsewhere`;
  }
  return undefined;
}

/** A user who can rename a parent can put another directory in its place. A sticky parent protects what is in it. */
function distrustAbove(directory: string): string | undefined {
  for (let at = dirname(directory); ; at = dirname(at)) {
    const found = look(at);
    if (found !== undefined) {
      if (found.uid !== ourUid && found.uid !== root) {
        return `${at} belongs to user ${found.uid}, who could replace what is in it`;
      }
      if ((found.mode & writableByAll) !== 0 && (found.mode & sticky) === 0) {
        return `everybody can replace what is in ${at} (mode ${octal(found)})`;
      }
    }
    if (dirname(at) === at) return undefined;
  }
}

/** True where a folder that this user makes stays as it is: in a directory of its own, or in a shared sticky one. */
export function keepsOurs(directory: string): boolean {
  const found = look(directory);
  if (found?.isDirectory() !== true) return false;
  if (ourUid === undefined) return true;
  if (found.uid !== ourUid && found.uid !== root) return false;
  return (found.mode & writableByOthers) === 0 || (found.mode & sticky) !== 0;
}

/** True for a directory that this user made for itself alone. A link to one is none. */
export function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return false;
  return ourUid === undefined || (found.uid === ourUid && (found.mode & 0o077) === 0);
}

/** True for a plain file of this user: no link, pipe or device that stands in for one. */
export function isOwnFile(found: Stats): boolean {
  return found.isFile() && (ourUid === undefined || found.uid === ourUid);
}

/** Removes a folder with everything in it, if it is ours alone. Node's own recursive removal follows a link it may not unlink. */
export function removeOwnFolder(path: string): void {
  if (isOwnFolder(path)) rmSync(path, { recursive: true, force: true });
}

/** Undefined for what is not there or cannot be seen: making or opening it says why. */
function look(path: string, stat: (path: string) => Stats = statSync): Stats | undefined {
  try {
    return stat(path);
  } catch {
    return undefined;
  }
}

const octal = ({ mode }: Stats): string => (mode & 0o7777).toString(8);
