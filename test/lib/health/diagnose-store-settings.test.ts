import { generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { type Platform, platforms } from '../../../lib/foundation/platform.ts';
import { minuteMs } from '../../../lib/foundation/time.ts';
import { diagnoseStoreSettings } from '../../../lib/health/diagnose-store-settings.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { startTestService } from '../../../testing/service.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
afterEach(async () => {
  await service.clearFaults();
  for (const platform of platforms) await setAccountProblem(platform, null);
});

async function setAccountProblem(platform: Platform, problem: string | null): Promise<void> {
  const init = { method: 'PUT', body: JSON.stringify({ problem }) };
  const { status } = await fetch(`${service.emulatorUrl}/control/accounts/${platform}`, init);
  expect(status).toBe(200);
}

const diagnose = async (appName: string, platform: Platform, used = getService()) =>
  await diagnoseStoreSettings(used, appName, {
    platform,
    recorder: createEventRecorder({ type: 'test', date: Date.now() }),
  });

/** Creates an app with changed settings for the store, and diagnoses them. */
async function diagnoseChanged(platform: Platform, changes: object = {}) {
  const { appName } = await service.createApp([platform], changes);
  return { appName, ...(await diagnose(appName, platform)) };
}

const createPrivateKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const otherTenant = '00000000-0000-4000-8000-000000000000';

describe('diagnoseStoreSettings', () => {
  it.each(platforms)('finds nothing wrong in valid settings of %s', async (platform) => {
    const { isConnected, summary, findings } = await diagnoseChanged(platform);
    expect({ isConnected, findings }).toEqual({ isConnected: true, findings: [] });
    expect(summary).toMatch(/\.$/);
  });

  it('reports a store without settings as not connected', async () => {
    const { appName } = await service.createApp([]);
    expect(await diagnose(appName, 'store_a')).toEqual({ platform: 'store_a', isConnected: false, findings: [] });
  });

  it.each<[Platform, changes: object, code: string, problem: string, cure?: string]>([
    [
      'store_a',
      { privateKey: createPrivateKey() },
      'store-credentials-rejected',
      'com.example.app',
      'in-app purchase key',
    ],
    ['store_a', { bundleId: 'com.example.other' }, 'store-credentials-rejected', 'com.example.other'],
    [
      'store_a',
      { issuerId: undefined, keyId: undefined, privateKey: undefined, sharedSecret: undefined },
      'store-no-credentials',
      'neither an API key',
    ],
    ['store_b', { packageName: 'com.example.other' }, 'store-app-unknown', 'com.example.other', 'packageName'],
    ['store_b', { pushAudience: undefined }, 'store-notifications-unverifiable', 'pushAudience'],
    ['store_b', { serviceAccount: undefined }, 'store-no-credentials', 'no service account'],
    ['store_b', { packageName: undefined }, 'store-settings-invalid', 'packageName'],
    ['store_c', { clientSecret: 'wrong' }, 'store-credentials-rejected', 'client secret', 'client secret'],
    ['store_c', { clientId: 'unknown' }, 'store-app-unknown', 'unknown'],
    ['store_c', { tenantId: otherTenant }, 'store-app-unknown', otherTenant],
    ['processor_a', { secretKey: 'sk_live_wrongwrong' }, 'store-credentials-rejected', 'live secret key'],
    ['processor_a', { webhookSecrets: [] }, 'store-notifications-unverifiable', 'webhookSecrets', 'webhookSecrets'],
    ['processor_b', { privateKey: 'wrong' }, 'store-credentials-rejected', 'sandbox', 'control panel'],
    ['processor_b', { merchantId: 'other' }, 'store-permission-missing', 'other'],
    [
      'processor_b',
      { catalogue: { gold: { type: 'paid subscription', amount: '1.00', currency: 'USD', planId: 'missing' } } },
      'store-plan-unknown',
      'missing',
    ],
  ])('finds the only problem of %s with %j: %s', async (platform, changes, code, text, cure = '') => {
    const { appName, findings } = await diagnoseChanged(platform, changes);
    const texts = { problem: expect.stringContaining(text), cure: expect.stringContaining(cure) };
    expect(findings).toMatchObject([{ code, app: appName, platform, ...texts }]);
    for (const { problem, cure } of findings)
      for (const sentence of [problem, cure]) expect(sentence).toMatch(/^[A-Z].*\.$/s);
  });

  it.each<[Platform, accountProblem: string, code: string, problem: string, cure?: string]>([
    ['store_a', 'unreleased', 'store-not-released', 'sandbox only'],
    ['store_b', 'no-access', 'store-permission-missing', 'Play Console', 'Play Console'],
    ['store_b', 'api-disabled', 'store-api-disabled', 'Google Play Android Developer API', 'Enable the API'],
    ['store_b', 'key-deleted', 'store-credentials-rejected', 'service account'],
    ['store_c', 'secret-expired', 'store-credentials-expired', 'client secret', 'Entra admin center'],
    ['store_c', 'not-associated', 'store-clawbacks-unreadable', 'clawback queue'],
    ['processor_a', 'key-expired', 'store-credentials-expired', 'live secret key'],
    ['processor_a', 'no-permission', 'store-permission-missing', 'rak_plan_read', 'Stripe dashboard'],
    ['processor_a', 'no-dispute-permission', 'store-permission-missing', 'rak_dispute_read'],
    ['processor_b', 'no-permission', 'store-permission-missing', 'merchant'],
  ])('finds the only problem of %s with the account problem %s: %s', async (...row) => {
    const [platform, accountProblem, code, text, cure = ''] = row;
    await setAccountProblem(platform, accountProblem);
    const { appName, findings } = await diagnoseChanged(platform);
    const texts = { problem: expect.stringContaining(text), cure: expect.stringContaining(cure) };
    expect(findings).toMatchObject([{ code, app: appName, platform, ...texts }]);
  });

  it('finds a service account that cannot read orders', async () => {
    const init = { method: 'PUT', body: JSON.stringify({ readable: false }) };
    await fetch(`${service.emulatorUrl}/control/orders/store_b`, init);
    const { findings } = await diagnoseChanged('store_b');
    await fetch(`${service.emulatorUrl}/control/orders/store_b`, { ...init, body: JSON.stringify({ readable: true }) });
    expect(findings).toMatchObject([{ code: 'store-orders-unreadable' }]);
  });

  it.each(platforms)('reports the outage of %s as such', async (platform) => {
    await service.callControl('/faults', { platform, fault: 'down', times: 20 });
    const { findings } = await diagnoseChanged(platform);
    expect(findings).toMatchObject([{ code: 'store-unavailable', severity: 'warning' }]);
  });

  it.each([
    ['store_a', 12],
    ['store_a', -12],
    ['store_b', 12],
    ['store_c', -12],
    ['processor_a', 12],
  ] as const)(
    'reports the clock instead of the credentials of %s if it differs by %i minutes',
    async (platform, minutes) => {
      const { appName } = await service.createApp([platform]);
      const now = () => Date.now() + minutes * minuteMs;
      const { findings } = await diagnose(appName, platform, { ...getService(), now });
      expect(findings).toMatchObject([{ code: 'clock-wrong', problem: expect.stringContaining('12 minutes') }]);
      expect(findings[0]).not.toHaveProperty('app');
    },
  );

  it('reports settings that cannot be decrypted', async () => {
    const { appName } = await service.createApp(['store_a']);
    const { table } = getService();
    await table.update({
      Key: { pk: `APP#${appName}`, sk: 'STORE#store_a' },
      UpdateExpression: 'SET settings = :settings',
      ExpressionAttributeValues: { ':settings': '00000000.AAAA.AAAA.AAAA' },
    });
    expect(await diagnose(appName, 'store_a')).toMatchObject({
      isConnected: true,
      findings: [{ code: 'store-settings-unreadable', app: appName, platform: 'store_a' }],
    });
  });

  it('contains no secret of the settings', async () => {
    const name = createUniqueName();
    const secret = 'sk_live_51Secret51Secret51Secret';
    await service.createApp(['processor_a'], { secretKey: secret }, name);
    expect(JSON.stringify(await diagnose(name, 'processor_a'))).not.toContain(secret.slice(8));
  });
});
