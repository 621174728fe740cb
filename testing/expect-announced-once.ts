import { inspect, isDeepStrictEqual } from 'node:util';
import { groupBy } from '../lib/foundation/collections.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { PurchaseChange } from '../lib/purchases/purchase-change.ts';
import { listRefundKeys } from '../lib/purchases/refunds.ts';
import { toPurchaseRecord } from '../lib/purchases/to-records.ts';

/**
 * Checks the changes of an app's purchases: each lifecycle fact has one announcement, and the last announcement of a
 * purchase showed it as `GET /v3/purchases` shows it at `now`. Throws an error with the history of each failing
 * purchase. `label` names the app in the error.
 */
export function expectAnnouncedOnce(label: string, changes: readonly PurchaseChange[], now: number): void {
  const failures = [...groupByPurchase(changes)].flatMap(([purchaseId, purchaseChanges]) => {
    const problem = findRepeatedFact(purchaseChanges) ?? findStaleAnnouncement(purchaseChanges, now);
    return problem ? [{ purchaseId, ...problem, history: purchaseChanges.map(toHistoryEntry) }] : [];
  });
  if (failures.length > 0) throw new Error(`Wrong announcements of ${label}: ${inspect(failures, { depth: 8 })}`);
}

/** Groups changes by purchase id, in the order of the purchase's versions. */
const groupByPurchase = (changes: readonly PurchaseChange[]): ReadonlyMap<string, readonly PurchaseChange[]> =>
  groupBy(
    changes.toSorted((a, b) => a.after.version - b.after.version),
    ({ after }) => after.state.purchase.purchaseId,
  );

const toHistoryEntry = ({ lifecycleReasons, announcedReasons, after }: PurchaseChange): object => ({
  version: after.version,
  updatedAt: new Date(after.updatedAt).toISOString(),
  lifecycleReasons,
  announcedReasons,
  purchase: after.state.purchase,
});

function findRepeatedFact(changes: readonly PurchaseChange[]): object | undefined {
  const facts = listFacts(changes);
  const repeatedFacts = facts.filter((fact, index) => facts.indexOf(fact) !== index);
  return repeatedFacts.length > 0 ? { problem: 'facts announced more than once', repeatedFacts } : undefined;
}

function findStaleAnnouncement(changes: readonly PurchaseChange[], now: number): object | undefined {
  const announced = changes.findLast(({ announcedReasons }) => announcedReasons.length > 0)?.after;
  const current = changes.at(-1)?.after;
  // The end of a replaced purchase is announced by its successor.
  if (!announced || !current || current.state.purchase.cancelationReason === 'System.Replaced') return undefined;
  const expected = toAnnouncedFields(current.state.purchase, now);
  const actual = toAnnouncedFields(announced.state.purchase, announced.checkedAt);
  return isDeepStrictEqual(expected, actual) ? undefined : { problem: 'last announcement is stale', expected, actual };
}

/** Omits the fields whose change is not announced: the date of a renewal intent and the USD conversion. */
function toAnnouncedFields(purchase: Purchase, at: number): object {
  const { renewalIntentChangeDate: _date, amountUSD: _amount, ...record } = toPurchaseRecord(purchase, at);
  return record;
}

/** Names each lifecycle fact so that two announcements of the same fact have the same name. */
function listFacts(changes: readonly PurchaseChange[]): string[] {
  let renewals = 0;
  let renewalIntents = 0;
  let ends = 0;
  let returns = 0;
  let wasEnded = false;
  return changes.flatMap(({ after, lifecycleReasons }) => {
    const { purchase, transactions } = after.state;
    const isEnded = purchase.endedAt !== undefined;
    // A store can revoke a purchase again that it has returned, such as a trial, which lacks a refund.
    if (wasEnded && !isEnded) returns++;
    wasEnded = isEnded;
    const refunds = listRefundKeys(transactions.map(({ transaction }) => transaction));
    if (lifecycleReasons.includes('RENEWED')) renewals++;
    // A renewal and a plan change imply that the subscription renews again.
    if (lifecycleReasons.some((reason) => ['WILL_AUTO_RENEW', 'RENEWED', 'PLAN_CHANGED'].includes(reason)))
      renewalIntents++;
    const details: Readonly<Record<string, unknown>> = {
      PURCHASED: '',
      RENEWED: [purchase.transactionId, purchase.expirationDate, ends],
      EXPIRED: renewals,
      REFUNDED: refunds,
      REVOKED: [refunds, renewals, returns],
      WILL_LAPSE: renewalIntents,
    };
    // A reversed refund returns access to the same period.
    const isEndedByRefund = isEnded && lifecycleReasons.includes('REFUNDED');
    if (isEndedByRefund || lifecycleReasons.includes('EXPIRED') || lifecycleReasons.includes('PAUSED')) ends++;
    return lifecycleReasons
      .filter((reason) => reason in details)
      .map((reason, index, reasons) => {
        // A change has a REFUNDED for each new refund.
        const repetition = reason === 'REFUNDED' ? index - reasons.indexOf(reason) : 0;
        return `${reason} ${JSON.stringify(details[reason])} ${repetition}`;
      });
  });
}
