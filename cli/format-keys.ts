import type { ListedKey } from '../lib/apps/manage-apps.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { formatDay, formatTime } from './format.ts';
import { formatTable } from './table.ts';

/** Converts a key to its JSON document. */
export const toKeyData = ({ createdAt, expiresAt, ...key }: ListedKey): object =>
  omitUndefined({
    ...key,
    createdAt: createdAt && formatTime(createdAt),
    expiresAt: expiresAt && formatTime(expiresAt),
  });

export const formatKeys = (keys: readonly ListedKey[], width?: number): string =>
  formatTable<ListedKey>(
    [
      { title: 'ID', value: ({ id }) => id, isWhole: true },
      { title: 'LEVEL', value: ({ level }) => level, isWhole: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'CREATED', value: ({ createdAt }) => createdAt && formatDay(createdAt), isWhole: true },
      { title: 'EXPIRES', value: ({ expiresAt }) => expiresAt && formatTime(expiresAt) },
    ],
    keys,
    width,
  );
