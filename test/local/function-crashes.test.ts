import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';

let service: LocalService;
const webhooks: string[] = [];
beforeAll(async () => {
  service = await startLocal({ onWebhook: (line) => void webhooks.push(line) });
}, 60_000);
afterAll(async () => await service?.close());

async function control(path: string, body: object): Promise<{ id: string; validate: object }> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(`${service.emulatorUrl}/control${path}`, init)).json()) as {
    id: string;
    validate: object;
  };
}

/** A subscription that its user has shown to the service. */
async function subscription(platform: string, productId: string) {
  const user = `user of ${platform}`;
  const order = { platform, productId, type: 'paid subscription', applicationUsername: user };
  const { id, validate } = await control('/purchases', order);
  const init = {
    method: 'POST',
    headers: buildBasicAuth(service.appName, service.publicKey),
    body: JSON.stringify(validate),
  };
  const result = await (await fetch(`${service.baseUrl}/v1/validate`, init)).json();
  const { data } = result as { data: { collection: { purchaseId: string }[] } };
  return { id, user, purchaseId: `${platform}:${data.collection[0]?.purchaseId}` };
}

async function reasonsOf(purchaseId: string): Promise<string[]> {
  const url = `${service.baseUrl}/v3/purchases/${encodeURIComponent(purchaseId)}?include_notifications=true`;
  const response = await fetch(url, { headers: buildBasicAuth(service.appName, service.secretKey) });
  const { notifications = [] } = (await response.json()) as { notifications?: { reason: string }[] };
  return notifications.map(({ reason }) => reason);
}

const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until it is so, for as long as a killed function may take to be replaced and tried again. */
async function becomes<T>(look: () => Promise<T>, wanted: T): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    if (JSON.stringify(await look()) === JSON.stringify(wanted)) return;
    await pause(250);
  }
  expect(await look()).toEqual(wanted);
}

/** What each action is told as. */
const told = ['RENEWED', 'WILL_LAPSE', 'WILL_AUTO_RENEW', 'RENEWED'];

it('functions that are killed again and again lose nothing of what the stores tell', async () => {
  const bought = [
    await subscription('store_a', 'premium'),
    await subscription('store_b', 'premium'),
    await subscription('processor_a', 'basic'),
  ];
  const life = ['renew', 'cancel', 'uncancel', 'renew'];
  for (const [round, action] of life.entries()) {
    for (const { id } of bought) await control(`/purchases/${id}/${action}`, {});
    for (let kill = 0; kill < 8; kill++) {
      await pause(15 + 40 * ((kill * 7 + round * 3) % 5));
      await service.killFunctions();
    }
    await pause(300);
    // A store repeats what was not taken after minutes, on its own clock.
    await control('/clock', { advance: 'PT1H' });
    for (const { purchaseId } of bought) {
      await becomes(async () => (await reasonsOf(purchaseId)).at(-1), told[round]);
    }
  }
  for (const { purchaseId } of bought) expect(await reasonsOf(purchaseId)).toEqual(['PURCHASED', ...told]);
  await becomes(async () => await service.countQueuedMessages(), {});
  // A function that is killed after its POST posts again, so the application's server hears of it at least as often.
  for (const { user } of bought) {
    const heard = (wanted: string) => webhooks.filter((line) => line.includes(` ${wanted}  ${user} owns`)).length;
    expect(heard('RENEWED')).toBeGreaterThanOrEqual(2);
    expect(heard('WILL_LAPSE')).toBeGreaterThanOrEqual(1);
    expect(heard('WILL_AUTO_RENEW')).toBeGreaterThanOrEqual(1);
  }
}, 180_000);
