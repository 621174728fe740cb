import type { Contract, WrittenItems } from '../lib/api/contract.ts';

/** Patterns of the partition keys that a function writes, such as `*#D#*`. See lib/foundation/keys.ts. */
export type WrittenKeys = readonly string[];

/** Keys of events and their tags, which every function writes. */
export const eventKeys: WrittenKeys = ['*#E#*', '*#G#*'];
/** Keys of the activity of stores, which an event with a call of a store records. */
const activityKeys: WrittenKeys = ['*#Y', '*#Y#*'];

export const itemKeys = {
  accessTokens: ['*#A#*'],
  annotations: ['*#N'],
  catalogue: ['*#I'],
  credits: ['*#CB#*', '*#C#*'],
  customers: ['*#C#*'],
  deliveries: ['*#D#*', '*#H#*'],
  erasedNames: ['*#X#*'],
  operations: ['*#O#*'],
  priceLists: ['*#L#*'],
  purchases: ['*#P#*', '*#C#*', '*#U#*', '*#X#*'],
  refundRequests: ['*#R#*'],
  tokenKeys: ['*#M'],
  urlHealth: ['*#H#*'],
  vault: ['*#V#*'],
} as const satisfies Readonly<Record<WrittenItems, WrittenKeys>>;

/** Lists the keys of the items that an endpoint writes besides events. `settings-writes.ts` has those of settings. */
export const listItemKeys = ({ writes = [] }: Contract): WrittenKeys => writes.flatMap((items) => itemKeys[items]);

/** Completes the keys that a function with these permissions writes. */
export const completeKeys = (permissions: readonly string[], keys: WrittenKeys): WrittenKeys => [
  ...keys,
  ...eventKeys,
  ...(permissions.includes('stores') ? activityKeys : []),
];

/** Lists the keys of the items that an endpoint writes. Without a key of an app, it does not record an event. */
export const listEndpointKeys = (contract: Contract): WrittenKeys =>
  contract.keyLevel === 'none' ? [] : completeKeys(contract.permissions, listItemKeys(contract));
