import type { Contract } from '../lib/api/contract.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../lib/customers/contract.ts';
import { validateReceipt } from '../lib/validation/contract.ts';
import { buildBasicAuth, type CallOptions } from '../testing/call.ts';
import type { MeteredCall } from './units/meter.ts';

/** A flood of requests that the service rejects because of their credentials, their receipts or their number. */
export interface Flood {
  readonly name: string;
  readonly contract: Contract;
  /** Builds the request with a number. */
  buildRequest(number: number): CallOptions & Required<Pick<CallOptions, 'headers' | 'sourceIp'>>;
  /** The flood has the key of all clients of its app, so that only other apps are unaffected. */
  readonly usesUpKey?: true;
}

/** Lists floods against an app with wrong credentials. Each has its own addresses and keys. */
export const listCredentialFloods = (appName: string): readonly Flood[] =>
  listRejectedRequests(appName).map((flood) => ({ ...flood, contract: getCustomerPurchases }));

/** Lists floods with the public key of an app, which is part of its released clients. */
export function listKeyFloods({ appName, publicKey }: IssuedApiKeys, validReceipt: object): readonly Flood[] {
  const headers = buildBasicAuth(appName, publicKey);
  const wrongReceipt = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-appstore', id: '1' } };
  return [
    {
      name: 'wrong receipts with the public key from one address',
      contract: validateReceipt,
      buildRequest: () => ({ headers, body: wrongReceipt, sourceIp: '192.0.2.3' }),
    },
    {
      name: 'one valid receipt with the public key from one address',
      contract: validateReceipt,
      buildRequest: () => ({ headers, body: validReceipt, sourceIp: '192.0.2.4' }),
    },
    {
      name: 'wrong receipts with the public key from 60,000 addresses',
      contract: validateReceipt,
      buildRequest: (number) => ({ headers, body: wrongReceipt, sourceIp: toAddress(12, number) }),
      usesUpKey: true,
    },
  ];
}

const listRejectedRequests = (appName: string): readonly Omit<Flood, 'contract'>[] => [
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

export const countBucketWrites = (calls: readonly MeteredCall[]): number =>
  listWrittenKeys(calls).filter(({ pk }) => pk.startsWith('_LIMIT#')).length;

const listWrittenKeys = (calls: readonly MeteredCall[]) => calls.flatMap(({ writes }) => writes.map(({ key }) => key));

/**
 * Counts the written items that no validation writes: rejection buckets, and events in addition to one per validation.
 */
export function countExtraWrites(calls: readonly MeteredCall[], validations: number): number {
  const events = listWrittenKeys(calls).filter(({ pk, sk }) => /^[^#]+#E#/.test(pk) && sk.startsWith('E#')).length;
  return countBucketWrites(calls) + events - validations;
}
