import type { App } from '../apps/app.ts';
import type { Recorded } from '../db/purchases.ts';
import type { Deps } from '../deps.ts';
import type { Recorder } from '../events/recorder.ts';
import type { StoredPurchase } from '../purchases/change.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Validation, ValidationRequest } from '../stores/store.ts';

interface Registering {
  readonly app: App;
  readonly event: Recorder;
  readonly deps: Deps;
}

/** How many purchases of one receipt are written at a time. */
const parallel = 8;

/**
 * Writes what a validation showed, each purchase in a transaction of its own, and claims it for the request's user.
 * Returns the purchases as the table then has them, which may know more than this validation does.
 */
export async function registerValidation(
  request: ValidationRequest,
  validation: Validation,
  registering: Registering,
): Promise<StoredPurchase[]> {
  const { app, deps, event } = registering;
  const recorded: Recorded[] = [];
  for (let start = 0; start < validation.observations.length; start += parallel) {
    const some = validation.observations.slice(start, start + parallel);
    const written = await Promise.all(some.map((observed) => recordOne(observed, request, registering)));
    recorded.push(...written.filter((result) => result !== undefined));
  }
  const { applicationUsername: username, obfuscatedUsername } = request;
  if (username !== undefined && recorded.some(({ change }) => change?.claim)) {
    await deps.aliases.remember(app.name, username, obfuscatedUsername);
  }
  noteInEvent(event, validation, recorded);
  return recorded.map(({ stored }) => stored);
}

async function recordOne(
  observed: Observation,
  { applicationUsername: username }: ValidationRequest,
  { app, deps }: Registering,
): Promise<Recorded | undefined> {
  return await deps.purchases.record(app.name, observed.purchase.purchaseId, {
    observed,
    ...(username !== undefined && { claim: { username, how: 'validation' } }),
    strategy: app.strategy,
    now: deps.now(),
  });
}

/** The event shows every purchase; it can be found by those that it changed and by the one that was validated. */
function noteInEvent(event: Recorder, validation: Validation, recorded: readonly Recorded[]): void {
  const purchases = recorded.map(({ stored }) => stored.known.purchase);
  event.note({
    purchases: purchases.map(({ purchaseId, productId, platform }) => ({ purchaseId, productId, platform })),
    transactions: recorded.flatMap(({ change }) => (change?.transactions ?? []).map(({ transaction }) => transaction)),
    claims: recorded.flatMap(({ change }) =>
      change?.claim
        ? [
            {
              applicationUsername: change.claim.username,
              purchaseId: change.after.known.purchase.purchaseId,
              type: 'validation',
            },
          ]
        : [],
    ),
    notifications: recorded.flatMap(({ change }) =>
      (change?.reasons ?? []).map((reason) => ({ reason, purchaseId: change?.after.known.purchase.purchaseId })),
    ),
  });
  if (validation.appDownload) event.appDownload(validation.appDownload);
  const found = recorded.filter(
    ({ stored, change }) => change || stored.known.purchase.purchaseId === validation.purchaseId,
  );
  for (const { stored, change } of found.slice(0, mostTagged)) {
    event.tag(stored.known.purchase.purchaseId, '_P');
    for (const { transaction } of (change?.transactions ?? []).slice(-1)) event.tag(transaction.transactionId, '_T');
  }
}

/** A long receipt changes many purchases once; its event is tagged with the first of them. */
const mostTagged = 10;
