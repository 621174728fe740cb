import type { CreditTotalsByName } from '../api/credit-totals.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { type EpochMillis, toIso, toNullableIso } from '../foundation/time.ts';
import type { CreditEntryRecord, CreditRecord } from './contract.ts';
import { type CreditAccount, type CreditBalance, getBalance, passTime } from './credit-account.ts';
import type { CreditEntry } from './credit-entry.ts';

/** Returns the numbers of each credit at `now`. */
export const toCreditTotals = (account: CreditAccount, now: EpochMillis): CreditTotalsByName =>
  Object.fromEntries(
    Object.entries(passTime(account, now).credits).map(([credit, balance]) => [credit, toTotals(balance)]),
  );

const toTotals = ({ granted, spent, takenBack, expired, ...rest }: CreditBalance): CreditTotalsByName[string] => ({
  balance: getBalance({ granted, spent, takenBack, expired, ...rest }),
  granted,
  spent,
  takenBack,
  expired,
});

/** Returns each credit at `now`, with its lots and holds. */
export function toCreditRecords(account: CreditAccount, now: EpochMillis): Record<string, CreditRecord> {
  const { credits, holds } = passTime(account, now);
  const records = Object.entries(credits).map(([credit, balance]): [string, CreditRecord] => [
    credit,
    {
      ...toTotals(balance),
      lots: balance.lots
        .filter(({ left }) => left > 0)
        .map(({ id, origin, amount, left, givenAt, expiresAt }) => ({
          lotId: id,
          origin,
          amount,
          left,
          givenAt: toIso(givenAt),
          expiresAt: toNullableIso(expiresAt),
        })),
      holds: holds
        .filter((hold) => hold.credit === credit)
        .map(({ id, amount, until }) => ({ holdId: id, amount, until: toIso(until) })),
    },
  ]);
  return Object.fromEntries(records);
}

export function toCreditEntryRecord(entry: CreditEntry): CreditEntryRecord {
  const { entryId, type, at, credit, amount, balance, expiresAt, holdId, until, reason } = entry;
  const { key, transactionId, purchaseId } = entry;
  return {
    id: entryId,
    type,
    at: toIso(at),
    credit,
    amount,
    balance,
    ...omitUndefined({ holdId, reason, key, transactionId, purchaseId }),
    ...(expiresAt !== undefined && { expiresAt: toIso(expiresAt) }),
    ...(until !== undefined && { until: toIso(until) }),
  };
}

/** Returns the response to a request that has changed the credits of a customer. */
export const toCreditChange = (entry: CreditEntry) => ({
  applicationUsername: entry.username,
  isSandbox: entry.isSandbox,
  ...toCreditEntryRecord(entry),
});
