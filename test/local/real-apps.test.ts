import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildStartupMessage } from '../../local/startup-message.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalService } from '../../testing/call-local.ts';
import { spawnCommand, spawnSuccessfully } from '../../testing/command-line.ts';
import { createEmulatorClient } from '../../testing/emulator-client.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

interface StoreState {
  readonly purchases: readonly unknown[];
}

const realApp = 'live';
const service = startBeforeAll(async () => await startLocalService({ realApps: [realApp] }));
let realKeys: { readonly publicKey: string; readonly secretKey: string };
beforeAll(async () => {
  realKeys = JSON.parse(await spawnSuccessfully(service.environment, ['app', 'create', realApp, '--json']));
});

const readApp = async (keys: object) => (await callLocalService({ ...service, ...keys }, '/v3/app')).body;
const setStore = async (appName: string) => {
  const settings = await (await fetch(`${service.emulatorUrl}/control/settings/processor_a`)).text();
  return await spawnCommand(service.environment, ['app', 'set-store', appName, 'stripe', '-'], settings);
};

describe('STORES=real:live npm start', () => {
  it('accepts the settings of an emulated store for the other apps only', async () => {
    expect(await setStore(service.appName)).toMatchObject({ code: 0 });
    // The real store rejects the key, or is not reached.
    expect((await setStore(realApp)).code).not.toBe(0);
  });

  it('trusts the evidence of the emulator for the other apps only', async () => {
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername: 'ann' };
    const { validate } = await createEmulatorClient(service.emulatorUrl).buy<object>(order);
    const settings = await (await fetch(`${service.emulatorUrl}/control/settings/store_a`)).text();
    await spawnCommand(service.environment, ['app', 'set-store', realApp, 'apple', '-', '--skip-check'], settings);
    const send = async (appName: string, publicKey: string) => {
      const headers = { ...buildBasicAuth(appName, publicKey), 'content-type': 'application/json' };
      const response = await fetch(`${service.baseUrl}/v1/validate`, {
        method: 'POST',
        headers,
        body: JSON.stringify(validate),
      });
      return await response.json();
    };
    expect(await send(service.appName, service.publicKey)).toMatchObject({ ok: true });
    expect(await send(realApp, realKeys.publicKey)).toMatchObject({ ok: false });
  });

  it('makes no emulated purchase of a purchase of the test platform for a real app', async () => {
    const purchase = { type: 'test', id: 'test_1' };
    const body = JSON.stringify({ id: 'premium', type: 'paid subscription', transaction: purchase });
    const countPurchases = async () => {
      const response = await fetch(`${service.emulatorUrl}/control`);
      const { platforms } = (await response.json()) as { readonly platforms: Readonly<Record<string, StoreState>> };
      return platforms.store_a?.purchases.length ?? 0;
    };
    const before = await countPurchases();
    const validate = async (query: string, headers: object) => {
      const init = { method: 'POST', headers: { ...headers }, body };
      return await (await fetch(`${service.baseUrl}/v1/validate${query}`, init)).json();
    };
    const rejection = { ok: false, code: 6778001, message: expect.stringContaining('transaction.type') };
    expect(await validate('', buildBasicAuth(realApp, realKeys.publicKey))).toMatchObject(rejection);
    expect(await validate(`?appName=${realApp}&apiKey=${realKeys.publicKey}`, {})).toMatchObject(rejection);
    expect(await countPurchases()).toBe(before);
    expect(await validate('', buildBasicAuth(service.appName, service.publicKey))).toMatchObject({ ok: true });
    expect(await countPurchases()).toBe(before + 1);
  });

  it('states which stores an app uses', async () => {
    expect((await readApp({})).service).toHaveProperty('emulatorUrl', service.emulatorUrl);
    expect((await readApp({ appName: realApp, ...realKeys })).service).not.toHaveProperty('emulatorUrl');
    expect(await spawnSuccessfully(service.environment, ['app', 'show', service.appName])).toMatch(
      /^stores +emulated$/m,
    );
    expect(await spawnSuccessfully(service.environment, ['app', 'show', realApp])).toMatch(/^stores +real$/m);
    const folders = { folder: '.local', storedFolder: '.local/real-apps' };
    const options = { ...folders, isPersistent: true, isDefaultFolder: true, realApps: [realApp] };
    expect(buildStartupMessage(service, options)).toMatch(/^Stores {7}real for live; for others http:/m);
  });

  it('does not move the clock of the emulator', async () => {
    const move = { method: 'POST', body: JSON.stringify({ advance: 'P1D' }) };
    const response = await fetch(`${service.emulatorUrl}/control/clock`, move);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('stays at the time of this machine');
  });
});
