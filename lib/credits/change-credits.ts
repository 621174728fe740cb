import { createHash } from 'node:crypto';
import type * as v from 'valibot';
import type { GrantingKey } from '../api/schemas.ts';
import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { ServiceError } from '../foundation/errors.ts';
import { toShortDigest } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import { retryUntilWritten } from '../foundation/updates.ts';
import { resolveMergedName } from '../purchases/user-alias-table.ts';
import {
  type CreditAccount,
  captureHold,
  findCredit,
  findHold,
  getBalance,
  giveLot,
  holdCredits,
  passTime,
  spendCredits,
  takeBack,
} from './credit-account.ts';
import type { CreditEntry } from './credit-entry.ts';
import { type AccountId, findEntry, openAccount, saveCredits } from './credit-table.ts';

/** The customer whose credits a request changes, with the key that sends it. */
export interface CreditContext extends AccountId {
  readonly appName: string;
  readonly key: v.InferOutput<typeof GrantingKey>;
  readonly eventId?: string;
}

interface CreditRequest {
  readonly credit: string;
  readonly amount: number;
  readonly idempotencyKey: string;
  readonly reason?: string | undefined;
}

const defaultHoldMs = hourMs;
const maxHoldMs = 30 * dayMs;

/** A hold has its units in the account, which each write contains. */
const maxHolds = 50;

/**
 * Spends units of a customer from the lots that end first; with `hold`, reserves them until a capture, a release or
 * `until`. Throws `Conflict` with the balance if it does not suffice. A repeated key has the same result.
 */
export async function spend(
  service: Service,
  {
    hold,
    until,
    ...request
  }: CreditRequest & { readonly hold?: boolean | undefined; readonly until?: EpochMillis | undefined },
  context: CreditContext,
): Promise<CreditEntry> {
  const { credit, amount } = request;
  const body = { operation: 'spend', ...request, hold: hold === true, until };
  if (!hold) {
    return await applyOnce(service, body, context, {
      type: 'spent',
      change: (account) => spendCredits(account, credit, amount),
    });
  }
  const now = service.now();
  const end = until ?? now + defaultHoldMs;
  const holdId = toId('hold', context.username, request.idempotencyKey);
  return await applyOnce(service, body, context, {
    type: 'held',
    details: { holdId, until: end },
    change: (account) => {
      if (end <= now || end > now + maxHoldMs)
        throw new ServiceError('InvalidPayload', 'until: expected a date within 30 days.');
      if (account.holds.length >= maxHolds)
        throw new ServiceError('Conflict', `A customer has at most ${maxHolds} holds.`, { retryable: false });
      return holdCredits(account, { id: holdId, credit, amount, until: end });
    },
  });
}

/**
 * Gives units as a gift. `until` is their end; undefined is without an end. The units of a merged name belong to the
 * customer that it was merged into.
 */
export const give = async (
  service: Service,
  { until, ...request }: CreditRequest & { readonly until?: EpochMillis | undefined },
  context: CreditContext,
): Promise<CreditEntry> => {
  const now = service.now();
  const { credit, amount } = request;
  const end = omitUndefined({ expiresAt: until });
  return await applyOnce(service, { operation: 'give', ...request, until }, context, {
    type: 'given',
    details: end,
    findOwner: async () => await resolveMergedName(service, context.appName, context.username),
    change: (account) => {
      if (until !== undefined && until <= now)
        throw new ServiceError('InvalidPayload', 'until: expected a date in the future.');
      const id = toId('credit', context.username, request.idempotencyKey);
      return giveLot(account, credit, { id, origin: 'gift', givenAt: now, amount, ...end });
    },
  });
};

/** Takes units by hand. Throws `Conflict` with the balance if it does not suffice. */
export const take = async (service: Service, request: CreditRequest, context: CreditContext): Promise<CreditEntry> => {
  const { credit, amount } = request;
  return await applyOnce(service, { operation: 'take', ...request }, context, {
    type: 'taken',
    change: (account) =>
      getBalance(findCredit(account, credit)) < amount
        ? undefined
        : takeBack(account, credit, { lotId: '', amount, allowsDebt: false }).account,
  });
};

/**
 * Ends a hold: `amount` of its units stay spent, 0 releases all. Throws `ResourceNotFound` for a hold that has ended or
 * does not exist, unless the same request has ended it, and `InvalidPayload` for more units than it has.
 */
export async function endHold(
  service: Service,
  { holdId, amount }: { readonly holdId: string; readonly amount: number },
  context: CreditContext,
): Promise<CreditEntry> {
  const idempotencyKey = `${holdId}/end`;
  const known = await findEntry(service, context.appName, { ...context, entryId: toEntryId(idempotencyKey) });
  const account = known ? undefined : await openAccount(service, context.appName, context, service.now());
  const credit = known?.credit ?? (account && findHold(account, holdId)?.credit);
  if (credit === undefined) throw new ServiceError('ResourceNotFound', 'The hold has ended, or does not exist.');
  const request = { operation: 'end-hold', credit, amount, idempotencyKey };
  return await applyOnce(service, request, context, {
    type: amount > 0 ? 'captured' : 'released',
    details: { holdId },
    change: (current) => {
      const hold = findHold(current, holdId);
      if (!hold) throw new ServiceError('ResourceNotFound', 'The hold has ended, or does not exist.');
      if (amount > hold.amount)
        throw new ServiceError('InvalidPayload', `amount: expected at most ${hold.amount}, which the hold has.`);
      return captureHold(current, holdId, amount);
    },
  });
}

interface Operation {
  readonly type: CreditEntry['type'];
  readonly details?: Partial<CreditEntry>;
  /** Finds the customer whose account changes. Default: the customer of the request. */
  findOwner?(): Promise<string>;
  /** Returns undefined if the balance does not suffice. */
  change(account: CreditAccount): CreditAccount | undefined;
}

/**
 * Applies a change once for an idempotency key, with its entry in one transaction: one read and two writes. The entry
 * is the response to a repeated request, even to a refused one. Throws `Conflict` for the key of a different request.
 */
async function applyOnce(
  service: Service,
  { operation, ...request }: CreditRequest & { readonly operation: string } & Readonly<Record<string, unknown>>,
  { appName, username, isSandbox, key, eventId }: CreditContext,
  { type, details, findOwner = async () => username, change }: Operation,
): Promise<CreditEntry> {
  const { credit, amount, reason, idempotencyKey } = request;
  const digest = createHash('sha256')
    .update(toCanonicalJson({ operation, ...request }))
    .digest('base64url');
  const id = { username, isSandbox, entryId: toEntryId(idempotencyKey) };
  /** A request that is invalid by now can repeat one that was not. */
  const tryChange = async (account: CreditAccount): Promise<CreditAccount | CreditEntry | undefined> => {
    try {
      return change(account);
    } catch (error) {
      const existing = await findEntry(service, appName, id);
      if (existing) return existing;
      throw error;
    }
  };
  const entry = await retryUntilWritten(async () => {
    const now = service.now();
    const owner = await findOwner();
    const account = await openAccount(service, appName, { ...id, username: owner }, now);
    const changed = await tryChange(account);
    if (changed && 'entryId' in changed) return changed;
    const after = passTime(changed ?? account, now);
    const created: CreditEntry = {
      ...id,
      at: now,
      type,
      credit,
      amount,
      balance: getBalance(findCredit(after, credit)),
      key: { id: key.id, name: key.name },
      digest,
      ...omitUndefined({ reason, eventId }),
      ...(changed ? details : { isRefused: true }),
      ...(owner !== username && { isForwarded: true }),
    };
    const saved = { accounts: changed ? [after] : [], entries: [created] };
    if (created.isForwarded) {
      // The entry of a merged name needs an account, with which it is deleted.
      saved.accounts.push(await openAccount(service, appName, id, now));
      const { isForwarded: _, ...entry } = created;
      saved.entries.push({ ...entry, username: owner, entryId: toId('credit', username, idempotencyKey) });
    }
    if (await saveCredits(service, appName, saved)) return created;
    // Another request was faster: the same one, or another change of the account.
    return await findEntry(service, appName, id);
  });
  if (entry.digest !== digest)
    throw new ServiceError('Conflict', 'idempotencyKey was used for a different request.', { retryable: false });
  if (!entry.isRefused) return entry;
  const message = `The balance of ${entry.credit} does not suffice: ${entry.balance} of ${entry.amount}.`;
  throw new ServiceError('Conflict', message, { retryable: false, data: { balance: entry.balance } });
}

const toEntryId = (idempotencyKey: string): string => `credit_${toShortDigest(idempotencyKey, 24)}`;

/** Customers who use the same idempotency key can be merged. */
const toId = (prefix: string, username: string, idempotencyKey: string): string =>
  `${prefix}_${toShortDigest(JSON.stringify([username, idempotencyKey]), 24)}`;
