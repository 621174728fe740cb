import { buildBasicAuth, type CallOptions } from '../testing/call.ts';
import type { MeteredCall } from './units/meter.ts';

/** A flood of requests that the service rejects because of their credentials. */
export interface Flood {
  readonly name: string;
  /** Builds the request with a number. */
  buildRequest(number: number): Required<Pick<CallOptions, 'headers' | 'sourceIp'>>;
}

/** Lists floods against an app. Each has addresses and keys of its own. */
export const listFloods = (appName: string): readonly Flood[] => [
  {
    name: 'one wrong key from one address',
    buildRequest: () => ({ headers: buildBasicAuth(appName, 'a-wrong-key'), sourceIp: '192.0.2.1' }),
  },
  {
    name: 'one wrong key from 60,000 addresses',
    buildRequest: (number) => ({ headers: buildBasicAuth(appName, 'a-revoked-key'), sourceIp: toAddress(10, number) }),
  },
  {
    name: 'guessed keys from 60,000 addresses',
    buildRequest: (number) => ({
      headers: buildBasicAuth(appName, `guess-${number}`),
      sourceIp: toAddress(11, number),
    }),
  },
  {
    name: 'guessed apps from one address',
    buildRequest: (number) => ({ headers: buildBasicAuth(`app-${number}`, 'a-key'), sourceIp: '192.0.2.2' }),
  },
];

const toAddress = (network: number, number: number): string => {
  const host = number % 60_000;
  return `${network}.0.${Math.trunc(host / 250)}.${host % 250}`;
};

/**
 * Counts the written items that no validation writes: rejection buckets, and events in addition to one per validation.
 */
export function countExtraWrites(calls: readonly MeteredCall[], validations: number): number {
  const keys = calls.flatMap(({ writes }) => writes.map(({ key }) => key));
  const buckets = keys.filter(({ pk }) => pk.startsWith('_LIMIT#')).length;
  const events = keys.filter(({ pk, sk }) => /^[^#]+#E#/.test(pk) && sk.startsWith('E#')).length;
  return buckets + events - validations;
}
