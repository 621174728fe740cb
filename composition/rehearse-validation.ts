import type { App } from '../lib/apps/app.ts';
import { createAppCache } from '../lib/apps/app-cache.ts';
import { createEventRepository } from '../lib/db/event-repository.ts';
import { createPayerRepository } from '../lib/db/payer-repository.ts';
import { createPurchaseRepository } from '../lib/db/purchase-repository.ts';
import { createUserAliasRepository } from '../lib/db/user-alias-repository.ts';
import { createEventRecorder } from '../lib/events/event-recorder.ts';
import { createRehearsalTable } from '../lib/foundation/rehearse-table-calls.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import { createRecordPurchase } from '../lib/purchases/record-purchase.ts';
import { platformTokens } from '../lib/shared/platform.ts';
import { recordObservations } from '../lib/validation/record-observations.ts';
import { cipher } from './cipher.ts';
import { clientOptions, now } from './environment.ts';

const name = 'rehearsal';
const purchaseId = `${platformTokens.appStore}:${name}`;
const common = {
  purchaseId,
  transactionId: purchaseId,
  productId: purchaseId,
  platform: platformTokens.appStore,
  sandbox: false,
} as const;

const buildObservation = (time: number): Observation => ({
  asOf: time,
  purchase: { ...common, productType: 'paid subscription', purchaseDate: time, expirationDate: time },
  transactions: [{ ...common, purchaseDate: time, quantity: 1, currency: 'USD', amountMicros: 990_000 }],
  userAliases: [name],
  refreshToken: { [name]: name },
});

const app: App = {
  name,
  publicKeys: [],
  secretKeys: [],
  viewerKeys: [],
  supportKeys: [],
  strategy: 'all',
  vocabulary: 'neutral',
  createdAt: 0,
};

/** Records a purchase and its event in a table without a connection. Fetches the master key. */
export async function rehearseRecording(secretCipher = cipher()): Promise<void> {
  const table = createRehearsalTable(clientOptions());
  const purchases = createPurchaseRepository(table, secretCipher);
  const exchangeRates = { findForDate: async () => undefined };
  const recordPurchase = createRecordPurchase(
    purchases,
    exchangeRates,
    async () => undefined,
    async () => [],
    createPayerRepository(table),
  );
  const findNothing = async () => undefined;
  const appReader = {
    find: findNothing,
    findStoreSettings: findNothing,
    findCatalogue: findNothing,
    findForwards: findNothing,
    findKeyOwner: findNothing,
  };
  const recorder = createEventRecorder({ type: name, date: now() });
  await recordObservations([buildObservation(now())], {
    app,
    recorder,
    deps: {
      appCache: createAppCache(appReader, now),
      exchangeRates,
      now,
      purchases,
      recordPurchase,
      userAliases: createUserAliasRepository(table),
    },
    request: { applicationUsername: name },
    validation: { purchaseId },
  });
  const outcome = { status: 200, ok: true };
  const { event, raw } = recorder.finish({
    request: { route: name, body: { id: name } },
    outcome,
    response: { ok: true },
  });
  await createEventRepository(table, 1, now).save(name, event, raw);
}
