import pMap from 'p-map';
import { addRecordedPurchases } from '../events/add-recorded-purchases.ts';
import type { OperationContext } from '../events/operation-context.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { UpdateTrigger } from '../purchases/announced-reasons.ts';
import { groupByReplacement } from '../purchases/group-by-replacement.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { changesPurchase } from '../purchases/purchase-change.ts';
import { type RecordPurchaseResult, recordPurchase } from '../purchases/record-purchase.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';
import {
  findMd5Alias,
  findUnclaimedPurchases,
  listUnclaimedPurchases,
  type Md5Alias,
  saveUserAliases,
  type UnclaimedPurchases,
} from '../purchases/user-alias-table.ts';
import { containsAliasOf, listClientAliases } from '../purchases/user-aliases.ts';
import { parseBillingPeriod } from '../stores/billing-period.ts';
import type { StoreValidation, ValidationRequest } from '../stores/store.ts';
import { selectObservations } from './select-observations.ts';

interface RecordingContext extends OperationContext {
  /** The user claims the purchases. Without `applicationUsername`, no claim is created. */
  readonly request: Pick<
    ValidationRequest,
    'applicationUsername' | 'obfuscatedUsername' | 'billingPeriod' | 'billingPeriodUnit'
  >;
  /** Set by an import: the claims have the times of a previous validator. */
  readonly importedClaims?: ImportedClaims;
  /** The validation that returned the observations. Its purchase is always among the tags of the event. */
  readonly validation?: Pick<StoreValidation, 'purchaseId' | 'unlistedPurchaseIds' | 'appDownload'>;
}

/** A purchase as it is stored after the validation, with all its transactions. */
export interface RecordedPurchase extends EntitledPurchase {
  readonly transactions: readonly Transaction[];
  readonly isChanged: boolean;
}

/** The claims of an import. */
interface ImportedClaims {
  readonly isUnannounced: boolean;
  readonly givesCredits: boolean;
  readonly toClaimedAt: (purchase: Purchase) => EpochMillis;
}

/** Number of purchases of one receipt that are recorded concurrently. */
const concurrency = 8;

/** Maximum number of unclaimed purchases that a validation claims before it saves the aliases, and again after it. */
const maxUnclaimedPurchases = 100;

/**
 * Records the observations, each purchase in its own transaction, and claims the purchases for the user of the request.
 * Leaves out unlisted purchases that `selectObservations` does not select. Returns the recorded purchases in the order
 * of the observations.
 */
export async function recordObservations(
  context: RecordingContext,
  observations: readonly Observation[],
): Promise<RecordedPurchase[]> {
  const { recorder, request, validation } = context;
  const { observations: selected, unchanged } = await selectObservations(context, observations, {
    username: request.applicationUsername,
    unlistedPurchaseIds: validation?.unlistedPurchaseIds,
  });
  const [results, aliases] = await Promise.all([
    recordAll(context, selected),
    selected.length + unchanged.length > 0 ? findAliases(context) : undefined,
  ]);
  const recorded = results.filter((result) => result !== undefined);
  const hasNewClaim = recorded.some(({ change }) => change && change.newClaims.length > 0);
  const stored = [
    ...recorded.map(({ stored: { state, entitledUsers } }) => ({ purchase: state.purchase, entitledUsers })),
    ...unchanged,
  ];
  if (stored.length > 0 && aliases && (hasNewClaim || !aliases.md5.isSaved))
    await linkUserAliases(context, listEvidenceAliases(context, observations, stored), aliases);
  addRecordedPurchases(recorder, recorded, validation?.purchaseId);
  if (validation?.appDownload) recorder.setAppDownload(validation.appDownload);
  return recorded.map(({ stored: { state, entitledUsers }, change }) => ({
    purchase: state.purchase,
    entitledUsers,
    isChanged: change !== undefined && changesPurchase(change),
    transactions: state.transactions.map(({ transaction }) => transaction),
  }));
}

/**
 * Lists the user aliases in the observation of the evidence, if the user is entitled to the purchase. Other purchases
 * of the store account can have been made by another customer.
 */
function listEvidenceAliases(
  { request: { applicationUsername: username }, validation }: RecordingContext,
  observations: readonly Observation[],
  stored: readonly EntitledPurchase[],
): string[] {
  const ownIds = stored
    .filter(({ entitledUsers }) => username !== undefined && entitledUsers.includes(username))
    .map(({ purchase }) => purchase.purchaseId);
  const evidenceIds = validation?.purchaseId === undefined ? ownIds : [validation.purchaseId];
  return observations
    .filter(({ purchase: { purchaseId } }) => evidenceIds.includes(purchaseId) && ownIds.includes(purchaseId))
    .flatMap(({ userAliases }) => userAliases);
}

/** The aliases of the customer before the purchases are recorded. */
interface FoundAliases {
  readonly username: string;
  readonly md5: Md5Alias;
  /** Further aliases, without those that the store must confirm. Absent if the aliases have been saved. */
  readonly others?: UnclaimedPurchases;
}

/**
 * Reads the customer's aliases while the purchases are recorded. `linkUserAliases` reads those again that another
 * request can have changed since.
 */
async function findAliases({
  app,
  service,
  request: { applicationUsername: username },
}: RecordingContext): Promise<FoundAliases | undefined> {
  if (username === undefined) return undefined;
  const md5 = await findMd5Alias(service, app.name, username, maxUnclaimedPurchases);
  if (md5.isSaved) return { username, md5 };
  const user = { username, storeAliases: [] };
  return { username, md5, others: await findUnclaimedPurchases(service, app.name, user, maxUnclaimedPurchases) };
}

/**
 * Stores the customer's aliases and claims the unclaimed purchases filed under them. Also runs for an existing owner
 * without aliases: an earlier request may have failed after it wrote the claim. Does not store the aliases while more
 * purchases are unclaimed than one validation can claim, so that the next validation continues.
 */
async function linkUserAliases(
  context: RecordingContext,
  storeAliases: readonly string[],
  { username, md5, others: found }: FoundAliases,
): Promise<void> {
  const { app, service, request } = context;
  const { obfuscatedUsername } = request;
  const user = { username, storeAliases, ...(obfuscatedUsername !== undefined && { obfuscatedUsername }) };

  const canBeConfirmed = listClientAliases(user).length > 0;
  const others =
    found && !canBeConfirmed ? found : await findUnclaimedPurchases(service, app.name, user, maxUnclaimedPurchases);
  const purchaseIds = [...new Set([...md5.purchaseIds, ...others.purchaseIds])].slice(0, maxUnclaimedPurchases);
  await claimPurchases(context, username, purchaseIds);
  if (purchaseIds.length === maxUnclaimedPurchases) return;
  await saveUserAliases(service, app.name, user);
  // A notification that was processed concurrently did not find the aliases.
  const ownAliases = [md5.alias, ...others.ownAliases];
  const filedSince = await listUnclaimedPurchases(service, app.name, ownAliases, maxUnclaimedPurchases);
  await claimPurchases(context, username, filedSince);
}

async function claimPurchases(
  { app, service, recorder: { eventId }, importedClaims }: RecordingContext,
  username: string,
  purchaseIds: readonly string[],
): Promise<void> {
  const input = { trigger: toTrigger(importedClaims), storeUser: username, eventId, strategy: app.strategy };
  await pMap(
    purchaseIds,
    async (purchaseId) => await recordPurchase(service, app.name, purchaseId, { ...input, now: service.now() }),
    { concurrency },
  );
}

const toTrigger = (importedClaims: ImportedClaims | undefined): UpdateTrigger =>
  importedClaims?.isUnannounced ? 'import' : 'validation';

async function recordAll(context: RecordingContext, observations: readonly Observation[]) {
  const results = new Map<Observation, RecordPurchaseResult | undefined>();
  for (const group of groupByReplacement(observations)) {
    const record = async (observation: Observation) =>
      results.set(observation, await recordObservation(context, observation));
    await pMap(group, record, { concurrency });
  }
  return observations.map((observation) => results.get(observation));
}

async function recordObservation(
  { app, service, recorder: { eventId }, request, validation, importedClaims }: RecordingContext,
  observation: Observation,
): Promise<RecordPurchaseResult | undefined> {
  const { applicationUsername: username, obfuscatedUsername } = request;
  const user = username !== undefined && { username, ...(obfuscatedUsername !== undefined && { obfuscatedUsername }) };
  const isRequested = observation.purchase.purchaseId === validation?.purchaseId;
  const reportedPeriod = isRequested ? parseBillingPeriod(request) : undefined;
  return await recordPurchase(service, app.name, observation.purchase.purchaseId, {
    trigger: toTrigger(importedClaims),
    observation,
    ...(importedClaims?.givesCredits === false && { withoutCredits: true }),
    ...(user && {
      claim: {
        username: user.username,
        source: 'validation',
        isNamedByStore: containsAliasOf(observation.userAliases, user),
        ...(importedClaims && { claimedAt: importedClaims.toClaimedAt(observation.purchase) }),
      },
    }),
    ...(reportedPeriod && { reportedPeriod }),
    eventId,
    strategy: app.strategy,
    now: service.now(),
  });
}
