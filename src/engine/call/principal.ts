import type { Caller } from './call.ts';

/** Who runs this instance: the person at this machine, and the agents that act with that person's token. */
export const localOwner = 'owner';

/** Whether a caller may know of a thing. What has no owner belongs to all callers of the instance. */
export const maySee = (
  { owner }: { readonly owner: string | undefined },
  { principal }: Pick<Caller, 'principal'>,
): boolean => owner === undefined || owner === principal;

/** The person at this machine, by a door that only this user of it can open. */
export const localPerson: Caller = {
  name: 'person',
  principal: localOwner,
  origin: 'cli',
  peer: 'socket',
  may: () => true,
};
