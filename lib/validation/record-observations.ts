import type { App } from '../apps/app.ts';
import type { UserAliasRepository } from '../db/user-alias-repository.ts';
import type { Deps } from '../deps.ts';
import { addRecordedPurchases } from '../events/add-recorded-purchases.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { Observation } from '../purchases/observation.ts';
import type { EntitledPurchase } from '../purchases/purchase-repository.ts';
import type { RecordPurchaseResult } from '../purchases/record-purchase.ts';
import type { StoreValidation, ValidationRequest } from '../stores/store.ts';

export type RecordingDeps = Pick<Deps, 'now' | 'recordPurchase' | 'userAliases'>;

interface RecordingContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly deps: RecordingDeps;
  /** Whose user claims the purchases; nobody claims without a user in it. */
  readonly request: Pick<ValidationRequest, 'applicationUsername' | 'obfuscatedUsername'>;
  /** What the observations came from; its purchase is always among the event's tags. */
  readonly validation?: Pick<StoreValidation, 'purchaseId' | 'appDownload'>;
}

/** How many purchases of one receipt are written at a time. */
const concurrency = 8;

/**
 * Writes what was observed, each purchase in a transaction of its own, and claims it for the request's user. Returns the
 * purchases as the table then has them.
 */
export async function recordObservations(
  observations: readonly Observation[],
  context: RecordingContext,
): Promise<EntitledPurchase[]> {
  const recorded: RecordPurchaseResult[] = [];
  for (let start = 0; start < observations.length; start += concurrency) {
    const batch = observations.slice(start, start + concurrency);
    const written = await Promise.all(batch.map((observation) => recordObservation(observation, context)));
    recorded.push(...written.filter((result) => result !== undefined));
  }
  const hasNewClaim = recorded.some(({ change }) => change && change.newClaims.length > 0);
  if (recorded.length > 0) await linkUserAliases(observations, hasNewClaim, context);
  const { recorder, validation } = context;
  addRecordedPurchases(recorder, recorded, validation?.purchaseId);
  if (validation?.appDownload) recorder.setAppDownload(validation.appDownload);
  return recorded.map(({ stored: { state, entitledUsers } }) => ({ purchase: state.purchase, entitledUsers }));
}

/**
 * Remembers the forms in which stores name the user, and hands over what they told of before the user was known. Who is not
 * remembered after a claim was made by a request that came to nothing later.
 */
async function linkUserAliases(
  observations: readonly Observation[],
  hasNewClaim: boolean,
  { app, deps, request }: RecordingContext,
): Promise<void> {
  const { applicationUsername: username, obfuscatedUsername } = request;
  if (username === undefined || (!hasNewClaim && (await deps.userAliases.hasAlias(app.name, username)))) return;
  const storeAliases = observations.flatMap(({ userAliases }) => userAliases);
  const user = { username, storeAliases, ...(obfuscatedUsername !== undefined && { obfuscatedUsername }) };
  await claimUnclaimedPurchases(app, user, deps);
  await deps.userAliases.saveAliases(app.name, user);
  // What a store told of meanwhile did not find the user yet.
  await claimUnclaimedPurchases(app, user, deps);
}

async function claimUnclaimedPurchases(
  app: App,
  user: Parameters<UserAliasRepository['listUnclaimedPurchases']>[1],
  deps: RecordingDeps,
): Promise<void> {
  for (const purchaseId of await deps.userAliases.listUnclaimedPurchases(app.name, user)) {
    const claimed = {
      trigger: 'validation',
      storeUser: user.username,
      strategy: app.strategy,
      now: deps.now(),
    } as const;
    await deps.recordPurchase(app.name, purchaseId, claimed);
  }
}

async function recordObservation(
  observation: Observation,
  { app, deps, request }: RecordingContext,
): Promise<RecordPurchaseResult | undefined> {
  const { applicationUsername: username } = request;
  return await deps.recordPurchase(app.name, observation.purchase.purchaseId, {
    trigger: 'validation',
    observation,
    ...(username !== undefined && { claim: { username, source: 'validation' } }),
    strategy: app.strategy,
    now: deps.now(),
  });
}
