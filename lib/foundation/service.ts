import type { Cipher } from '../shared/cipher.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { Table } from './table.ts';

/**
 * What the tables and use cases of all features stand on, as their first argument. A container has one. Tests replace
 * members of it.
 */
export interface Service {
  now(): EpochMillis;
  readonly table: Table;
  readonly cipher: Cipher;
}
