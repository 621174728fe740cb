import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { saveEvent } from '../lib/events/event-table.ts';

type Measure = (operation: string, run: () => Promise<unknown>) => Promise<void>;

/** Measures the capacity units of the event endpoints, with 1,500 validation events of one customer in the table. */
export async function measureEventUnits(keys: IssuedApiKeys, measure: Measure): Promise<void> {
  const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
  const api = await import('../lib/events/contract.ts');
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  const id = await recordEvents(keys.appName);
  const list = async (query: Record<string, string>) => await callEndpoint(api.listEvents, { headers, query });
  await measure('GET events, 100', () => list({}));
  await measure('GET events, 1000', () => list({ limit: '1000' }));
  await measure('GET events, 100 after 1000', () => list({ skip: '1000' }));
  await measure('GET search, 100 events', () => callEndpoint(api.searchEvents, { headers, params: { tag: 'often' } }));
  await measure('GET event', () => callEndpoint(api.getEvent, { headers, params: { id } }));
  await measure('GET event analysis', () => callEndpoint(api.getEventAnalysis, { headers, params: { id } }));
  await measure('GET event analysis with receipts', () =>
    callEndpoint(api.getEventAnalysis, { headers, params: { id }, query: { receipts: '1' } }),
  );
  await measure('GET event raw', () => callEndpoint(api.getEventRaw, { headers, params: { id } }));
}

async function recordEvents(appName: string): Promise<string> {
  const { getService } = await import('../lib/foundation/get-service.ts');
  const { createEventRecorder } = await import('../lib/events/event-recorder.ts');
  const startDate = Date.now() - 10_000;
  let lastEventId = '';
  for (let number = 0; number < 1500; number++) {
    const recorder = createEventRecorder({
      type: 'receipt.validated',
      date: startDate + number,
      reqId: `request-${number}`,
    });
    recorder.setUser('often');
    recorder.addTag(`store_a:${number}`, '_P');
    const product = { productId: 'store_a:premium', platform: 'store_a' };
    recorder.addContent({
      products: [{ id: 'premium', type: 'paid subscription', currency: 'USD' }],
      purchases: [{ purchaseId: `store_a:${number}`, ...product }],
      transactions: [{ transactionId: `store_a:${number}`, purchaseId: `store_a:${number}`, ...product }],
    });
    const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store', id: `${number}` } };
    const request = { method: 'POST', route: '/v1/validate', body };
    const { event, raw } = recorder.finish({ request, response: body, outcome: { status: 200, ok: true } });
    await saveEvent(getService(), appName, event, raw);
    lastEventId = event.eventId;
  }
  return lastEventId;
}
