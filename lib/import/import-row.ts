import type { App } from '../apps/app.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { ServiceError, unavailableError } from '../foundation/errors.ts';
import { storeNames } from '../foundation/platform.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { selectErasedNames } from '../purchases/erased-name-table.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { resolveMergedName } from '../purchases/user-alias-table.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import type { LoadStore, Store } from '../stores/store.ts';
import type { StoreContext } from '../stores/store-context.ts';
import { recordObservations } from '../validation/record-observations.ts';
import type { ImportRow } from './parse-import-row.ts';

export interface ImportContext {
  readonly app: App;
  /** Line of the row in its file. */
  readonly line: number;
  /** The app's server receives no webhooks for the imported purchases and claims. */
  readonly isUnannounced: boolean;
  /** Payments that are recorded for the first time give the credits of the catalogue of today. */
  readonly givesCredits?: boolean;
  /** Called for each call of a store. */
  readonly onStoreCall: () => void;
}

/** Loads the adapters. A test replaces it. */
export const rowStores = perContainer((): { load: LoadStore } => ({ load: loadStore }));

/**
 * Imports a row: queries the store, records the purchases and claims them for the customers. Idempotent, and safe to
 * run concurrently with other rows and with the service. Acknowledges and consumes nothing at the store. Rows without
 * `claimedAt` count as claimed at the purchase date, in the order of the file.
 *
 * Throws like `Store.validate`, and also `InvalidPayload` if the store does not have the purchase or a customer was
 * erased, and `ConnectionFailed` if the store does not return an amount. Returns whether the table changed.
 */
export async function importRow(
  service: Service,
  row: ImportRow,
  { app, line, isUnannounced, givesCredits = false, onStoreCall }: ImportContext,
): Promise<boolean> {
  const { platform, usernames } = row;
  await rejectErasedUsers(service, app.name, usernames);
  const recorder = createEventRecorder({ type: 'purchase.imported', date: service.now() });
  const addExternalCall: EventRecorder['addExternalCall'] = (call) => {
    onStoreCall();
    recorder.addExternalCall(call);
  };
  const store = await rowStores(service).load(platform);
  const storeContext = {
    ...(await createStoreContext(service, app.name, { platform, recorder: { addExternalCall } })),
    requiresAmounts: true,
    requiresQuery: true,
  };
  const { observations, purchaseId } = await queryStore(row, store, storeContext);
  let isChanged = false;
  for (const name of usernames.length > 0 ? usernames : [undefined]) {
    const applicationUsername = await resolveMergedName(service, app.name, name);
    const recorded = await recordObservations(
      {
        app,
        recorder,
        service,
        request: { ...(applicationUsername !== undefined && { applicationUsername }) },
        importedClaims: { isUnannounced, givesCredits, toClaimedAt: (purchase) => toClaimedAt(purchase, row, line) },
        ...(purchaseId !== undefined && { validation: { purchaseId } }),
      },
      observations,
    );
    isChanged ||= recorded.some((purchase) => purchase.isChanged);
  }
  if (isChanged) await recordImportEvent({ app, recorder, service }, row);
  return isChanged;
}

/** The file can be older than the erasure, so its claim does not mean that the customer has returned. */
async function rejectErasedUsers(service: Service, appName: string, usernames: readonly string[]): Promise<void> {
  if ((await selectErasedNames(service, appName, usernames)).length > 0)
    throw new ServiceError('InvalidPayload', 'A user of the row was erased on request. Remove the user or the row.');
}

/**
 * The line distinguishes the claims of several rows to one purchase, so the result does not depend on the order of
 * their import.
 */
const toClaimedAt = ({ purchaseDate = 0 }: Purchase, { claimedAt }: ImportRow, line: number): EpochMillis =>
  claimedAt ?? purchaseDate + line;

interface QueriedPurchases {
  readonly observations: readonly Observation[];
  /** The purchase that a receipt was submitted for. Its user aliases belong to the customer. */
  readonly purchaseId?: string;
}

async function queryStore(row: ImportRow, store: Store, storeContext: StoreContext): Promise<QueriedPurchases> {
  const queried =
    'validation' in row.query
      ? await validateEvidence(row.query.validation, store, storeContext)
      : { observations: await refreshFirst(row.query.refreshTokens, store, storeContext) };
  if (queried.observations.length > 0) return queried;
  throw new ServiceError('InvalidPayload', 'The store does not have the purchase, or has deleted it.');
}

/** Throws `ConnectionFailed` for a result without the store's preferred API: it lacks the later history, or amounts. */
async function validateEvidence(
  request: Parameters<Store['validate']>[0],
  store: Store,
  storeContext: StoreContext,
): Promise<QueriedPurchases> {
  const { observations, purchaseId, isOffline, isFallback } = await store.validate(request, storeContext);
  if (isOffline || isFallback)
    throw unavailableError(storeNames[store.platform], 'The result is not from the preferred API.');
  return { observations, ...(purchaseId !== undefined && { purchaseId }) };
}

/** Refreshes by the first token whose purchase the store has. Throws the first `InvalidPayload` if all are rejected. */
async function refreshFirst(
  refreshTokens: readonly Readonly<Record<string, string>>[],
  store: Store,
  storeContext: StoreContext,
): Promise<readonly Observation[]> {
  let rejection: unknown;
  for (const refreshToken of refreshTokens) {
    try {
      return (await store.refresh?.(refreshToken, storeContext)) ?? [];
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'InvalidPayload') throw error;
      rejection ??= error;
    }
  }
  throw rejection;
}

async function recordImportEvent(
  { app, recorder, service }: OperationContext,
  { platform, usernames }: ImportRow,
): Promise<void> {
  const [username] = usernames;
  if (username !== undefined) recorder.setUser(username);
  await recordWorkerEvent(service, app.name, { recorder, request: { route: 'import', params: { platform } } });
}
