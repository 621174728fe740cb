import type { App } from '../apps/app.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import { saveEvent } from '../events/event-table.ts';
import { clientOptions } from '../foundation/container.ts';
import { getService } from '../foundation/get-service.ts';
import { platformTokens } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { createWarmUpTable } from '../foundation/warm-up-table-calls.ts';
import type { Observation } from '../purchases/observation.ts';
import { recordObservations } from './record-observations.ts';

const name = 'warm-up';
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
export async function warmUpRecording(container = getService()): Promise<void> {
  const service: Service = { ...container, table: createWarmUpTable(clientOptions()), container: {} };
  const recorder = createEventRecorder({ type: name, date: service.now() });
  await recordObservations(
    {
      app,
      recorder,
      service,
      request: { applicationUsername: name },
      validation: { purchaseId },
    },
    [buildObservation(service.now())],
  );
  const outcome = { status: 200, ok: true };
  const { event, raw } = recorder.finish({
    request: { route: name, body: { id: name } },
    outcome,
    response: { ok: true },
  });
  await saveEvent(service, name, event, raw);
}
