import { expect, it } from '@jest/globals';
import { buildBasicAuth } from '../../testing/call.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { sampleRuns } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(async () => await startLocalService({ onWebhook: (line) => void webhooks.push(line) }));
const webhooks: string[] = [];

async function control(path: string, body: object): Promise<{ id: string; validate: object }> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(`${service.emulatorUrl}/control${path}`, init)).json()) as {
    id: string;
    validate: object;
  };
}

/** Buys a subscription and validates its receipt. */
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

async function listReasons(purchaseId: string): Promise<string[]> {
  const url = `${service.baseUrl}/v3/purchases/${encodeURIComponent(purchaseId)}?include_notifications=true`;
  const response = await fetch(url, { headers: buildBasicAuth(service.appName, service.secretKey) });
  const { notifications = [] } = (await response.json()) as { notifications?: { reason: string }[] };
  return notifications.map(({ reason }) => reason);
}

/** Omits the acknowledgement at Google Play, which the service makes concurrently with the actions. */
const listChangeReasons = async (purchaseId: string): Promise<string[]> =>
  (await listReasons(purchaseId)).filter((reason) => reason !== 'ACKNOWLEDGED');

const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for a condition, long enough for the event sources to retry after a crash. */
async function expectEventually<T>(read: () => Promise<T>, expected: T): Promise<void> {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (JSON.stringify(await read()) === JSON.stringify(expected)) return;
    await pause(250);
  }
  expect(await read()).toEqual(expected);
}

/** Kills after each action. Two have all the pauses before them in the four rounds. */
const killsPerAction = sampleRuns({ sample: 2, full: 8 }).numRuns;

/** Expected notification reason of each action. */
const expectedReasons = ['RENEWED', 'WILL_LAPSE', 'WILL_AUTO_RENEW', 'RENEWED'];

it('repeated function crashes lose no store notification and no webhook', async () => {
  const purchases = [
    await subscription('store_a', 'premium'),
    await subscription('store_b', 'premium'),
    await subscription('processor_a', 'basic'),
  ];
  const actions = ['renew', 'cancel', 'uncancel', 'renew'];
  for (const [round, action] of actions.entries()) {
    for (const { id } of purchases) await control(`/purchases/${id}/${action}`, {});
    for (let kill = 0; kill < killsPerAction; kill++) {
      await pause(15 + 40 * ((kill * 7 + round * 3) % 5));
      await service.killFunctions();
    }
    await pause(300);
    // Stores repeat an unacknowledged notification after minutes on their own clock.
    await control('/clock', { advance: 'PT1H' });
    for (const { purchaseId } of purchases) {
      await expectEventually(async () => (await listChangeReasons(purchaseId)).at(-1), expectedReasons[round]);
    }
  }
  for (const { purchaseId } of purchases)
    expect(await listChangeReasons(purchaseId)).toEqual(['PURCHASED', ...expectedReasons]);
  await expectEventually(async () => await service.countQueuedMessages(), {});
  // Delivery is at least once: a function that is killed after its POST sends the webhook again.
  for (const { user } of purchases) {
    const countWebhooks = (reason: string) =>
      webhooks.filter((line) => line.includes(` ${reason}  ${user} owns`)).length;
    expect(countWebhooks('RENEWED')).toBeGreaterThanOrEqual(2);
    expect(countWebhooks('WILL_LAPSE')).toBeGreaterThanOrEqual(1);
    expect(countWebhooks('WILL_AUTO_RENEW')).toBeGreaterThanOrEqual(1);
  }
});
