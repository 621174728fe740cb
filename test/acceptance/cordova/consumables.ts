import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { callLocalControl } from '../../../testing/call-local.ts';
import { runSuccessfully } from '../../../testing/command-line.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import type { PlayBody, PlayPage } from '../../../testing/google-play-device.ts';
import { startPlugin11, verifyWithPlugin13 } from '../../../testing/play-plugins.ts';
import { waitFor } from '../../../testing/wait-for.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: PlayPage | undefined;

/** URL of the validator by the settings of its app: whether the service acknowledges, and knows the consumable. */
const validators = new Map<string, string>();

const toKey = (...flags: readonly boolean[]): string => flags.join();

/** Creates an app that lets the service acknowledge or not, with or without the consumable in its catalogue. */
async function createValidator(acknowledge: boolean, isInCatalogue: boolean): Promise<string> {
  const run = async (args: readonly string[], input?: string) =>
    await runSuccessfully(service.environment, args, input);
  const name = `consumables-${Number(acknowledge)}-${Number(isInCatalogue)}`;
  const { publicKey } = JSON.parse(await run(['--json', 'app', 'create', name]));
  const settings = await callLocalControl(service, '/settings/store_b');
  await run(['app', 'set-store', name, 'store_b', '-'], JSON.stringify({ ...settings, acknowledge }));
  if (isInCatalogue) await run(['app', 'set-catalogue', name, '-'], JSON.stringify({ coins: { type: 'consumable' } }));
  return `${service.baseUrl}/v1/validate?appName=${name}&apiKey=${publicKey}`;
}

const buyCoins = async () =>
  await owner.buy<PlayBody>({
    platform: 'store_b',
    productId: 'coins',
    type: 'consumable',
    applicationUsername: randomUUID(),
  });

/** Waits until the client or the service has consumed the purchase, which lets the customer buy it again. */
async function waitUntilConsumed(id: string): Promise<void> {
  const isConsumedByService = async () => (await callLocalControl(service, `/purchases/${id}`)).isConsumed === true;
  await waitFor('the consumption', async () => (page?.consumptions.length ?? 0) > 0 || (await isConsumedByService()));
}

/** Registers the tests of this file, which share a service with the other clients. */
export function describeConsumables(getService: () => LocalService): void {
  beforeAll(async () => {
    service = getService();
    owner = createEmulatorClient(service.emulatorUrl);
    for (const acknowledge of [true, false])
      for (const isInCatalogue of [true, false])
        validators.set(toKey(acknowledge, isInCatalogue), await createValidator(acknowledge, isInCatalogue));
  });
  afterEach(() => page?.close());

  describe.each([
    { acknowledge: true, isInCatalogue: true },
    { acknowledge: true, isInCatalogue: false },
    { acknowledge: false, isInCatalogue: true },
    { acknowledge: false, isInCatalogue: false },
  ])(
    'consumable of Google Play (acknowledge: $acknowledge, in the catalogue: $isInCatalogue)',
    ({ acknowledge, isInCatalogue }) => {
      const getValidator = () => validators.get(toKey(acknowledge, isInCatalogue)) ?? '';

      it('passes the verification and is consumed with cordova-plugin-purchase 13.18', async () => {
        const { id, validate } = await buyCoins();
        const verification = await verifyWithPlugin13(validate, getValidator(), 'CONSUMABLE');
        page = verification.page;
        expect(verification.event).toBe('verified');
        await waitUntilConsumed(id);
        expect(page.acknowledgements).toEqual([]);
      });

      it('passes the verification, is consumed and for sale again with cordova-plugin-purchase 11.0', async () => {
        const { id, validate } = await buyCoins();
        const plugin = await startPlugin11(validate, getValidator(), 'CONSUMABLE');
        page = plugin.page;
        await waitFor('the event verified', () => plugin.events.includes('verified'));
        await waitUntilConsumed(id);
        await waitFor('the state valid', () => plugin.product.canPurchase === true);
        expect(plugin.product).toMatchObject({ owned: false, state: 'valid' });
        expect(plugin.events).toEqual(['verified']);
      });

      // react-native-iaptic credits a consumable only if it is not acknowledged.
      it('appears neither acknowledged nor consumed in the response to the first validation', async () => {
        const { validate } = await buyCoins();
        const response = await fetch(getValidator(), { method: 'POST', body: JSON.stringify(validate) });
        const { data } = (await response.json()) as { data: { collection: unknown } };
        expect(data.collection).toMatchObject([{ id: 'coins', isAcknowledged: false, isConsumed: false }]);
      });
    },
  );
}
