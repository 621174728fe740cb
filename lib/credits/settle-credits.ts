import { findCachedApp } from '../apps/app-table.ts';
import { toMergeId } from '../customers/merge.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { retryUntilWritten } from '../foundation/updates.ts';
import { findStoredPurchase } from '../purchases/purchase-table.ts';
import { findMove, findPurchaseCredits, openAccount, saveCredits } from './credit-table.ts';
import { listCreditClaims, type PurchaseCredits } from './purchase-credits.ts';
import { isSettled, settle } from './settlement.ts';

const done = { isDone: true } as const;

/**
 * Gives what the payments of a purchase give, and takes back what their refunds demand. What was given is stored with
 * the purchase in the transaction that changes the balance, so each payment gives once. Idempotent: a validation
 * and the stream of the table both call it, and the stream completes what a crash has interrupted. A purchase
 * without a customer gives nothing until one claims it.
 */
export async function settleCredits(
  service: Service,
  appName: string,
  { purchaseId, eventId }: { readonly purchaseId: string; readonly eventId?: string | undefined },
): Promise<void> {
  const allowsDebt = (await findCachedApp(service, appName))?.creditFloor === 'debt';
  await retryUntilWritten(async () => {
    // In this order: a purchase that is read later is not older than the one that was settled.
    const settled = await findPurchaseCredits(service, appName, purchaseId);
    const stored = await findStoredPurchase(service, appName, purchaseId);
    const owner = stored?.entitledUsers[0] ?? settled?.owner;
    if (!stored || owner === undefined) return done;
    const isSandbox = stored.state.purchase.sandbox;
    const purchase: PurchaseCredits = settled ?? { purchaseId, isSandbox, owner, payments: {}, version: 0 };
    const claims = listCreditClaims(stored.state, purchase.payments);
    if (isSettled(purchase, claims, owner)) return done;
    const formerOwner = await findFormerOwner(service, appName, purchase, owner);
    const now = service.now();
    const [account, former] = await Promise.all([
      openAccount(service, appName, { username: owner, isSandbox }, now),
      formerOwner === undefined
        ? undefined
        : openAccount(service, appName, { username: formerOwner, isSandbox: purchase.isSandbox }, now),
    ]);
    const settlement = settle({ purchase, account, former }, claims, { now, allowsDebt });
    const change = {
      purchase: settlement.purchase,
      accounts: [settlement.account, settlement.former].filter((changed) => changed !== undefined),
      entries: settlement.entries.map((entry) => ({ ...entry, ...omitUndefined({ eventId }) })),
    };
    const isSaved = await saveCredits(service, appName, change);
    return isSaved && !settlement.isPartial ? done : undefined;
  });
}

/**
 * Finds the customer from whose account the lots move. A merge of the two customers has moved them with the whole
 * account, and its reversal has returned them.
 */
async function findFormerOwner(
  service: Service,
  appName: string,
  { owner: former, isSandbox }: PurchaseCredits,
  owner: string,
): Promise<string | undefined> {
  if (former === undefined || former === owner) return undefined;
  const moves = await Promise.all([
    findMove(service, appName, owner, { mergeId: toMergeId(former), isSandbox }),
    findMove(service, appName, former, { mergeId: toMergeId(owner), isSandbox }),
  ]);
  return moves.some((move) => move !== undefined) ? undefined : former;
}
